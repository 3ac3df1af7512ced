// tier: full, 30 s
/** `ringbook keygen --venue`, `--log`, `evidence certify` and `evidence verify`, as processes: files, exit codes, sentences. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { base64Of } from '../../src/evidence/base64.ts';
import { NOTE_TYPE, readVkey, verifierKey, vkeyText } from '../../src/evidence/notes.ts';
import { consistencyProof } from '../../src/evidence/tree/proofs.ts';
import { readVenueNote } from '../../src/evidence/venue-notes.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { ORIGIN, USER, usualVenue } from '../support/evidence-venue.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const home = temporaryDirectory();

function ringbook(...args: readonly string[]): {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
} {
  const ran = spawnSync(process.execPath, [CLI, ...args], { cwd: home, env: bareEnvironment(), encoding: 'utf8' });
  return { status: ran.status, out: ran.stdout, err: ran.stderr };
}

suite('evidence commands', () => {
  after(() => removeDirectory(home));

  test('EVD-01: a venue key certifies log keys, and ends them', () => {
    const venue = ringbook('keygen', 'venue.key', '--venue', '--origin', ORIGIN);
    assert.equal(venue.status, 0, venue.err);
    const venueKey = readVkey(venue.out.trim());
    assert.ok(venueKey !== null && venueKey.name === ORIGIN);
    assert.equal(statSync(join(home, 'venue.key')).mode & 0o777, 0o600);
    const log = ringbook('keygen', 'log.key', '--log', '--origin', ORIGIN);
    assert.match(log.out, /^ringbook\/log-key\/v1\n[^\n]+\n[^\n]+\nuse heads\n$/);
    writeFileSync(join(home, 'log.request'), log.out);
    const certified = ringbook(
      'evidence',
      'certify',
      'log.request',
      '--key',
      'venue.key',
      '--from',
      '2026-11-01',
      '--out',
      'log.certificate',
    );
    assert.equal(certified.status, 0, certified.err);
    const note = readVenueNote(readFileSync(join(home, 'log.certificate'), 'utf8'), venueKey);
    assert.equal(note?.kind, 'certificate');
    const vkey = log.out.split('\n')[2] ?? '';
    const ended = ringbook('evidence', 'certify', '--end', vkey, '--size', '17', '--key', 'venue.key');
    assert.deepEqual(readVenueNote(ended.out, venueKey), {
      kind: 'end',
      origin: ORIGIN,
      key: readVkey(vkey),
      size: 17,
    });

    assert.equal(
      ringbook('keygen', 'venue.key', '--venue', '--origin', ORIGIN).status,
      1,
      'a key is never overwritten',
    );
    assert.equal(ringbook('keygen', 'x.key', '--venue').status, 64);
    assert.equal(ringbook('keygen', 'x.key', '--venue', '--origin', 'a b').status, 64);
    assert.equal(ringbook('keygen', 'x.key', '--venue', '--log', '--origin', 'a').status, 64);
    assert.equal(ringbook('evidence', 'certify', 'venue.key', '--key', 'venue.key').status, 2);
    assert.equal(ringbook('keygen', 'other.key', '--venue', '--origin', 'other.example').status, 0);
    assert.match(ringbook('evidence', 'certify', 'log.request', '--key', 'other.key').err, /is for ringbook\.example/);
    const answers = ringbook('keygen', 'answers.key', '--log', '--origin', ORIGIN, '--use', 'answers');
    assert.match(answers.out, /\nuse answers\n$/);
  });

  test('EVD-02: a secret is 32 bytes that only its owner reads', () => {
    assert.equal(ringbook('keygen', 'secret', '--evidence-secret').status, 0);
    assert.match(readFileSync(join(home, 'secret'), 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.equal(statSync(join(home, 'secret')).mode & 0o777, 0o600);
  });

  test('EVD-11: verify answers with exit code 0, 1 or 2, and a sentence', () => {
    const venue = usualVenue();
    const file = (name: string, text: string): string => {
      writeFileSync(join(home, name), text);
      return name;
    };
    const text = venue.evidence(USER, 'mine-1');
    const good = file('mine.ringbook-evidence.json', text);
    const key = vkeyText(venue.venue.key);
    const witnesses = venue.witnesses.flatMap(({ key: { name, publicKey } }) => [
      '--witness',
      vkeyText(verifierKey(name, NOTE_TYPE.cosignature, publicKey)),
    ]);
    const verify = (...args: readonly string[]): ReturnType<typeof ringbook> => ringbook('evidence', 'verify', ...args);
    const right = verify(good, '--venue-key', key, ...witnesses, '--quorum', '2');
    assert.deepEqual([right.status, right.err], [0, '']);
    assert.match(right.out, /^The venue ringbook\.example\/log\/1 committed to 4 rows of order mine-1/);
    file('pinned', `${key}\n`);
    assert.equal(verify(good, '--venue-key', 'pinned').status, 0);
    const wrong = verify(
      file('wrong.json', text.replace('"order_id":"mine-1"', '"order_id":"mine-2"')),
      '--venue-key',
      key,
    );
    assert.deepEqual([wrong.status, /^false, by check \d: /.test(wrong.out)], [1, true]);
    const cut = verify(file('cut.json', text.slice(0, -2)), '--venue-key', key);
    assert.deepEqual([cut.status, /^unreadable: /.test(cut.out)], [2, true]);
    assert.equal(verify('missing.json', '--venue-key', key).status, 2);
    assert.equal(verify(good).status, 64);
    assert.equal(verify(good, '--venue-key', 'nonsense').status, 64);
    assert.equal(verify(good, '--venue-key', key, '--quorum', '1').status, 1);
    const proof = { from: 30, to: 40, proof: consistencyProof(venue.tree, 30, 40).map(base64Of) };
    const heads = ['--head', file('older', venue.head(30))];
    const compared = verify(
      good,
      '--venue-key',
      key,
      ...heads,
      '--consistency',
      file('proof.json', JSON.stringify(proof)),
    );
    assert.match(compared.out, /1 other heads agree/);
    assert.match(verify(good, '--venue-key', key, ...heads).out, /1 other heads were not compared/);
  });
});
