/**
 * A user's balances by sub-account (wire.md 7.13). The caller selects and orders the entries; Maps keep that order,
 * whereas an object would reorder index-like names.
 */
import { replyWriter } from './reply-writer.ts';
import { INVENTORY } from './shapes/account-shapes.ts';

interface MarginLegsView {
  readonly credits: string;
  readonly liabilities: string;
}

export interface InventoryAccountView {
  /** `spot`, `cross_margin`, `isolated_margin`. */
  readonly kind: string;
  readonly name: string;
  /** Isolated accounts only. */
  readonly asset?: string;
  /** Available decimal amounts by asset id: owned and not locked. */
  readonly spot: ReadonlyMap<string, string>;
  readonly margins: ReadonlyMap<string, { readonly base: MarginLegsView; readonly quote: MarginLegsView }>;
}

export interface InventoryView {
  readonly is_mm: boolean;
  /** By sub-account index. */
  readonly accounts: ReadonlyMap<string, InventoryAccountView>;
}

export const inventoryReply: (view: InventoryView) => string = replyWriter(INVENTORY);
