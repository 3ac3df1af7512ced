// @ts-check
/** Figures, tables, bars and lines. A table keeps its rows from one read to the next, so that a selection in it stays. */
import { element, fill } from '../dom.js';

const NONE = '–';
const SVG = 'http://www.w3.org/2000/svg';
const HISTORY = 150;
/** A line with fewer values does not fill its width. */
const HISTORY_MIN = 20;
const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const THREE = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** @param {number | null | undefined} value */
export function count(value) {
  if (value === null || value === undefined) return NONE;
  return Math.abs(value) >= 1e7 ? COMPACT.format(value) : COUNT.format(value);
}

/** Three digits. @param {number | null | undefined} value */
export function figure(value) {
  if (value === null || value === undefined) return NONE;
  return Math.abs(value) >= 10_000 ? COMPACT.format(value) : THREE.format(value);
}

/** @param {number | null | undefined} value a second */
export function rate(value) {
  return value === null || value === undefined ? NONE : `${figure(value)}/s`;
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds >= 1) return `${THREE.format(seconds)} s`;
  return seconds >= 1e-3 ? `${THREE.format(seconds * 1e3)} ms` : `${THREE.format(seconds * 1e6)} µs`;
}

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return NONE;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  let left = value;
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return `${THREE.format(left)} ${units[at]}`;
}

/** @param {number | null | undefined} ratio 0 to 1 */
export function percent(ratio) {
  if (ratio === null || ratio === undefined) return NONE;
  return `${ratio < 0.0995 ? (ratio * 100).toFixed(1) : Math.round(ratio * 100)} %`;
}

/**
 * A share of a whole as a bar with its figure.
 *
 * @param {number | null} ratio 0 to 1
 * @param {{ high?: number, full?: number }} [limits] from where it is high, and full
 */
export function share(ratio, { high = 2, full = 2 } = {}) {
  const kind = ratio !== null && ratio >= full ? 'full' : ratio !== null && ratio >= high ? 'high' : '';
  const bar = element('span', {});
  bar.style.width = `${Math.min(100, Math.max(0, (ratio ?? 0) * 100))}%`;
  const track = element('span', { class: `track ${kind}`, 'aria-hidden': 'true' }, bar);
  return element('span', { class: 'share' }, track, element('span', {}, percent(ratio)));
}

/**
 * A table whose rows are made once for each key.
 *
 * @typedef {{ key: string, cells: readonly (Node | string)[], kind?: string }} Row
 */
export class Table {
  /** @type {HTMLElement} */
  node;
  #body = element('tbody', {});
  #empty;
  #frame;
  /** By key. @type {Map<string, HTMLElement>} */
  #rows = new Map();

  /**
   * @param {string} caption for readers of the screen
   * @param {readonly (Node | string)[]} columns the first is that of the names of rows
   * @param {string} empty what stands in place of no rows
   * @param {string} [kind]
   */
  constructor(caption, columns, empty, kind = '') {
    const head = columns.map((name) => element('th', { scope: 'col' }, name));
    const table = element(
      'table',
      { class: kind, 'aria-label': caption },
      element('thead', {}, element('tr', {}, ...head)),
    );
    table.append(this.#body);
    // What is wider than the panel scrolls, with the keyboard too.
    this.#frame = element('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption }, table);
    this.#empty = element('p', { class: 'empty' }, empty);
    this.node = element('div', {}, this.#frame, this.#empty);
    this.show([]);
  }

  /** @param {readonly Row[]} rows */
  show(rows) {
    this.#frame.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    const shown = rows.map((row) => this.#row(row));
    const isSame =
      shown.length === this.#body.children.length && shown.every((row, at) => this.#body.children[at] === row);
    if (!isSame) this.#body.replaceChildren(...shown);
    const keys = new Set(rows.map(({ key }) => key));
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
  }

  /** @param {Row} row */
  #row({ key, cells, kind = '' }) {
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = element(
        'tr',
        {},
        ...cells.map((_, at) => element(at === 0 ? 'th' : 'td', at === 0 ? { scope: 'row' } : {})),
      );
      this.#rows.set(key, row);
    }
    row.className = kind;
    for (const [at, cell] of cells.entries()) {
      const place = row.children[at];
      if (place === undefined) continue;
      if (typeof cell !== 'string') fill(place, cell);
      else if (place.textContent !== cell) place.textContent = cell;
    }
    return row;
  }
}

/** The last values of one figure, as a line from zero to the largest. */
export class Spark {
  node = document.createElementNS(SVG, 'svg');
  #line = document.createElementNS(SVG, 'polyline');
  #area = document.createElementNS(SVG, 'polygon');
  /** @type {number[]} */
  #values = [];

  constructor() {
    this.node.setAttribute('class', 'spark');
    this.node.setAttribute('viewBox', '0 0 100 20');
    this.node.setAttribute('preserveAspectRatio', 'none');
    this.node.setAttribute('aria-hidden', 'true');
    this.node.append(this.#area, this.#line);
  }

  /** @param {number | null} value */
  add(value) {
    if (value === null) return;
    this.#values.push(value);
    if (this.#values.length > HISTORY) this.#values.shift();
    const top = Math.max(...this.#values, Number.MIN_VALUE);
    const step = 100 / (Math.max(HISTORY_MIN, this.#values.length) - 1);
    const from = 100 - step * (this.#values.length - 1);
    const points = this.#values.map(
      (one, at) => `${(from + step * at).toFixed(2)},${(19 - (18 * one) / top).toFixed(2)}`,
    );
    this.#line.setAttribute('points', points.join(' '));
    this.#area.setAttribute('points', `${from.toFixed(2)},20 ${points.join(' ')} 100,20`);
  }

  clear() {
    this.#values = [];
    this.#line.setAttribute('points', '');
    this.#area.setAttribute('points', '');
  }
}

/** A key figure with its line. */
export class Tile {
  /** @type {HTMLElement} */
  node;
  #figure = element('div', { class: 'figure' });
  #spark = new Spark();

  /** @param {string} name @param {string} title what it is, in a sentence */
  constructor(name, title) {
    this.node = element(
      'div',
      { class: 'tile', title },
      element('div', { class: 'name' }, name),
      this.#figure,
      this.#spark.node,
    );
  }

  /** @param {string} text @param {number | null} value @param {string} [kind] */
  show(text, value, kind = '') {
    this.#figure.className = `figure ${kind} ${text.length > 10 ? 'long' : ''}`;
    this.#figure.textContent = text;
    this.#spark.add(value);
  }
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has ${id}`);
  return found;
}
