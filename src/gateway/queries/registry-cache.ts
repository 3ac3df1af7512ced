/**
 * The registry at the gateway: assets, markets and settings as clearing publishes them, and the public replies that follow
 * from them, printed once per change (wire.md 7.2, 7.3). Every public read is SERVICE_UNAVAILABLE until clearing has
 * published the registry once (REG-06).
 *
 * Not here: what may be registered (src/clearing/registry-*.ts); how operators read it (operator-registry-routes.ts).
 */

import type { ActionReply, OperatorCommand } from '../../clearing/inputs.ts';
import { assetRiskOf, droppedTokens, symbolOf, tokenKey } from '../../clearing/registry/registry-assets.ts';
import { configKey, configList } from '../../clearing/registry/registry-config.ts';
import type { AssetRow, ConfigRow } from '../../clearing/rows.ts';
import type { MarketView } from '../../codec/market-reply.ts';
import { registryAssets, riskParameterRows, symbolMap, vaultList } from '../../codec/registry-reply.ts';
import type { SpelledAsset } from '../../codec/signed-text.ts';
import { must } from '../../core/assert.ts';
import { type AssetId, compareAssetIds, USD } from '../../core/ids.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { readGatewaySettings } from '../gateway-settings.ts';

const NO_SNAPSHOT: Reject = reject('SERVICE_UNAVAILABLE', 'the registry is not loaded yet');
const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');
/** Decimals of a market without a configuration: cents, and a ten-thousandth of a unit (AMB-130). */
const SELF_SERVICE_MARKET = { priceDecimals: 2, quantityDecimals: 4 };

interface RegistryCacheParts {
  /** To clearing; answered after the change is flushed. */
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** Whether a market takes orders. */
  readonly isOpen: (marketIndex: number) => boolean;
  /** Users with a private key that is public: none of them may be the fee account. */
  readonly refusedUsers: ReadonlySet<string>;
}

export class RegistryCache {
  readonly assetRows: Map<AssetId, AssetRow> = new Map();
  readonly configs: Map<string, ConfigRow> = new Map();
  readonly definitions: Map<AssetId, MarketDefinition> = new Map();
  /** Test hook `drop_snapshot`: as if clearing had never published the registry (operator-api.md 7.3). */
  isDropped = false;

  readonly #parts: RegistryCacheParts;
  #isLoaded = false;
  #feeAccount = '';
  /** Whether `POST /market/create` makes markets. */
  #selfServiceMarkets = false;
  /** What follows from the rows, until one changes. */
  readonly #printed = new Map<string, string>();
  readonly #views = new Map<AssetId, MarketView>();
  readonly #decimalsOf = new Map<string, number>();
  /** The asset of a token on its chain. */
  readonly #assetOf = new Map<AssetId, AssetId>();
  readonly #waiting = new Map<number, (() => void)[]>();
  /** The decimals of every token that an asset has or had, by `<token>@<chain>`. */
  readonly tokenDecimals: Map<string, number> = new Map();

  constructor(parts: RegistryCacheParts) {
    this.#parts = parts;
  }

  // ---- published by clearing

  assetChanged(row: AssetRow): void {
    for (const { token, chainId } of this.assetRows.get(row.assetId)?.tokens ?? []) {
      this.#decimalsOf.delete(`${token}@${chainId}`);
      this.#assetOf.delete(`${token}@${chainId}` as AssetId);
    }
    this.assetRows.set(row.assetId, row);
    for (const { token, chainId, decimals } of row.tokens) {
      this.#decimalsOf.set(`${token}@${chainId}`, decimals);
      this.#assetOf.set(`${token}@${chainId}` as AssetId, row.assetId);
    }
    for (const { token, chainId, decimals } of row.tokens) this.tokenDecimals.set(tokenKey(token, chainId), decimals);
    for (const [key, decimals] of droppedTokens(row)) this.tokenDecimals.set(key, decimals);
    this.#changed();
  }

  /** The asset of a token on its chain, null when none has it. */
  assetOfToken(token: AssetId): AssetId | null {
    return this.#assetOf.get(token) ?? null;
  }

  configChanged(row: ConfigRow): void {
    this.configs.set(configKey(row.kind, row.key), row);
    this.#changed();
    if (row.kind !== 'settings') return;
    const { feeAccount, selfServiceMarkets } = readGatewaySettings(row.json);
    this.#feeAccount = feeAccount;
    this.#selfServiceMarkets = selfServiceMarkets;
  }

  marketChanged(definition: MarketDefinition): void {
    this.definitions.set(definition.assetId, definition);
    this.#changed();
  }

  /** Clearing has published all of it. */
  loaded(): void {
    this.#isLoaded = true;
  }

  /** A market takes orders from now on. */
  marketOpened(marketIndex: number): void {
    for (const resolve of this.#waiting.get(marketIndex) ?? []) resolve();
    this.#waiting.delete(marketIndex);
  }

  // ---- public reads

  /** Rows as clearing has them. */
  rows(): {
    readonly assets: ReadonlyMap<AssetId, AssetRow>;
    readonly configs: ReadonlyMap<string, ConfigRow>;
    readonly definitions: ReadonlyMap<AssetId, MarketDefinition>;
  } {
    return { assets: this.assetRows, configs: this.configs, definitions: this.definitions };
  }

  knowsMarket(marketIndex: number): boolean {
    for (const definition of this.definitions.values()) if (definition.marketIndex === marketIndex) return true;
    return false;
  }

  /** The JSON of `GET /registry/assets`. */
  assets(): Outcome<string> {
    return this.#print('assets', () => registryAssets(this.#inOrder()));
  }

  /** The JSON of `GET /registry/vaults`. */
  vaults(): Outcome<string> {
    return this.#print('vaults', () => vaultList(configList(this, 'vault').map((view) => String(view['vault']))));
  }

  /** The JSON of `GET /registry/risk-parameters`. */
  riskParameters(): Outcome<string> {
    return this.#print('risk', () =>
      riskParameterRows(
        this.#inOrder().map((row) => ({ assetId: row.assetId, json: JSON.stringify(assetRiskOf(row)) })),
      ),
    );
  }

  /** The JSON of `symbol_map`: every indexed asset with a symbol (wire-additions.md 5). */
  symbols(): Outcome<string> {
    return this.#print('symbols', () =>
      symbolMap(
        this.#inOrder().flatMap((row) => {
          const view = symbolOf(row);
          return view === null ? [] : [[row.assetId, view] as const];
        }),
      ),
    );
  }

  /** The JSON of `GET /registry/netting-parameters`: netting is not offered (wire-additions.md 9.5). */
  nettingParameters(): Outcome<string> {
    return this.#print('netting', () => '[]');
  }

  /** Decimals of those assets that are registered tokens, by the text that named them. */
  decimals(assets: readonly SpelledAsset[]): Outcome<ReadonlyMap<string, number>> {
    if (!this.#hasSnapshot) return rejected(NO_SNAPSHOT);
    const found = new Map<string, number>();
    for (const { id, text } of assets) {
      const decimals = this.#decimalsOf.get(id);
      if (decimals !== undefined) found.set(text, decimals);
    }
    return accepted(found);
  }

  markets(): readonly MarketView[] {
    return [...this.definitions.values()]
      .sort((a, b) => compareAssetIds(a.assetId, b.assetId))
      .map((definition) => this.#view(definition));
  }

  market(assetId: AssetId): MarketView | null {
    const definition = this.definitions.get(assetId);
    return definition === undefined ? null : this.#view(definition);
  }

  /**
   * The market of an asset; where self-service is on and the asset has risk parameters it is made first, and open when
   * this answers (AMB-130). MARKET_NOT_FOUND otherwise.
   */
  async createMarket(assetId: AssetId): Promise<Outcome<MarketView>> {
    if (!this.#hasSnapshot) return rejected(NO_SNAPSHOT);
    if (!this.definitions.has(assetId)) {
      // The route is public, so clearing gets only commands that it would carry out.
      const isPaid = !this.#parts.refusedUsers.has(this.#feeAccount);
      const isGranted = isPaid && this.#selfServiceMarkets && assetId !== USD && this.#hasRisk(assetId);
      if (!isGranted) return rejected(NO_MARKET);
      const change = SELF_SERVICE_MARKET;
      const reply = await this.#parts.command({ kind: 'putMarket', method: 'create', assetId, change });
      if (!reply.ok) return reply;
    }
    const definition = must(this.definitions.get(assetId), 'clearing publishes a new market before it answers');
    await this.#opened(definition.marketIndex);
    return accepted(this.#view(definition));
  }

  get #hasSnapshot(): boolean {
    return this.#isLoaded && !this.isDropped;
  }

  #hasRisk(assetId: AssetId): boolean {
    return (this.assetRows.get(assetId)?.riskJson ?? null) !== null;
  }

  #opened(marketIndex: number): Promise<void> | undefined {
    if (this.#parts.isOpen(marketIndex)) return undefined;
    return new Promise((resolve) => {
      this.#waiting.set(marketIndex, [...(this.#waiting.get(marketIndex) ?? []), resolve]);
    });
  }

  #inOrder(): readonly AssetRow[] {
    return [...this.assetRows.values()].sort((a, b) => compareAssetIds(a.assetId, b.assetId));
  }

  #print(name: string, text: () => string): Outcome<string> {
    if (!this.#hasSnapshot) return rejected(NO_SNAPSHOT);
    const known = this.#printed.get(name) ?? text();
    this.#printed.set(name, known);
    return accepted(known);
  }

  #changed(): void {
    this.#printed.clear();
    this.#views.clear();
  }

  #view(definition: MarketDefinition): MarketView {
    const known = this.#views.get(definition.assetId) ?? this.#newView(definition);
    this.#views.set(definition.assetId, known);
    return known;
  }

  #newView(definition: MarketDefinition): MarketView {
    const row = this.assetRows.get(definition.assetId);
    const risk = row === undefined ? null : assetRiskOf(row);
    const uncovered = 100 - (risk?.collateral_factor ?? 0);
    return {
      definition,
      maxLeverage: uncovered === 0 ? null : Math.floor(100 / uncovered),
      isolatedOnly: risk?.isolated_only ?? false,
      feeAccount: this.#feeAccount,
    };
  }
}
