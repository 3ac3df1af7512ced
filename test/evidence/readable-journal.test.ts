// tier: quick
/** `ringbook export journal`: records as JSON for readers, and their ranges. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { BatchBuffer, decodeBatch } from '../../src/clearing/journal-batch.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { journalBounds, readJournal } from '../../src/storage/journal.ts';
import type { JournalRecord } from '../../src/storage/journal-record.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { isoTime, parseIsoTime } from '../../src/tools/iso-time.ts';
import { type JournalRange, readableJournal, readableRecord } from '../../src/tools/readable-journal.ts';
import { live } from '../support/lived-data.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Readable {
  readonly sequence: number;
  readonly time: string;
  readonly time_ns: string;
  readonly hash: string;
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
  readonly verdicts: readonly Readonly<Record<string, unknown>>[];
}

const EVERYTHING: JournalRange = { from: null, to: null };

async function printed(directory: string, range: JournalRange): Promise<readonly Readable[]> {
  const lines = await withReader(directory, (reader) => [...readableJournal(reader, range)]);
  return lines.map((line) => JSON.parse(line) as Readable);
}

/** A record of these inputs, as the journal has it. */
function recordOf(add: (batch: BatchBuffer) => void): JournalRecord {
  const batch = new BatchBuffer();
  add(batch);
  const timeNs = 1_795_945_286_123_456_789n as TimestampNs;
  const payload = new Uint8Array(batch.seal(timeNs, [{ marketIndex: 0, order: 3 as Sequence, valid: true }]));
  return { sequence: 7 as Sequence, timeNs, epoch: 2, payload, hash: new Uint8Array(32).fill(0xab) };
}

suite('EXP-05 a readable journal', () => {
  const data = temporaryDirectory();
  let all: readonly Readable[] = [];

  before(async () => {
    const durability = new LmdbDurability(data, { mapBytes: 1 << 28 });
    live(durability, 5, 250);
    await durability.close();
    all = await printed(data, EVERYTHING);
  });

  test('EXP-05 every record is one line, with its inputs and verdicts in order', async () => {
    await withReader(data, (reader) => {
      const records = [...readJournal(reader, 1 as Sequence)];
      assert.equal(all.length, records.length);
      assert.equal(all.length, journalBounds(reader).lastSequence);
      for (const [index, { sequence, timeNs, payload }] of records.entries()) {
        const line = all[index];
        const batch = decodeBatch(payload);
        assert.ok(line !== undefined);
        assert.deepEqual([line.sequence, line.time_ns, line.time], [sequence, `${timeNs}`, isoTime(timeNs)]);
        assert.deepEqual(
          line.inputs.map(({ kind }) => kind),
          batch.inputs.map(({ kind }) => kind),
        );
        assert.deepEqual(
          line.verdicts.map(({ order, valid }) => [order, valid]),
          batch.verdicts.map(({ order, valid }) => [order, valid]),
        );
      }
    });
    const kinds = new Set(all.flatMap(({ inputs }) => inputs.map(({ kind }) => kind)));
    for (const kind of ['created', 'matched', 'ended', 'setPrices', 'putMarket', 'faucet'])
      assert.ok(kinds.has(kind), `the life has ${kind}: ${[...kinds].join(' ')}`);
  });

  test('EXP-05 orders have words, decimals and the asset of their market', () => {
    const inputs = all.flatMap((record) => record.inputs);
    const created = inputs
      .filter(({ kind }) => kind === 'created')
      .map(({ order }) => order as Record<string, unknown>);
    assert.ok(created.length > 10);
    for (const order of created) {
      assert.match(String(order['side']), /^(?:Buy|Sell)$/);
      assert.match(String(order['tif']), /^(?:gtc|gtd|ioc|fok)$/);
      assert.match(String(order['kind']), /^(?:limit|marketBase|marketQuote)$/);
      assert.equal(typeof order['market'], 'string');
      assert.ok(Array.isArray(order['flags']));
      assert.equal(order['filled_notional'], '0');
    }
    for (const ended of inputs.filter(({ kind }) => kind === 'ended')) assert.match(String(ended['end']), /^[A-Z]\w+$/);
  });

  test('EXP-05 a record with an amount, bytes and an order reads as it is documented', () => {
    const record = recordOf((batch) => {
      batch.addPlain(
        {
          kind: 'faucet',
          request: 4,
          user: 'ab' as never,
          subAccount: 1,
          asset: '2' as never,
          amount: -1_500_000_000_000_000_000n as never,
        },
        5n as TimestampNs,
      );
      batch.addPlain(
        {
          kind: 'addSigner',
          request: 0,
          user: 'ab' as never,
          signer: { scheme: 'P256', key: Uint8Array.of(2, 255) },
          weight: 1,
          sessionDurationNs: 9_007_199_254_740_993n,
          ceNonce: 0,
        },
        5n as TimestampNs,
      );
      batch.addPlain(
        { kind: 'fault', request: 1, fault: { party: 'maker', reason: 5, asset: null, skip: 0, count: 1 } },
        5n as TimestampNs,
      );
    });
    assert.deepEqual(readableRecord(record, new Map([[0, '2']])), {
      sequence: 7,
      time: '2026-11-29T09:41:26.123456789Z',
      time_ns: '1795945286123456789',
      epoch: 2,
      hash: 'ab'.repeat(32),
      inputs: [
        { kind: 'faucet', request: 4, user: 'ab', sub_account: 1, asset: '2', amount: '-1.5' },
        {
          kind: 'addSigner',
          request: 0,
          user: 'ab',
          signer: { scheme: 'P256', key: '02ff' },
          weight: 1,
          session_duration_ns: '9007199254740993',
          ce_nonce: 0,
        },
        {
          kind: 'fault',
          request: 1,
          fault: { party: 'maker', reason: 'InvalidSignature', asset: null, skip: 0, count: 1 },
        },
      ],
      verdicts: [{ market_index: 0, market: '2', order: 3, valid: true }],
    });
  });

  test('EXP-05 a range begins with its first place and ends before its last, by sequence and by time', async () => {
    const times = all.map((record) => BigInt(record.time_ns));
    const last = all.length;
    for (const [from, to] of [
      [1, 2],
      [10, 20],
      [20, 10],
      [last, last + 1],
      [last + 1, last + 9],
      [3, 99_999],
    ] as const) {
      const found = await printed(data, { from: { sequence: from }, to: { sequence: to } });
      assert.deepEqual(
        found,
        all.filter(({ sequence }) => sequence >= from && sequence < to),
        `${from} to ${to}`,
      );
    }
    for (const [first, second] of [
      [0, 1],
      [7, 31],
      [40, 41],
    ] as const) {
      for (const shift of [-1n, 0n, 1n]) {
        const [fromNs, toNs] = [(times[first] ?? 0n) + shift, (times[second] ?? 0n) + shift];
        const found = await printed(data, { from: { timeNs: fromNs }, to: { timeNs: toNs } });
        const expected = all.filter((_, index) => (times[index] ?? 0n) >= fromNs && (times[index] ?? 0n) < toNs);
        assert.deepEqual(found, expected, `${first} to ${second}, ${shift}`);
      }
    }
    assert.deepEqual(await printed(data, { from: { timeNs: 0n }, to: null }), all);
    assert.deepEqual(await printed(data, { from: null, to: { timeNs: 0n } }), []);
  });

  test('EXP-05 what was pruned is refused, with what is left', async () => {
    const pruned = temporaryDirectory();
    const durability = new LmdbDurability(pruned, { mapBytes: 1 << 28 });
    live(durability, 6, 120);
    while (!durability.prune(20 as Sequence, 64));
    await durability.close();
    const left = await printed(pruned, EVERYTHING);
    assert.equal(left[0]?.sequence, 20);
    for (const from of [{ sequence: 19 }, { timeNs: BigInt(left[0]?.time_ns ?? 0) - 1n }]) {
      await assert.rejects(printed(pruned, { from, to: null }), {
        name: 'StorageError',
        message: new RegExp(`^the journal begins with record 20 of ${left[0]?.time}: what was before is pruned`),
      });
    }
    assert.deepEqual(await printed(pruned, { from: { sequence: 20 }, to: null }), left);
    assert.deepEqual(await printed(pruned, { from: { timeNs: BigInt(left[0]?.time_ns ?? 0) }, to: null }), left);
  });

  test('EXP-02 times have nanoseconds, and only days and instants that there are', () => {
    assert.equal(isoTime(0n), '1970-01-01T00:00:00.000000000Z');
    assert.equal(isoTime(1_795_945_286_123_456_789n), '2026-11-29T09:41:26.123456789Z');
    for (const ns of [0n, 1n, 999_999_999n, 951_782_399_999_999_999n, 1_795_945_286_123_456_789n])
      assert.equal(parseIsoTime(isoTime(ns)), ns);
    assert.equal(parseIsoTime('2026-11-29'), 1_795_910_400_000_000_000n);
    assert.equal(parseIsoTime('2026-11-29T09:41Z'), 1_795_945_260_000_000_000n);
    assert.equal(parseIsoTime('2026-11-29T09:41:26.1Z'), 1_795_945_286_100_000_000n);
    for (const text of [
      '2026-02-29',
      '2026-11-31',
      '2026-11-29T24:00Z',
      '2026-11-29T09:41',
      '2026-1-1',
      '',
      '7',
      '1969-12-31',
      '2026-11-29T09:41:60Z',
      '2026-11-29T09:41:26.1234567891Z',
    ])
      assert.equal(parseIsoTime(text), null, text);
  });
});
