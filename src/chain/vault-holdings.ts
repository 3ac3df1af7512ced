/**
 * What the vaults hold, read from the chains, beside what the ledger says they hold (AMB-116, GEN-06).
 *
 *   simulated chain   the vault's balances at the head of the majority
 *   EVM chain         `balanceOf` of the vault at a processed block, by majority (evm-holdings.ts)
 *                        both without the events that are not final, or not processed at that block
 *   clearing          base units of each token in each vault, as booked events say, with those of unclaimed deposits
 *
 * So both sides follow from the same events, and unconfirmed or waiting ones are no deviation. Compared is only what was read
 * after the last booking and while none was in progress; otherwise the last comparison stands.
 *
 * A difference makes the chain be read again, as events may have been hidden; what then is beyond the ledger without an event is listed
 * as unclaimed units and counted out (CHN-04). A deviation is logged when it appears and when it ends; nothing is corrected by it.
 */
import type { VaultUnits } from '../clearing/clearing-queries.ts';
import { powerOfTen } from '../core/arithmetic.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import { type ChainRegistry, INTERNAL_DECIMALS, tokensEver } from './chain-rows.ts';

/** Base units by token, 64 hex. */
export type Units = ReadonlyMap<string, bigint>;

export interface HoldingsParts {
  readonly registry: () => ChainRegistry;
  /** Of every chain with a vault; null: not known yet. */
  readonly held: () => ReadonlyMap<ChainId, Units | null>;
  /** Another number after each booking of a chain; null while one is in progress, or while `held` is older than the last. */
  readonly bookings: (chainId: ChainId) => number | null;
  /** Of the ledger; null: not now. */
  readonly booked: () => Promise<readonly VaultUnits[] | null>;
  /**
   * Takes the differences of one chain, by token, none of them 0. @returns of these what no event explains and is listed (late-reads.ts):
   * it is no deviation.
   */
  readonly explained: (chainId: ChainId, differences: Units) => Units;
  /** @param deviation the chain's amount less the ledger's, 18 decimals; 0 when they agree again. */
  readonly changed: (asset: AssetId, deviation: bigint) => void;
}

export class VaultHoldings {
  readonly #parts: HoldingsParts;
  #deviations: ReadonlyMap<AssetId, bigint> = new Map();

  constructor(parts: HoldingsParts) {
    this.#parts = parts;
  }

  /** By asset with a token, 18 decimals; 0 where chain and ledger agree. Those of the last comparison. */
  get deviations(): ReadonlyMap<AssetId, bigint> {
    return this.#deviations;
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
    const rows = await booked();
    if (rows === null) return;
    const isComparable = (chainId: ChainId): boolean => {
      const count = before.get(chainId) ?? null;
      return count !== null && count === bookings(chainId);
    };
    const inLedger = new Map<string, bigint>();
    for (const { token, chainId, baseUnits } of rows) {
      const key = `${token}@${chainId}`;
      inLedger.set(key, (inLedger.get(key) ?? 0n) + baseUnits);
    }
    const listed = new Map<ChainId, Units>();
    for (const [chainId, onChain] of units) {
      if (onChain !== null && isComparable(chainId)) listed.set(chainId, this.#listed(chainId, onChain, inLedger));
    }
    const deviations = new Map<AssetId, bigint>();
    const registry = this.#parts.registry();
    for (const row of registry.assets.values()) {
      const tokens = tokensEver(registry, row);
      if (tokens.length === 0) continue;
      let sum: bigint | null = 0n;
      for (const { token, chainId, decimals } of tokens) {
        const onChain = units.get(chainId);
        if (onChain === undefined) continue;
        const unexplained = listed.get(chainId)?.get(token) ?? 0n;
        const difference = (onChain?.get(token) ?? 0n) - (inLedger.get(`${token}@${chainId}`) ?? 0n) - unexplained;
        sum = sum === null || onChain === null || !isComparable(chainId) ? null : sum + inUnits(difference, decimals);
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
}

/** Base units in 18 decimals, towards zero. */
function inUnits(baseUnits: bigint, decimals: number): bigint {
  return decimals <= INTERNAL_DECIMALS
    ? baseUnits * powerOfTen(INTERNAL_DECIMALS - decimals)
    : baseUnits / powerOfTen(decimals - INTERNAL_DECIMALS);
}
