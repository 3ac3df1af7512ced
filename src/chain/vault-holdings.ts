/**
 * What the vaults hold, read from the chains, beside what the ledger says they hold (AMB-116, GEN-06).
 *
 *   chain      `balanceOf` of the vault at a processed block, by majority (held-units.ts), without the events that are not final, or not
 *              processed at that block
 *   clearing          base units of each token in each vault, as booked events say, with those of unclaimed deposits
 *
 * So both sides follow from the same events, and unconfirmed or waiting ones are no deviation. Compared is only what was read
 * after the last booking and while none was in progress; otherwise the last comparison stands.
 *
 * A difference makes the chain be read again, as events may have been hidden; what then is beyond the ledger without an event is listed
 * as unclaimed units and counted out (CHN-04). A deviation is logged when it appears and when it ends; nothing is corrected by it. What the vault of a chain lacks of an asset, of each
 * token by itself, goes to clearing when it has changed: clearing decides whether the asset is approved there (MON-05).
 */
import type { BookedUnits } from '../clearing/clearing-queries.ts';
import { deviationKey } from '../clearing/funds/vault-deviations.ts';
import { powerOfTen } from '../core/arithmetic.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import { type ChainRegistry, INTERNAL_DECIMALS, tokensEver } from './chain-rows.ts';

/** Nothing of the asset is approved on the chain: its vault lacks so much, 18 decimals. */
export type ApprovalStop = Lack;

/** Base units by token, 64 hex. */
export type Units = ReadonlyMap<string, bigint>;

export interface HoldingsParts {
  readonly registry: () => ChainRegistry;
  /** Of every chain with a vault; null: not known yet. */
  readonly held: () => ReadonlyMap<ChainId, Units | null>;
  /** Another number after each booking of a chain; null while one is in progress, or while `held` is older than the last. */
  readonly bookings: (chainId: ChainId) => number | null;
  /** Of the ledger; null: not now. */
  /**
   * Takes the differences of one chain, by token, none of them 0. @returns of these what no event explains and is listed (late-reads.ts):
   * it is no deviation.
   */
  readonly explained: (chainId: ChainId, differences: Units) => Units;
  readonly booked: () => Promise<BookedUnits | null>;
  /** Clearing is to have what the vault lacks, 18 decimals. @returns whether approvals are stopped; null: not now. */
  readonly lacks: (chainId: ChainId, asset: AssetId, missing: bigint) => Promise<boolean | null>;
  /** Approvals of an asset on a chain are stopped, or go on. @param missing 18 decimals. */
  readonly approvals: (chainId: ChainId, asset: AssetId, missing: bigint, isStopped: boolean) => void;
  /** @param deviation the chain's amount less the ledger's, 18 decimals; 0 when they agree again. */
  readonly changed: (asset: AssetId, deviation: bigint) => void;
}

export class VaultHoldings {
  readonly #parts: HoldingsParts;
  #deviations: ReadonlyMap<AssetId, bigint> = new Map();
  /** By `deviationKey`. */
  #stops: ReadonlyMap<string, ApprovalStop> = new Map();

  constructor(parts: HoldingsParts) {
    this.#parts = parts;
  }

  /** By asset with a token, 18 decimals; 0 where chain and ledger agree. Those of the last comparison. */
  get deviations(): ReadonlyMap<AssetId, bigint> {
    return this.#deviations;
  }

  /** Assets of which nothing is approved on a chain, as clearing had it at the last comparison (MON-05). */
  get stops(): readonly ApprovalStop[] {
    return [...this.#stops.values()];
  }

  /** @param token 64 hex. */
  isStopped(chainId: ChainId, token: string): boolean {
    if (this.#stops.size === 0) return false;
    const registry = this.#parts.registry();
    for (const { chainId: chain, asset } of this.#stops.values()) {
      const row = chain === chainId ? registry.assets.get(asset) : undefined;
      if (row !== undefined && tokensEver(registry, row).some((one) => one.chainId === chainId && one.token === token))
        return true;
    }
    return false;
  }

  /** What the chains hold of each asset, 18 decimals; null when a chain with a token of it was not read yet. */
  onChain(): ReadonlyMap<AssetId, bigint | null> {
    const held = this.#parts.held();
    const sums = new Map<AssetId, bigint | null>();
    const registry = this.#parts.registry();
    for (const row of registry.assets.values()) {
      let sum: bigint | null = 0n;
      for (const { token, chainId, decimals } of tokensEver(registry, row)) {
        const units = held.get(chainId);
        if (units === undefined) continue;
        sum = sum === null || units === null ? null : sum + inUnits(units.get(token) ?? 0n, decimals);
      }
      sums.set(row.assetId, sum);
    }
    return sums;
  }

  /** Compares chain and ledger; an asset of a chain on which something is being booked keeps its last comparison. */
  async compare(): Promise<void> {
    const { bookings, booked, held } = this.#parts;
    const units = held();
    const before = new Map([...units.keys()].map((chainId) => [chainId, bookings(chainId)]));
    const ledger = await booked();
    if (ledger === null) return;
    // Judged once: what follows may begin to read a chain again.
    const comparable = new Set<ChainId>();
    for (const [chainId, count] of before) if (count !== null && count === bookings(chainId)) comparable.add(chainId);
    const inLedger = new Map<string, bigint>();
    for (const { token, chainId, baseUnits } of ledger.tokens) {
      const key = `${token}@${chainId}`;
      inLedger.set(key, (inLedger.get(key) ?? 0n) + baseUnits);
    }
    const listed = new Map<ChainId, Units>();
    for (const [chainId, onChain] of units) {
      if (onChain !== null && comparable.has(chainId)) listed.set(chainId, this.#listed(chainId, onChain, inLedger));
    }
    const deviations = new Map<AssetId, bigint>();
    const lacking: Lack[] = [];
    const registry = this.#parts.registry();
    for (const row of registry.assets.values()) {
      const tokens = tokensEver(registry, row);
      if (tokens.length === 0) continue;
      let sum: bigint | null = 0n;
      for (const { token, chainId, decimals } of tokens) {
        const onChain = units.get(chainId);
        if (onChain === undefined) continue;
        const unexplained = listed.get(chainId)?.get(token) ?? 0n;
        const difference = (onChain?.get(token) ?? 0n) - (inLedger.get(`${token}@${chainId}`) ?? 0n);
        const isKnown = onChain !== null && comparable.has(chainId);
        sum = sum === null || !isKnown ? null : sum + inUnits(difference - unexplained, decimals);
        // Units that no event explains are there all the same: the vault can pay with them.
        if (isKnown)
          lacking.push({ chainId, asset: row.assetId, missing: difference < 0n ? inUnits(-difference, decimals) : 0n });
      }
      // A chain that is not known now proves nothing.
      deviations.set(row.assetId, sum ?? this.#deviations.get(row.assetId) ?? 0n);
    }
    const last = this.#deviations;
    this.#deviations = deviations;
    for (const [asset, deviation] of deviations) {
      const isOther = (deviation === 0n) !== ((last.get(asset) ?? 0n) === 0n);
      if (isOther) this.#parts.changed(asset, deviation);
    }
    await this.#report(ledger, lacking);
  }

  #listed(chainId: ChainId, onChain: Units, inLedger: ReadonlyMap<string, bigint>): Units {
    const registry = this.#parts.registry();
    const differences = new Map<string, bigint>();
    for (const row of registry.assets.values()) {
      for (const { token, chainId: chain } of tokensEver(registry, row)) {
        const difference = (onChain.get(token) ?? 0n) - (inLedger.get(`${token}@${chainId}`) ?? 0n);
        if (chain === chainId && difference !== 0n) differences.set(token, difference);
      }
    }
    return this.#parts.explained(chainId, differences);
  }

  /** Clearing gets what has changed; what is not known now stays as it is there. */
  async #report({ deviations }: BookedUnits, lacking: readonly Lack[]): Promise<void> {
    const sums = new Map<string, Lack>();
    for (const { chainId, asset, missing } of lacking) {
      const key = deviationKey(asset, chainId);
      // Of several tokens, one that has more does not stand for one that lacks some.
      sums.set(key, { chainId, asset, missing: (sums.get(key)?.missing ?? 0n) + missing });
    }
    const stops = new Map<string, ApprovalStop>();
    const known = new Map(deviations.map((one) => [deviationKey(one.asset, one.chainId), one]));
    for (const [key, { chainId, asset, missing, isStopped }] of known) {
      if (isStopped) stops.set(key, { chainId, asset, missing });
    }
    for (const [key, { chainId, asset, missing }] of sums) {
      // mutant: lack-reported-once
      if (missing === (known.get(key)?.missing ?? 0n)) continue;
      const isStopped = await this.#parts.lacks(chainId, asset, missing);
      if (isStopped === null) continue;
      if (isStopped) stops.set(key, { chainId, asset, missing });
      else stops.delete(key);
    }
    const before = this.#stops;
    this.#stops = stops;
    for (const [key, { chainId, asset, missing }] of stops) {
      if (!before.has(key)) this.#parts.approvals(chainId, asset, missing, true);
    }
    for (const [key, { chainId, asset, missing }] of before) {
      if (!stops.has(key)) this.#parts.approvals(chainId, asset, missing, false);
    }
  }
}

interface Lack {
  readonly chainId: ChainId;
  readonly asset: AssetId;
  /** 18 decimals. */
  readonly missing: bigint;
}

/** Base units in 18 decimals, towards zero. */
function inUnits(baseUnits: bigint, decimals: number): bigint {
  return decimals <= INTERNAL_DECIMALS
    ? baseUnits * powerOfTen(INTERNAL_DECIMALS - decimals)
    : baseUnits / powerOfTen(decimals - INTERNAL_DECIMALS);
}
