/**
 * A user's balances by sub-account (wire.md 7.13). The caller selects and orders the entries; Maps keep that order,
 * whereas an object would reorder index-like names.
 */
import { replyWriter } from './reply-writer.ts';
import { INVENTORY, type InventoryView } from './shapes/account-shapes.ts';

export const inventoryReply: (view: InventoryView) => string = replyWriter(INVENTORY);
