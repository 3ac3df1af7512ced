/**
 * The part of the operator API that ringbook's tools use (operator-api.md): configuration, prices, the faucet, the barrier, and
 * what is read of accounts at risk, the backstop and the ledger.
 *
 * Not for traders: it needs the operator's token and the `ops` listener.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import { invalidResponse, RingbookError } from './errors.ts';
import { type HttpMethod, HttpTransport } from './http-transport.ts';
import { readObject } from './read-members.ts';

/** The token of the dev and test profiles; production has no default. */
export const DEV_OPERATOR_TOKEN = 'ringbook-dev';
const SUB_ACCOUNT_MAX = 255;

export interface MarketSettings {
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** Human decimals. */
  readonly tickSize: string;
  readonly minOrderSize: string;
  /** 1e-6 of notional. */
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
}

/** A margin account close to liquidation, or under it. Amounts in USD or the asset, human decimals. */
export interface AccountAtRisk {
  readonly userId: string;
  readonly subAccount: number;
  readonly maintenanceSurplus: string;
  readonly maintenanceRequirement: string;
  /** Only a credit with a broken price keeps it from being liquidated. */
  readonly isShielded: boolean;
  readonly liquidation: { readonly stage: string; readonly round: number } | null;
  /** By asset. */
  readonly positions: ReadonlyMap<string, { readonly base: string; readonly liquidationPrice: string | null }>;
}

export interface AccountsAtRisk {
  /** When the accounts were counted; 0 for never. */
  readonly timestampNs: bigint;
  readonly count: number;
  readonly shielded: number;
  /** Those with the smallest surplus, smallest first. */
  readonly accounts: readonly AccountAtRisk[];
}

/** What the backstop took over of one account. Amounts in USD or the asset, human decimals. */
export interface BackstopAccount {
  readonly index: number;
  readonly sourceUser: string;
  readonly sourceIndex: number;
  readonly state: string;
  /** Base legs by asset. */
  readonly positions: ReadonlyMap<string, string>;
  readonly provisionalCollateral: string;
  readonly postedCollateral: string;
  readonly equity: string;
  readonly imSurplus: string;
  readonly imRequirement: string;
  /** What auto-deleveraging closed, by asset. */
  readonly adlClosed: ReadonlyMap<string, string>;
}

export interface Backstop {
  readonly account: string;
  /** Below zero: USD credited and not returned yet. */
  readonly capital: string;
  readonly subAccounts: readonly BackstopAccount[];
}

/** What the threads of a traced node have recorded. */
export interface TraceReply {
  /** Pass it to the next call. */
  readonly next: string;
  /** `records` in base64; `lost` of them were overwritten before. */
  readonly threads: readonly { readonly thread: string; readonly lost: number; readonly records: string }[];
}

export interface Readiness {
  readonly ready: boolean;
  readonly waitingFor: readonly string[];
}

export class OperatorClient {
  readonly #transport: HttpTransport;
  readonly #token: string;

  /** @param ops base of the operator listener. */
  constructor(ops: string, token: string = DEV_OPERATOR_TOKEN) {
    this.#transport = new HttpTransport(ops);
    this.#token = token;
  }

  /** Creates or replaces an asset without tokens. */
  async putAsset(assetId: string, symbol: string): Promise<void> {
    await this.call('PUT', `/operator/assets/${assetId}`, { symbol });
  }

  async putMarket(assetId: string, settings: MarketSettings): Promise<void> {
    await this.call('PUT', `/operator/markets/${assetId}`, {
      book_price_decimals: settings.priceDecimals,
      book_quantity_decimals: settings.quantityDecimals,
      tick_size: settings.tickSize,
      min_order_size: settings.minOrderSize,
      maker_fee_rate: settings.makerFeeRate,
      taker_fee_rate: settings.takerFeeRate,
    });
  }

  /** Credits the owned spot balance of an existing sub-account; the amount is a human decimal. @returns the balance. */
  async faucet(grant: {
    readonly userId: string;
    readonly subAccount: number;
    readonly assetId: string;
    readonly amount: string;
  }): Promise<string> {
    const reply = await this.call('POST', '/operator/faucet', {
      user_id: grant.userId,
      sub_account: grant.subAccount,
      asset_id: grant.assetId,
      amount: grant.amount,
    });
    return readObject(reply, 'faucet', (reader) => reader.string('balance'));
  }

  /** Publishes one oracle price in USD as of now. @throws RingbookError INVALID_REQUEST when it is rejected. */
  async setPrice(assetId: string, price: string): Promise<void> {
    const reply = await this.call('POST', '/operator/prices', { prices: [{ asset_id: assetId, price }] });
    const isAccepted = readObject(reply, 'prices', (reader) => reader.array('accepted').length === 1);
    if (!isAccepted) throw new RingbookError({ code: 'INVALID_REQUEST', message: writeJson(reply) });
  }

  /** The accounts with the smallest maintenance surplus. @param limit 1 to 1,000. */
  async accountsAtRisk(limit = 100): Promise<AccountsAtRisk> {
    return readAccountsAtRisk(await this.call('GET', `/operator/accounts-at-risk?limit=${limit}`));
  }

  /** What the backstop holds and has held. */
  async backstop(): Promise<Backstop> {
    return readBackstop(await this.call('GET', '/operator/backstop'));
  }

  /** `difference` of each asset of the ledger: "0" in a node that adds up. */
  async ledgerDifferences(): Promise<ReadonlyMap<string, string>> {
    const assets = readObject(await this.call('GET', '/operator/ledger'), 'ledger', (reader) =>
      reader.object('assets'),
    );
    return mapMembers(assets, (sums) => readObject(sums, 'ledger', (reader) => reader.string('difference')));
  }

  /** Makes the user a market maker: larger caps on open orders and streams. */
  async setMarketMaker(userId: string, isMarketMaker: boolean): Promise<void> {
    await this.call('PUT', `/operator/users/${userId}`, { is_mm: isMarketMaker });
  }

  /** Lifts the budgets until the node ends or `putRateLimits` is called: for tools that measure or replay. */
  async liftRateLimits(): Promise<void> {
    const lifted = { units_per_second: 1_000_000_000 };
    await this.putRateLimits({ default: lifted, market_maker: lifted, global: lifted });
  }

  /** The whole object of operator-api.md 4.8. Any change fills every bucket. */
  rateLimits(): Promise<JsonObject> {
    return this.call('GET', '/operator/rate-limits');
  }

  /** Omitted members get their default. */
  async putRateLimits(limits: JsonWritable): Promise<void> {
    await this.call('PUT', '/operator/rate-limits', limits);
  }

  /** Waits until everything received is flushed and every stream message was passed to its socket. */
  async barrier(timeoutMs = 5_000): Promise<void> {
    await this.call('POST', '/operator/barrier', { timeout_ms: timeoutMs });
  }

  /**
   * Records of the trace since an earlier reply.
   *
   * @param since its `next`; null: no records, only where to begin.
   * @throws RingbookError INVALID_REQUEST when the node is not traced.
   */
  async trace(since: string | null): Promise<TraceReply> {
    const reply = await this.call('GET', `/operator/trace${since === null ? '' : `?since=${since}`}`);
    return readObject(reply, 'trace', (reader) => ({
      next: reader.string('next'),
      threads: reader.array('threads').map((value) =>
        readObject(value, 'trace of a thread', (row) => ({
          thread: row.string('thread'),
          lost: row.integer('lost', 0, Number.MAX_SAFE_INTEGER),
          records: row.string('records'),
        })),
      ),
    }));
  }

  /** The open route `/readyz`: a 503 is a normal reply, not an error. */
  async readiness(): Promise<Readiness> {
    const reply = await this.#transport.exchange({ method: 'GET', path: '/readyz', accept: [503] });
    return readObject(reply, 'readyz', (reader) => ({
      ready: reader.boolean('ready'),
      waitingFor: reader.array('waiting_for').map(String),
    }));
  }

  /** Any route of the API. @throws RingbookError with the code of operator-api.md 2. */
  async call(method: HttpMethod, path: string, body?: JsonWritable): Promise<JsonObject> {
    const reply = await this.#transport.exchange({
      method,
      path,
      headers: { authorization: `Bearer ${this.#token}` },
      ...(body === undefined ? {} : { body: writeJson(body) }),
    });
    if (!isJsonObject(reply)) throw invalidResponse(path, 'expected an object');
    return reply;
  }

  close(): void {
    this.#transport.close();
  }
}

function mapMembers<T>(members: JsonObject, read: (value: JsonValue) => T): ReadonlyMap<string, T> {
  return new Map([...members].map(([name, value]) => [name, read(value)]));
}

function textOf(value: JsonValue): string {
  if (typeof value !== 'string') throw invalidResponse('operator', 'expected a string');
  return value;
}

function readAccountsAtRisk(value: JsonValue): AccountsAtRisk {
  return readObject(value, 'accounts at risk', (reader) => ({
    timestampNs: reader.u64('timestamp_ns'),
    count: reader.integer('accounts_at_risk', 0, Number.MAX_SAFE_INTEGER),
    shielded: reader.integer('shielded_accounts', 0, Number.MAX_SAFE_INTEGER),
    accounts: reader.array('accounts').map(readAccountAtRisk),
  }));
}

function readAccountAtRisk(value: JsonValue): AccountAtRisk {
  return readObject(value, 'account at risk', (reader) => ({
    userId: reader.string('user_id'),
    subAccount: reader.integer('sub_account', 0, SUB_ACCOUNT_MAX),
    maintenanceSurplus: reader.string('maintenance_surplus'),
    maintenanceRequirement: reader.string('maintenance_requirement'),
    isShielded: reader.boolean('is_shielded'),
    liquidation: reader.has('liquidation')
      ? readObject(reader.object('liquidation'), 'liquidation', (row) => ({
          stage: row.string('stage'),
          round: row.integer('round', 0, Number.MAX_SAFE_INTEGER),
        }))
      : null,
    positions: mapMembers(reader.object('positions'), (position) =>
      readObject(position, 'position at risk', (row) => ({
        base: row.string('base'),
        liquidationPrice: row.has('liquidation_price') ? row.string('liquidation_price') : null,
      })),
    ),
  }));
}

function readBackstop(value: JsonValue): Backstop {
  return readObject(value, 'backstop', (reader) => ({
    account: reader.string('account'),
    capital: reader.string('capital'),
    subAccounts: reader.array('sub_accounts').map(readBackstopAccount),
  }));
}

function readBackstopAccount(value: JsonValue): BackstopAccount {
  return readObject(value, 'backstop account', (reader) => ({
    index: reader.integer('index', 0, SUB_ACCOUNT_MAX),
    sourceUser: reader.string('source_user'),
    sourceIndex: reader.integer('source_index', 0, SUB_ACCOUNT_MAX),
    state: reader.string('state'),
    positions: mapMembers(reader.object('positions'), (legs) => readObject(legs, 'legs', (row) => row.string('base'))),
    provisionalCollateral: reader.string('provisional_collateral'),
    postedCollateral: reader.string('posted_collateral'),
    equity: reader.string('equity'),
    imSurplus: reader.string('im_surplus'),
    imRequirement: reader.string('im_requirement'),
    adlClosed: mapMembers(reader.object('adl_closed'), textOf),
  }));
}
