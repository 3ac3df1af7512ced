/**
 * What happens next, drawn from a seed and from what the node confirms: flat positions to fold, open ones to close,
 * accounts that exist. Everything is made concrete here, so that a recorded action means the same in a shorter script.
 *
 * Not here: carrying it out (performing.ts).
 */
import type { ProtectionRow } from '../../src/clearing/rows.ts';
import type { ClearingState, PositionSlot } from '../../src/clearing/state.ts';
import { assert, must } from '../../src/core/assert.ts';
import { type AssetId, USD } from '../../src/core/ids.ts';
import { SIDE, TIF, type Tif } from '../../src/core/order-terms.ts';
import { magnitude } from '../../src/risk/position.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import { SeededRandom } from '../support/simulation.ts';
import type {
  Action,
  ActionKind,
  AmendPlan,
  ChangePlan,
  OrderPlan,
  ProtectionPlan,
  QuotesPlan,
  Who,
} from './actions.ts';
import { FundsDrawing } from './drawing-funds.ts';
import { MARKETS, USERS, userAt } from './people.ts';
import type { Script } from './script.ts';

const LIMIT_TIFS: readonly Tif[] = [TIF.gtc, TIF.gtc, TIF.gtc, TIF.gtd, TIF.ioc, TIF.fok];
const FIRST_DOLLARS = 2_000;
const PRICES = 8;
/** One action in so many, while something is liquidated. */
const SECOND_EVERY = 15;
/** Orders that a user may still act on. */
const RECENT = 48;
const LIFE_NS_MAX = 40_000_000;

type Weights = readonly (readonly [ActionKind, number])[];

/** What a history is mostly about. */
export type Topic = Script['topic'];

/** How often each happens, of all of them together. */
const MARKET_WEIGHTS: Weights = [
  ['create', 300],
  ['createBatch', 70],
  ['replace', 90],
  ['replaceBatch', 25],
  ['amend', 40],
  ['cancel', 130],
  ['cancelAll', 12],
  ['cancelBatch', 12],
  ['cancelAllAfter', 4],
  ['hangUp', 4],
  ['transfer', 30],
  ['close', 30],
  ['rename', 4],
  ['login', 3],
  ['logout', 1],
  ['read', 12],
  ['price', 60],
  ['faucet', 40],
  ['deposit', 1],
  ['mine', 1],
  ['withdraw', 1],
  ['cancelWithdrawal', 1],
  ['execute', 1],
  ['patchMarket', 14],
  ['patchRisk', 3],
  ['patchUser', 2],
  ['fault', 4],
  ['hold', 2],
  ['release', 6],
  ['pass', 1],
];

const FUNDS_WEIGHTS: Weights = [
  ['deposit', 60],
  ['mine', 60],
  ['withdraw', 50],
  ['cancelWithdrawal', 12],
  ['execute', 40],
  ['reorg', 12],
  ['provider', 12],
  ['replay', 6],
  ['resume', 16],
  ['tokens', 12],
  ['settle', 24],
  ['executeSettlement', 24],
  ['creditUnclaimed', 6],
  ['pass', 36],
  ['create', 24],
  ['cancel', 8],
  ['transfer', 16],
  ['close', 2],
  ['faucet', 6],
  ['price', 6],
  ['login', 1],
  ['logout', 1],
  ['read', 2],
];

const QUOTE_WEIGHTS: Weights = [
  ...MARKET_WEIGHTS,
  ...([
    ['quotes', 200],
    ['protect', 40],
    ['unprotect', 5],
    ['unfreeze', 30],
  ] as const),
];
const GROUPS = ['g1', 'g2'] as const;

const WEIGHTS: Readonly<Record<Topic, Weights>> = {
  markets: MARKET_WEIGHTS,
  funds: FUNDS_WEIGHTS,
  quotes: QUOTE_WEIGHTS,
};
/** Seconds that pass: among funds checkpoints, delays and the validity of approvals are due by them. */
const PASSES: Readonly<Record<Topic, readonly number[]>> = {
  markets: [1, 6, 6, 61, 301, 3_700, 90_000],
  quotes: [1, 6, 6, 61, 301, 3_700, 90_000],
  funds: [1, 1, 1, 2, 31, 31, 31, 95, 400, 90_000],
};

interface Sent {
  readonly who: Who;
  readonly plan: OrderPlan;
}

/** An account is under liquidation, or the backstop has not sold all that it took over. */
export function isLiquidating({ liquidations, backstopRows }: ClearingState): boolean {
  return liquidations.size > 0 || [...backstopRows.values()].some(({ state }) => state !== 'closed');
}

export class Drawing {
  readonly random: SeededRandom;
  readonly #recent: Sent[] = [];
  #orders = 0;
  #nonce = 0;
  /** An order that races the transfer before it for the same money. */
  #rival: Action | null = null;
  readonly #funds: FundsDrawing;
  readonly #topic: Topic;
  /** Last oracle price of each market, whole USD. */
  readonly #dollars = new Map<AssetId, number>();

  constructor(seed: number, topic: Topic) {
    this.random = new SeededRandom(seed ^ 0x5eed);
    this.#topic = topic;
    this.#funds = new FundsDrawing(this.random);
  }

  draw(node: SimulatedNode): Action {
    const rival = this.#rival;
    if (rival !== null) {
      this.#rival = null;
      return rival;
    }
    // Rounds and clips are a second apart, which hardly goes by without this.
    if (isLiquidating(node.clearing.ledger) && this.#once(SECOND_EVERY)) return { kind: 'pass', seconds: 1 };
    const kind = this.#kind();
    const who = this.random.below(USERS.length);
    switch (kind) {
      case 'create':
        return this.#create(node, who);
      case 'quotes':
        return { kind, who, quotes: this.#quotes(node, who), isControl: this.#once(2) };
      case 'createBatch':
        return { kind, who, orders: this.#batch(node, who), isControl: this.#once(2) };
      case 'replace':
      case 'replaceBatch':
      case 'amend':
      case 'cancel':
        return this.#change(kind, who);
      case 'cancelAll':
        return this.#cancelAll(who);
      case 'protect':
        return { kind, who, market: this.#market(), group: this.#pick(GROUPS), plan: this.#protection() };
      case 'unprotect':
      case 'unfreeze':
        return this.#endOfGroup(node, kind, who);
      case 'cancelBatch':
        return { kind, who, market: this.#someMarket(), ids: this.#ownIds(who) };
      case 'cancelAllAfter':
        return { kind, who, timeoutMs: this.#pick([0, 1, 5, 20]) };
      case 'transfer':
        return this.#transfer(node, who);
      case 'close':
        return this.#close(node, who);
      case 'rename':
        return { kind, who, account: this.#account(node, who), name: this.#pick(['a', 'hedge', '', 'x'.repeat(40)]) };
      case 'read':
        return { kind, who, account: this.#account(node, who), market: this.#market(), lots: this.#quantity() };
      case 'hangUp':
      case 'login':
      case 'logout':
        return { kind, who };
      case 'deposit':
      case 'mine':
      case 'withdraw':
      case 'cancelWithdrawal':
      case 'execute':
      case 'reorg':
      case 'provider':
      case 'replay':
      case 'resume':
      case 'tokens':
      case 'settle':
      case 'executeSettlement':
      case 'creditUnclaimed':
        return this.#funds.draw(kind, node, who);
      default:
        return this.#operator(kind, who);
    }
  }

  /** Now and then of one side, of the members of a group or of the entries of a set alone. */
  #cancelAll(who: Who): Action {
    const market = this.#someMarket();
    const all = { kind: 'cancelAll', who, market, olderNs: this.#once(2) ? null : 5_000_000 } as const;
    if (this.#topic !== 'quotes' || this.#once(3)) return all;
    const side = this.#once(3) ? ({ side: this.#once(2) ? SIDE.buy : SIDE.sell } as const) : {};
    if (this.#once(3)) return { ...all, ...side, group: this.#pick(GROUPS) };
    if (this.#once(3)) return { ...all, olderNs: null, ...side, set: this.#setOf(this.#once(2), this.#market()) };
    return { ...all, ...side };
  }

  /** Mostly a group that there is; null where the user has none, but for one time in ten. */
  #groupOf(node: SimulatedNode, who: Who, market: AssetId): string | null {
    if (this.#once(10)) return this.#pick(GROUPS);
    const own = groupsOf(node).filter((group) => group.who === who && group.market === market);
    return own.length === 0 ? null : this.#pick(own).row.group;
  }

  /** A reset is mostly of a group that has tripped. */
  #endOfGroup(node: SimulatedNode, kind: 'unprotect' | 'unfreeze', who: Who): Action {
    const groups = groupsOf(node).filter(({ row }) => kind === 'unprotect' || row.trip > row.endedTrip);
    if (groups.length === 0 || this.#once(8)) return { kind, who, market: this.#market(), group: this.#pick(GROUPS) };
    const { who: owner, market, row } = this.#pick(groups);
    return { kind, who: owner, market, group: row.group };
  }

  #protection(): ProtectionPlan {
    const maxFills = this.#pick([null, 1, 2, 4]);
    const maxQuantity = this.#pick([null, '0.004', '0.02']);
    const maxNotional = maxFills === null && maxQuantity === null ? this.#pick(['8', '40']) : this.#pick([null, '40']);
    const limits = { maxFills, maxQuantity, maxNotional, minFillNotional: this.#pick(['0', '0', '5', '10']) };
    return { windowMs: this.#pick([10, 1_000, 60_000]), frozenMs: this.#pick([0, 0, 5, 50, 5_000]), ...limits };
  }

  #kind(): ActionKind {
    const weights = WEIGHTS[this.#topic];
    let at = this.random.below(weights.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [kind, weight] of weights) {
      if (at < weight) return kind;
      at -= weight;
    }
    return 'create';
  }

  // ---- what operators and oracles do

  #operator(kind: ActionKind, who: Who): Action {
    switch (kind) {
      case 'faucet': {
        const asset = this.#pick([USD, USD, ...MARKETS]);
        // What is taken back may leave an account below maintenance.
        const amount =
          asset === USD ? this.#pick(['1', '5', '5', '-1', '-4', '-8']) : this.#pick(['0.002', '0.01', '-0.002']);
        return { kind, who, account: this.#once(2) ? 0 : asset === USD ? 1 : 0, asset, amount };
      }
      case 'patchMarket':
        return { kind, asset: this.#market(), body: this.#marketBody() };
      case 'patchRisk':
        return { kind, asset: this.#market(), body: this.#riskBody() };
      case 'patchUser':
        return { kind, who, isMarketMaker: this.#once(2) };
      case 'fault':
        return { kind, party: this.#pick(['maker', 'taker', 'both']), reason: this.#pick([1, 2, 8]), count: 1 };
      case 'hold':
        return { kind, asset: this.#once(2) ? 'all' : this.#market() };
      case 'release':
        return { kind, fills: this.#pick([null, null, 1, 3]) };
      case 'pass':
        return { kind, seconds: this.#pick(PASSES[this.#topic]) };
      default:
        return this.#price();
    }
  }

  /** Mostly near what is traded, now and then far enough to force liquidations or to trip a breaker. */
  #price(): Action {
    const far = this.#pick([1, 1, 1, 1, 40, 40, 150, 300]);
    const dollars = this.#once(60) ? 400 : FIRST_DOLLARS + far * (this.random.below(5) - 2);
    const asset = this.#market();
    this.#dollars.set(asset, dollars);
    return { kind: 'price', asset, price: `${dollars}.${this.random.below(10)}` };
  }

  #marketBody(): object {
    return this.#pick([
      ...Array.from({ length: 12 }, () => ({ status: 'Active' })),
      { status: 'CancelOnly' },
      { taker_fee_rate: 500, maker_fee_rate: -100 },
      { taker_fee_rate: 0, maker_fee_rate: 0 },
      { taker_fee_rate: 3_000, maker_fee_rate: 1_000 },
      { status: 'Halted' },
    ]);
  }

  #riskBody(): object {
    return this.#pick([
      { collateral_factor: 90, liability_factor: 95 },
      { collateral_factor: 60 },
      { max_total_open_interest_notional: '200000000000000000000' },
      { max_total_open_interest_notional: '20000000000000000000' },
      { max_spot_open_interest: '100000000000000000' },
      { max_collateral: '100000000000000000000' },
      { isolated_only: false },
    ]);
  }

  // ---- orders

  #create(node: SimulatedNode, who: Who): Action {
    // Every sixth order is one over a whole position, at a price that others meet.
    const flat = this.#once(6) ? this.#flattening(node) : null;
    if (flat !== null) return { kind: 'create', ...flat, isControl: true };
    const order = this.#order(node, who);
    const tied = this.#once(20) ? ({ isTied: true } as const) : {};
    return { kind: 'create', who, order, isControl: true, ...tied };
  }

  #flattening(node: SimulatedNode): { readonly who: Who; readonly order: OrderPlan } | null {
    const open = positionsOf(node).filter(({ slot }) => slot.legs.base !== 0n);
    if (open.length === 0) return null;
    const { who, account, slot } = this.#pick(open);
    const side = slot.legs.base > 0n ? SIDE.sell : SIDE.buy;
    const quantity = Math.max(10, Number(magnitude(slot.legs.base) / 10n ** 14n));
    const lowest = this.#lowest(slot.asset);
    const wish = { price: side === SIDE.buy ? lowest + 5 * (PRICES - 1) : lowest, quantity };
    const place = { market: slot.asset, side, account, isSpot: false, reduceOnly: this.#once(3) };
    return { who, order: this.#remember(who, { id: this.#newId(), ...place, wish }) };
  }

  /** Orders of one user in any markets, an id twice now and then. */
  #batch(node: SimulatedNode, who: Who): readonly OrderPlan[] {
    const orders = Array.from({ length: 2 + this.random.below(7) }, () => this.#order(node, who));
    return this.#once(8) ? [...orders, this.#pick(orders)] : orders;
  }

  /** Up to four prices of each side around one price; each account has sets of its own, now and then of another. */
  #quotes(node: SimulatedNode, who: Who): QuotesPlan {
    const market = this.#market();
    const isSpot = this.#once(2);
    const account = this.#once(20) ? 2 : isSpot ? 0 : 1;
    const middle = this.#rawPrice(market);
    const side = (sign: number): [number, number][] =>
      Array.from({ length: this.random.below(5) }, (_, at) => [middle + sign * 5 * (at + 1), this.#quantity()]);
    const isOver = this.#once(12);
    return {
      ...{ set: this.#setOf(isSpot, market), market, account, isSpot },
      ...{ bids: isOver ? [] : side(-1), asks: isOver ? [] : side(1) },
      livesNs: this.#once(4) ? this.#lifeNs() : null,
      group: this.#once(3) ? null : this.#groupOf(node, who, market),
      ...(this.#once(40) ? ({ forged: true } as const) : {}),
    };
  }

  /** One of the names that the sets of an account have. */
  #setOf(isSpot: boolean, market: AssetId): string {
    return `${isSpot ? 's' : 'm'}${this.random.below(2)}-${market}`;
  }

  #order(node: SimulatedNode, who: Who): OrderPlan {
    const market = this.#market();
    const side = this.#once(2) ? SIDE.buy : SIDE.sell;
    const account = this.#once(8) ? this.#account(node, who) : this.random.below(2);
    // Now and then a spot order of the margin account, or one that may only reduce.
    const isSpot = account === 0 || this.#once(6);
    const reduceOnly = !isSpot && this.#once(6);
    const place = { market, side, account, isSpot, reduceOnly };
    const wish = this.random.below(10) < 3 ? this.#marketWish(side) : this.#limitWish(market, isSpot);
    const trigger = this.random.below(10);
    const condition =
      trigger < 2
        ? this.#condition(market)
        : trigger < 4
          ? { ...this.#condition(market), ...this.#parentOf(who, place) }
          : {};
    const forged = this.#once(60) ? ({ forged: true } as const) : {};
    const named = this.#topic === 'quotes' && this.#once(2) ? this.#groupOf(node, who, market) : null;
    const group = named === null ? {} : { group: named };
    const more = { livesNs: this.#lifeNs(), ...group, ...forged };
    const plan = { id: this.#newId(), ...place, wish: { ...wish, ...condition }, ...more };
    return this.#remember(who, plan);
  }

  #limitWish(market: AssetId, isSpot: boolean): OrderPlan['wish'] {
    const tif = this.#pick(LIMIT_TIFS);
    const postOnly = (tif === TIF.gtc || tif === TIF.gtd) && this.#once(5);
    // Of margin orders some take most of what the account can bear.
    const quantity = !isSpot && this.#once(3) ? 2 * this.#quantity() : this.#quantity();
    return { price: this.#rawPrice(market), quantity, tif, postOnly };
  }

  #marketWish(side: 0 | 1): OrderPlan['wish'] {
    const fok = this.#once(3);
    const isCapped = this.#once(2);
    if (this.#once(2)) {
      const cap = isCapped && side === SIDE.buy ? { cap: this.#money() } : {};
      return { market: { base: this.#quantity(), ...cap, fok } };
    }
    const cap = isCapped && side === SIDE.sell ? { cap: this.#quantity() } : {};
    return { market: { quote: this.#money(), ...cap, fok } };
  }

  #condition(market: AssetId): { readonly above: number } | { readonly below: number } {
    return this.#once(2) ? { above: this.#rawPrice(market) } : { below: this.#rawPrice(market) };
  }

  /** A recent order of the other side, mostly of the same account. */
  #parentOf(who: Who, { market, side, account }: Omit<OrderPlan, 'id' | 'wish'>): { parent?: string } {
    const own = this.#recent.filter((sent) => sent.who === who && sent.plan.market === market);
    const fits = own.filter(({ plan }) => plan.side !== side && plan.account === account);
    return fits.length === 0 ? {} : { parent: this.#pick(fits).plan.id };
  }

  /** Mostly about one's own order; now and then about another's. */
  #change(kind: 'replace' | 'replaceBatch' | 'amend' | 'cancel', who: Who): Action {
    const isControl = this.#once(2);
    const about = this.#recent.length === 0 ? null : this.#pick(this.#recent);
    const owner = about === null || this.#once(20) ? who : about.who;
    if (kind === 'cancel') {
      const { id, market } = about?.plan ?? { id: 'never', market: this.#market() };
      return { kind, who: owner, id, market, isControl };
    }
    if (kind === 'amend') return { kind, who: owner, amend: this.#amendOf(about?.plan), isControl };
    if (kind === 'replace') return { kind, who: owner, change: this.#changeOf(about?.plan), isControl: true };
    const own = this.#recent.filter((sent) => sent.who === owner).slice(-6);
    return { kind, who: owner, changes: own.map(({ plan }) => this.#changeOf(plan)), isControl };
  }

  #changeOf(plan: OrderPlan | undefined): ChangePlan {
    const { id, market } = plan ?? { id: 'never', market: this.#market() };
    if (this.#once(4)) return this.#completeChangeOf({ id, market }, plan);
    return {
      id,
      market,
      price: this.#once(2) ? null : this.#rawPrice(market),
      quantity: this.#once(2) ? null : this.#quantity(),
      trigger: this.#once(4) ? this.#conditionOf(market) : null,
    };
  }

  #conditionOf(market: AssetId): NonNullable<ChangePlan['trigger']> {
    return { direction: this.#once(2) ? 'PriceAbove' : 'PriceBelow', price: this.#rawPrice(market) };
  }

  /** Mostly with the trigger that the order was created with, if it has one. */
  #completeChangeOf({ id, market }: Pick<OrderPlan, 'id' | 'market'>, plan: OrderPlan | undefined): ChangePlan {
    const { above, below } = plan?.wish ?? {};
    const own =
      above !== undefined
        ? ({ direction: 'PriceAbove', price: above } as const)
        : below !== undefined
          ? ({ direction: 'PriceBelow', price: below } as const)
          : null;
    const figures = { price: this.#rawPrice(market), quantity: this.#quantity() };
    return { id, market, ...figures, trigger: this.#once(4) ? this.#conditionOf(market) : own, isComplete: true };
  }

  /** Mostly below the quantity that the order was created with. */
  #amendOf(plan: OrderPlan | undefined): AmendPlan {
    const { id, market } = plan ?? { id: 'never', market: this.#market() };
    const most = this.#once(4) ? this.#quantity() : (plan?.wish.quantity ?? 2) - 1;
    return { id, market, quantity: 1 + this.random.below(Math.max(1, most)), isFirst: this.#once(2) };
  }

  #ownIds(who: Who): readonly string[] {
    const own = this.#recent.filter((sent) => sent.who === who).slice(-(1 + this.random.below(5)));
    return own.length === 0 ? ['never'] : own.map(({ plan }) => plan.id);
  }

  // ---- accounts

  #transfer(node: SimulatedNode, who: Who): Action {
    return this.#once(3) ? this.#racingTransfer(node, who) : this.#anyTransfer(node, who);
  }

  /** Nearly all that an account owns of an asset, and right after it an order that spends the same (AMB-112). */
  #racingTransfer(node: SimulatedNode, who: Who): Action {
    const accounts = accountsOf(node, who);
    const from = this.#pick(accounts);
    const to = this.#pick(accounts.filter((index) => index !== from));
    const market = this.#market();
    const side = this.#once(2) ? SIDE.buy : SIDE.sell;
    const asset = side === SIDE.buy ? USD : market;
    const balances = node.clearing.ledger.users.get(userAt(who))?.subAccounts.get(from)?.balances;
    const amount = String(1n + ((balances?.get(asset)?.owned ?? 0n) * 99n) / 100n);
    const place = { market, side, account: from, isSpot: true, reduceOnly: false } as const;
    const order = this.#remember(who, {
      id: this.#newId(),
      ...place,
      wish: this.#limitWish(market, true),
      livesNs: this.#lifeNs(),
    });
    this.#rival = { kind: 'create', who, order, isControl: true };
    return { kind: 'transfer', who, from, to, asset, amount, type: null, nonce: this.#newNonce() };
  }

  #anyTransfer(node: SimulatedNode, who: Who): Action {
    const accounts = accountsOf(node, who);
    const isNew = this.#once(12);
    const from = this.#pick(accounts);
    const to = isNew ? accounts.length : this.#pick(accounts);
    const asset = this.#pick([USD, USD, ...MARKETS]);
    const amount = `${1 + this.random.below(4)}${'0'.repeat(this.#pick([15, 16, 17, 18]))}`;
    const type = isNew ? this.#pick(['Spot', 'CrossMargin', 'Isolated'] as const) : null;
    return { kind: 'transfer', who, from, to, asset, amount, type, nonce: this.#newNonce() };
  }

  #close(node: SimulatedNode, who: Who): Action {
    const flat = positionsOf(node).filter(({ slot }) => slot.legs.base === 0n && slot.legs.quote !== 0n);
    const aim = flat.length === 0 ? null : this.#pick(flat);
    const nonce = this.#newNonce();
    if (aim === null) return { kind: 'close', who, account: 1, asset: this.#market(), nonce };
    return { kind: 'close', who: aim.who, account: aim.account, asset: aim.slot.asset, nonce };
  }

  #account(node: SimulatedNode, who: Who): number {
    return this.#pick(accountsOf(node, who));
  }

  // ---- small things

  #remember(who: Who, plan: OrderPlan): OrderPlan {
    this.#recent.push({ who, plan });
    if (this.#recent.length > RECENT) this.#recent.shift();
    return plan;
  }

  #newId(): string {
    this.#orders += 1;
    return `o-${this.#orders}`;
  }

  #newNonce(): string {
    this.#nonce += 1;
    // A nonce that was used is refused.
    return String(this.#once(20) ? Math.max(1, this.#nonce - 3) : this.#nonce);
  }

  #lifeNs(): number {
    return 1 + this.random.below(LIFE_NS_MAX);
  }

  #someMarket(): AssetId | null {
    return this.#once(2) ? null : this.#market();
  }

  #market(): AssetId {
    return this.#pick(MARKETS);
  }

  /** Near the last oracle price: a mark follows the oracle with the trades that come. */
  #rawPrice(market: AssetId): number {
    return this.#lowest(market) + 5 * this.random.below(PRICES);
  }

  #lowest(market: AssetId): number {
    return 100 * (this.#dollars.get(market) ?? FIRST_DOLLARS);
  }

  #quantity(): number {
    return 10 + this.random.below(200);
  }

  /** A quote integer of four decimals that buys some hundredths. */
  #money(): number {
    return 20_000 + this.random.below(400_000);
  }

  #once(of: number): boolean {
    return this.random.below(of) === 0;
  }

  #pick<T>(from: readonly T[]): T {
    assert(from.length > 0, 'there is something to pick from');
    return from[this.random.below(from.length)] as T;
  }
}

/** Protection groups of all users. */
function groupsOf({ clearing }: SimulatedNode): { who: Who; market: AssetId; row: ProtectionRow }[] {
  return [...clearing.ledger.protections.values()].map((row) => ({
    ...{ who: USERS.indexOf(row.user), row },
    market: must(MARKETS[row.marketIndex], 'a group is of a market'),
  }));
}

/** Confirmed positions of all users. */
function positionsOf(node: SimulatedNode): { who: Who; account: number; slot: PositionSlot }[] {
  return USERS.flatMap((user, who) =>
    [...(node.clearing.ledger.users.get(user)?.subAccounts ?? [])].flatMap(([account, { positions }]) =>
      [...positions.values()].map((slot) => ({ who, account, slot })),
    ),
  );
}

function accountsOf(node: SimulatedNode, who: Who): readonly number[] {
  const accounts = [...(node.clearing.ledger.users.get(userAt(who))?.subAccounts.keys() ?? [])];
  return accounts.length === 0 ? [0, 1] : accounts;
}
