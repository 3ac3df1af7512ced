// @ts-check
/** Tables whose rows are kept by a key: only cells that differ are written. */
import { element, setClass, setText } from '../dom.js';

/** With more of them the first are shown: each change of a book of orders draws all rows that are. */
const ROWS_MAX = 250;

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {readonly (string | readonly [string, string, string?])[]} cells text, or text, class and title
 */

/** @param {string} column @returns {string} its class: a name that begins with `#` is a column of figures */
function kindOf(column) {
  return column.startsWith('#') ? 'number' : '';
}

/** @param {string} column */
function labelOf(column) {
  return column.replace('#', '');
}

export class KeyedTable {
  /** @type {HTMLElement} */
  root;
  #body = element('tbody', { role: 'rowgroup' });
  #none;
  #more = element('p', { class: 'none' });
  /** @type {Map<string, { row: HTMLElement, cells: HTMLElement[] }>} */
  #rows = new Map();
  #actionsOf;
  #columns;

  /**
   * @param {string} caption
   * @param {readonly string[]} columns a name that begins with `#` is a column of figures
   * @param {string} none shown without rows
   * @param {((key: string) => Node[]) | null} [actionsOf] buttons of a row, created once
   */
  constructor(caption, columns, none, actionsOf = null) {
    this.#actionsOf = actionsOf;
    this.#columns = columns;
    const heads = columns.map((name) =>
      element('th', { scope: 'col', class: kindOf(name), 'data-label': labelOf(name) }, labelOf(name)),
    );
    if (actionsOf !== null)
      heads.push(element('th', { scope: 'col' }, element('span', { class: 'hidden' }, 'Actions')));
    this.#none = element('p', { class: 'none' }, none);
    // On a phone a row is a card: roles that stand here stay those of a table, whatever the layout.
    const table = element('table', { role: 'table' }, element('caption', { class: 'hidden' }, caption));
    for (const head of heads) head.setAttribute('role', 'columnheader');
    table.append(element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)), this.#body);
    this.root = element(
      'div',
      { class: 'table', tabindex: '0', role: 'region', 'aria-label': caption },
      table,
      this.#none,
      this.#more,
    );
  }

  /** @template Item @param {readonly Item[]} items in their order @param {(item: Item) => Row} rowOf */
  draw(items, rowOf) {
    const rows = items.slice(0, ROWS_MAX).map(rowOf);
    this.#none.hidden = items.length > 0;
    this.#more.hidden = items.length <= ROWS_MAX;
    setText(this.#more, `and ${items.length - ROWS_MAX} more`);
    const left = new Map(this.#rows);
    /** @type {Element | null} */
    let at = this.#body.firstElementChild;
    for (const { key, cells } of rows) {
      let known = left.get(key);
      left.delete(key);
      if (known === undefined) {
        known = this.#create(key);
        this.#rows.set(key, known);
      }
      cells.forEach((cell, index) => {
        const node = known.cells[index];
        if (node === undefined) return;
        const [text, name, title = ''] = typeof cell === 'string' ? [cell, ''] : cell;
        setText(node, text);
        setClass(node, `${kindOf(this.#columns[index] ?? '')} ${name}`.trim());
        if (node.title !== title) node.title = title;
      });
      if (known.row !== at) this.#body.insertBefore(known.row, at);
      else at = at.nextElementSibling;
    }
    for (const [key, { row }] of left) {
      row.remove();
      this.#rows.delete(key);
    }
  }

  /** @param {string} key */
  #create(key) {
    const cells = this.#columns.map((name) => element('td', { role: 'cell', 'data-label': labelOf(name) }));
    const row = element('tr', { role: 'row' }, ...cells);
    if (this.#actionsOf !== null)
      row.append(element('td', { role: 'cell', class: 'actions' }, ...this.#actionsOf(key)));
    return { row, cells };
  }
}
