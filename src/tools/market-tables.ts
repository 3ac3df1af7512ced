/** The markets of a data directory, for tools that print prices and quantities of rows and records. */
import { recoverState } from '../clearing/recovery.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { StorageReader } from '../storage/environment.ts';
import { endOf, keyWriter, TABLE } from '../storage/key-layout.ts';
import { recoveryOf } from '../storage/lmdb-durability.ts';
import { decodeRow } from '../storage/row-tables.ts';

const MARKETS_PER_STEP = 256;

/** The markets of the last checkpoint: one that was just made may not be among them. */
export function* marketsOfTables(reader: StorageReader): Generator<MarketDefinition, void, undefined> {
  const from = keyWriter().table(TABLE.market);
  for (const { key, value } of reader.entries({ from, to: endOf(from), perStep: MARKETS_PER_STEP }))
    yield decodeRow('market', key, value).definition;
}

/** Finds every market: one that is younger than the tables by the journal behind them, whose state is made for it once. */
export class MarketFinder {
  readonly #reader: StorageReader;
  #known: ReadonlyMap<string, MarketDefinition>;
  #isWhole = false;

  constructor(reader: StorageReader) {
    this.#reader = reader;
    this.#known = byAsset(marketsOfTables(reader));
  }

  /** By base asset; undefined for none. */
  get(assetId: string): MarketDefinition | undefined {
    const known = this.#known.get(assetId);
    if (known !== undefined || this.#isWhole) return known;
    const { state } = recoverState({ recover: () => recoveryOf(this.#reader) });
    this.#known = byAsset(state.markets.map(({ definition }) => definition));
    this.#isWhole = true;
    return this.#known.get(assetId);
  }
}

function byAsset(markets: Iterable<MarketDefinition>): ReadonlyMap<string, MarketDefinition> {
  const found = new Map<string, MarketDefinition>();
  for (const market of markets) found.set(market.assetId, market);
  return found;
}

/** The asset of an id or a symbol: of the last checkpoint, or registered since; null for none. */
export function assetOfName(reader: StorageReader, name: string): string | null {
  const known = assetOfTables(reader, name);
  if (known !== null) return known;
  const { state } = recoverState({ recover: () => recoveryOf(reader) });
  for (const { assetId, symbol } of state.assets.values()) if (assetId === name || symbol === name) return assetId;
  return null;
}

function assetOfTables(reader: StorageReader, name: string): string | null {
  const from = keyWriter().table(TABLE.asset);
  let bySymbol: string | null = null;
  for (const { key, value } of reader.entries({ from, to: endOf(from), perStep: MARKETS_PER_STEP })) {
    const { assetId, symbol } = decodeRow('asset', key, value);
    if (assetId === name) return assetId;
    if (symbol === name) bySymbol = assetId;
  }
  return bySymbol;
}
