// tier: full, 60 s
/** The verifier of an order's evidence: what is true passes, and every cheat of a venue, or of who holds the file, is refused. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { must as mustBe } from '../../src/core/assert.ts';
import { base64Of, readBase64 } from '../../src/evidence/base64.ts';
import { type EvidenceFile, evidenceText, readEvidence } from '../../src/evidence/evidence-file.ts';
import { cosignature, NOTE_TYPE, noteSigner, signNote, verifierKey } from '../../src/evidence/notes.ts';
import { orderEvidence } from '../../src/evidence/order-evidence.ts';
import { ed25519Sign, sha256 } from '../../src/evidence/platform.ts';
import { leafHash } from '../../src/evidence/tree/hashes.ts';
import { consistencyProof, inclusionProof, rootAt } from '../../src/evidence/tree/proofs.ts';
import { readRecordLeaf, recordLeaf } from '../../src/evidence/tree/record-leaf.ts';
import { headText } from '../../src/evidence/venue-notes.ts';
import { type VerifyOptions, verifyEvidence } from '../../src/evidence/verify-evidence.ts';
import type { EvidenceVerdict } from '../../src/evidence/verify-log.ts';
import {
  acceptedRow,
  createText,
  EvidenceVenue,
  endedRow,
  FIRST,
  fillRows,
  ORIGIN,
  OTHER,
  type PlannedRow,
  START_NS,
  TreeInMemory,
  USER,
  usualVenue,
} from '../support/evidence-venue.ts';
import { propertyParameters } from '../support/property.ts';

const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const venue = usualVenue();
const witnesses = venue.witnesses.map(({ key }) => verifierKey(key.name, NOTE_TYPE.cosignature, key.publicKey));

function options(changes: Partial<VerifyOptions> = {}): VerifyOptions {
  return {
    venueKey: venue.venue.key,
    witnesses,
    quorum: 2,
    heads: [],
    ends: [],
    isComplete: false,
    verifyCoSignature: null,
    ...changes,
  };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const verdict = (text: string, changes: Partial<VerifyOptions> = {}): EvidenceVerdict =>
  verifyEvidence(bytesOf(text), options(changes));

function fileOf(text: string): EvidenceFile {
  const file = readEvidence(bytesOf(text));
  if (typeof file === 'string') throw new Error(file);
  return file;
}

/** The number of the check that refuses it. */
function refusedBy(text: string, changes: Partial<VerifyOptions> = {}): number {
  const found = verdict(text, changes);
  assert.equal(found.kind, 'wrong', JSON.stringify(found));
  return found.kind === 'wrong' ? found.check : 0;
}

const usual = venue.evidence(USER, 'mine-1');
const changed = (change: Partial<EvidenceFile>): string => evidenceText({ ...fileOf(usual), ...change });

/** The evidence of `mine-1` in a venue whose records are these, with an honest tree over them. */
function dishonest(records: readonly (readonly PlannedRow[])[], isComplete = false): string {
  const other = new EvidenceVenue();
  for (const rows of records) other.append(rows);
  return other.evidence(USER, 'mine-1', isComplete);
}

suite('EVD-11: the verifier of evidence', () => {
  test('an order with its fills is proven, and the sentence says what is not', () => {
    const found = verdict(usual);
    assert.equal(found.kind, 'true', JSON.stringify(found));
    const sentence = found.kind === 'true' ? found.sentence : '';
    assert.match(sentence, /committed to 4 rows of order mine-1 in market 12 of user 8a88/);
    assert.match(sentence, /1 signed text is the one of its rows/);
    assert.match(sentence, /Other rows of the user between their numbers 1 and 9 are not in the file/);
    assert.match(sentence, /2 witnesses have seen this head, 2 of them by 2026-11-29T\d\d:\d\d:\d\d\.000Z/);
    assert.match(sentence, /It does not prove that times are true/);
    const alone = verdict(usual, { witnesses: [], quorum: 0 });
    assert.match(alone.kind === 'true' ? alone.sentence : '', /No witness is counted: only the venue signed this view/);
  });

  test('complete: no row of the user between the first and the last is left out', () => {
    const whole = venue.evidence(USER, 'mine-1', true);
    const found = verdict(whole, { isComplete: true });
    assert.match(
      found.kind === 'true' ? found.sentence : JSON.stringify(found),
      /No row of the user between their numbers 1 and \d+ was left out/,
    );
    assert.equal(refusedBy(usual, { isComplete: true }), 8);
    const file = fileOf(whole);
    const ledger = file.records.map((record) => ({
      ...record,
      entries: record.entries.filter(({ row }) => !new TextDecoder().decode(row).includes('"kind":"ledger"')),
    }));
    assert.equal(refusedBy(evidenceText({ ...file, records: ledger }), { isComplete: true }), 8);
  });

  test('every byte of a file that is changed, left out or doubled is found', () => {
    const bytes = bytesOf(usual);
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = bytes.with(at, must(bytes[at]) ^ (1 << (at % 7)));
      assert.notEqual(verifyEvidence(flipped, options()).kind, 'true', `byte ${at}`);
      if (at % 11 !== 0) continue;
      const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
      assert.notEqual(verifyEvidence(Buffer.concat([before, behind]), options()).kind, 'true', `without byte ${at}`);
      const doubled = Buffer.concat([before, bytes.subarray(at, at + 1), bytes.subarray(at)]);
      assert.notEqual(verifyEvidence(doubled, options()).kind, 'true', `byte ${at} twice`);
    }
  });

  test('random damage of a file is found, wherever it is', () => {
    const bytes = bytesOf(venue.evidence(USER, 'mine-1', true));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.uint8Array({ minLength: 1, maxLength: 8 }), (at, patch) => {
        const damaged = Uint8Array.from(bytes);
        damaged.set(patch.subarray(0, bytes.length - at), at);
        const isSame = damaged.every((byte, place) => byte === bytes[place]);
        assert.equal(verifyEvidence(damaged, options()).kind === 'true', isSame);
      }),
      propertyParameters(300),
    );
  });

  test('check 1: size, shape, members and base64 are strict, and the origin is that of the pinned key', () => {
    const unreadable = (text: string): string => {
      const found = verdict(text);
      assert.equal(found.kind, 'unreadable', text.slice(0, 80));
      return found.kind === 'unreadable' ? found.reason : '';
    };
    assert.match(unreadable(`${' '.repeat(4 * 1024 * 1024)}${usual}`), /more than 4 MiB/);
    assert.match(unreadable(usual.replace('{"v":1,', '{"v":1,"v":1,')), /strict JSON/);
    assert.match(unreadable(usual.replace('{"v":1,', '{"v":1,"more":1,')), /members/);
    assert.match(unreadable(usual.replace('{"v":1,', '{"v":2,')), /version 1/);
    assert.match(unreadable(usual.replace('{"v":1,', '{"v":1, ')), /one way/);
    assert.match(unreadable(usual.replace('"index":"', '"index":"0')), /number|one way/);
    assert.match(unreadable(usual.replace(/"leaf":"[^"]*"/, '"leaf":"AAAA"')), /3 bytes, not 111/);
    // The same bytes, in base64 whose unused bits are not zero.
    const [, salt = ''] = /"salt":"([^"]*)"/.exec(usual) ?? [];
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const last = digits.charAt(digits.indexOf(salt.charAt(42)) + 1);
    assert.deepEqual(Buffer.from(`${salt.slice(0, 42)}${last}=`, 'base64'), Buffer.from(salt, 'base64'));
    assert.match(unreadable(usual.replace(salt, `${salt.slice(0, 42)}${last}=`)), /canonical base64/);
    assert.equal(refusedBy(usual, { venueKey: noteSigner('another.example/log', new Uint8Array(32).fill(11)).key }), 1);
  });

  test('check 2: only a key that the pinned key certified for heads, in its time and not ended, signs heads', () => {
    const otherVenue = noteSigner(ORIGIN, new Uint8Array(32).fill(99));
    assert.equal(refusedBy(usual, { venueKey: otherVenue.key }), 2);
    assert.equal(refusedBy(changed({ certificates: [] })), 2);
    assert.equal(refusedBy(changed({ certificates: [venue.certificate('answers')] })), 2);
    assert.equal(refusedBy(changed({ certificates: [venue.certificate('heads', otherVenue)] })), 2);
    assert.equal(refusedBy(changed({ certificates: [venue.certificate(), venue.certificate('answers')] })), 2);
    assert.equal(refusedBy(changed({ certificates: [venue.certificate('heads', venue.logKey, 0n)] })), 2);
    assert.equal(refusedBy(changed({ certificates: [venue.certificate(), venue.end(39)] })), 2);
    assert.equal(refusedBy(usual, { ends: [venue.end(39)] }), 2);
    assert.equal(verdict(changed({ certificates: [venue.certificate(), venue.end(40)] })).kind, 'true');
    assert.equal(refusedBy(changed({ checkpoint: venue.head(40, otherVenue) })), 2);
    const selfMade = signNote(`${must(venue.certificate().split('\n\n')[0])}\n`, venue.logKey);
    assert.equal(refusedBy(changed({ certificates: [selfMade] })), 2, 'a log key certifies nothing');
    const foreign = headText({ origin: 'another.example/log', size: 40, root: rootAt(venue.tree, 40) });
    assert.equal(refusedBy(changed({ checkpoint: signNote(foreign, venue.logKey) })), 2);
  });

  test('check 3: witnesses are counted by key, once each, and only of this head', () => {
    assert.equal(refusedBy(usual, { quorum: 3 }), 3);
    const twice = [must(witnesses[0]), { ...must(witnesses[0]) }];
    assert.equal(refusedBy(usual, { witnesses: twice, quorum: 2 }), 3);
    const oneTwice = venue.head().replace(/(\u2014 witness\.example\/w21 [^\n]*\n)[\s\S]*$/, '$1$1');
    assert.equal(refusedBy(changed({ checkpoint: oneTwice })), 3);
    const text = headText({ origin: ORIGIN, size: 39, root: rootAt(venue.tree, 39) });
    const ofAnother = signNote(headText({ origin: ORIGIN, size: 40, root: rootAt(venue.tree, 40) }), venue.logKey);
    const lines = venue.witnesses.map((witness) => cosignature(text, witness, 1_795_945_900)).join('');
    assert.equal(refusedBy(changed({ checkpoint: ofAnother + lines })), 3);
  });

  test('check 4: another index, size, path, leaf or order of records', () => {
    const file = fileOf(usual);
    const first = must(file.records[0]);
    const withFirst = (change: Partial<typeof first>): string =>
      changed({ records: [{ ...first, ...change }, ...file.records.slice(1)] });
    assert.equal(refusedBy(withFirst({ index: first.index + 1 })), 4);
    assert.equal(refusedBy(withFirst({ index: 40 })), 4);
    assert.equal(refusedBy(withFirst({ path: first.path.slice(1) })), 4);
    assert.equal(refusedBy(withFirst({ path: [...first.path, must(first.path[0])] })), 4);
    const leaf = must(readRecordLeaf(first.leaf));
    for (const wrong of [
      { sequence: leaf.sequence + 1 },
      { epoch: 4 },
      { timeNs: leaf.timeNs - 1n },
      { count: leaf.count + 1 },
    ])
      assert.equal(refusedBy(withFirst({ leaf: recordLeaf({ ...leaf, ...wrong }) })), 4);
    assert.equal(refusedBy(changed({ records: file.records.toReversed(), signed: [] })), 4);
    assert.equal(refusedBy(changed({ records: [first, ...file.records] })), 4);
    assert.equal(refusedBy(changed({ records: [] })), 4);
    assert.equal(refusedBy(changed({ checkpoint: venue.head(39) })), 4, 'a head of another size');
    assert.equal(refusedBy(changed({ checkpoint: venue.head(5) })), 4, 'a head before the record');
  });

  test('check 4: a tree whose indexes do not follow the sequences, or whose time goes back', () => {
    const other = new EvidenceVenue();
    other.append([acceptedRow('mine-1', 44)], START_NS + 5n);
    other.append([...fillRows('mine-1', 44, 7, 10_000)], START_NS + 4n);
    assert.equal(refusedBy(other.evidence(USER, 'mine-1')), 4);
    // The venue drops a record from the tree, and each of the others is under the head.
    const dropping = new EvidenceVenue();
    dropping.append([acceptedRow('mine-1', 44)]);
    dropping.append([]);
    dropping.append([...fillRows('mine-1', 44, 7, 10_000)]);
    const file = fileOf(dropping.evidence(USER, 'mine-1'));
    assert.equal(verdict(evidenceText(file)).kind, 'true');
    const tree = new TreeInMemory();
    for (const { leaf } of file.records) tree.append(leafHash(leaf));
    const checkpoint = signNote(headText({ origin: ORIGIN, size: 2, root: rootAt(tree, 2) }), dropping.logKey);
    const records = file.records.map((record, index) => ({ ...record, index, path: inclusionProof(tree, index, 2) }));
    assert.equal(refusedBy(evidenceText({ ...file, records, checkpoint }), { quorum: 0 }), 4);
  });

  test('check 5: another salt, index, row or record of a row', () => {
    const file = fileOf(usual);
    const record = must(file.records[1]);
    const entry = must(record.entries[0]);
    const withEntry = (change: Partial<typeof entry>): string => {
      const entries = [{ ...entry, ...change }, ...record.entries.slice(1)];
      return changed({ records: file.records.with(1, { ...record, entries }) });
    };
    assert.equal(refusedBy(withEntry({ salt: venue.salts.salt(FIRST + 9, 1) })), 5);
    assert.equal(refusedBy(withEntry({ index: entry.index + 1 })), 5);
    assert.equal(refusedBy(withEntry({ index: 99 })), 5);
    assert.equal(refusedBy(withEntry({ path: entry.path.slice(1) })), 5);
    const text = new TextDecoder().decode(entry.row);
    assert.equal(refusedBy(withEntry({ row: bytesOf(text.replace('"quantity":10000', '"quantity":10001')) })), 5);
    const moved = file.records.with(0, { ...must(file.records[0]), entries: record.entries });
    assert.equal(refusedBy(changed({ records: moved })), 5, 'rows under another record');
    assert.equal(refusedBy(changed({ records: file.records.with(1, { ...record, entries: [] }) })), 5);
    // The venue commits to a row that names another place, or says a thing twice.
    const lies: readonly ((row: string) => string)[] = [
      (row) => row.replace('"sequence":"1000"', '"sequence":"1001"'),
      (row) => row.replace('"index":0', '"index":1'),
      (row) => row.replace(/"time_ns":"\d+"/, '"time_ns":"1"'),
      (row) => row.replace('"v":1', '"v":2'),
      (row) => row.replace('"quantity":25000', '"quantity":25000,"quantity":1'),
    ];
    for (const lie of lies) assert.equal(refusedBy(lyingRow(lie)), 5);
    assert.equal(verdict(lyingRow((row) => row)).kind, 'true');
  });

  test('check 6: rows of other users, public rows, and trades that belong to no fill', () => {
    assert.equal(refusedBy(changed({ claim: { ...fileOf(usual).claim, user: OTHER } })), 6);
    assert.equal(refusedBy(changed({ claim: { ...fileOf(usual).claim, user: USER.toUpperCase() } })), 6);
    const [fill, theirs, ledger, trade] = fillRows('mine-1', 44, 7, 10_000);
    const all = [must(fill), must(theirs), must(ledger)];
    const wrongTrade = (members: Readonly<Record<string, unknown>>): PlannedRow => ({
      ...must(trade),
      members: { ...must(trade).members, ...members },
    });
    for (const wrong of [{ price: 1 }, { quantity: 1 }, { user: USER }])
      assert.equal(refusedBy(dishonest([[acceptedRow('mine-1', 44)], [...all, wrongTrade(wrong)]])), 6);
    assert.equal(refusedBy(dishonest([[acceptedRow('mine-1', 44)], all])), 6, 'a fill without its public trade');
    assert.equal(refusedBy(dishonest([[acceptedRow('mine-1', 44)], [...all, must(trade), must(trade)]])), 6);
    const file = fileOf(usual);
    const record = must(file.records[0]);
    const public0 = { ...record, entries: record.entries.filter(({ index }) => index !== 1) };
    assert.notEqual(verdict(changed({ records: file.records.with(0, public0) })).kind, 'true');
  });

  test('check 7: the signed text is the one of the row, of this order and user, with a valid signature', () => {
    const file = fileOf(usual);
    const [own] = file.signed;
    const signedAs = (change: Partial<NonNullable<typeof own>>): string =>
      changed({ signed: [{ ...must(own), ...change }] });
    assert.equal(refusedBy(signedAs({ text: bytesOf(createText('mine-1').replace('Sell', 'Buy')) })), 7);
    assert.equal(refusedBy(signedAs({ signatures: new Uint8Array(64) })), 7);
    assert.equal(refusedBy(signedAs({ entry: [1, 0] })), 7);
    assert.equal(refusedBy(signedAs({ entry: [9, 0] })), 7);
    assert.equal(refusedBy(changed({ signed: [must(own), must(own)] })), 7);
    assert.equal(refusedBy(changed({ signed: [] })), 7, 'a text is left out');
    const [, theft] = [createText('mine-1', OTHER), createText('mine-3')];
    const of = (text: string, seedByte: number): PlannedRow => {
      const bytes = bytesOf(text);
      const members = {
        ...acceptedRow('mine-1', 44).members,
        ...{ text, text_hash: Buffer.from(sha256(bytes)).toString('hex') },
        signatures: base64Of(ed25519Sign(new Uint8Array(32).fill(seedByte), bytes)),
      };
      return { kind: 'order', user: USER, members };
    };
    assert.equal(refusedBy(dishonest([[of(createText('mine-1', OTHER), 2)]])), 7, 'signed by another user');
    assert.equal(refusedBy(dishonest([[of(createText('mine-1'), 2)]])), 7, "not signed by the user's key");
    assert.equal(refusedBy(dishonest([[of(theft, 1)]])), 7, 'a signature over another order');
    assert.equal(verdict(dishonest([[of(createText('mine-1'), 1)]])).kind, 'true');
    const unsigned = dishonest([[acceptedRow('mine-1', 44)]]);
    const stored = Uint8Array.from([0, ...new Uint8Array(64), 0]);
    const noSignature = { ...fileOf(unsigned), signed: [{ ...must(own), signatures: stored }] };
    assert.equal(refusedBy(evidenceText(noSignature)), 7);
  });

  test('check 8: an order begins once, is filled up to its quantity and ends once; rows of the user are chained', () => {
    const accepted = acceptedRow('mine-1', 44);
    const wrong: readonly (readonly (readonly PlannedRow[])[])[] = [
      [[accepted], [accepted]],
      [[...fillRows('mine-1', 44, 7, 10_000)], [accepted]],
      [[accepted], [endedRow('mine-1', 44)], [endedRow('mine-1', 44)]],
      [[accepted], fillRows('mine-1', 44, 7, 20_000), fillRows('mine-1', 44, 8, 5_001)],
    ];
    for (const records of wrong) assert.equal(refusedBy(dishonest(records)), 8);
    assert.equal(
      verdict(dishonest([[accepted], fillRows('mine-1', 44, 7, 25_000), [endedRow('mine-1', 44)]])).kind,
      'true',
    );
    const forged = (members: Readonly<Record<string, unknown>>): PlannedRow => ({
      ...endedRow('mine-1', 44),
      members: { ...endedRow('mine-1', 44).members, ...members },
    });
    assert.equal(refusedBy(dishonest([[accepted], [forged({ n: 1 })]])), 8, 'a number twice');
    assert.equal(
      refusedBy(dishonest([[accepted], [forged({ previous: '0'.repeat(64) })]])),
      8,
      'another row before it',
    );
  });

  test('check 9: another head of the same log: the same, a continuation with a proof, or a fork', () => {
    const head = (size: number, proofOf: [number, number] | null): VerifyOptions['heads'][number] => ({
      note: venue.head(size),
      proof: proofOf === null ? null : consistencyProof(venue.tree, ...proofOf),
    });
    const ofHeads = (...heads: VerifyOptions['heads']): EvidenceVerdict => verdict(usual, { heads });
    const good = ofHeads(head(40, null), head(25, [25, 40]), head(3, [3, 40]));
    assert.match(good.kind === 'true' ? good.sentence : JSON.stringify(good), /3 other heads agree/);
    const without = ofHeads(head(25, null));
    assert.match(without.kind === 'true' ? without.sentence : '', /1 other heads were not compared/);
    assert.equal(refusedBy(usual, { heads: [head(25, [24, 40])] }), 9);
    const fork = new EvidenceVenue(new Uint8Array(32).fill(1));
    for (let at = 0; at < 40; at += 1) fork.append([{ kind: 'ledger', user: OTHER, members: { amount: String(at) } }]);
    assert.equal(refusedBy(usual, { heads: [{ note: fork.head(40), proof: null }] }), 9);
    assert.equal(refusedBy(usual, { heads: [{ note: fork.head(30), proof: consistencyProof(fork.tree, 30, 40) }] }), 9);
    const unsigned = venue.head(40, noteSigner(ORIGIN, new Uint8Array(32).fill(5)));
    assert.equal(refusedBy(usual, { heads: [{ note: unsigned, proof: null }] }), 9);
  });

  test('EVD-10: an order that is unknown, not under the head yet, or whose records are gone', () => {
    const ask = (orderId: string, size: number): ReturnType<typeof orderEvidence> =>
      orderEvidence(venue.context(size), { user: USER, assetId: '12', orderId, isComplete: false });
    assert.equal(ask('never', 40), 'unknown');
    assert.equal(ask('mine-1', 5), 'later');
    const part = ask('mine-1', 15);
    assert.match(typeof part === 'string' ? part : part.text, /"records":\[/);
    const context = venue.context();
    const gone = { ...context, rows: { ...bound(venue), record: () => null } };
    assert.equal(orderEvidence(gone, { user: USER, assetId: '12', orderId: 'mine-1', isComplete: false }), 'expired');
    const holes = { ...context, rows: { ...bound(venue), userRows: () => [] } };
    assert.equal(orderEvidence(holes, { user: USER, assetId: '12', orderId: 'mine-1', isComplete: true }), 'expired');
  });

  test('base64 is canonical: one text for each piece of bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        const text = base64Of(bytes);
        assert.equal(text, Buffer.from(bytes).toString('base64'));
        assert.deepEqual(readBase64(text), bytes);
      }),
      propertyParameters(),
    );
    for (const wrong of [
      'A',
      'AA',
      'AAA',
      'A===',
      'AB==',
      'AAB=',
      'AA=A',
      'AAAA=',
      'AA-_',
      'AAAA\n',
      '=AAA',
      'AA==AAAA',
    ])
      assert.equal(readBase64(wrong), null, wrong);
  });
});

function bound(of: EvidenceVenue): Pick<EvidenceVenue, 'record' | 'orderRows' | 'userRows'> {
  return {
    record: (sequence) => of.record(sequence),
    orderRows: (user, order) => of.orderRows(user, order),
    userRows: (user, n, last) => of.userRows(user, n, last),
  };
}

/** The evidence of a venue that commits to a row as `lie` makes it. */
function lyingRow(lie: (row: string) => string): string {
  const other = new EvidenceVenue();
  other.appendAs([acceptedRow('mine-1', 44)], lie);
  return other.evidence(USER, 'mine-1');
}
