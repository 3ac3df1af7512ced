// tier: quick
/** Rows of older layouts as today's, one by one; whole directories are upgraded in test/tools/upgrade.test.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ORDER, TRADE } from '../../src/clearing/row-layouts.ts';
import { NO_MATCH, type OrderRow, type Tables } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { TIF, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { Amount18, Sequence, TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { ByteWriter } from '../../src/schema/byte-writer.ts';
import { OrderRecord15 } from '../../src/schema/generated/messages.ts';
import { copyTables } from '../../src/storage/copy-map.ts';
import { openWriter, type StorageReader, type StorageWriter, type Write } from '../../src/storage/environment.ts';
import { checkFrame, decodeFrame, encodeFrame, LAYOUT_VERSION } from '../../src/storage/frames.ts';
import { keyWriter, TABLE } from '../../src/storage/key-layout.ts';
import { ORDER_OF_ID, OrderFinder } from '../../src/storage/order-blocks.ts';
import { decodeRow, encodeRow } from '../../src/storage/row-tables.ts';
import {
  decodeRun,
  decodeTradeRun,
  encodeRun,
  FINISHED_RUNS,
  TRADE_RUNS,
  type TradeEntry,
  UNRANKED,
} from '../../src/storage/runs.ts';
import { SignedTexts } from '../../src/storage/signed-texts.ts';
import { SumWatch } from '../../src/storage/table-sums.ts';
import { ORDER_10, UPGRADE_STEPS } from '../../src/storage/upgrade-steps.ts';
import { plainRows } from '../support/plain-rows.ts';
import { propertyParameters } from '../support/property.ts';
import { ROW_ARBITRARIES } from '../support/row-arbitraries.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Taker, time and amount at the end of a market's row. */
const MATCH_BYTES = 8 + 8 + 16;

/** Lots in force and dropped, which versions before 7 did not have, stand between these and the rest. */
const HEAD_BYTES = 58 + 61 + 8;
const NEW_BYTES = 16;

type Order10 = ReturnType<typeof ORDER_10.read>;

/** An order as versions 7 to 10 had it, with an id of a parent or none. */
const order10: fc.Arbitrary<Order10> = fc
  .tuple(ROW_ARBITRARIES.order, fc.constantFrom('', 'parent-1', 'p:'), fc.boolean(), fc.nat(40))
  .map(
    ([
      { parentIdAt: _, parentIdBytes: __, quoteSet: ___, protectionGroup: ____, ...row },
      parentId,
      isSigned,
      length,
    ]) => {
      // What the node made has no text, and no parent.
      const text = isSigned || parentId !== '' ? `{"parent":"${parentId}","${'x'.repeat(length)}"}` : '';
      const creationNs = (row.creationNs >> 1n) as TimestampNs;
      const lifeEndNs = creationNs + ORDER_LIFE_NS;
      const goodUntilNs = row.goodUntilNs >> 1n;
      const expiryNs = (goodUntilNs !== 0n && goodUntilNs < lifeEndNs ? goodUntilNs : lifeEndNs) as TimestampNs;
      const signatures = new Uint8Array(text === '' ? 0 : 64).fill(length);
      return { ...row, creationNs, goodUntilNs: goodUntilNs as TimestampNs, expiryNs, parentId, text, signatures };
    },
  );

function bytesOf6(key: Uint8Array, row: Order10): Uint8Array {
  const body = checkFrame(key, encodeFrame10(key, row));
  const ids = Buffer.byteLength(row.orderId) + Buffer.byteLength(row.parentId);
  const head = HEAD_BYTES + ids;
  const to = new ByteWriter(64);
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(1, head));
    to.raw(body.subarray(head + NEW_BYTES));
  });
}

function encodeFrame10(key: Uint8Array, row: Order10): Uint8Array {
  const to = new ByteWriter(64);
  return encodeFrame(to, key, () => ORDER_10.write(to, row));
}

suite('steps of an upgrade', () => {
  test('6 to 7: all that was enabled of a released child is in force, and what one that never rests left is dropped (AMB-29)', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 6),
      'version 6 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    fc.assert(
      fc.property(order10, (row) => {
        const key = keyWriter().ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence);
        const value = must(convert({ key, value: bytesOf6(key, row) }, new ByteWriter(64)), 'an order stays');
        const isChild = row.parentSequence !== 0 && row.triggerState === TRIGGER_STATE.live;
        const neverRests = row.tif === TIF.ioc || row.tif === TIF.fok;
        assert.deepEqual(decodeFrame(key, value, ORDER_10.read), {
          ...row,
          activatedQuantity: isChild ? row.enabledQuantity : 0,
          droppedQuantity: isChild && neverRests ? Math.max(0, row.enabledQuantity - row.filledQuantity) : 0,
        });
      }),
      propertyParameters(200),
    );
  });

  test('7 to 8: a trade is a block of one, and a tally has nothing pending; everything else stays as it is', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 7),
      'version 7 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    fc.assert(
      fc.property(ROW_ARBITRARIES.trade, ROW_ARBITRARIES.tally, ROW_ARBITRARIES.balance, (trade, tally, balance) => {
        const tradeKey = keyWriter().ofMarket(TABLE.tradeBlock, trade.marketIndex, trade.tradeId);
        const value = must(
          convert({ key: tradeKey, value: encodeFrame(to, tradeKey, () => TRADE.write(to, trade)) }, to),
          'it stays',
        );
        assert.deepEqual(decodeRun({ key: tradeKey, value }, TRADE.read), [trade]);

        const tallyKey = keyWriter().named(TABLE.tally, tally.name);
        const nothing = { ...tally, pending: new Uint8Array(0) };
        const today = encodeRow(to, 'tally', tallyKey, nothing);
        const body = checkFrame(tallyKey, today);
        const before = encodeFrame(to, tallyKey, () => to.raw(body.subarray(1, body.length - 4)));
        assert.deepEqual(convert({ key: tallyKey, value: before }, to), today);

        const key = keyWriter().balance(balance.user, balance.subAccount, balance.asset);
        const other = encodeRow(to, 'balance', key, balance);
        assert.equal(convert({ key, value: other }, to), other);
      }),
      propertyParameters(50),
    );
  });

  test('8 to 9: a finished order is a block of one, and what leads to it follows; everything else stays as it is', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 8),
      'version 8 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    fc.assert(
      fc.property(order10, ROW_ARBITRARIES.balance, (row, balance) => {
        const { user, marketIndex, orderSequence, orderId, timestampNs, subAccount } = row;
        const key = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, orderSequence);
        const value = must(convert({ key, value: encodeFrame10(key, row) }, to), 'it stays');
        assert.deepEqual(ordersOf(key, value), [row]);

        const idKey = keyWriter().finishedById(user, marketIndex, orderId);
        const found = must(
          convert({ key: idKey, value: encodeFrame(to, idKey, () => to.safe(orderSequence)) }, to),
          'it stays',
        );
        assert.deepEqual(decodeFrame(idKey, found, ORDER_OF_ID.read), { orderSequence, block: orderSequence });

        const entry = { timestampNs, orderId, orderSequence, subAccount };
        const runKey = keyWriter().run(TABLE.finishedRun, { user, marketIndex }, (at) => at.u64(timestampNs));
        const run = encodeRun(to, runKey, [entry], (at) => {
          at.u64(timestampNs);
          at.text(orderId);
          at.safe(orderSequence);
          at.u8(subAccount);
        });
        const converted = must(convert({ key: runKey, value: run }, to), 'it stays');
        assert.deepEqual(decodeRun({ key: runKey, value: converted }, FINISHED_RUNS.read), [
          { ...entry, block: orderSequence },
        ]);

        const other = keyWriter().balance(balance.user, balance.subAccount, balance.asset);
        const unchanged = encodeRow(to, 'balance', other, balance);
        assert.equal(convert({ key: other, value: unchanged }, to), unchanged);
      }),
      propertyParameters(50),
    );
  });

  test('9 to 10: a market has the default minimum notional (AMB-124)', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 9),
      'version 9 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    fc.assert(
      fc.property(ROW_ARBITRARIES.market, (row) => {
        const key = keyWriter().numbered(TABLE.market, row.definition.marketIndex);
        const today = encodeRow(to, 'market', key, row);
        // As in version 13: without what of a match is counted.
        const body = checkFrame(key, today).subarray(1, -MATCH_BYTES);
        const minimum = Buffer.byteLength(row.definition.minimumNotional.toString()) + 4;
        const before = encodeFrame(to, key, () => {
          to.raw(body.subarray(0, body.length - 16 - minimum));
          to.raw(body.subarray(body.length - 16));
        });
        const converted = checkFrame(key, must(convert({ key, value: before }, to), 'it stays')).subarray(1);
        const definition = { ...row.definition, minimumNotional: (10n ** 16n) as Amount18 };
        const expected = checkFrame(key, encodeRow(to, 'market', key, { ...row, definition })).subarray(
          1,
          -MATCH_BYTES,
        );
        assert.deepEqual(Buffer.from(converted), Buffer.from(expected));
      }),
      propertyParameters(50),
    );
  });

  test('9 to 10: a run of trades has how many of its list are older, unless the list is out of order', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 9),
      'version 9 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    const side = (tradeId: number): TradeEntry => {
      return { matchedNs: BigInt(tradeId) as TimestampNs, tradeId: tradeId as Sequence, side: 0, subAccount: 3 };
    };
    const olderOf = (user: UserId, marketIndex: number, ids: readonly number[]): number => {
      const items = ids.map(side);
      const key = keyWriter().run(TABLE.tradeRun, { user, marketIndex }, (at) => at.u64(must(items[0], '').matchedNs));
      const value = must(convert({ key, value: encodeRun(to, key, items, TRADE_RUNS.write) }, to), 'it stays');
      const converted = decodeTradeRun({ key, value });
      assert.deepEqual(converted.items, items);
      return converted.older;
    };
    const [one, two] = ['1'.repeat(64) as UserId, '2'.repeat(64) as UserId];
    assert.deepEqual([olderOf(one, 0, [3, 2, 1]), olderOf(one, 0, [4]), olderOf(one, 0, [9, 7])], [0, 3, 4]);
    assert.deepEqual([olderOf(one, 1, [5]), olderOf(two, 1, [6, 5]), olderOf(two, 1, [7])], [0, 0, 2]);
    assert.deepEqual([olderOf(two, 2, [6]), olderOf(two, 2, [8, 5]), olderOf(two, 2, [9])], [0, UNRANKED, UNRANKED]);
  });

  test('10 to 11: an order is its record, live or finished, and its signed text is found under its sequence', async () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 10),
      'version 10 is upgraded',
    );
    const orders = fc.uniqueArray(
      fc
        .tuple(order10, fc.nat(1), fc.integer({ min: 1, max: 60 }), fc.nat(2))
        .map(([row, marketIndex, orderSequence, block]) => {
          return { block, row: { ...row, marketIndex, orderSequence: orderSequence as Sequence } };
        }),
      { selector: ({ row }) => `${row.marketIndex}/${row.orderSequence}`, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(orders, async (found) => {
        const source = openWriter(temporaryDirectory(), { version: 10 });
        const between = openWriter(temporaryDirectory(), { version: 11 });
        const target = openWriter(temporaryDirectory());
        // Those of block 0 live; the others lie in two blocks of each market, among each other.
        const live = found.flatMap(({ block, row }) => (block === 0 ? [{ ...row, end: 0 as const }] : []));
        const finished = found.flatMap(({ block, row }) => (block === 0 ? [] : [{ block, row }]));
        const places = writeVersion10(source, live, finished);
        const added = step.added?.(source) ?? [];
        copyTables(source, between, { convert: step.convert(source), added, progress: () => undefined });
        // Records have been longer since version 16.
        const longer = must(
          UPGRADE_STEPS.find(({ from }) => from === 15),
          'version 15 is upgraded',
        );
        copyTables(between, target, { convert: longer.convert(between), progress: () => undefined });

        const rows = plainRows(target).map(({ row }) => row as OrderRow);
        const byKey = (a: OrderRow, b: OrderRow) => a.marketIndex - b.marketIndex || a.orderSequence - b.orderSequence;
        assert.deepEqual(rows, live.map(recordOf).sort(byKey));
        const finder = new OrderFinder(target);
        for (const [row, place] of places) {
          assert.deepEqual(finder.find(row.marketIndex, place, row.orderSequence), recordOf(row));
        }
        const texts = new SignedTexts(target);
        for (const { marketIndex, orderSequence, text, signatures } of found.map(({ row }) => row)) {
          const expected = text === '' ? null : { text, signatures };
          assert.deepEqual(texts.find(marketIndex, orderSequence), expected);
        }
        await Promise.all([source.close(), between.close(), target.close()]);
      }),
      propertyParameters(30),
    );
  });

  test('11 to 12: no oracle price came since the start, and the backstop has been given nothing', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 11),
      'version 11 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    /** What a row of version 12 was before: without the bytes at its end. */
    const convertedOf = <T extends 'price' | 'totals'>(table: T, row: Tables[T], added: number): Tables[T] => {
      const key = keyWriter().named(TABLE[table], row.asset);
      const body = checkFrame(key, encodeRow(to, table, key, row)).subarray(1);
      const before = encodeFrame(to, key, () => to.raw(body.subarray(0, body.length - added)));
      return decodeRow(table, key, must(convert({ key, value: before }, to), 'it stays'));
    };
    fc.assert(
      fc.property(ROW_ARBITRARIES.price, ROW_ARBITRARIES.totals, (price, totals) => {
        assert.deepEqual(convertedOf('price', price, 1), { ...price, isSinceStart: false });
        const creditsBytes = Buffer.byteLength(totals.backstopCredits.toString()) + 4;
        assert.deepEqual(convertedOf('totals', totals, creditsBytes), { ...totals, backstopCredits: 0n });
      }),
      propertyParameters(50),
    );
  });

  test('13 to 14: nothing of a rebalancing pool is unpaid, and net deposits begin with what the vaults have (MON-03)', async () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 13),
      'version 13 is upgraded',
    );
    const [source, target] = [openWriter(temporaryDirectory(), { version: 13 }), openWriter(temporaryDirectory())];
    const [to, keys] = [new ByteWriter(64), keyWriter()];
    const writes: Write[] = [];
    const write = (key: Uint8Array, value: Uint8Array): void => {
      writes.push({ key: Uint8Array.from(key), value: Uint8Array.from(value) });
    };
    const pool = { asset: '0' as AssetId, amount: -5n as Amount18, unpaid: 0n as Amount18 };
    const poolKey = Uint8Array.from(keys.named(TABLE.rebalancingPool, pool.asset));
    const body = checkFrame(poolKey, encodeRow(to, 'rebalancingPool', poolKey, pool)).subarray(1);
    // The last member has 16 bytes.
    const into = new ByteWriter(64);
    write(
      poolKey,
      encodeFrame(into, poolKey, () => into.raw(body.subarray(0, body.length - 16))),
    );
    const [one, two] = ['000000000000000001', '000000000000000002'] as [ChainId, ChainId];
    const tokens = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32));
    const definition = {
      maxDeposits: null,
      max1hrDeposits: null,
      minWeight: 0n as Amount18,
      minFirstDepositBaseUnits: 0n,
    };
    const dropped = { [`${tokens[2]}@${two}`]: 20 };
    const asset: Tables['asset'] = {
      assetId: '0' as AssetId,
      symbol: 'USD',
      settingsJson: JSON.stringify({ max_adl: null, rebalancing: { mode: 'fixed' }, dropped }),
      tokens: [
        { token: tokens[0] as string, chainId: two, decimals: 6, ...definition },
        { token: tokens[1] as string, chainId: one, decimals: 18, ...definition },
      ] as Tables['asset']['tokens'],
      riskJson: null,
    };
    const assetKey = keys.named(TABLE.asset, asset.assetId);
    write(assetKey, encodeRow(to, 'asset', assetKey, asset));
    for (const [at, chainId, baseUnits] of [
      [0, two, 7_000_000n],
      [1, one, 3n * 10n ** 18n],
      [2, two, 250n],
    ] as const) {
      const row = { token: tokens[at] as string, chainId, asset: asset.assetId, baseUnits };
      const key = keys.onChain(TABLE.vaultToken, chainId, row.token);
      write(key, encodeRow(to, 'vaultToken', key, row));
    }
    writes.sort((a, b) => Buffer.compare(a.key, b.key));
    source.commit(writes, new SumWatch(source, to));
    const added = step.added?.(source) ?? [];
    copyTables(source, target, { convert: step.convert(source), added, progress: () => undefined });
    const rows = plainRows(target);
    assert.deepEqual(
      rows.filter(({ table }) => table === 'rebalancingPool').map(({ row }) => row),
      [pool],
    );
    // Of the token with 20 decimals, 2.5 raw units of 18 are 2.
    assert.deepEqual(
      rows.filter(({ table }) => table === 'netDeposit').map(({ row }) => row),
      [
        { chainId: one, asset: '0', amount: 3n * 10n ** 18n },
        { chainId: two, asset: '0', amount: 7n * 10n ** 18n + 2n },
      ],
    );
    await Promise.all([source.close(), target.close()]);
  });

  test('13 to 14: no match of a market was counted for a mark (MON-06)', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 13),
      'version 13 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    fc.assert(
      fc.property(ROW_ARBITRARIES.market, (market) => {
        const key = keyWriter().numbered(TABLE.market, market.definition.marketIndex);
        const body = checkFrame(key, encodeRow(to, 'market', key, market)).subarray(1);
        const before = encodeFrame(to, key, () => to.raw(body.subarray(0, body.length - MATCH_BYTES)));
        const converted = decodeRow('market', key, must(convert({ key, value: before }, to), 'it stays'));
        assert.deepEqual(converted, { ...market, match: NO_MATCH });
      }),
      propertyParameters(50),
    );
  });

  test('14 to 15: of no user a dead-man timer was kept', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 14),
      'version 14 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    fc.assert(
      fc.property(ROW_ARBITRARIES.user, (user) => {
        const key = keyWriter().user(TABLE.user, user.user);
        const body = checkFrame(key, encodeRow(to, 'user', key, user)).subarray(1);
        const before = encodeFrame(to, key, () => to.raw(body.subarray(0, body.length - 1)));
        const converted = decodeRow('user', key, must(convert({ key, value: before }, to), 'it stays'));
        assert.deepEqual(converted, { ...user, hasTimer: false });
      }),
      propertyParameters(50),
    );
  });

  test('15 to 16: no order of before is an entry of a quote set or a member of a protection group (QTE-06)', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 15),
      'version 15 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    const to = new ByteWriter(64);
    const before = (row: OrderRow): Uint8Array => {
      const v = viewsOf(new ArrayBuffer(OrderRecord15.bytes), 0, OrderRecord15.bytes);
      OrderRecord15.write(v, 0, row);
      return v.u8;
    };
    fc.assert(
      fc.property(fc.array(ROW_ARBITRARIES.order, { minLength: 1, maxLength: 3 }), (rows) => {
        const [first] = rows as [OrderRow, ...OrderRow[]];
        const key = keyWriter().ofMarket(TABLE.openOrder, first.marketIndex, first.orderSequence);
        const value = encodeFrame(to, key, () => to.raw(before(first)));
        const after = (row: OrderRow): OrderRow => ({ ...row, quoteSet: 0, protectionGroup: 0 });
        assert.deepEqual(decodeRow('order', key, must(convert({ key, value }, to), 'it stays')), after(first));

        const blockKey = keyWriter().ofMarket(TABLE.orderBlock, first.marketIndex, first.orderSequence);
        const block = encodeRun(to, blockKey, rows, (into, row) => into.raw(before(row)));
        const converted = must(convert({ key: blockKey, value: block }, to), 'it stays');
        assert.deepEqual(decodeRun({ key: blockKey, value: converted }, ORDER.read), rows.map(after));
      }),
      propertyParameters(100),
    );
  });

  test('10 to 11: an order whose record would say something else is refused', () => {
    const [step] = UPGRADE_STEPS.filter(({ from }) => from === 10);
    const [row] = fc.sample(order10, { ...propertyParameters(1), seed: 7 });
    assert.ok(step !== undefined && row !== undefined);
    const key = keyWriter().ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence);
    for (const wrong of [
      { expiryNs: (row.expiryNs + 1n) as TimestampNs },
      { parentId: 'another', text: 'says nothing of it' },
      { flags: 0x1_0000 },
    ]) {
      const value = encodeFrame10(key, { ...row, ...wrong });
      const convert = step.convert({} as StorageReader);
      assert.throws(() => convert({ key, value }, new ByteWriter(64)), /InvariantError.*has a record/);
    }
  });
});

function ordersOf(key: Uint8Array, value: Uint8Array): readonly Order10[] {
  return decodeRun({ key, value }, (from) => {
    assert.equal(from.u8(), LAYOUT_VERSION);
    return ORDER_10.read(from);
  });
}

function recordOf({ text, expiryNs: _, signatures: __, parentId, ...row }: Order10): OrderRow {
  const parentIdAt = parentId === '' ? 0 : text.indexOf(parentId);
  return { ...row, parentIdAt, parentIdBytes: parentId.length, quoteSet: 0, protectionGroup: 0 };
}

/** @returns the place of the block of each finished order. */
function writeVersion10(
  source: StorageWriter,
  live: readonly Order10[],
  finished: readonly { readonly block: number; readonly row: Order10 }[],
): Map<Order10, Sequence> {
  const keys = keyWriter();
  const to = new ByteWriter(64);
  const writes: Write[] = live.map((row) => {
    const key = keys.ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence);
    return { key, value: encodeFrame10(key, row) };
  });
  const blocks = new Map<string, Order10[]>();
  for (const { block, row } of finished) {
    const name = `${row.marketIndex}/${block}`;
    blocks.set(name, [...(blocks.get(name) ?? []), row]);
  }
  const places = new Map<Order10, Sequence>();
  for (const rows of blocks.values()) {
    rows.sort((a, b) => a.orderSequence - b.orderSequence);
    const first = must(rows[0], 'a block holds an order');
    const key = keys.ofMarket(TABLE.orderBlock, first.marketIndex, first.orderSequence);
    const value = encodeRun(to, key, rows, (into, row) => {
      into.u8(LAYOUT_VERSION);
      ORDER_10.write(into, row);
    });
    writes.push({ key, value });
    for (const row of rows) places.set(row, first.orderSequence);
  }
  source.commit(writes, new SumWatch(source, to));
  return places;
}
