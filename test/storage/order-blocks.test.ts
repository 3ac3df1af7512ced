// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow, RowWrite } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import type { PastOrder } from '../../src/gateway/orders/history/order-history.ts';
import type { Entry } from '../../src/storage/environment.ts';
import { keyWriter, TABLE, type Table } from '../../src/storage/key-layout.ts';
import { OrderFinder } from '../../src/storage/order-blocks.ts';
import { SignedTexts } from '../../src/storage/signed-texts.ts';
import { CheckpointStore, order, signedText, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

/** Orders end in any order, some long after they came: sequences of several checkpoints lie among each other. */
const lives = fc.array(
  fc.record({
    checkpoint: fc.nat(5),
    marketIndex: fc.nat(1),
    user: fc.integer({ min: 1, max: 3 }),
    textBytes: fc.constantFrom(0, 100, 1_900, 5_000),
  }),
  { maxLength: 80 },
);

type Life = typeof lives extends fc.Arbitrary<readonly (infer T)[]> ? T : never;

/** An order without a text is one that the node made. */
function rowOf({ marketIndex, user, textBytes }: Life, sequence: number): OrderRow {
  const orderId = `${'i'.repeat(sequence % 36)}-${sequence}` as OrderId;
  const parent = textBytes === 100 ? { parentSequence: 1 as Sequence, parentIdAt: 9, parentIdBytes: 3 } : {};
  return order(sequence, { marketIndex, user: userOf(user), orderId, ...parent });
}

function textOf({ marketIndex, textBytes }: Life, sequence: number): readonly RowWrite[] {
  const row = signedText(sequence, { marketIndex, text: `${sequence % 10}`.repeat(textBytes) });
  return textBytes === 0 ? [] : [{ table: 'signedText', row }];
}

/** As history shows it. */
function pastOf(row: OrderRow): PastOrder {
  const parentId = `${row.orderSequence % 10}`.repeat(row.parentIdBytes) as OrderId | '';
  return { ...row, parentId };
}

function blocksOf(store: CheckpointStore, table: Table = TABLE.orderBlock): readonly Entry[] {
  const keys = keyWriter();
  return store.writer.range({ from: keys.table(table), to: keys.table(table + 1), limit: 1_000 });
}

const finished = (rows: readonly OrderRow[]) => rows.map((row) => ({ table: 'order', row }) as const);

suite('blocks of finished orders', () => {
  test('whenever orders ended and went, each that is kept is found by its id and listed once, and no other is (PAG-02, AMB-17)', async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(90), async (all, keptFrom) => {
        const store = new CheckpointStore();
        const rows = all.map((life, at) => ({ checkpoint: life.checkpoint, row: rowOf(life, at + 1) }));
        const texts = all.map((life, at) => textOf(life, at + 1));
        for (let checkpoint = 0; checkpoint < 6; checkpoint += 1) {
          const ended = finished(rows.filter((one) => one.checkpoint === checkpoint).map(({ row }) => row));
          // All orders were admitted before the first checkpoint, the later half of them before the second.
          const [half, end] = [Math.floor(texts.length / 2), texts.length];
          const admitted = checkpoint < 2 ? texts.slice(checkpoint * half, checkpoint === 0 ? half : end).flat() : [];
          store.checkpoint([...ended, ...[...admitted].reverse()]);
        }
        for (const beforeNs of [0n, BigInt(keptFrom)] as TimestampNs[]) {
          store.checkpoint([], { forgetBeforeNs: beforeNs });
          const listed = [1, 2, 3].flatMap((user) => {
            return store.history.finishedOrders({ user: userOf(user), marketIndex: null, skip: 0, limit: 100 }).rows;
          });
          const kept = rows.map(({ row }) => row).filter((row) => row.lastUpdateNs >= beforeNs);
          assert.deepEqual(
            [...listed].sort((a, b) => a.orderSequence - b.orderSequence),
            kept.map(pastOf),
          );
          const found = new SignedTexts(store.writer);
          for (const [at, { row }] of rows.entries()) {
            const [text] = kept.includes(row) ? (texts[at] ?? []) : [];
            const signed = found.find(row.marketIndex, row.orderSequence);
            if (text?.table !== 'signedText') assert.equal(signed, null, 'it goes with its order');
            else assert.deepEqual(signed, { text: text.row.text, signatures: text.row.signatures });
          }
          for (const { row } of rows) {
            const isKept = kept.includes(row);
            const { user, marketIndex, orderId, orderSequence } = row;
            assert.deepEqual(store.history.finishedOrder(user, marketIndex, orderId), isKept ? pastOf(row) : null);
            assert.equal(store.history.isFinished(user, marketIndex, orderId, orderSequence), isKept);
            const later = (orderSequence + 1) as Sequence;
            assert.equal(store.history.isFinished(user, marketIndex, orderId, later), false, 'it lives');
          }
        }
        store.checkpoint([], { forgetBeforeNs: 1_000n as TimestampNs });
        assert.deepEqual(blocksOf(store), [], 'a block of which nothing is left goes');
        assert.deepEqual(blocksOf(store, TABLE.signedText), []);
        await store.close();
      }),
      propertyParameters(15),
    );
  });

  test('a block fills a page', async () => {
    const store = new CheckpointStore();
    const rows = Array.from({ length: 50 }, (_, index) => order(index + 1));
    const texts = Array.from({ length: 50 }, (_, index) => signedText(index + 1, { text: 'x'.repeat(350) }));
    const long = signedText(51, { text: 'x'.repeat(9_000) });
    store.checkpoint([...finished(rows), ...[...texts, long].map((row) => ({ table: 'signedText', row }) as const)]);
    for (const [table, count, last] of [
      [TABLE.orderBlock, 4, 3],
      [TABLE.signedText, 7, 5],
    ] as const) {
      const blocks = blocksOf(store, table);
      assert.equal(blocks.length, count);
      for (const { value } of blocks.slice(0, last)) assert.ok(value.length <= 4_072 && value.length > 3_500);
    }
    await store.close();
  });

  test('a signed text is written once, and after those before it', async () => {
    const store = new CheckpointStore();
    const text = (sequence: number) => ({ table: 'signedText', row: signedText(sequence) }) as const;
    store.checkpoint([text(5), text(3)]);
    for (const late of [5, 4])
      assert.throws(() => store.checkpoint([text(late)]), /signed text of order \d is written once/);
    assert.throws(() => store.checkpoint([text(6), text(6)]), /order 6 is written once/);
    store.checkpoint([text(6)]);
    const texts = new SignedTexts(store.writer);
    const found = [3, 4, 5, 6, 7].map((sequence) => texts.find(0, sequence as Sequence)?.text ?? null);
    assert.deepEqual(found, ['{"order":3}', null, '{"order":5}', '{"order":6}', null]);
    assert.equal(texts.find(1, 5 as Sequence), null);
    await store.close();
  });

  test('in whatever order orders are read, each is found, and a block in the place of another is not taken for it', async () => {
    const store = new CheckpointStore();
    const rows = Array.from({ length: 80 * 13 }, (_, index) => order(index + 1));
    store.checkpoint(finished(rows));
    const blocks = blocksOf(store);
    assert.equal(blocks.length, 80, 'more than are kept');
    const finder = new OrderFinder(store.writer);
    const find = (place: number, sequence: number): OrderRow | null =>
      finder.find(0, place as Sequence, sequence as Sequence);
    const last = rows.length;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: last }), { minLength: 50, maxLength: 300 }), (sequences) => {
        for (const sequence of sequences) {
          const place = sequence - ((sequence - 1) % 13);
          assert.deepEqual(find(place, sequence), rows[sequence - 1]);
          assert.equal(find(place, sequence + 13), null, 'it is in another block');
        }
      }),
      propertyParameters(5),
    );
    const [first, second] = blocks;
    assert.ok(first !== undefined && second !== undefined);
    store.writer.commit([{ key: first.key, value: second.value }]);
    const asked = { user: userOf(1), marketIndex: null, skip: 0, limit: last };
    assert.throws(() => store.history.finishedOrders(asked), { name: 'InvariantError', message: /is damaged/ });
    await store.close();
  });

  test('a flipped bit anywhere in a block is found before an order is read from it, or forgotten with it', async () => {
    const store = new CheckpointStore();
    store.checkpoint(finished([order(1), order(2), order(3)]));
    const [block] = blocksOf(store);
    assert.ok(block !== undefined);
    fc.assert(
      fc.property(fc.nat(block.value.length * 8 - 1), (bit) => {
        const value = Uint8Array.from(block.value);
        value[bit >> 3] = (value[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        store.writer.commit([{ key: block.key, value }]);
        const damaged = { name: 'InvariantError', message: /is damaged/ };
        assert.throws(() => new OrderFinder(store.writer).find(0, 1 as Sequence, 2 as Sequence), damaged);
        assert.throws(() => store.checkpoint([], { forgetBeforeNs: 2n as TimestampNs }), damaged);
      }),
      propertyParameters(20),
    );
    store.writer.commit([{ key: block.key, value: null }]);
    const asked = { user: userOf(1), marketIndex: null, skip: 0, limit: 9 };
    assert.throws(() => store.history.finishedOrders(asked), { name: 'InvariantError', message: /is missing/ });
    await store.close();
  });
});
