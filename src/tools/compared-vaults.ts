/** What the vaults hold by the ledger, at a record where ledger and chains agree: for the statement of what the venue owes (LIA-01, LIA-04). */
import type { EventCursor } from '../clearing/funds/chain-cursor.ts';
import type { CursorKind } from '../clearing/rows.ts';
import type { ClearingState } from '../clearing/state.ts';
import type { ChainId } from '../core/ids.ts';
import type { VaultHolding } from '../evidence/liabilities/statement.ts';
import { StorageError } from '../storage/storage-error.ts';

const KINDS: readonly CursorKind[] = ['deposit', 'withdrawal', 'settlement', 'forced'];

/** This place of the journal is none for a statement: the next one may be. */
export class NoStatement extends StorageError {}

/**
 * What the vaults of chains hold by the events that are booked, each with the block up to which all of them are.
 *
 * @throws NoStatement while a chain is stopped or shows less than the ledger has, or while events behind that block are booked: then
 *   what is read of the chain at it is another amount.
 */
export function comparedVaults(
  state: Pick<ClearingState, 'vaultDeviations' | 'vaultTokens' | 'tokenDecimals' | 'chainCursors'>,
): readonly VaultHolding[] {
  for (const { asset, chainId, missing } of state.vaultDeviations.values()) {
    if (missing !== 0n) throw new NoStatement(`the vault of chain ${chainId} lacks units of asset ${asset}`);
  }
  const holdings: VaultHolding[] = [];
  for (const { token, chainId, asset: assetId, baseUnits: units } of state.vaultTokens.values()) {
    const place = bookedUpTo(state, chainId);
    // A simulated chain has no cursor in the ledger, and no block that anybody else can read.
    if (place === null) continue;
    const decimals = state.tokenDecimals.get(`${token}@${chainId}`);
    if (decimals === undefined) continue;
    holdings.push({
      ...{ chainId, address: place.vault, token, assetId },
      ...{ block: place.block, blockHash: place.hash, units, decimals },
    });
  }
  const order = ({ chainId, token }: VaultHolding): string => `${chainId} ${token}`;
  return holdings.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

interface BookedUpTo {
  readonly vault: string;
  readonly block: number;
  readonly hash: string;
}

/** Null for a chain without cursors. */
function bookedUpTo({ chainCursors }: Pick<ClearingState, 'chainCursors'>, chainId: ChainId): BookedUpTo | null {
  const cursors = KINDS.flatMap((event): readonly EventCursor[] => {
    const cursor = chainCursors.find({ chainId, event });
    return cursor === null ? [] : [cursor];
  });
  let lowest: BookedUpTo | null = null;
  for (const { vault, anchors, stopped, missing } of cursors) {
    const newest = anchors.at(-1);
    if (stopped !== null || missing.length > 0 || newest === undefined)
      throw new NoStatement(`the events of chain ${chainId} are not booked up to a block`);
    if (lowest === null || newest.number < lowest.block) lowest = { vault, block: newest.number, hash: newest.hash };
  }
  const block = lowest?.block ?? 0;
  if (cursors.some(({ recent }) => recent.some((event) => event.block > block)))
    throw new NoStatement(`events of chain ${chainId} behind block ${block} are booked`);
  return lowest;
}
