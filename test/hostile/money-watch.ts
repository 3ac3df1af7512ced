/**
 * What the attacks on money (money-attacks.ts) are judged by: honest users beside them, and sums that may not grow.
 *
 *   bystanders   a long and a short in the market where marks are made by wash trades: no figure moves by more than the band
 *   the wall     an honest maker of many small orders: none of its fills is taken back
 *   withdrawals  of the honest taker, one after the other, behind requests that cannot be paid: each is paid
 *   sums         what the attackers own, at the oracle's prices, and of the curved asset no more than its vaults hold
 */
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { generateSeed, keyFromSeed, type SigningKey } from '../../src/client/keys.ts';
import { OperatorClient } from '../../src/client/operator.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { type NodeProcess, operator } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { asked, CHAIN, CURVED, OTHER_CHAIN, REDUCED, ROLE, ROLES, USD_TOKEN, WALLED, WASHED } from './money-attacks.ts';

const ONE = 10n ** 18n;
const ORACLE = '100';
/** Of the washed asset. */
const BAND = '0.04';
const HELD = 10n;
/** Of a short in its maintenance requirement, 2 − LF of the risk row that the asset has from market 2. */
const SHORT_WEIGHT = '1.05';
/** Prices at which attackers are valued, in USD; the curved asset is judged by its vaults. */
const WORTH: Readonly<Record<string, bigint>> = { '0': 1n, [WALLED]: 60_000n, [WASHED]: 100n, [REDUCED]: 100n };
const MARGIN = { account: 1, isSpot: false } as const;
const SPOT = { account: 0, isSpot: true } as const;
const WALL = { asks: 40, bids: 20, step: 10, quantity: '0.0002' } as const;
const PRICES_MS = 10_000;
const LOOK_MS = 250;
const PAID_UNITS = 20n;
const TARGET = '66'.repeat(20).padEnd(64, '0');

const FIGURES = ['equity', 'maintenanceSurplus', 'unrealizedPnl'] as const;
type Figure = (typeof FIGURES)[number];

type Grant = readonly [role: number, subAccount: number, assetId: string, amount: string];
const GRANTS: readonly Grant[] = [
  ...[ROLE.washSeller, ROLE.washBuyer].flatMap((role): Grant[] => [
    [role, 0, '0', '1000000'],
    [role, 0, WASHED, '1000'],
    [role, 1, '0', '100000'],
  ]),
  [ROLE.filler, 0, '0', '5000'],
  [ROLE.filler, 0, WALLED, '0.05'],
  [ROLE.filler, 1, '0', '100'],
  [ROLE.replayer, 0, '0', '1000'],
  // Far more than the vault of dev has, so that not even half of a request can be paid.
  [ROLE.blocker, 0, '0', '1000000000'],
  [ROLE.reducer, 1, '0', '10000'],
  [ROLE.reducersPeer, 1, '0', '10000'],
];

export interface MoneyVerdict {
  /** USD at the oracle's prices. */
  readonly attackers: { readonly before: string; readonly after: string };
  /** The most that a figure of a bystander was away from its first value, and what it may be, in USD. */
  readonly moved: Readonly<Record<string, readonly [most: string, allowed: string]>>;
  /** Furthest trades of the washed market from the oracle's price. */
  readonly washedAt: readonly string[];
  readonly wallFills: number;
  readonly wallRollbacks: Readonly<Record<string, number>>;
  /** Honest withdrawals that were paid, and the longest wait. */
  readonly paid: number;
  readonly paidAfterMsMax: number;
  /** Units of the curved asset that the attacker owns, and that the vaults hold. */
  readonly curved: { readonly owned: string; readonly held: string };
  readonly problems: readonly string[];
}

export class MoneyWatch {
  readonly seeds: readonly Uint8Array[] = Array.from({ length: ROLES }, () => generateSeed());
  readonly #node: NodeProcess;
  readonly #washes: boolean;
  readonly #operator: OperatorClient;
  readonly #keys: readonly SigningKey[] = this.seeds.map((seed) => keyFromSeed(seed));
  readonly #wall: RingbookClient;
  readonly #bystanders: readonly RingbookClient[];
  readonly #payee: RingbookClient;
  readonly #first = new Map<string, bigint>();
  readonly #washedAt = new Set<string>();
  readonly #wallRollbacks = new Map<string, number>();
  readonly #problems: string[] = [];
  #wallFills = 0;
  readonly #moved: Record<Figure, bigint> = { equity: 0n, maintenanceSurplus: 0n, unrealizedPnl: 0n };
  #paid = 0;
  #paidAfterMsMax = 0;
  #isStopped = false;
  #before = 0n;
  #under: Promise<unknown> = Promise.resolve();

  /** @param washes whether trades at far prices are among the attacks. */
  constructor(node: NodeProcess, washes: boolean) {
    this.#washes = washes;
    this.#node = node;
    this.#operator = new OperatorClient(node.ops);
    const made = (): RingbookClient =>
      new RingbookClient({ oms: node.oms, mds: node.mds, key: keyFromSeed(generateSeed()) });
    this.#wall = made();
    this.#bystanders = [made(), made()];
    this.#payee = made();
  }

  /** Markets, funds, the positions of the bystanders, and the wall. */
  async prepare(): Promise<void> {
    const risk = await this.#read('/operator/risk-parameters/2');
    for (const assetId of [WASHED, REDUCED]) {
      await this.#operator.putAsset(assetId, `M${assetId}`);
      const { asset_id: _, ...body } = risk;
      await this.#put(`/operator/risk-parameters/${assetId}`, body);
      // Judged by the factors.
      await this.#put(`/operator/assets/${assetId}`, { symbol: `M${assetId}`, mark_band: BAND });
      await this.#operator.putMarket(assetId, {
        ...{ priceDecimals: 2, quantityDecimals: 4, tickSize: '0.01', minOrderSize: '0.001' },
        ...{ makerFeeRate: 0, takerFeeRate: 450 },
      });
    }
    const weights = { [CHAIN]: '0.5', [OTHER_CHAIN]: '0.5' };
    const tokens = Object.entries(CURVED.tokens).map(([chain_id, token]) => {
      return { token, chain_id, decimals: CURVED.decimals };
    });
    const rebalancing = { mode: 'curve', k: '0.0125', target_weights: weights };
    await this.#put(`/operator/assets/${CURVED.assetId}`, { symbol: 'CRV', tokens, rebalancing });
    const delays = { min_delay: 1, max_delay: 1, delay_clamps: [0], delay_values: [0], cap_floor: 50_000 };
    await this.#put('/operator/withdrawal-delay-parameters', delays);
    await this.#prices();
    for (const [role, subAccount, assetId, amount] of GRANTS)
      await this.#grant(this.#keys[role], subAccount, assetId, amount);
    await this.#operator.setMarketMaker(this.#wall.userId, true);
    await this.#grant(this.#wall, 0, '0', '100000');
    await this.#grant(this.#wall, 0, WALLED, '10');
    for (const one of this.#bystanders) await this.#grant(one, 1, '0', '10000');
    for (const one of [this.#wall, this.#payee, ...this.#bystanders]) await one.login();
    await this.#position();
    await this.#build();
    this.#before = await this.#worth();
  }

  /** Looks, withdraws and keeps prices fresh until it is stopped. */
  start(): void {
    this.#under = Promise.all([this.#look(), this.#withdraw(), this.#feed()]);
    this.#under.catch(() => undefined);
  }

  async finish(): Promise<MoneyVerdict> {
    this.#isStopped = true;
    await this.#under;
    await this.#figures();
    await this.#operator.barrier(60_000);
    await this.#reduceOnlyHolds();
    const [curved, after] = [await this.#curved(), await this.#worth()];
    if (after > this.#before) this.#problems.push(`attackers own ${format18(after - this.#before)} USD more`);
    for (const name of FIGURES) {
      const moved = this.#moved[name];
      if (moved > allowedMove(name)) this.#problems.push(`a bystander's ${name} moved by ${format18(moved)} USD`);
    }
    if (this.#washes && ![...this.#washedAt].some((price) => amount(price) !== amount(ORACLE)))
      this.#problems.push('nothing was washed');
    const undone = [...this.#wallRollbacks.values()].reduce((sum, times) => sum + times, 0);
    if (undone > 0) this.#problems.push(`${undone} fills of the wall were taken back`);
    if (this.#paid === 0) this.#problems.push('no honest withdrawal was paid');
    for (const one of [this.#wall, this.#payee, ...this.#bystanders]) one.close();
    this.#operator.close();
    return {
      attackers: { before: format18(this.#before), after: format18(after) },
      moved: Object.fromEntries(
        FIGURES.map((name) => [name, [format18(this.#moved[name]), format18(allowedMove(name))] as const]),
      ),
      washedAt: [...this.#washedAt].sort(),
      wallFills: this.#wallFills,
      wallRollbacks: Object.fromEntries(this.#wallRollbacks),
      paid: this.#paid,
      paidAfterMsMax: Math.round(this.#paidAfterMsMax),
      curved,
      problems: this.#problems,
    };
  }

  // ---- honest users

  /** One is long and the other short, at the oracle's price. */
  async #position(): Promise<void> {
    const [long, short] = this.#bystanders;
    if (long === undefined || short === undefined) throw new Error('two bystanders');
    const common = { assetId: WASHED, price: ORACLE, quantity: `${HELD}`, target: MARGIN } as const;
    await short.create(await short.order({ ...common, side: 'Sell' }));
    await long.create(await long.order({ ...common, side: 'Buy' }));
    await eventually(async () => {
      const positions = await Promise.all([long, short].map((one) => one.margin.positions(WASHED)));
      return positions.every(({ length }) => length === 1);
    });
    await this.#figures();
  }

  async #figures(): Promise<void> {
    for (const one of this.#bystanders) {
      const figures = (await one.margin.figures()).get(1);
      if (figures === undefined) continue;
      if (figures.isLiquidatable || !figures.isSolvent) this.#problems.push('a bystander would be liquidated');
      for (const name of FIGURES) {
        const value = parseDecimal18(figures[name]) ?? 0n;
        const key = `${one.userId} ${name}`;
        const first = this.#first.get(key) ?? value;
        this.#first.set(key, first);
        const moved = value > first ? value - first : first - value;
        this.#moved[name] = moved > this.#moved[name] ? moved : this.#moved[name];
      }
    }
  }

  async #look(): Promise<void> {
    while (!this.#isStopped) {
      await this.#tried(() => this.#figures());
      await this.#tried(async () => {
        for (const { price } of (await this.#bystanders[0]?.publicTrades(WASHED, { limit: 10 })) ?? [])
          this.#washedAt.add(price);
      });
      await aMoment(LOOK_MS);
    }
  }

  /** Each fill is followed by an order like the one that was filled. */
  async #build(): Promise<void> {
    const wall = this.#wall;
    const quote = async (side: 'Buy' | 'Sell', price: string) => {
      const timeInForce = { kind: 'GTC', postOnly: true } as const;
      return wall.signCreate(
        await wall.order({ assetId: WALLED, side, price, quantity: WALL.quantity, target: SPOT, timeInForce }),
      );
    };
    (await wall.userTrades({ resume: true })).listen(
      ({ status, price, isBuyer, rollbackReason }) => {
        if (status === 'Rollbacked') {
          const reason = rollbackReason ?? 'unknown';
          this.#wallRollbacks.set(reason, (this.#wallRollbacks.get(reason) ?? 0) + 1);
        }
        if (status !== 'Confirmed') return;
        this.#wallFills += 1;
        if (!this.#isStopped) void this.#tried(async () => wall.send(await quote(isBuyer ? 'Buy' : 'Sell', price)));
      },
      () => undefined,
    );
    const orders = [
      ...Array.from({ length: WALL.asks }, (_, index) => quote('Sell', `${60_000 + index * WALL.step}`)),
      ...Array.from({ length: WALL.bids }, (_, index) => quote('Buy', `${59_990 - index * WALL.step}`)),
    ];
    const signed = await Promise.all(orders);
    for (let at = 0; at < signed.length; at += 20) await wall.batchCreate(signed.slice(at, at + 20));
  }

  /** A deposit, and a withdrawal of a fifth of it that must be paid, again and again. */
  async #withdraw(): Promise<void> {
    const { userId } = this.#payee;
    const at = `/operator/chains/${CHAIN}`;
    while (!this.#isStopped) {
      const amount_base_units = `${PAID_UNITS * 5_000_000n}`;
      await asked(this.#node.ops, 'POST', `${at}/deposits`, { user: userId, token: USD_TOKEN, amount_base_units });
      const startedMs = performance.now();
      let nonce: number | null = null;
      let refusal = '';
      await eventually(
        async () => {
          try {
            const { withdrawal } = await this.#payee.account.nextNonces(CHAIN);
            const request = { token: USD_TOKEN, chainId: CHAIN, amount18: PAID_UNITS * ONE, target: TARGET };
            await this.#payee.account.withdraw({ ...request, nonce: withdrawal });
            nonce = withdrawal;
          } catch (error) {
            if (!(error instanceof RingbookError)) throw error;
            refusal = error.code;
          }
          await aMoment(LOOK_MS);
          return nonce !== null;
        },
        () => `an honest withdrawal is refused: ${refusal}`,
      );
      await eventually(
        async () => {
          const paid = await asked(this.#node.ops, 'POST', `${at}/withdrawals/execute`, { user: userId, nonce });
          await aMoment(LOOK_MS);
          return paid?.body['status'] === 'mined';
        },
        () => `honest withdrawal ${nonce} is never paid`,
      );
      this.#paid += 1;
      this.#paidAfterMsMax = Math.max(this.#paidAfterMsMax, performance.now() - startedMs);
      await aMoment(LOOK_MS);
    }
  }

  async #feed(): Promise<void> {
    for (let dueMs = 0; !this.#isStopped; ) {
      if (performance.now() > dueMs) {
        await this.#tried(() => this.#prices());
        dueMs = performance.now() + PRICES_MS;
      }
      await aMoment(LOOK_MS);
    }
  }

  async #prices(): Promise<void> {
    for (const assetId of [WASHED, REDUCED]) await this.#operator.setPrice(assetId, ORACLE);
  }

  /** What a busy node refuses is tried again by the caller's next turn. */
  async #tried(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RingbookError)) throw error;
    }
  }

  // ---- sums

  async #worth(): Promise<bigint> {
    let sum = 0n;
    for (const { userId } of this.#keys) {
      for (const { balances, positions } of await this.#accounts(userId)) {
        for (const [asset, { owned, locked }] of Object.entries(balances)) {
          sum += (amount(owned) + amount(locked)) * (WORTH[asset] ?? 0n);
        }
        for (const [asset, { base, quote }] of Object.entries(positions)) {
          sum += amount(base) * (WORTH[asset] ?? 0n) + amount(quote);
        }
      }
    }
    return sum;
  }

  /** Deposits on their way are in a vault and not owned yet; payouts on their way are owned and no longer in one, for a moment. */
  async #curved(): Promise<MoneyVerdict['curved']> {
    const figures = async (): Promise<readonly [bigint, bigint]> => {
      const accounts = await this.#accounts(this.#keys[ROLE.rebalancer]?.userId ?? '');
      const owned = accounts.reduce((sum, { balances }) => {
        const { owned = '0', locked = '0' } = balances[CURVED.assetId] ?? {};
        return sum + amount(owned) + amount(locked);
      }, 0n);
      let held = 0n;
      for (const [chain, token] of Object.entries(CURVED.tokens)) {
        const { balances } = (await this.#read(`/operator/chains/${chain}/vault`)) as {
          balances: Record<string, string>;
        };
        held += BigInt(balances[token] ?? balances[token.slice(0, 40)] ?? '0') * 10n ** BigInt(18 - CURVED.decimals);
      }
      return [owned, held];
    };
    let [owned, held] = await figures();
    for (let look = 0; look < 40 && owned > held; look += 1) {
      await aMoment(LOOK_MS);
      [owned, held] = await figures();
    }
    if (owned > held) this.#problems.push(`the vaults lack ${format18(owned - held)} of the curved asset`);
    return { owned: format18(owned), held: format18(held) };
  }

  /** What rests of reduce-only orders closes no more than there is. */
  async #reduceOnlyHolds(): Promise<void> {
    const key = this.#keys[ROLE.reducer];
    if (key === undefined) return;
    const client = new RingbookClient({ oms: this.#node.oms, mds: this.#node.mds, key });
    await client.login();
    const { items } = await client.orders({ openOnly: true, limit: 1000 });
    client.close();
    const position = (await this.#accounts(key.userId)).map(({ positions }) => amount(positions[REDUCED]?.base ?? '0'));
    const base = position.reduce((sum, one) => sum + one, 0n);
    for (const side of ['Buy', 'Sell'] as const) {
      const resting = items
        .filter((order) => order.isReduceOnly && order.side === side)
        .reduce((sum, order) => sum + amount(order.quantity ?? '0') - amount(order.confirmedFilledQuantity), 0n);
      const room = side === 'Sell' ? base : -base;
      if (resting > (room > 0n ? room : 0n)) {
        this.#problems.push(`reduce-only ${side} orders of ${format18(resting)} rest beside ${format18(base)}`);
      }
    }
  }

  async #accounts(userId: string): Promise<readonly AccountView[]> {
    const { body } = await operator(this.#node, 'GET', `/operator/users/${userId}`);
    return Object.values((body['sub_accounts'] ?? {}) as Record<string, AccountView>);
  }

  async #grant(
    user: { readonly userId: string } | undefined,
    subAccount: number,
    assetId: string,
    amount: string,
  ): Promise<void> {
    if (user !== undefined) await this.#operator.faucet({ userId: user.userId, subAccount, assetId, amount });
  }

  async #read(path: string): Promise<Record<string, unknown>> {
    const { status, text, body } = await operator(this.#node, 'GET', path);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return body;
  }

  async #put(path: string, body: object): Promise<void> {
    const { status, text } = await operator(this.#node, 'PUT', path, body);
    if (status !== 200) throw new Error(`${path}: ${text}`);
  }
}

interface AccountView {
  readonly balances: Readonly<Record<string, { readonly owned: string; readonly locked: string }>>;
  readonly positions: Readonly<Record<string, { readonly base: string; readonly quote: string }>>;
}

const amount = (text: string): bigint => parseDecimal18(text) ?? 0n;

/** Position × oracle × band, and what a short weighs in the requirement. */
function allowedMove(figure: Figure): bigint {
  const moved = (HELD * amount(ORACLE) * amount(BAND)) / ONE;
  return figure === 'maintenanceSurplus' ? (moved * amount(SHORT_WEIGHT)) / ONE : moved;
}
