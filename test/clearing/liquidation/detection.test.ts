// tier: quick
/** Detection finds exactly the accounts that are to be liquidated, and looks at few others (LIQ-01 to LIQ-03). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { hasOracleRound, riskOf } from '../../../src/clearing/account-margin.ts';
import { allAccounts } from '../../../src/clearing/balances.ts';
import type { Judged } from '../../../src/clearing/liquidation/detection.ts';
import { mayEnd } from '../../../src/clearing/liquidation/liquidation-rows.ts';
import { isToBeLiquidated } from '../../../src/clearing/liquidation/rounds.ts';
import type { ClearingState, SubAccountSlot } from '../../../src/clearing/state.ts';
import type { AssetId, UserId } from '../../../src/core/ids.ts';
import { SECOND_NS } from '../../../src/core/units.ts';
import { isAtRisk } from '../../../src/risk/at-risk.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS } from '../../../src/risk/prices.ts';
import { PlainTables, user } from '../../support/clearing-world.ts';
import { MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const EVERYTHING = 1_000_000;

/** Whether each account may be at risk, by its last judgement. */
type AtRisk = Map<SubAccountSlot, boolean>;

/** Judges what is marked. @returns how many accounts were judged. */
function detect(state: ClearingState, world: MarginWorld, atRisk: AtRisk = new Map(), perSlice = EVERYTHING): number {
  let count = 0;
  const { detection } = state;
  const judged: Judged = (account, mayBeAtRisk) => {
    count += 1;
    atRisk.set(account, mayBeAtRisk);
  };
  // Accounts are judged, and leave the lists, while a list is looked through.
  while (detection.hasWork) {
    detection.scan(world.nowNs, perSlice);
    detection.judge(state, world.nowNs, perSlice, judged);
  }
  return count;
}

/** As when the interval has passed. */
function scanAll({ state }: MarginWorld): void {
  for (const risk of state.risks.values()) state.detection.assetChanged(risk);
}

function isDue(state: ClearingState, account: SubAccountSlot, nowNs: MarginWorld['nowNs']): boolean {
  const isToBe = isToBeLiquidated(state, account, nowNs);
  const row = account.liquidation;
  return row === null ? isToBe && hasOracleRound(state, account, nowNs) : !isToBe && mayEnd(row);
}

/** Accounts with a due step, by a walk through all. */
function dueAccounts({ state, nowNs }: MarginWorld): readonly SubAccountSlot[] {
  return [...allAccounts(state)].filter((account) => isDue(state, account, nowNs));
}

function nameOf({ row }: SubAccountSlot): string {
  return `${row.user.slice(0, 2)}/${row.subAccount}`;
}

type Move =
  | {
      readonly kind: 'trade';
      readonly buyer: number;
      readonly seller: number;
      readonly market: number;
      readonly size: number;
      readonly price: number;
    }
  | { readonly kind: 'fund'; readonly user: number; readonly asset: AssetId; readonly amount: number }
  | { readonly kind: 'price'; readonly market: number; readonly price: number }
  | { readonly kind: 'risk'; readonly market: number; readonly factor: number }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'restart' };

const USERS: readonly UserId[] = [ALICE, BOB, CAROL, user('d4'), user('e5')];
const index = fc.nat(USERS.length - 1);
const market = fc.nat(1);
/** Percent of the first price. */
const price = fc.integer({ min: 60, max: 150 });
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant<'trade'>('trade'),
      buyer: index,
      seller: index,
      market,
      size: fc.integer({ min: 1, max: 400 }),
      price,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant<'fund'>('fund'),
      user: index,
      asset: fc.constantFrom(USD, ETH, BTC),
      amount: fc.integer({ min: -300, max: 300 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant<'price'>('price'), market, price }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant<'risk'>('risk'), market, factor: fc.integer({ min: 0, max: 100 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant<'pass'>('pass'), seconds: fc.constantFrom(1, 61, 3_601) }) },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: 'restart' }) },
);

const ASSETS = [ETH, BTC] as const;
const FIRST = [2_000, 50_000] as const;

function play(world: MarginWorld, made: Move): void {
  switch (made.kind) {
    case 'trade': {
      if (made.buyer === made.seller) return;
      const [buyer, seller] = [USERS[made.buyer] ?? ALICE, USERS[made.seller] ?? BOB];
      const at = (FIRST[made.market] ?? 0) * (made.price / 100);
      const quantity = made.market === 0 ? made.size / 100 : made.size / 2_000;
      world.trade({ buyer: { user: buyer }, seller: { user: seller }, price: at, quantity, marketIndex: made.market });
      return;
    }
    case 'fund': {
      const unit = made.asset === USD ? 1 : 1 / (FIRST[made.asset === ETH ? 0 : 1] ?? 1);
      world.fund(USERS[made.user] ?? ALICE, made.asset, (made.amount * unit).toFixed(8), 1);
      return;
    }
    case 'price':
      world.pass(1n);
      world.prices({ [ASSETS[made.market] ?? ETH]: String((FIRST[made.market] ?? 0) * (made.price / 100)) });
      return;
    case 'risk': {
      const body = { collateral_factor: made.factor, liability_factor: made.factor };
      world.put('putRisk', ASSETS[made.market] ?? ETH, body, 'patch');
      return;
    }
    case 'pass':
      world.pass(BigInt(made.seconds) * SECOND_NS);
      scanAll(world);
      return;
    case 'restart':
      world.send({ kind: 'restarted', clean: false });
  }
}

function funded(): MarginWorld {
  const world = MarginWorld.make();
  for (const id of USERS) world.fund(id, USD, '400', 1);
  world.fund(CAROL, ETH, '0.2', 1);
  world.fund(BOB, BTC, '0.01', 1);
  const [alice, bob, carol, dora, emil] = USERS.map((id) => ({ user: id }));
  assert.ok(alice && bob && carol && dora && emil);
  assert.equal(world.trade({ buyer: bob, seller: alice, price: 2000, quantity: 1.5 }), 'confirmed');
  assert.equal(world.trade({ buyer: carol, seller: dora, price: 2000, quantity: 1 }), 'confirmed');
  assert.equal(world.trade({ buyer: emil, seller: carol, price: 50000, quantity: 0.04, marketIndex: 1 }), 'confirmed');
  return world;
}

/** Alice is short 1 ETH at 2000 with 300 USD, Bob long with much. */
function short(): MarginWorld {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '300', 1);
  world.fund(BOB, USD, '100000', 1);
  world.trade({ buyer: { user: BOB }, seller: { user: ALICE }, price: 2000, quantity: 1 });
  world.pass(MARK_STALE_NS + 1n);
  scanAll(world);
  detect(world.state, world);
  assert.equal(world.state.detection.candidates.size, 0);
  return world;
}

function candidates(world: MarginWorld): readonly string[] {
  detect(world.state, world);
  return [...world.state.detection.candidates].map(nameOf);
}

suite('detection', () => {
  let foundInAll = 0;

  test('LIQ-02: it finds what a walk through all accounts finds, after whatever moves, and no account at risk is missed', () => {
    fc.assert(
      fc.property(
        fc.array(move, { minLength: 10, maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 5 }),
        (moves, perSlice) => {
          const world = funded();
          const atRisk: AtRisk = new Map();
          for (const made of moves) {
            play(world, made);
            const { state, nowNs } = world;
            detect(state, world, atRisk, perSlice);
            const found = [...state.detection.candidates];
            foundInAll += found.length;
            assert.deepEqual(found.map(nameOf).sort(), dueAccounts(world).map(nameOf).sort(), JSON.stringify(made));
            for (const account of allAccounts(state)) {
              if (isAtRisk(riskOf(account, nowNs))) assert.equal(atRisk.get(account), true, nameOf(account));
            }
            for (const account of found) {
              state.detection.takeCandidate(account);
              const { user: id, subAccount } = account.row;
              world.send({ kind: 'liquidationStep', user: id, subAccount });
              world.send({ kind: 'accountCleared', request: world.request(), user: id, subAccount, through: [] });
            }
            detect(state, world, atRisk, perSlice);
          }
        },
      ),
      propertyParameters(120),
    );
    assert.ok(foundInAll > 50, `${foundInAll} were found`);
  });

  test('LIQ-02: a state that was loaded from its rows finds the same', () => {
    const world = short();
    world.prices({ [ETH]: '2200' });
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const loaded = tables.load();
    detect(loaded, world);
    assert.deepEqual([...loaded.detection.candidates].map(nameOf), ['a1/1']);
  });

  const causes: readonly (readonly [string, (world: MarginWorld) => void])[] = [
    ['an oracle price', (world) => world.prices({ [ETH]: '2200' })],
    [
      'a mark',
      (world) => {
        world.prices({ [ETH]: '2200' });
        world.fund(CAROL, ETH, '1');
        world.fund(BOB, USD, '9000');
        // The lower of the two prices counts for a borrow: with a mark of 2000 it is none, and its age makes it one.
        const parties = {
          buyer: { user: BOB, subAccount: 0, isSpot: true },
          seller: { user: CAROL, subAccount: 0, isSpot: true },
        };
        for (let trade = 0; trade < 4; trade += 1) world.trade({ ...parties, price: 2000, quantity: 0.1 });
        assert.deepEqual(candidates(world), []);
        world.trade({ ...parties, price: 2195, quantity: 0.1 });
      },
    ],
    [
      'a fill, and its fee',
      (world) => {
        world.prices({ [ETH]: '2190' });
        assert.deepEqual(candidates(world), []);
        world.trade({ buyer: { user: ALICE, reduceOnly: true }, seller: { user: BOB }, price: 2305, quantity: 0.1 });
      },
    ],
    [
      'a balance that leaves',
      (world) => {
        world.fund(ALICE, BTC, '0.002', 1);
        world.prices({ [ETH]: '2250' });
        assert.deepEqual(candidates(world), []);
        world.fund(ALICE, BTC, '-0.001', 1);
      },
    ],
    [
      'a risk row',
      (world) => {
        world.put('putRisk', ETH, { liability_factor: 80 }, 'patch');
      },
    ],
    [
      'a breaker',
      (world) => {
        world.fund(ALICE, BTC, '0.00001', 1);
        world.fund(BOB, ETH, '1', 1);
        // Credits of a broken asset count nothing, and less than a dollar of it shields nothing.
        world.fund(ALICE, USD, '-170.4', 1);
        assert.deepEqual(candidates(world), []);
        world.pass(ORACLE_STALE_NS);
        world.prices({ [ETH]: '2029' });
        world.pass(1n);
        world.prices({ [ETH]: '2029' });
        scanAll(world);
      },
    ],
  ];
  for (const [cause, move] of causes) {
    test(`LIQ-02: ${cause} makes an account a candidate`, () => {
      const world = short();
      move(world);
      assert.deepEqual(candidates(world), ['a1/1']);
    });
  }

  test('LIQ-01: a price that goes stale by time alone is found by the scan of the interval', () => {
    const world = short();
    world.fund(CAROL, ETH, '1');
    world.fund(BOB, USD, '9000');
    const parties = {
      buyer: { user: BOB, subAccount: 0, isSpot: true },
      seller: { user: CAROL, subAccount: 0, isSpot: true },
    };
    for (let trade = 0; trade < 4; trade += 1) world.trade({ ...parties, price: 2000, quantity: 0.1 });
    world.prices({ [ETH]: '2200' });
    assert.deepEqual(candidates(world), [], 'the mark is lower');
    world.pass(MARK_STALE_NS + 1n);
    assert.deepEqual(candidates(world), [], 'nothing was touched');
    scanAll(world);
    assert.deepEqual(candidates(world), ['a1/1']);
  });

  test('LIQ-02: an account that moves in a list while it is looked through is not passed over', () => {
    const world = short();
    const dora = user('d4');
    for (const id of [CAROL, dora]) world.fund(id, USD, '300', 1);
    world.fund(CAROL, ETH, '0.1', 1);
    const bob = { user: BOB };
    assert.equal(
      world.trade({ buyer: bob, seller: { user: CAROL }, price: 50000, quantity: 0.001, marketIndex: 1 }),
      'confirmed',
    );
    detect(world.state, world);
    assert.equal(world.trade({ buyer: bob, seller: { user: dora }, price: 2000, quantity: 1 }), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    scanAll(world);
    detect(world.state, world);
    world.prices({ [ETH]: '2200' });
    const { detection } = world.state;
    // Of Alice, Bob, Carol and Dora the first three; then Carol has no ETH any more, and Dora has her place.
    assert.equal(detection.scan(world.nowNs, 3), false);
    world.fund(CAROL, ETH, '-0.1', 1);
    detection.judge(world.state, world.nowNs, 100, () => undefined);
    assert.ok(candidates(world).includes('d4/1'), candidates(world).join());
  });

  test('LIQ-02: a price that concerns no threshold has no account judged', () => {
    const world = short();
    world.prices({ [ETH]: '2001' });
    assert.equal(detect(world.state, world), 0);
    world.prices({ [ETH]: '1500' });
    assert.equal(detect(world.state, world), 0, 'a fall is good for a short, and the long has much');
    world.pass(1n);
    // 200 USD above maintenance; at risk from 2163 on, where it is a tenth of the requirement.
    world.prices({ [ETH]: '2160' });
    assert.equal(detect(world.state, world), 0, 'not at risk yet');
    world.pass(1n);
    world.prices({ [ETH]: '2170' });
    assert.equal(detect(world.state, world), 1, 'at risk');
    world.pass(1n);
    world.prices({ [ETH]: '2171' });
    assert.equal(detect(world.state, world), 0, 'its next threshold is the maintenance');
    world.prices({ [BTC]: '1' });
    assert.equal(detect(world.state, world), 0, 'the accounts hold none');
  });

  test('BKS-02: what the backstop holds is not liquidated', () => {
    const world = short();
    world.send({
      kind: 'putConfig',
      request: world.request(),
      config: 'settings',
      key: '',
      method: 'patch',
      body: { backstop_account: ALICE },
    });
    world.prices({ [ETH]: '2200' });
    assert.deepEqual(candidates(world), []);
    world.send({ kind: 'liquidationStep', user: ALICE, subAccount: 1 });
    assert.equal(world.state.liquidations.size, 0);
  });
});
