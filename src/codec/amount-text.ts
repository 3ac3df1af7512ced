/** Amounts of withdrawals and settlements as texts of 18-decimal units (wire.md 7.18, 7.19). */
import type { Amount18 } from '../core/units.ts';

/** How withdrawal and settlement amounts are written (setting `amount_text`). */
export type AmountText = 'hex' | 'decimal';

const HEX_FORM = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const DECIMAL_FORM = /^[0-9]{1,78}$/;

/** The amount that a text stands for; null when it is none, zero, or above 256 bits. */
export function parseAmountText(text: string, form: AmountText): Amount18 | null {
  const digits = form === 'hex' ? HEX_FORM.exec(text)?.[1] : DECIMAL_FORM.exec(text)?.[0];
  if (digits === undefined) return null;
  const amount = BigInt(form === 'hex' ? `0x${digits}` : digits);
  return amount > 0n && amount < 1n << 256n ? (amount as Amount18) : null;
}

/** The text of an amount: lower-case hex without prefix, or decimal. */
export function amountText(amount: Amount18, form: AmountText): string {
  return amount.toString(form === 'hex' ? 16 : 10);
}
