/** The public registry, and creation of markets (wire.md 7.2, 7.3, wire-additions.md 5, 9.5). Needs no key. */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { invalidResponse } from './errors.ts';
import { type HttpExchange, queryText } from './http-transport.ts';
import { type Market, type Page, readArray, readMarket, readObject, readPage } from './replies.ts';

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

/** How an indexed asset is called, and by which tokens it is deposited. */
export interface AssetName {
  readonly index: number;
  readonly symbol: string;
  readonly name: string;
  readonly assetClass: string;
  readonly representations: readonly string[];
}

/** What an asset that is held at a venue counts for (wire-additions.md 9.5). */
export interface NettingParameter {
  readonly asset: string;
  readonly venue: string;
  readonly venueAsset: string;
  /** In 1e-6. */
  readonly cost: number;
  /** In 1e-6. */
  readonly residual: number;
}

export interface MarketPage extends Page<Market> {
  /** By asset index; empty unless it was requested. */
  readonly symbols: ReadonlyMap<string, AssetName>;
}

export class RegistryClient {
  readonly #exchange: (request: HttpExchange) => Promise<JsonValue>;

  constructor(exchange: (request: HttpExchange) => Promise<JsonValue>) {
    this.#exchange = exchange;
  }

  /** One page of the markets. @param query.limit at most 1,000. @param query.symbols how every indexed asset is called, too. */
  async marketPage(
    query: { readonly page?: number; readonly limit?: number; readonly symbols?: boolean } = {},
  ): Promise<MarketPage> {
    const { page = 0, limit = 100, symbols = false } = query;
    const members = { page, limit, include_symbol_map: symbols ? true : undefined };
    const reply = await this.#exchange({ method: 'GET', path: `/markets${queryText(members)}` });
    const map = symbols ? objectOf(objectOf(reply).get('symbol_map') ?? null) : [];
    return {
      ...readPage(reply, 'markets', readMarket),
      symbols: new Map([...map].map(([asset, row]) => [asset, readAssetName(row)])),
    };
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

  /** Empty where the service offers no netting. */
  async nettingParameters(): Promise<readonly NettingParameter[]> {
    const rows = await this.#exchange({ method: 'GET', path: '/registry/netting-parameters' });
    return readArray(rows, 'netting parameters', (row) =>
      readObject(row, 'netting parameter', (reader) => ({
        asset: reader.string('asset'),
        venue: reader.string('venue'),
        venueAsset: reader.string('venue_asset'),
        cost: reader.integer('cost', 0, Number.MAX_SAFE_INTEGER),
        residual: reader.integer('residual', 0, Number.MAX_SAFE_INTEGER),
      })),
    );
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

function readAssetName(value: JsonValue): AssetName {
  return readObject(value, 'symbol map', (reader) => ({
    index: reader.integer('index', 0, Number.MAX_SAFE_INTEGER),
    symbol: reader.string('symbol'),
    name: reader.string('name'),
    assetClass: reader.string('asset_class'),
    representations: reader.array('representations').map(String),
  }));
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw invalidResponse('registry', 'expected an object');
  return value;
}
