/** Frozen judge: the printers as they were written by hand, before replies were written by their shapes (reply-writer.ts). */
import type { InventoryAccountView, InventoryView } from '../../src/codec/shapes/account-shapes.ts';

type MarginLegsView = { readonly credits: string; readonly liabilities: string };

import { quote } from '../../src/codec/json-writer.ts';

export function inventoryReply(view: InventoryView): string {
  return `{"is_mm":${view.is_mm},"accounts":${mapText(view.accounts, accountText)}}`;
}

function accountText(account: InventoryAccountView): string {
  const asset = account.asset === undefined ? '' : `"asset":${quote(account.asset)},`;
  return (
    `{"kind":"${account.kind}","name":${quote(account.name)},${asset}"spot":${mapText(account.spot, quote)},` +
    `"margins":${mapText(account.margins, (legs) => `{"base":${legsText(legs.base)},"quote":${legsText(legs.quote)}}`)}}`
  );
}

function legsText(legs: MarginLegsView): string {
  return `{"credits":"${legs.credits}","liabilities":"${legs.liabilities}"}`;
}

function mapText<Value>(entries: ReadonlyMap<string, Value>, textOf: (value: Value) => string): string {
  return `{${[...entries].map(([name, value]) => `${quote(name)}:${textOf(value)}`).join(',')}}`;
}
