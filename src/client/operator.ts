/**
 * The part of the operator API that ringbook's tools use (operator-api.md): configuration, the faucet and the barrier.
 *
 * Not for traders: it needs the operator's token and the `ops` listener.
 */
import { isJsonObject, type JsonObject } from '../codec/json-tree.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import { invalidResponse } from './errors.ts';
import { type HttpMethod, HttpTransport } from './http-transport.ts';
import { readObject } from './replies.ts';

/** The token of the dev and test profiles; production has no default. */
export const DEV_OPERATOR_TOKEN = 'ringbook-dev';

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
