// @ts-check
/** Figures as people read them. Decimal strings stay exact: digits are grouped, padded or cut, never computed as doubles. */

import { formatScaled } from '../../src/core/decimal.js';

const MINUS = '−';

/** @param {string} digits */
function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * @param {string | null | undefined} text a decimal, as the node writes it
 * @param {number} [decimals] exactly so many: padded with zeros, further ones are cut; absent: as they are
 */
export function figure(text, decimals) {
  if (text === null || text === undefined || text === '') return '–';
  const isNegative = text.startsWith('-');
  const [whole = '0', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  const shown = decimals === undefined ? fraction : fraction.slice(0, Math.max(0, decimals)).padEnd(decimals, '0');
  const digits = `${grouped(whole)}${shown === '' ? '' : `.${shown}`}`;
  return isNegative && /[1-9]/.test(digits) ? `${MINUS}${digits}` : digits;
}

/** With a sign in any case. @param {string | null | undefined} text @param {number} [decimals] */
export function signed(text, decimals) {
  const shown = figure(text, decimals);
  return shown === '–' || shown.startsWith(MINUS) || !/[1-9]/.test(shown) ? shown : `+${shown}`;
}

/** 'up', 'down' or '' for a class. @param {string | null | undefined} text */
export function direction(text) {
  if (text === null || text === undefined || !/[1-9]/.test(text)) return '';
  return text.startsWith('-') ? 'down' : 'up';
}

/** A large figure in three or four digits, for a place where the exact one stands in the title. @param {string | null} text */
export function short(text) {
  if (text === null || text === undefined) return '–';
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 }).format(Number(text));
}

/** @param {bigint} rate in units of 1e-6 */
export function percent(rate) {
  return `${figure(formatScaled(rate, 4))} %`;
}

/** @param {bigint} ns since the Unix epoch */
export function clockTime(ns) {
  return new Date(Number(ns / 1_000_000n)).toLocaleTimeString('en-GB');
}

/** @param {bigint} ns since the Unix epoch */
function dateTime(ns) {
  const date = new Date(Number(ns / 1_000_000n));
  return `${date.toLocaleDateString('en-CA')} ${date.toLocaleTimeString('en-GB')}`;
}

/** @param {string} chainId 18 hex digits: the machine's in the first two */
export function chainNumber(chainId) {
  return Number.parseInt(chainId.slice(2), 16);
}

/** A cell of a table: the time alone if it is of today, with the date in its title. @param {bigint} ns */
export function timeCell(ns) {
  const date = new Date(Number(ns / 1_000_000n));
  const isToday = date.toDateString() === new Date().toDateString();
  return /** @type {const} */ ([isToday ? clockTime(ns) : dateTime(ns), '', dateTime(ns)]);
}

/** Decimal digits of a decimal string: '0.01' has 2. @param {string} text */
export function decimalsOf(text) {
  return text.split('.')[1]?.length ?? 0;
}
