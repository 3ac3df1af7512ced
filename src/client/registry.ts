/** The public registry, and creation of markets (wire.md 7.2, 7.3, wire-additions.md 5, 9.5). Needs no key. */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import type { AssetName, NettingParameter, RegisteredToken } from '../codec/reply-types.ts';
import {
  NETTING_PARAMETERS,
  REGISTRY_ASSETS,
  SYMBOL_MAP,
  TOKEN_DECIMALS,
  VAULTS,
} from '../codec/shapes/registry-shapes.ts';
import { invalidResponse } from './errors.ts';
import { type HttpExchange, queryText } from './http-transport.ts';
import { type Market, type Page, readMarket, readPage } from './replies.ts';
import { replyReader } from './reply-reader.ts';

export type { AssetName, NettingParameter, RegisteredToken } from '../codec/reply-types.ts';

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
    const names = symbols ? readSymbolMap(objectOf(reply).get('symbol_map') ?? null) : new Map<string, AssetName>();
    return { ...readPage(reply, 'markets', readMarket), symbols: names };
  }

  /** Symbols of the assets that have one, by asset. */
  async symbols(): Promise<ReadonlyMap<string, string>> {
    const { symbols } = await this.marketPage({ limit: 1, symbols: true });
    return new Map([...symbols].map(([assetId, { symbol }]) => [assetId, symbol]));
  }

  async tokens(): Promise<readonly RegisteredToken[]> {
    const assets = readAssets(await this.#exchange({ method: 'GET', path: '/registry/assets' }));
    return [...assets].flatMap(([assetId, tokens]) =>
      [...tokens].map(([address, row]) => ({ assetId, address, ...row })),
    );
  }

  /** Chain addresses of the vaults, in order of registration. */
  async vaults(): Promise<readonly string[]> {
    return readVaults(await this.#exchange({ method: 'GET', path: '/registry/vaults' }));
  }

  /** Rows as sent by the service, by asset. */
  async riskParameters(): Promise<ReadonlyMap<string, JsonObject>> {
    const rows = objectOf(await this.#exchange({ method: 'GET', path: '/registry/risk-parameters' }));
    return new Map([...rows].map(([assetId, row]) => [assetId, objectOf(row)]));
  }

  /** Empty where the service offers no netting. */
  async nettingParameters(): Promise<readonly NettingParameter[]> {
    return readNetting(await this.#exchange({ method: 'GET', path: '/registry/netting-parameters' }));
  }

  /** Decimals of those tokens that are registered, by the spelling of the request. */
  async decimals(assets: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const body = JSON.stringify({ assets });
    return readDecimals(await this.#exchange({ method: 'POST', path: '/registry/decimals', body }));
  }

  /** The market of an asset; creates it first where the service permits. @throws RingbookError MARKET_NOT_FOUND. */
  async createMarket(assetId: string): Promise<Market> {
    const body = JSON.stringify({ asset_id: assetId });
    return readMarket(await this.#exchange({ method: 'POST', path: '/market/create', body }));
  }
}

const readAssets = replyReader('registry', REGISTRY_ASSETS);
const readVaults = replyReader('vaults', VAULTS);
const readNetting = replyReader('netting parameters', NETTING_PARAMETERS);
const readDecimals = replyReader('registry', TOKEN_DECIMALS);
const readSymbolMap = replyReader('symbol map', SYMBOL_MAP);

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw invalidResponse('registry', 'expected an object');
  return value;
}
