// tier: full, 10 s
/** The watcher of a log: what continues is kept, what does not is a fork with both notes. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { HeadStore } from '../../src/evidence/heads/head-store.ts';
import { noteSigner } from '../../src/evidence/notes.ts';
import { consistencyProof } from '../../src/evidence/tree/proofs.ts';
import { BadLog, checkedHead, ForkSeen, type KeptHead, lookAt, type WatchedLog } from '../../src/evidence/watch.ts';
import { beginNewOrigin } from '../../src/tools/new-origin.ts';
import { EvidenceVenue, ORIGIN, OTHER, usualVenue } from '../support/evidence-venue.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const NOW_MS = 1_795_945_900_000;
const venue = usualVenue();
const home = temporaryDirectory();

function logOf(of: EvidenceVenue, size: () => number): WatchedLog {
  return {
    checkpoint: async () => of.head(size()),
    consistency: async (from, to) => consistencyProof(of.tree, from, to),
  };
}

const checked = (text: string, notes: readonly string[] = [venue.certificate()]): KeptHead =>
  checkedHead(text, { venueKey: venue.venue.key, notes, nowMs: NOW_MS });

/** Another log of the same venue, the first `same` records of which are those of the usual one. */
function forkOf(same: number): EvidenceVenue {
  const fork = new EvidenceVenue();
  for (const record of usualVenue().records.slice(0, same)) fork.take(record);
  for (let at = same; at < 60; at += 1) fork.append([{ kind: 'ledger', user: OTHER, members: { amount: `x${at}` } }]);
  return fork;
}

suite('EVD-12: the watcher', () => {
  after(() => removeDirectory(home));

  test('heads that continue each other are kept, and thinned when there are many', async () => {
    const long = usualVenue();
    for (let record = 40; record < 900; record += 1) long.append([]);
    let size = 0;
    let kept: readonly KeptHead[] = [];
    for (size = 1; size <= 900; size += 3)
      kept = await lookAt(
        logOf(long, () => size),
        kept,
        [],
        checked,
      );
    assert.ok(kept.length <= 256 && kept.length > 128, `${kept.length} kept`);
    assert.deepEqual([kept[0]?.size, kept.at(-1)?.size], [1, 898]);
    const same = await lookAt(
      logOf(long, () => 898),
      kept,
      [],
      checked,
    );
    assert.equal(same, kept, 'no new head');
    assert.equal(
      await lookAt(
        logOf(long, () => 500),
        kept,
        [],
        checked,
      ),
      kept,
      'an older one of the same log',
    );
  });

  test('a fork is seen: another root of a size, a head that does not continue any one that is kept, a peer that sees another log', async () => {
    const kept = await lookAt(
      logOf(venue, () => 20),
      [],
      [],
      checked,
    );
    for (const [same, size] of [
      [5, 20],
      [5, 50],
      [19, 21],
      [5, 12],
    ] as const) {
      const fork = forkOf(same);
      await assert.rejects(
        lookAt(
          logOf(fork, () => size),
          kept,
          [],
          checked,
        ),
        (error: ForkSeen) => {
          assert.ok(error instanceof ForkSeen, String(error));
          assert.equal(error.notes.length, 2);
          assert.notEqual(error.notes[0], error.notes[1]);
          return true;
        },
      );
    }
    const right = forkOf(25);
    assert.equal(
      (
        await lookAt(
          logOf(right, () => 50),
          kept,
          [],
          checked,
        )
      ).length,
      2,
      'it forks behind what was seen',
    );
    const peer = checked(forkOf(5).head(33));
    await assert.rejects(
      lookAt(
        logOf(venue, () => 40),
        kept,
        [peer],
        checked,
      ),
      ForkSeen,
    );
    assert.equal(
      (
        await lookAt(
          logOf(venue, () => 40),
          kept,
          [checked(venue.head(33))],
          checked,
        )
      ).length,
      2,
    );
  });

  test('a head that no certified key has signed is no head', () => {
    assert.equal(checked(venue.head(7)).size, 7);
    assert.throws(() => checked(venue.head(7), []), BadLog);
    assert.throws(() => checked(venue.head(7), [venue.certificate('answers')]), BadLog);
    assert.throws(() => checked(venue.head(7), [venue.certificate('heads', venue.logKey, 0n)]), BadLog);
    assert.throws(() => checked(venue.head(7), [venue.certificate(), venue.end(6)]), BadLog);
    assert.throws(() => checked(venue.head(7, noteSigner(ORIGIN, new Uint8Array(32).fill(3)))), BadLog);
    assert.throws(() => checked('nonsense'), BadLog);
  });

  test('EVD-07: a new origin puts the old log aside and states it, its last head and the reason', () => {
    const data = join(home, 'data');
    mkdirSync(join(data, 'evidence'), { recursive: true });
    new HeadStore(join(data, 'evidence', 'heads')).append(venue.head(12), NOW_MS);
    writeFileSync(join(data, 'evidence-begun'), 'ringbook evidence 1 first 1\n');
    writeFileSync(join(data, 'evidence-secret'), 'kept\n');
    const { aside, statement } = beginNewOrigin(data, 'restored an older backup', new Date(NOW_MS));
    assert.match(
      statement,
      /^ringbook\/new-origin\/v1\norigin ringbook\.example\/log\/1\nhead 12 [A-Za-z0-9+/]{43}=\nreason restored an older backup\n$/,
    );
    assert.deepEqual(readdirSync(aside).sort(), ['evidence', 'evidence-begun']);
    assert.equal(readFileSync(join(data, 'evidence-new-origin'), 'utf8'), statement);
    assert.ok(readdirSync(data).includes('evidence-secret') && !readdirSync(data).includes('evidence'));
    assert.throws(() => beginNewOrigin(data, 'again', new Date(NOW_MS)), /has no evidence/);
  });
});
