// tier: quick
/**
 * The backstop under random trades, prices, pauses, starts and reloads. After every command the ledger adds up
 * (ClearingWorld); here: each step that is due leads on, no row rests below its initial margin, and the rows of a checkpoint
 * are all that a decision reads.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { marginSumsOf } from '../../../src/clearing/account-margin.ts';
import { applyBatch } from '../../../src/clearing/clearing.ts';
import { accountOfRow, capitalOf, liveRows } from '../../../src/clearing/liquidation/backstop-capital.ts';
import { holdingsOf, isPriced, isUpdated } from '../../../src/clearing/liquidation/backstop-holdings.ts';
import { OutcomeRecorder } from '../../../src/clearing/outcomes.ts';
import type { BackstopRow } from '../../../src/clearing/rows.ts';
import type { ClearingState } from '../../../src/clearing/state.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { must } from '../../../src/core/assert.ts';
import { isBelowInitialMargin } from '../../../src/risk/liquidation.ts';
import { BACKSTOP, BackstopWorld, MAKER } from '../../support/backstop-world.ts';
import { effectsOf, PlainTables, user } from '../../support/clearing-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

import { propertyParameters, storyOf } from '../../support/property.ts';
import { rowsOf } from '../../support/row-mirror.ts';

const PARAMETERS = propertyParameters(40);
const USERS = [ALICE, BOB, CAROL, user('d4'), user('e5')];
const START: Readonly<Record<string, number>> = { [ETH]: 2000, [BTC]: 50_000 };
const MILLISECOND = 1_000_000n;

class Story {
  readonly world: BackstopWorld = BackstopWorld.withBackstop();
  readonly tables: PlainTables = new PlainTables();
  readonly prices: Record<string, number> = { ...START };
  /** Counted over all runs: a property that nothing happened in shows nothing. */
  readonly seen: Record<string, number>;
  twin: ClearingState | null = null;
  journaled = 0;

  constructor(seen: Record<string, number>) {
    this.seen = seen;
    this.world.fund(MAKER, USD, '100000000', 1);
    this.world.fund(MAKER, ETH, '1000', 1);
    for (const [at, of] of USERS.entries()) {
      this.world.fund(of, USD, '3000', 1);
      if (at % 2 === 0) this.world.fund(of, at === 0 ? BTC : ETH, '0.123456789', 1);
      const [buyer, seller] = at % 2 === 0 ? [of, MAKER] : [MAKER, of];
      const quantity = 8 + at;
      this.world.open({ buyer: { user: buyer }, seller: { user: seller }, price: 2000, quantity });
    }
  }

  count(what: string, by = 1): void {
    this.seen[what] = (this.seen[what] ?? 0) + by;
  }

  row(pick: number): BackstopRow | undefined {
    const rows = liveRows(this.world.state);
    return rows[pick % Math.max(rows.length, 1)];
  }
}

type Step = (story: Story, pick: number) => void;

function trade({ world, prices }: Story, pick: number): void {
  const of = must(USERS[pick % USERS.length], 'a user');
  const asset = pick % 3 === 0 ? BTC : ETH;
  const price = Math.round((prices[asset] ?? 1) * (1 + ((pick % 21) - 10) / 1_000));
  const quantity = asset === BTC ? (1 + (pick % 9)) / 20 : 1 + (pick % 10);
  const [buyer, seller] = pick % 2 === 0 ? [of, MAKER] : [MAKER, of];
  const marketIndex = asset === ETH ? 0 : 1;
  world.trade({ buyer: { user: buyer }, seller: { user: seller }, price, quantity, marketIndex });
}

function move({ world, prices }: Story, pick: number): void {
  const asset = pick % 3 === 0 ? BTC : ETH;
  const factor = 1 + ((pick % 41) - 20) / 100;
  prices[asset] = Math.max(1, Math.round((prices[asset] ?? 1) * factor));
  world.prices({ [asset]: String(prices[asset]) });
}

/** The first user from a random one on that is below maintenance, with all prices there. */
function takeOverOne(story: Story, pick: number): void {
  const { world } = story;
  const of = USERS.map((_, at) => must(USERS[(pick + at) % USERS.length], 'a user')).find((one) => {
    const account = must(world.state.users.get(one)?.subAccounts.get(1), 'every user has account 1');
    const holdings = holdingsOf(account);
    const isKnown = isPriced(holdings, world.nowNs) && isUpdated(world.state, holdings, world.nowNs);
    return isKnown && world.figures(one).isLiquidatable;
  });
  if (of === undefined) return;
  world.takenOver(of);
  world.fund(of, USD, '3000', 1);
  story.twin = null;
  story.count('taken over');
}

function stepOne(story: Story, pick: number): void {
  const { world } = story;
  const row = story.row(pick);
  if (row === undefined) return;
  const isDue = world.isDue(row.index);
  const before = isDue ? '' : stateHash(world.state);
  const effects = world.step(row.index);
  if (!isDue) {
    assert.deepEqual(effects, []);
    assert.equal(stateHash(world.state), before, 'a step that is not due changes nothing');
  }
  story.count('clips', effectsOf(effects, 'nodeOrder').length);
  const after = world.row(row.index);
  if (after.state === 'closed') story.count('closed');
  if (after.posted > row.posted) story.count('posted');
  if (
    isDue &&
    effects.length > 0 &&
    effects.every(({ kind }) => kind === 'positionChanged' || kind === 'marketRiskChanged')
  ) {
    story.count('netted');
  }
}

function answerClip(story: Story, pick: number): void {
  const { world } = story;
  const row = story.row(pick);
  const account = row === undefined ? undefined : accountOfRow(world.state, row);
  if (row === undefined || row.order === null || account === undefined) return;
  const { subAccount } = account.row;
  const order = {
    kind: 'nodeOrder',
    user: BACKSTOP,
    subAccount,
    ...row.order,
    isLiquidation: false,
    timeNs: world.nowNs,
  } as const;
  // Without a price the other side may not trade.
  if (pick % 3 === 0 || !isPriced(holdingsOf(account), world.nowNs)) world.endClip(order);
  else if (pick % 7 === 0) {
    world.send({
      kind: 'nodeOrderRefused',
      request: world.request(),
      user: BACKSTOP,
      subAccount,
      orderId: order.orderId,
      isFinal: true,
    });
  } else {
    const isFilled = effectsOf(world.tryClip(order), 'fillConfirmed').length === 1;
    story.count(isFilled ? 'filled' : 'refused');
  }
}

function giveIds(story: Story, pick: number): void {
  const { world } = story;
  const row = story.row(pick);
  if (row === undefined || row.adlMarket === null) return;
  story.count('deleveraged', effectsOf(world.reserve(row.adlMarket, 1 + (pick % 3)), 'deleveraged').length);
}

/** A state that is loaded from a checkpoint decides as the one that wrote it. */
function reload(story: Story): void {
  const { world, tables } = story;
  compare(story);
  tables.checkpoint(world.state);
  story.twin = tables.load();
  story.journaled = world.journal.length;
  assert.equal(stateHash(story.twin), stateHash(world.state));
  story.count('reloaded');
}

function compare({ world, twin, journaled }: Story): void {
  if (twin === null) return;
  const recorder = new OutcomeRecorder();
  twin.outcomes = recorder;
  for (const [at, batch] of world.journal.slice(journaled).entries()) {
    applyBatch(twin, batch, []);
    const recorded = must(world.rowLog.outcomes[journaled + at], 'the rows of every batch are read');
    assert.deepEqual(rowsOf(recorder.bytes), rowsOf(recorded), 'the same batches give the same rows (EXP-00)');
  }
  twin.outcomes = null;
  assert.equal(stateHash(twin), stateHash(world.state), 'the same batches give the same state');
}

function restart({ world, prices }: Story): void {
  world.send({ kind: 'restarted', clean: false });
  for (const row of liveRows(world.state)) assert.deepEqual([row.order, row.adlMarket], [null, null]);
  world.prices({ [ETH]: String(prices[ETH]) });
}

const STEPS: readonly Step[] = [
  trade,
  trade,
  move,
  move,
  move,
  ({ world }, pick) => world.pass(BigInt(pick % 1_500) * MILLISECOND),
  ({ world }, pick) => world.pass(BigInt(pick % 400 === 0 ? 3_700 : pick % 70) * 1_000n * MILLISECOND),
  takeOverOne,
  takeOverOne,
  stepOne,
  stepOne,
  stepOne,
  stepOne,
  answerClip,
  answerClip,
  giveIds,
  giveIds,
  ({ world }, pick) =>
    world.put('putAsset', pick % 3 === 0 ? BTC : ETH, { max_adl: pick % 4 === 0 ? null : String(pick % 7) }, 'patch'),
  reload,
  ({ world, prices }) => world.prices({ [ETH]: String(prices[ETH]), [BTC]: String(prices[BTC]) }),
  (story, pick) => (pick % 5 === 0 ? restart(story) : undefined),
];

/** Steps until nothing is due, with all orders and requests answered: then no row is below its initial margin. */
function settle(story: Story): void {
  const { world, prices } = story;
  for (let healing = 0; healing < 4; healing += 1) {
    world.prices({ [ETH]: String(prices[ETH]), [BTC]: String(prices[BTC]) });
  }
  for (let rounds = 0; ; rounds += 1) {
    assert.ok(rounds < 2_000, 'each step that is due leads on');
    const rows = liveRows(world.state);
    for (const [at, row] of rows.entries()) {
      if (row.order !== null) answerClip(story, 3 * rows.length * rows.length + at);
      if (row.adlMarket !== null) world.reserve(row.adlMarket, 8);
    }
    const due = liveRows(world.state).filter(({ index }) => world.isDue(index));
    for (const { index } of due) if (world.row(index).state !== 'closed') world.step(index);
    const isAnswered = liveRows(world.state).every(({ order, adlMarket }) => order === null && adlMarket === null);
    if (due.length === 0 && isAnswered) break;
  }
  for (const row of liveRows(world.state)) {
    const account = must(accountOfRow(world.state, row), 'a row has its account');
    const holdings = holdingsOf(account);
    assert.ok(isUpdated(world.state, holdings, world.nowNs) && isPriced(holdings, world.nowNs));
    assert.equal(isBelowInitialMargin(marginSumsOf(account, world.nowNs)), false);
    assert.equal(row.state, 'working');
  }
}

/** What is anyone's, and what the backstop has given, in USD: nothing comes from nowhere. */
function checkCapital({ world }: Story): void {
  const totals = must(world.state.totals.get(USD), 'USD has totals');
  assert.ok(totals.backstopCredits <= 0n);
  assert.ok(capitalOf(world.state) >= totals.backstopCredits);
}

suite('the backstop under random commands', () => {
  test('BKS-03 to BKS-07, ADL-04 to ADL-06, AMB-116: no row rests below its margin, and rows hold all of it', (t) => {
    const seen: Record<string, number> = {};
    fc.assert(
      fc.property(storyOf(STEPS, [20, 120]), (steps) => {
        const story = new Story(seen);
        for (const [at, pick] of steps) {
          must(STEPS[at], 'a step')(story, pick);
          checkCapital(story);
        }
        compare(story);
        settle(story);
        checkCapital(story);
      }),
      PARAMETERS,
    );
    t.diagnostic(JSON.stringify(seen));
    for (const what of ['taken over', 'clips', 'filled', 'netted', 'deleveraged', 'posted', 'closed', 'reloaded']) {
      assert.ok((seen[what] ?? 0) > 0, `${what}: ${JSON.stringify(seen)}`);
    }
  });
});
