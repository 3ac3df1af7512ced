/**
 * What users and operators of the simulation do, as plain values: an action can be written to a file, read again and
 * left out of a list, which is what shrinking needs. Large integers are text.
 *
 * Not here: drawing them (drawing.ts), carrying them out (performing.ts).
 */
import type { AssetId } from '../../src/core/ids.ts';
import type { OrderWish } from '../support/order-fixture.ts';
import type { Registered } from './vaults.ts';

/** Index into the people of the world. */
export type Who = number;

/** One order as its owner signs it; times are relative to when it is sent. */
export interface OrderPlan {
  readonly id: string;
  readonly market: AssetId;
  readonly side: 0 | 1;
  readonly account: number;
  readonly isSpot: boolean;
  readonly reduceOnly: boolean;
  readonly wish: Omit<OrderWish, 'user' | 'id' | 'side' | 'goodUntilNs' | 'postSignNs'>;
  /** Of a good-till-date order. */
  readonly livesNs?: number;
  /** The protection group that it is to be in. */
  readonly group?: string;
  /** Clearing finds the signature forged, though the gateway let it pass. */
  readonly forged?: true;
}

export interface ChangePlan {
  readonly id: string;
  readonly market: AssetId;
  readonly price: number | null;
  readonly quantity: number | null;
  readonly trigger: { readonly direction: 'PriceAbove' | 'PriceBelow'; readonly price: number } | null;
  /** Complete terms: price and quantity are given. */
  readonly isComplete?: true;
}

export interface AmendPlan {
  readonly id: string;
  readonly market: AssetId;
  readonly quantity: number;
  /** Made for an order that was not changed since its create; otherwise for the revision that it shows. */
  readonly isFirst: boolean;
}

type Mine<Kind extends string, Members> = { readonly kind: Kind; readonly who: Who } & Members;

/** A set as its owner signs it: prices and lots, best price first. */
export interface QuotesPlan {
  readonly set: string;
  readonly market: AssetId;
  readonly account: number;
  readonly isSpot: boolean;
  readonly bids: readonly (readonly [price: number, lots: number])[];
  readonly asks: readonly (readonly [price: number, lots: number])[];
  readonly livesNs: number | null;
  readonly group: string | null;
  /** Clearing finds the signature forged, though the gateway let it pass. */
  readonly forged?: true;
}

/** A protection group as its user sets it; amounts are decimals. */
export interface ProtectionPlan {
  readonly windowMs: number;
  readonly frozenMs: number;
  readonly maxFills: number | null;
  readonly maxQuantity: string | null;
  readonly maxNotional: string | null;
  readonly minFillNotional: string;
}

/** What moves funds between the ledger and the vaults (vaults.ts). */
export type FundsAction =
  | Mine<'deposit', { readonly token: number; readonly baseUnits: string; readonly confirm: boolean }>
  | { readonly kind: 'mine'; readonly vault: number; readonly blocks: number }
  /** `amount`: 18-decimal units in hex; `target`: one byte, repeated. */
  | Mine<
      'withdraw',
      { readonly token: number; readonly amount: string; readonly nonce: number | null; readonly target: string }
    >
  | Mine<'cancelWithdrawal', { readonly token: number; readonly nonce: number }>
  /** Presents the approval of a counter to the vault; `old`: one published so many before, in place of it. */
  | Mine<
      'execute',
      { readonly vault: number; readonly nonce: number; readonly confirm: boolean; readonly old: number | null }
    >
  /** Of the replaced blocks' transactions those whose bit is set are kept. */
  | {
      readonly kind: 'reorg';
      readonly vault: number;
      readonly depth: number;
      readonly keeps: number;
      readonly isReversed: boolean;
      readonly more: number;
    }
  | {
      readonly kind: 'provider';
      readonly vault: number;
      readonly provider: number;
      readonly fault: 'none' | 'unreachable' | 'lagging' | 'omit_logs' | 'forge_amount';
      readonly lagBlocks: number;
    }
  /** The logs of the transaction so many before the last one. */
  | { readonly kind: 'replay'; readonly vault: number; readonly back: number }
  | { readonly kind: 'resume'; readonly vault: number }
  /** The operator gives an asset these tokens and no others. */
  | { readonly kind: 'tokens'; readonly asset: AssetId; readonly registered: readonly Registered[] }
  /** `out`, `into`: tokens of one vault; amounts are 18-decimal units in hex. */
  | Mine<
      'settle',
      {
        readonly account: number;
        readonly out: number;
        readonly into: number;
        readonly amountOut: string;
        readonly amountIn: string;
        readonly nonce: number | null;
      }
    >
  /** The executor presents the last approval of a counter. */
  | Mine<
      'executeSettlement',
      { readonly vault: number; readonly account: number; readonly nonce: number; readonly confirm: boolean }
    >
  | Mine<'creditUnclaimed', { readonly vault: number; readonly counter: number }>;

export type Action =
  | Mine<'create', { readonly order: OrderPlan; readonly isControl: boolean; readonly isTied?: true }>
  | Mine<'createBatch', { readonly orders: readonly OrderPlan[]; readonly isControl: boolean }>
  | Mine<'quotes', { readonly quotes: QuotesPlan; readonly isControl: boolean }>
  | Mine<'replace', { readonly change: ChangePlan; readonly isControl: boolean }>
  | Mine<'replaceBatch', { readonly changes: readonly ChangePlan[]; readonly isControl: boolean }>
  | Mine<'amend', { readonly amend: AmendPlan; readonly isControl: boolean }>
  | Mine<'cancel', { readonly id: string; readonly market: AssetId; readonly isControl: boolean }>
  | Mine<
      'cancelAll',
      {
        readonly market: AssetId | null;
        readonly olderNs: number | null;
        /** Members of one protection group, or entries of one quote set, alone. */
        readonly group?: string;
        readonly set?: string;
        readonly side?: 0 | 1;
      }
    >
  | Mine<'protect', { readonly market: AssetId; readonly group: string; readonly plan: ProtectionPlan }>
  | Mine<'unprotect' | 'unfreeze', { readonly market: AssetId; readonly group: string }>
  | Mine<'cancelBatch', { readonly market: AssetId | null; readonly ids: readonly string[] }>
  | Mine<'cancelAllAfter', { readonly timeoutMs: number }>
  /** The `/control` connection ends, and orders tied to it with it; the next action opens another. */
  | Mine<'hangUp', object>
  | Mine<
      'transfer',
      {
        readonly from: number;
        readonly to: number;
        readonly asset: AssetId;
        readonly amount: string;
        readonly type: 'Spot' | 'CrossMargin' | 'Isolated' | null;
        readonly nonce: string;
      }
    >
  | Mine<'close', { readonly account: number; readonly asset: AssetId; readonly nonce: string }>
  | Mine<'rename', { readonly account: number; readonly name: string }>
  | Mine<'login', object>
  | Mine<'logout', object>
  /** Reads that must change nothing: inventory, positions, figures, preview, a trade tried on. */
  | Mine<'read', { readonly account: number; readonly market: AssetId; readonly lots: number }>
  | { readonly kind: 'price'; readonly asset: AssetId; readonly price: string }
  | {
      readonly kind: 'faucet';
      readonly who: Who;
      readonly account: number;
      readonly asset: AssetId;
      readonly amount: string;
    }
  | FundsAction
  | { readonly kind: 'patchMarket'; readonly asset: AssetId; readonly body: object }
  | { readonly kind: 'patchRisk'; readonly asset: AssetId; readonly body: object }
  | { readonly kind: 'patchUser'; readonly who: Who; readonly isMarketMaker: boolean }
  | {
      readonly kind: 'fault';
      readonly party: 'maker' | 'taker' | 'both';
      readonly reason: number;
      readonly count: number;
    }
  | { readonly kind: 'hold'; readonly asset: AssetId | 'all' }
  | { readonly kind: 'release'; readonly fills: number | null }
  | { readonly kind: 'pass'; readonly seconds: number };

export type ActionKind = Action['kind'];

/** How many operations it is: a batch is as many as it has orders. */
export function operationsOf(action: Action): number {
  if (action.kind === 'createBatch') return action.orders.length;
  return action.kind === 'replaceBatch' ? action.changes.length : 1;
}
