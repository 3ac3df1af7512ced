// tier: full, 20 s
/** Heads: made once the tree has grown, flushed before they are seen, never contradicting an earlier one; and their witnesses. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { must as mustBe } from '../../src/core/assert.ts';
import { checkContinues, EvidenceFork } from '../../src/evidence/heads/head-maker.ts';
import { HeadStore, newestHead } from '../../src/evidence/heads/head-store.ts';
import { devLogSettings, headSigner, type LogSettings, loadLogKeys } from '../../src/evidence/heads/log-keys.ts';
import { postToWitness, WitnessClient } from '../../src/evidence/heads/witnesses.ts';
import { noteSigner, readNote, readVkey, signedBy, signerText, signNote, vkeyText } from '../../src/evidence/notes.ts';
import { type LogFiles, LogProofs, WitnessAhead } from '../../src/evidence/proofs/log-proofs.ts';
import { type DurableTree, LogTiles } from '../../src/evidence/proofs/log-tiles.ts';
import { Statements } from '../../src/evidence/proofs/statements.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { rootAt } from '../../src/evidence/tree/proofs.ts';
import { TileFiles } from '../../src/evidence/tree/tile-files.ts';
import { readSignedHead } from '../../src/evidence/venue-notes.ts';
import { verifyEvidence } from '../../src/evidence/verify-evidence.ts';
import { EvidenceVenue, FIRST, ORIGIN, START_NS, USER, usualVenue } from '../support/evidence-venue.ts';
import { appendRecord, openLog } from '../support/row-log-fixture.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { TestWitness } from '../support/test-witness.ts';

const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const home = temporaryDirectory();
const HOUR_MS = 3_600_000;
let folders = 0;

function folder(): string {
  folders += 1;
  return join(home, String(folders));
}

/** The files of a venue in memory, of which so many records are settled. */
function filesOf(venue: EvidenceVenue, size: () => number): LogFiles {
  return {
    refresh: () => (size() === 0 ? null : { first: FIRST, size: size(), timeNs: START_NS }),
    rows: venue,
    tiles: venue.tree,
  };
}

function settingsOf(venue: EvidenceVenue, changes: Partial<LogSettings> = {}): LogSettings {
  const at = folder();
  mkdirSync(at);
  const [key, certificate] = [join(at, 'log.key'), join(at, 'log.certificate')];
  writeFileSync(key, `${signerText(venue.logKey)}\n`, { mode: 0o600 });
  writeFileSync(certificate, venue.certificate());
  const pinned = { origin: ORIGIN, venueKey: vkeyText(venue.venue.key) };
  return { ...pinned, keys: [key], certificates: [certificate], witnesses: [], quorum: 0, ...changes };
}

interface Setup {
  readonly proofs: LogProofs;
  readonly store: HeadStore;
  size: number;
  nowMs: number;
  readonly warnings: string[];
}

function setUp(venue: EvidenceVenue, changes: Partial<LogSettings> = {}, at: string = folder()): Setup {
  const setup = { size: 0, nowMs: 1_795_945_858_000, warnings: [] as string[] };
  const store = new HeadStore(at);
  const proofs = new LogProofs({
    liabilities: null,
    files: filesOf(venue, () => setup.size),
    store,
    keys: loadLogKeys(settingsOf(venue, changes)),
    salts: venue.salts,
    nowMs: () => setup.nowMs,
    post: postToWitness,
    warn: (text) => setup.warnings.push(text),
  });
  return Object.assign(setup, { proofs, store });
}

suite('EVD-06: heads', () => {
  after(() => removeDirectory(home));

  test('one is made when the log has grown, by a node that leads, over what is settled; it is in a file before it is seen', () => {
    const venue = usualVenue();
    const at = folder();
    const setup = setUp(venue, {}, at);
    const { proofs } = setup;
    proofs.tick(true);
    assert.deepEqual(newestHead(at), null, 'no record is settled');
    setup.size = 7;
    proofs.tick(false);
    assert.deepEqual(newestHead(at), null, 'this node does not lead');
    proofs.tick(true);
    const first = must(proofs.newest);
    assert.deepEqual([first.head.size, first.head.root], [7, rootAt(venue.tree, 7)]);
    assert.equal(signedBy(first.note, venue.logKey.key), 'valid');
    assert.deepEqual(newestHead(at)?.text, first.text);
    proofs.tick(true);
    assert.equal(proofs.newest, first, 'the log has not grown');
    setup.size = 9;
    proofs.tick(true);
    assert.equal(must(proofs.newest).head.size, 9);
    assert.deepEqual(proofs.figures(), { size: 9, ageMs: 0, uncovered: 0, cosigned: 0, quorum: 0 });
    const reply = proofs.answer({ kind: 'checkpoint' });
    assert.equal(reply.kind === 'text' && reply.text, newestHead(at)?.text);
  });

  test('all heads of 48 hours are kept, then one an hour and those in issued proofs, over kills at any byte', () => {
    const venue = usualVenue();
    const at = folder();
    const setup = setUp(venue, {}, at);
    const startMs = setup.nowMs - (setup.nowMs % HOUR_MS);
    for (let size = 1; size <= 40; size += 1) {
      setup.size = size;
      setup.nowMs = startMs + size * 900_000;
      setup.proofs.tick(true);
    }
    // Four heads an hour over ten hours; the evidence of an order is issued under the last.
    const issued = setup.proofs.answer({
      kind: 'order',
      user: USER,
      assetId: '12',
      orderId: 'mine-1',
      isComplete: false,
    });
    assert.equal(issued.kind, 'text');
    assert.equal(readdirSync(at).filter((name) => /^\d/.test(name)).length, 11);
    setup.nowMs = startMs + 53 * HOUR_MS;
    setup.proofs.tick(true);
    const kept = readFileSync(join(at, 'kept.jsonl'), 'utf8');
    const sizes = [...kept.matchAll(/"size":(\d+)/g)].map(([, size]) => Number(size));
    assert.deepEqual(sizes, [40, 3, 7, 11, 15, 19]);
    assert.equal(readdirSync(at).filter((name) => /^\d/.test(name)).length, 6);
    const last = must(
      readdirSync(at)
        .filter((name) => /^\d/.test(name))
        .sort()
        .at(-1),
    );
    appendFileSync(join(at, last), '{"at_ms":1,"size":99,"note":"torn');
    const again = new HeadStore(at);
    assert.equal(again.newest?.head.size, 40);
    writeFileSync(join(at, last), `${readFileSync(join(at, last), 'utf8')}nonsense\n`);
    assert.throws(() => new HeadStore(at), /a line that is no head/);
  });

  test('a key signs in its time and up to its end; a node without a certified key signs nothing', () => {
    const venue = usualVenue();
    const keys = loadLogKeys(settingsOf(venue));
    assert.equal(headSigner(keys, 5, START_NS)?.key.id, venue.logKey.key.id);
    assert.equal(headSigner(keys, 5, START_NS + 40n * 86_400_000_000_000n), null);
    const at = folder();
    mkdirSync(at);
    writeFileSync(join(at, 'end'), venue.end(4));
    const settings = settingsOf(venue);
    const ended = loadLogKeys({ ...settings, certificates: [...settings.certificates, join(at, 'end')] });
    assert.equal(headSigner(ended, 5, START_NS), null);
    assert.equal(headSigner(ended, 4, START_NS)?.key.id, venue.logKey.key.id);
    const refuses = (change: Partial<LogSettings>, form: RegExp): void => {
      assert.throws(() => loadLogKeys({ ...settings, ...change }), form);
    };
    refuses({ certificates: [] }, /has no certificate/);
    refuses({ origin: 'another.example' }, /no verifier key of another\.example/);
    refuses(
      { venueKey: vkeyText(noteSigner(ORIGIN, new Uint8Array(32).fill(3)).key) },
      /is not signed by the venue key/,
    );
    refuses({ keys: [join(at, 'missing')] }, /cannot be read/);
    writeFileSync(join(at, 'open.key'), signerText(venue.logKey), { mode: 0o644 });
    refuses({ keys: [join(at, 'open.key')] }, /chmod 600/);
    writeFileSync(join(at, 'venue.key'), signerText(venue.venue), { mode: 0o600 });
    refuses({ keys: [join(at, 'venue.key')] }, /kept offline/);
    refuses({ witnesses: [{ name: 'w', vkey: vkeyText(venue.logKey.key), url: 'http://localhost' }] }, /type 0x04/);
  });

  test('EVD-01: a dev node makes its keys once, under an origin of its own', () => {
    const at = folder();
    const settings = devLogSettings(at);
    assert.deepEqual(devLogSettings(at), settings);
    assert.notEqual(devLogSettings(folder()).origin, settings.origin);
    const keys = loadLogKeys(settings);
    assert.notEqual(headSigner(keys, 1, START_NS), null);
    assert.match(settings.origin, /^dev\.ringbook\.invalid\/[0-9a-f]{16}$/);
  });

  test('EVD-01: each certificate is handed out once, and again by the next process until it is journaled', () => {
    const at = folder();
    const statements = new Statements(at);
    assert.deepEqual(statements.missing(['one', 'two']), ['one', 'two']);
    assert.deepEqual(statements.missing(['one', 'three']), ['three']);
    statements.journaled('one');
    statements.journaled('one');
    const killed = new Statements(at);
    assert.deepEqual(killed.missing(['one', 'two', 'three', 'four']), ['two', 'three', 'four'], 'a kill loses none');
    for (const text of ['two', 'three', 'four']) killed.journaled(text);
    assert.deepEqual(new Statements(at).missing(['one', 'two', 'three', 'four']), []);
  });
});

suite('EVD-07: no head contradicts an earlier one', () => {
  test('a tree that is shorter than the newest head, or other, ends with EVIDENCE_FORK before anything is signed', () => {
    const venue = usualVenue();
    const at = folder();
    const setup = setUp(venue, {}, at);
    setup.size = 30;
    setup.proofs.tick(true);
    const { text } = must(newestHead(at));
    // An older backup was restored: records are there, and not all of them.
    const shorter = setUp(venue, {}, at);
    shorter.size = 20;
    assert.throws(() => shorter.proofs.tick(true), EvidenceFork);
    assert.throws(
      () => shorter.proofs.tick(true),
      /EVIDENCE_FORK: the newest head of this node has 30 records, and the tree of this node 20/,
    );
    shorter.size = 0;
    assert.throws(() => shorter.proofs.tick(true), EvidenceFork);
    // The same, and then other records: longer, and another tree.
    const other = new EvidenceVenue(new Uint8Array(32).fill(5));
    for (let record = 0; record < 40; record += 1) other.append([]);
    const longer = setUp(other, {}, at);
    longer.size = 40;
    assert.throws(() => longer.proofs.tick(true), /has another root of 30 records/);
    assert.equal(newestHead(at)?.text, text);
    const right = setUp(venue, {}, at);
    right.size = 31;
    right.proofs.tick(true);
    assert.equal(newestHead(at)?.head.size, 31);
  });

  test('a node that has led before compares again when it leads again', () => {
    const venue = usualVenue();
    const setup = setUp(venue);
    setup.size = 30;
    setup.proofs.tick(true);
    setup.proofs.tick(false);
    setup.size = 29;
    assert.throws(() => setup.proofs.tick(true), EvidenceFork);
    assert.throws(() => checkContinues(venue.tree, 10, { size: 10, root: rootAt(venue.tree, 9) }, 'it'), EvidenceFork);
    checkContinues(venue.tree, 10, { size: 9, root: rootAt(venue.tree, 9) }, 'it');
  });
});

suite('EVD-08: witnesses', () => {
  async function witnessed(
    venue: EvidenceVenue,
    at: string = folder(),
  ): Promise<{ readonly setup: Setup; readonly witness: TestWitness }> {
    const witness = new TestWitness(must(venue.witnesses[0]), venue.logKey.key);
    const url = await witness.listen();
    const witnesses = [{ name: witness.signer.key.name, vkey: witness.vkey, url }];
    return { setup: setUp(venue, { witnesses, quorum: 1 }, at), witness };
  }

  test('a witness cosigns each newest head it is asked for; the cosigned head is served and stands in proofs', async () => {
    const venue = usualVenue();
    const { setup, witness } = await witnessed(venue);
    setup.size = 25;
    setup.proofs.tick(true);
    await setup.proofs.askWitnesses(true);
    assert.equal(witness.known.size, 25);
    const reply = setup.proofs.answer({ kind: 'checkpoint' });
    const head = must(readSignedHead(reply.kind === 'text' ? reply.text : ''));
    assert.equal(head.note.signatures.length, 2);
    assert.deepEqual(setup.proofs.figures(), { size: 25, ageMs: 0, uncovered: 0, cosigned: 1, quorum: 1 });
    setup.size = 40;
    setup.proofs.tick(true);
    await setup.proofs.askWitnesses(false);
    assert.equal(witness.known.size, 25, 'a node that does not lead asks nothing');
    const asked = { kind: 'order', user: USER, assetId: '12', orderId: 'mine-1', isComplete: false } as const;
    const proof = setup.proofs.answer(asked);
    const verdict = verifyEvidence(new TextEncoder().encode(proof.kind === 'text' ? proof.text : ''), {
      venueKey: venue.venue.key,
      witnesses: [must(readVkey(witness.vkey))],
      ...{ quorum: 1, heads: [], ends: [], isComplete: false, verifyCoSignature: null },
    });
    assert.equal(verdict.kind, 'true', JSON.stringify(verdict));
    await setup.proofs.askWitnesses(true);
    assert.equal(witness.known.size, 40);
    assert.equal(setup.store.cosigned?.head.size, 40);
    witness.close();
  });

  test('a witness that is gone, refuses, answers too much or signs something else stops nothing, and is missed', async () => {
    const venue = usualVenue();
    const { setup, witness } = await witnessed(venue);
    setup.size = 25;
    setup.proofs.tick(true);
    const lies: readonly TestWitness['lie'][] = [
      () => ({ status: 500, body: '' }),
      () => ({ status: 422, body: '' }),
      () => ({ status: 200, body: 'x'.repeat(20_000) }),
      () => ({ status: 200, body: '\u2014 witness.example/w21 AAAAAAAA\n' }),
      () => ({ status: 200, body: '' }),
      () => ({ status: 409, body: 'many\n' }),
      (right) => ({ ...right, body: right.body.replace('w21', 'w22') }),
    ];
    for (const lie of lies) {
      witness.lie = lie;
      witness.known = { size: 0, root: witness.known.root };
      await setup.proofs.askWitnesses(true);
    }
    assert.equal(setup.warnings.length, lies.length);
    assert.equal(setup.proofs.figures().cosigned, 0);
    assert.equal(must(setup.proofs.newest).note.signatures.length, 1);
    witness.close();
    await setup.proofs.askWitnesses(true);
    assert.match(must(setup.warnings.at(-1)), /did not cosign/);
    setup.size = 26;
    setup.proofs.tick(true);
    assert.equal(must(setup.proofs.newest).head.size, 26, 'heads go on');
  });

  test('EVD-07: after a restore of an older backup nothing is signed, for a witness has seen more, and a minute later it is a fork', async () => {
    const venue = usualVenue();
    const at = folder();
    const { setup, witness } = await witnessed(venue, at);
    setup.size = 10;
    setup.proofs.tick(true);
    const backup = must(newestHead(at)).text;
    setup.size = 30;
    setup.proofs.tick(true);
    await setup.proofs.askWitnesses(true);
    assert.equal(witness.known.size, 30);
    // The backup has the head of 10 records, and 12 records; the node does not know of the head of 30.
    const restoredAt = folder();
    new HeadStore(restoredAt).append(backup, setup.nowMs);
    const witnesses = [{ name: witness.signer.key.name, vkey: witness.vkey, url: witness.url }];
    const restored = setUp(venue, { witnesses, quorum: 1 }, restoredAt);
    restored.size = 12;
    restored.proofs.tick(true);
    await assert.rejects(restored.proofs.askWitnesses(true), WitnessAhead);
    restored.proofs.tick(true);
    assert.equal(must(restored.proofs.newest).head.size, 10, 'nothing is signed');
    restored.nowMs += 61_000;
    await assert.rejects(
      restored.proofs.askWitnesses(true),
      /EVIDENCE_FORK: witness witness\.example\/w21 has cosigned 30 records/,
    );
    // It was only late: its tree goes as far as the witness a moment after its start.
    const late = setUp(venue, { witnesses, quorum: 1 }, restoredAt);
    late.size = 12;
    await assert.rejects(late.proofs.askWitnesses(true), WitnessAhead);
    late.size = 31;
    await late.proofs.askWitnesses(true);
    late.proofs.tick(true);
    assert.equal(must(late.proofs.newest).head.size, 31);
    witness.close();
  });

  test('the client asks from the size that the witness names, once more and no further', async () => {
    const venue = usualVenue();
    const witness = new TestWitness(must(venue.witnesses[0]), venue.logKey.key);
    const url = await witness.listen();
    const client = new WitnessClient({ key: must(readVkey(witness.vkey)), url }, postToWitness);
    const stored = (size: number): Parameters<WitnessClient['ask']>[0] => {
      const text = `${must(venue.head(size).split('\n\n')[0])}\n`;
      const note = signNote(text, venue.logKey);
      return { ...must(readSignedHead(note)), text: note, atMs: 0 };
    };
    witness.known = { size: 12, root: rootAt(venue.tree, 12) };
    assert.equal((await client.ask(stored(20), venue.tree)).kind, 'cosigned');
    assert.equal(witness.requests, 2);
    assert.equal((await client.ask(stored(21), venue.tree)).kind, 'cosigned');
    assert.equal(witness.requests, 3);
    witness.known = { size: 38, root: rootAt(venue.tree, 38) };
    assert.deepEqual(await client.ask(stored(22), venue.tree), { kind: 'ahead', size: 38 });
    witness.known = { size: 12, root: rootAt(venue.tree, 11) };
    const other = new WitnessClient({ key: must(readVkey(witness.vkey)), url }, postToWitness);
    assert.equal((await other.ask(stored(20), venue.tree)).kind, 'refused', 'another tree than it has seen');
    witness.lie = (right) => ({ status: 409, body: `${right.status % 7}\n` });
    assert.equal((await client.ask(stored(30), venue.tree)).kind, 'ahead');
    witness.close();
  });
});

suite('EVD-09: what is read of the log', () => {
  test('the tree over files and tail has the root of every size that was durable, while records go over', async () => {
    const at = folder();
    const log = openLog(at);
    const roots: Uint8Array[] = [log.edge.root()];
    let reader: RowLogReader | null = null;
    let tiles: LogTiles | null = null;
    const sizes = new Set<number>();
    for (let record = 1; record <= 700; record += 1) {
      const padding = record % 3 === 0 ? 700 : 0;
      appendRecord(log, record, START_NS + BigInt(record), [{ user: record % 5, padding }, { user: null }]);
      roots.push(log.edge.root());
      if (record % 7 !== 0) continue;
      log.flush();
      if (record % 70 === 0) log.settleAll(() => undefined);
      reader ??= must(RowLogReader.open(at));
      tiles ??= new LogTiles(reader, new TileFiles(join(at, 'tiles'), 'read'));
      const durable: DurableTree = must(tiles.refresh());
      assert.deepEqual([durable.size, durable.first, durable.timeNs], [record, 1, START_NS + BigInt(record)]);
      for (const size of [record, 1 + ((record * 31) % record), Math.max(1, record - 9)])
        assert.deepEqual(rootAt(tiles, size), roots[size]);
      sizes.add(must(reader.leaves()).settled);
    }
    assert.ok(sizes.size > 5, 'some records were in the files, and others in the tail');
    tiles?.close();
    await reader?.close();
    await log.close();
  });

  test('tiles as far as the newest head goes, consistency between any sizes under it, and keys', () => {
    const venue = usualVenue();
    for (let record = 40; record < 600; record += 1) venue.append([]);
    const setup = setUp(venue);
    const tile = (level: number, index: number, width: number): ReturnType<LogProofs['answer']> =>
      setup.proofs.answer({ kind: 'tile', level, index, width });
    const refusal = (reply: ReturnType<LogProofs['answer']>): string =>
      reply.kind === 'refused' ? reply.reject.code : reply.kind;
    assert.equal(refusal(setup.proofs.answer({ kind: 'checkpoint' })), 'SERVICE_UNAVAILABLE');
    setup.size = 600;
    setup.proofs.tick(true);
    const whole = tile(0, 1, 256);
    assert.deepEqual(whole.kind === 'bytes' && Buffer.from(whole.bytes), Buffer.from(venue.tree.read(0, 256, 256)));
    const partial = tile(0, 2, 88);
    assert.equal(partial.kind === 'bytes' && partial.bytes.length, 88 * 32);
    assert.equal(tile(1, 0, 2).kind, 'bytes');
    for (const [level, index, width] of [
      [0, 2, 89],
      [0, 3, 1],
      [1, 0, 3],
      [2, 0, 1],
      [63, 0, 1],
      [0, Number.MAX_SAFE_INTEGER, 1],
    ])
      assert.equal(refusal(tile(must(level), must(index), must(width))), 'NOT_FOUND');
    const consistency = (from: number, to: number): string => {
      const reply = setup.proofs.answer({ kind: 'consistency', from, to });
      return reply.kind === 'text' ? reply.text : refusal(reply);
    };
    assert.match(consistency(100, 600), /^\{"from":100,"to":600,"proof":\[".*"\]\}$/);
    assert.equal(consistency(0, 600), '{"from":0,"to":600,"proof":[]}');
    assert.equal(consistency(600, 601), 'INVALID_REQUEST');
    assert.equal(consistency(5, 4), 'INVALID_REQUEST');
    const keys = setup.proofs.answer({ kind: 'keys' });
    const read = JSON.parse(keys.kind === 'text' ? keys.text : '') as {
      readonly venue_key: string;
      readonly notes: string[];
    };
    assert.equal(read.venue_key, vkeyText(venue.venue.key));
    assert.notEqual(readNote(must(read.notes[0])), null);
    const order = (orderId: string): string =>
      refusal(setup.proofs.answer({ kind: 'order', user: USER, assetId: '12', orderId, isComplete: false }));
    assert.deepEqual([order('mine-1'), order('never')], ['text', 'ORDER_NOT_FOUND']);
  });
});
