// tier: quick
/**
 * What clearing records of a batch, and the rows that become of it. That the rows of every other test of clearing add up is
 * checked by its world (test/support/row-ledger.ts); here: exact rows. Random histories: outcome-properties.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { balanceSlot, setOwned } from '../../src/clearing/balances.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import { OutcomeRecorder } from '../../src/clearing/outcomes.ts';
import { must } from '../../src/core/assert.ts';
import type { ChainId } from '../../src/core/ids.ts';
import { LEDGER_ENTRIES } from '../../src/core/ledger-entries.ts';
import { ORDER_END, ORDER_FLAG, SIDE, TRIGGER } from '../../src/core/order-terms.ts';
import type { Amount18, Sequence } from '../../src/core/units.ts';
import { ClearingWorld, FEES, T0 } from '../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';
import { ASK, quoteSetApplied } from '../support/quote-inputs.ts';
import type { ReadRow } from '../support/row-ledger.ts';
import { rowsOf } from '../support/row-mirror.ts';

function shown(rows: readonly ReadRow[], kind: string): ReadRow[] {
  return rows
    .filter((row) => row['kind'] === kind)
    .map(({ v, sequence, index, time_ns, n, previous, ...rest }) => rest);
}

/** Alice sells ETH that she has to Bob, spot. */
function trading(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, ETH, '10');
  world.fund(BOB, USD, '10000');
  return world;
}

suite('EXP-00, LDG-01 rows of what clearing decides', () => {
  test('EXP-00 an order: accepted with its text, filled, ended', () => {
    const world = trading();
    const maker = world.create({ side: SIDE.sell });
    const [accepted] = shown(world.rowLog.rows, 'order');
    assert.deepEqual(
      { ...accepted, text_hash: String(accepted?.['text_hash']).length },
      {
        kind: 'order',
        user: ALICE,
        event: 'accepted',
        asset_id: ETH,
        order_id: 'order-1',
        order_sequence: maker,
        event_ns: String(world.nowNs),
        sub_account: 0,
        side: 'Sell',
        order_type: 'Limit',
        price: 200_000,
        quantity: 10_000,
        time_in_force: 'GTC',
        is_spot: true,
        max_fee_rate: 1_000,
        creation_ns: String(world.nowNs),
        text_hash: 64,
        text: '{"signer":""}',
        signatures: Buffer.alloc(64, 7).toString('base64'),
      },
    );
    const taker = world.create({ user: BOB, side: SIDE.buy });
    world.match(maker, taker, 10_000);
    const { rows } = world.rowLog;
    assert.deepEqual(
      rows.map((row) => [
        row['kind'],
        row['user'] ?? '',
        row['event'] ?? row['entry'] ?? row['status'] ?? '',
        row['amount'] ?? '',
      ]),
      [
        ['trade', '', '', ''],
        ['fill', ALICE, 'Confirmed', '2000'],
        ['ledger', ALICE, 'trade', '-1'],
        ['ledger', ALICE, 'trade', '2000'],
        ['ledger', ALICE, 'trading_fee', '-0.2'],
        ['fill', BOB, 'Confirmed', '2000'],
        ['ledger', BOB, 'trade', '1'],
        ['ledger', BOB, 'trade', '-2000'],
        ['ledger', BOB, 'trading_fee', '-0.9'],
        ['ledger', FEES, 'fee_income', '1.1'],
        ['order', ALICE, 'ended', ''],
        ['order', BOB, 'ended', ''],
      ],
    );
    assert.deepEqual(shown(rows, 'order')[1], {
      kind: 'order',
      user: BOB,
      event: 'ended',
      asset_id: ETH,
      order_id: 'order-2',
      order_sequence: taker,
      event_ns: String(world.nowNs),
      filled_quantity: 10_000,
      filled_amount: '2000',
      fees: '0.9',
      reason: 'Filled',
    });
    assert.deepEqual(shown(rows, 'fill')[1], {
      kind: 'fill',
      user: BOB,
      status: 'Confirmed',
      asset_id: ETH,
      trade_id: 1,
      order_id: 'order-2',
      order_sequence: taker,
      sub_account: 0,
      side: 'Buy',
      role: 'Taker',
      price: 200_000,
      quantity: 10_000,
      event_ns: String(world.nowNs),
      amount: '2000',
      fee: '0.9',
      is_spot: true,
    });
    assert.deepEqual(shown(rows, 'ledger')[4], {
      kind: 'ledger',
      user: BOB,
      sub_account: 0,
      asset: USD,
      entry: 'trade',
      amount: '-2000',
      balance_after: '8000',
      reference: `${ETH}/1`,
    });
  });

  test('EXP-00 a fill that is rolled back has a row for each side, with its reason, and no ledger row', () => {
    const world = trading();
    const maker = world.create({ side: SIDE.sell });
    const taker = world.create({ user: BOB, side: SIDE.buy });
    world.forged.add(`0/${taker}`);
    world.match(maker, taker, 10_000);
    const { rows } = world.rowLog;
    assert.deepEqual(
      rows.map((row) => [row['kind'], row['user'], row['status'], row['reason']]),
      [
        ['fill', ALICE, 'Rollbacked', 'CounterpartyAtFault'],
        ['fill', BOB, 'Rollbacked', 'InvalidSignature'],
      ],
    );
    world.end(taker, ORDER_END.atFault, 5);
    assert.deepEqual(
      world.rowLog.rows.map((row) => [row['event'], row['reason'], row['fault']]),
      [['ended', 'AtFault', 'InvalidSignature']],
    );
  });

  test('EXP-00 a replace, a cut by the node, a trigger, a restore, a pending cancel, a crossing post-only', () => {
    const world = trading();
    const events: unknown[] = [];
    const note = (): void => {
      for (const row of shown(world.rowLog.rows, 'order'))
        events.push([
          row['event'],
          row['price'] ?? null,
          row['quantity'] ?? null,
          row['trigger'] ?? null,
          row['reason'] ?? null,
        ]);
    };
    const order = world.create({ side: SIDE.sell });
    note();
    const { timestampNs } = must(world.order(order), 'it lives');
    world.nowNs = (world.nowNs + 5n) as typeof world.nowNs;
    world.replace(order, { price: 210_000 as never });
    note();
    world.replace(order, { quantity: 5_000 as never, timestampNs: world.order(order)?.timestampNs ?? timestampNs });
    note();
    world.cancelPending(order);
    note();
    const dormant = world.create({ side: SIDE.sell, triggerKind: TRIGGER.below, triggerPrice: 150_000 });
    note();
    world.triggered(dormant, 10_000);
    note();
    world.activated(dormant, 10_000);
    note();
    world.send({ kind: 'restored', ...world.next(), order: dormant, prioritySequence: 9 as Sequence });
    note();
    world.send({ kind: 'createRefused', ...world.admission({ flags: ORDER_FLAG.isSpot | ORDER_FLAG.postOnly }) });
    note();
    assert.deepEqual(events, [
      ['accepted', 200_000, 10_000, null, null],
      ['replaced', 210_000, 10_000, null, null],
      ['cut', 210_000, 5_000, null, null],
      ['cancel_pending', null, null, null, null],
      ['accepted', 200_000, 10_000, 'below', null],
      ['triggered', null, null, null, null],
      ['activated', null, null, null, null],
      ['restored', null, null, null, null],
      ['refused', 200_000, 10_000, null, 'PostOnlyWouldCross'],
    ]);
  });

  test('EXP-00 a position has its legs at the end of the record, and both legs have ledger rows', () => {
    const world = ClearingWorld.withMarket();
    for (const of of [ALICE, BOB]) world.fund(of, USD, '10000', 1);
    world.send({
      kind: 'setPrices',
      request: world.request(),
      body: { prices: [{ asset_id: ETH, price: '2000', publish_time_ns: world.nowNs }] },
    });
    assert.deepEqual(
      shown(world.rowLog.rows, 'prices').map((row) => [row['asset'], row['price']]),
      [[ETH, '2000']],
    );
    const maker = world.create({ side: SIDE.sell, subAccount: 1, flags: 0 });
    const taker = world.create({ user: BOB, side: SIDE.buy, subAccount: 1, flags: 0 });
    world.match(maker, taker, 5_000);
    const { rows } = world.rowLog;
    assert.deepEqual(
      shown(rows, 'ledger').map((row) => [
        row['user'] === BOB,
        row['asset'],
        row['leg'] ?? null,
        row['entry'],
        row['amount'],
      ]),
      [
        [false, ETH, ETH, 'trade', '-0.5'],
        [false, USD, ETH, 'trade', '1000'],
        [false, USD, ETH, 'trading_fee', '-0.1'],
        [true, ETH, ETH, 'trade', '0.5'],
        [true, USD, ETH, 'trade', '-1000'],
        [true, USD, ETH, 'trading_fee', '-0.45'],
        [false, USD, null, 'fee_income', '0.55'],
      ],
    );
    assert.deepEqual(shown(rows, 'position'), [
      { kind: 'position', user: ALICE, sub_account: 1, asset_id: ETH, base: '-0.5', quote: '999.9', entry: '1000' },
      { kind: 'position', user: BOB, sub_account: 1, asset_id: ETH, base: '0.5', quote: '-1000.45', entry: '1000' },
    ]);
  });

  test('EXP-00 a quote set is one row with its text, and what it did to its entries; their ends are rows of orders', () => {
    const world = trading();
    const revisionNs = world.nowNs as bigint;
    const place = world.next();
    world.send(
      quoteSetApplied(
        { user: ALICE, revisionNs, bids: [], asks: [[200_000, 10_000]], changes: [['created', ASK, 200_000, 10_000]] },
        place,
      ),
    );
    const [row] = shown(world.rowLog.rows, 'quote_set');
    const entry = (place.sequence + 1) as Sequence;
    assert.deepEqual(
      [row?.['event'], row?.['set_id'], row?.['revision_sequence'], row?.['entries'], row?.['post_only']],
      ['applied', 'mm', place.sequence, [['created', 1, 'Sell', 200_000, 10_000, entry]], true],
    );
    assert.equal(world.rowLog.rows.length, 1);
    const taker = world.create({ user: BOB, side: SIDE.buy });
    world.match(entry, taker, 10_000);
    assert.deepEqual(
      shown(world.rowLog.rows, 'order').map((ended) => [ended['order_id'], ended['event'], ended['reason']]),
      [
        ['mm:1', 'ended', 'Filled'],
        ['order-1', 'ended', 'Filled'],
      ],
    );
  });

  test('EXP-00 what an operator configures has no address of a provider in it (LDG-03)', () => {
    const world = new ClearingWorld();
    const chain = '000000000000007a69' as ChainId;
    const value = { kind: 'evm', rpc_urls: ['https://rpc.example/v3/a-secret-key'], name: 'Chain' };
    const change = { config: 'chain' as const, key: chain, value };
    world.rowLog.begin(world.state);
    applyBatch(world.state, { timeNs: T0, inputs: [{ kind: 'putConfig', request: 1, change }], verdicts: [] }, []);
    world.rowLog.check(world.state, T0);
    assert.deepEqual(shown(world.rowLog.rows, 'config'), [
      { kind: 'config', table: 'chain', key: chain, value: { chain_id: chain, kind: 'evm', name: 'Chain' } },
    ]);
  });

  test('LDG-01 the contract names every reason for which a balance changes, with its reference', () => {
    const text = readFileSync('docs/reference/wire-additions.md', 'utf8');
    const from = text.indexOf('`kind` says why the balance changed');
    const rows = text.slice(from, text.indexOf('\n## ', from)).matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm);
    const named = [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
    assert.deepEqual(named.filter((name) => name !== 'kind').sort(), [...LEDGER_ENTRIES].sort());
  });

  test('LDG-01 a balance that changes without a cause is a broken invariant', () => {
    const world = trading();
    const { state } = world;
    const recorder = new OutcomeRecorder();
    state.outcomes = recorder;
    recorder.begin();
    const slot = balanceSlot(state, must(state.users.get(ALICE), 'she is known'), 0, ETH);
    assert.throws(() => setOwned(state, slot, 1n as Amount18), /for a reason/);
  });

  test('LDG-01 a change that no row has is found when the rows are made', () => {
    const world = trading();
    const { state } = world;
    const recorder = new OutcomeRecorder();
    recorder.begin();
    state.outcomes = recorder;
    const slot = balanceSlot(state, must(state.users.get(ALICE), 'she is known'), 0, ETH);
    recorder.balanceMoves(slot);
    slot.owned = 1n as Amount18;
    recorder.close();
    assert.throws(() => rowsOf(recorder.bytes), /has no row/);
  });
});
