/**
 * What callers name an asset or a market by: its index, `<address>@<chain id>`, or its symbol, like `ETH`.
 *
 * Symbols are read from the registry at the first one, and again for one that is not known, once in a while. What a symbol means
 * never changes for a client that has used it: a symbol that moves to another asset moves no order of a running program.
 */
import { type AssetId, parseAssetId } from '../core/ids.ts';
import { nearestName } from '../core/nearest-name.ts';
import { invalidArgument, type RingbookError } from './errors.ts';

/** Symbols by asset, as the registry has them. */
export type ReadSymbols = () => Promise<ReadonlyMap<string, string>>;

/** What can be no symbol is refused without a read: one has a letter, and nothing that a path or an id is made of. */
const SYMBOL_FORM = /^(?=.*\p{L})[^\s/?#%@]{1,64}$/u;
/** Between two reads for symbols that are not known. */
const REREAD_MS = 5_000;

export class AssetNames {
  readonly #read: ReadSymbols;
  /** As read. */
  readonly #symbols = new Map<AssetId, string>();
  /** In capitals; several assets of one symbol are named by their ids only. */
  readonly #ids = new Map<string, readonly AssetId[]>();
  /** Those that were used: bounded by the assets of the registry. */
  readonly #used = new Map<string, AssetId>();
  #reading: Promise<void> | null = null;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(read: ReadSymbols) {
    this.#read = read;
  }

  /** The id of an asset. @throws RingbookError INVALID_ARGUMENT for a symbol that none or several assets have. */
  async idOf(name: string): Promise<AssetId> {
    const known = this.#find(name);
    if (known !== null) return known;
    if (typeof name === 'string' && SYMBOL_FORM.test(name)) await this.read();
    return this.known(name);
  }

  /** As `idOf`, of what was read before. @throws RingbookError INVALID_ARGUMENT. */
  known(name: string): AssetId {
    const known = this.#find(name);
    if (known !== null) return known;
    throw this.#unknown(name);
  }

  /** What was read before; null for an asset without a symbol. */
  symbolOf(assetId: string): string | null {
    return this.#symbols.get(assetId as AssetId) ?? null;
  }

  /** Reads all symbols, unless that has just been done. */
  read(): Promise<void> {
    if (this.#reading === null && performance.now() - this.#readMs < REREAD_MS) return Promise.resolve();
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const symbols = await this.#read();
    this.#readMs = performance.now();
    this.#symbols.clear();
    this.#ids.clear();
    for (const [text, symbol] of symbols) {
      const assetId = text as AssetId;
      const key = symbol.toUpperCase();
      this.#symbols.set(assetId, symbol);
      this.#ids.set(key, [...(this.#ids.get(key) ?? []), assetId]);
    }
  }

  #find(name: string): AssetId | null {
    if (typeof name !== 'string') return null;
    const assetId = parseAssetId(name);
    if (assetId !== null) return assetId;
    const key = name.toUpperCase();
    const used = this.#used.get(key);
    if (used !== undefined) return used;
    const [only, ...others] = this.#ids.get(key) ?? [];
    if (only === undefined || others.length > 0) return null;
    this.#used.set(key, only);
    return only;
  }

  #unknown(name: string): RingbookError {
    const several = typeof name === 'string' ? this.#ids.get(name.toUpperCase()) : undefined;
    if (several !== undefined) {
      return invalidArgument(
        `${name} is the symbol of the assets ${several.join(', ')}: name one by its id`,
        'assetId',
      );
    }
    const nearest = typeof name === 'string' ? nearestName(name, this.#symbols.values()) : null;
    const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
    const read =
      this.#symbols.size === 0
        ? '; symbols are known once an asynchronous call, such as assets.read(), has read them'
        : '';
    const forms = 'a symbol, an index or <address>@<chain id>, as a text';
    return invalidArgument(`${JSON.stringify(name)} is no asset: ${forms}${meant}${read}`, 'assetId');
  }
}
