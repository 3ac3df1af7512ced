/** The public registry, and creation of markets (wire.md 7.2, 7.3). Needs no key. */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { invalidResponse } from './errors.ts';
import type { HttpExchange } from './http-transport.ts';
import { type Market, readArray, readMarket, readObject } from './replies.ts';

/** A token of an asset on one chain. Caps are 18-decimal units; 2^256 − 1 is none. */
export interface RegisteredToken {
  readonly assetId: string;
  /** `<64 hex>@<18 hex>`. */
  readonly address: string;
  readonly symbol: string | null;
  readonly decimals: number;
  readonly maxDeposits: bigint;
  readonly max1hrDeposits: bigint;
}

export class RegistryClient {
  readonly #exchange: (request: HttpExchange) => Promise<JsonValue>;

  constructor(exchange: (request: HttpExchange) => Promise<JsonValue>) {
    this.#exchange = exchange;
  }

  async tokens(): Promise<readonly RegisteredToken[]> {
    const assets = objectOf(await this.#exchange({ method: 'GET', path: '/registry/assets' }));
    return [...assets].flatMap(([assetId, tokens]) =>
      [...objectOf(tokens)].map(([address, row]) =>
        readObject(row, 'registry', (reader) => ({
          assetId,
          address,
          symbol: reader.has('symbol') ? reader.string('symbol') : null,
          decimals: reader.integer('decimals', 0, 255),
          maxDeposits: BigInt(reader.string('max_deposits')),
          max1hrDeposits: BigInt(reader.string('max_1hr_deposits')),
        })),
      ),
    );
  }

  /** Chain addresses of the vaults, in order of registration. */
  async vaults(): Promise<readonly string[]> {
    return readArray(await this.#exchange({ method: 'GET', path: '/registry/vaults' }), 'vaults', String);
  }

  /** Rows as sent by the service, by asset. */
  async riskParameters(): Promise<ReadonlyMap<string, JsonObject>> {
    const rows = objectOf(await this.#exchange({ method: 'GET', path: '/registry/risk-parameters' }));
    return new Map([...rows].map(([assetId, row]) => [assetId, objectOf(row)]));
  }

  /** Decimals of those tokens that are registered, by the spelling of the request. */
  async decimals(assets: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const body = JSON.stringify({ assets });
    const found = objectOf(await this.#exchange({ method: 'POST', path: '/registry/decimals', body }));
    return new Map([...found].map(([asset, decimals]) => [asset, Number(decimals)]));
  }

  /** The market of an asset; creates it first where the service permits. @throws RingbookError MARKET_NOT_FOUND. */
  async createMarket(assetId: string): Promise<Market> {
    const body = JSON.stringify({ asset_id: assetId });
    return readMarket(await this.#exchange({ method: 'POST', path: '/market/create', body }));
  }
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw invalidResponse('registry', 'expected an object');
  return value;
}
