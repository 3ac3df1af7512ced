/**
 * Test hooks on the decision of fills (operator-api.md 7.3): holds and armed faults. Inputs like any other, so a
 * journal replays them; a node that restarts holds nothing and has no fault armed.
 *
 * Not here: which profiles allow them (node).
 */
import type { AssetId } from '../core/ids.ts';
import { ROLLBACK_REASON, type RollbackReason } from '../core/order-terms.ts';
import type { RejectFill } from './inputs.ts';
import type { ClearingState, Hooks } from './state.ts';

/** Inputs that may wait behind held fills, all markets together: a longer hold ends the node. */
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
