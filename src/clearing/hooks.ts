/**
 * Test hooks on the decision of fills (operator-api.md 7.3): holds and armed faults. Inputs like any other, so a
 * journal replays them; a node that restarts holds nothing and has no fault armed.
 *
 * Not here: which profiles allow them (node).
 */
import type { AssetId } from '../core/ids.ts';
import { parseAssetId } from '../core/ids.ts';
import { ROLLBACK_REASON, ROLLBACK_REASON_WORD, type RollbackReason } from '../core/order-terms.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { RejectFill } from './inputs.ts';
import { BodyReader } from './registry/body-reader.ts';
import type { ClearingState, Hooks } from './state.ts';

/** Inputs that may wait behind held fills, all markets together: whoever holds them for longer ends the node. */
export const WAITING_INPUTS_MAX = 65_536;

/** Whether the next fill of this asset must wait. A pass lets one through and the hold stays. */
export function takesHold(hooks: Hooks, asset: AssetId): boolean {
  if (!hooks.holdsAll && !hooks.heldAssets.has(asset)) return false;
  if (hooks.passes === 0) return true;
  hooks.passes -= 1;
  return false;
}

export function setHold(hooks: Hooks, asset: AssetId | 'all'): void {
  if (asset === 'all') hooks.holdsAll = true;
  else hooks.heldAssets.add(asset);
}

export function isHolding(hooks: Hooks): boolean {
  return hooks.holdsAll || hooks.heldAssets.size > 0;
}

/** Lets the next fills pass while the hold stays; means nothing without a hold. */
export function addPasses(hooks: Hooks, fills: number): void {
  if (isHolding(hooks)) hooks.passes += fills;
}

export function endHolds(hooks: Hooks): void {
  hooks.holdsAll = false;
  hooks.heldAssets.clear();
  hooks.passes = 0;
}

export function setFault(hooks: Hooks, fault: RejectFill | null): void {
  if (fault === null) hooks.faults = [];
  else hooks.faults.push({ ...fault });
}

/** The reasons of the first armed fault that meets a fill of this asset, or null. */
export function takeFault(
  hooks: Hooks,
  asset: AssetId,
): { readonly maker: RollbackReason; readonly taker: RollbackReason } | null {
  for (const fault of hooks.faults) {
    if (fault.asset !== null && fault.asset !== asset) continue;
    if (fault.skip > 0) {
      fault.skip -= 1;
      continue;
    }
    fault.count -= 1;
    if (fault.count === 0) hooks.faults = hooks.faults.filter((other) => other !== fault);
    return faultReasons(fault);
  }
  return null;
}

function faultReasons(fault: RejectFill): { readonly maker: RollbackReason; readonly taker: RollbackReason } {
  const both = fault.party === 'both' || fault.reason === ROLLBACK_REASON.staleMatch;
  return {
    maker: both || fault.party === 'maker' ? fault.reason : ROLLBACK_REASON.none,
    taker: both || fault.party === 'taker' ? fault.reason : ROLLBACK_REASON.none,
  };
}

/** Words that a party can be given: all but the one that says the other party is at fault. */
const FAULT_REASONS: ReadonlyMap<string, RollbackReason> = new Map(
  Object.values(ROLLBACK_REASON).flatMap((reason): [string, RollbackReason][] => {
    const word = ROLLBACK_REASON_WORD[reason];
    return word === null || reason === ROLLBACK_REASON.counterpartyAtFault ? [] : [[word, reason]];
  }),
);

/**
 * Reads `{"kind":"reject_fill",…}` of operator-api.md 7.3.
 *
 * @returns INVALID_REQUEST with the member at fault.
 */
export function parseRejectFill(body: unknown): Outcome<RejectFill> {
  const reader = new BodyReader(body, ['kind', 'party', 'reason', 'asset_id', 'skip', 'count']);
  reader.word('kind', ['reject_fill'], undefined);
  const party = reader.word('party', ['maker', 'taker', 'both'], undefined);
  const reasonWord = reader.word('reason', [...FAULT_REASONS.keys()], undefined);
  const asset = reader.textOrNull('asset_id', null);
  const parsed = asset === null ? null : parseAssetId(asset);
  if (asset !== null && parsed === null) reader.fail('asset_id', 'an asset id is expected');
  const skip = reader.integer('skip', { min: 0, max: 1_000_000 }, 0);
  const count = reader.integer('count', { min: 1, max: 1_000_000 }, 1);
  const reason = FAULT_REASONS.get(reasonWord) ?? ROLLBACK_REASON.none;
  return reader.failure ?? accepted({ party, reason, asset: parsed, skip, count });
}

/** What `/operator/clearing` shows of clearing's own state. */
export type HooksView = {
  readonly hold: { readonly all: boolean; readonly assets: readonly AssetId[] };
  readonly held_fills: number;
  readonly faults: readonly { readonly kind: 'reject_fill'; readonly remaining: number }[];
};

/** The answer of `/operator/clearing`, without what the shell keeps (`delay_ms` and its own faults). */
export function hooksView(state: ClearingState): HooksView {
  const { hooks } = state;
  return {
    hold: { all: hooks.holdsAll, assets: [...hooks.heldAssets] },
    held_fills: hooks.waiting.filter((input) => input.kind === 'matched').length,
    faults: hooks.faults.map((fault) => ({ kind: 'reject_fill', remaining: fault.count })),
  };
}
