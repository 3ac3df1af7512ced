/**
 * A user's balances by sub-account (wire.md 7.13). The caller selects and orders the entries; Maps keep that order,
 * whereas an object would reorder index-like names.
 */
import { quote } from './json-writer.ts';

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
