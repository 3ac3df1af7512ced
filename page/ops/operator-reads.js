// @ts-check
/**
 * What the operator API has beyond the metrics: accounts at risk, the backstop, the sums of the ledger. It needs the operator's
 * token, which stays in the memory of this page: it is not stored, and sent to this listener only.
 */
import { parseJsonText } from '../../src/client/page/json-text.js';
import { button, element } from '../dom.js';
import { byId, count, Table } from './draw.js';

const EVERY_MS = 5_000;
const ACCOUNTS_SHOWN = 25;
/** Of a user id. */
const ID_SHOWN = 12;

/** @typedef {Map<string, unknown>} Members */

/** @param {unknown} value @returns {Members} */
function members(value) {
  return value instanceof Map ? value : new Map();
}

/** @param {unknown} value @returns {readonly unknown[]} */
function list(value) {
  return Array.isArray(value) ? value : [];
}

/** A decimal without digits beyond the second behind the point. @param {unknown} value */
function short(value) {
  const text = String(value ?? '–');
  const point = text.indexOf('.');
  return point < 0 ? text : text.slice(0, point + 3);
}

class RefusedRead extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class OperatorReads {
  #token = '';
  #words = element('span', { class: 'small', role: 'status' });
  #reads = element('div', { class: 'reads' });
  #atRisk = new Table('Accounts at risk', ['Account', 'Surplus', 'Required', 'Stage'], 'No account is at risk.');
  #backstop = new Table(
    'Backstop',
    ['Taken over from', 'State', 'Equity', 'Deleveraged'],
    'The backstop holds nothing.',
  );
  #ledger = new Table('Ledger', ['Asset', 'Claims', 'Vaults', 'Difference'], 'The ledger is empty.');
  #readMs = Number.NEGATIVE_INFINITY;
  #isReading = false;

  constructor() {
    const input = /** @type {HTMLInputElement} */ (
      element('input', { type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false', required: '' })
    );
    const forget = button('Forget', () => this.#forget());
    const form = element('form', { class: 'token' }, element('label', { for: 'token' }, 'Operator token'), input);
    form.append(element('button', { class: 'main' }, 'Read'), forget, this.#words);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#token = input.value.trim();
      input.value = '';
      this.#readMs = Number.NEGATIVE_INFINITY;
      void this.update();
    });
    const parts = [
      ['Accounts at risk', this.#atRisk],
      ['Backstop', this.#backstop],
      ['Ledger', this.#ledger],
    ];
    for (const [name, table] of /** @type {[string, Table][]} */ (parts))
      this.#reads.append(element('div', {}, element('h3', {}, name), table.node));
    byId('operator').append(form, this.#reads);
    this.#forget();
  }

  #forget() {
    this.#token = '';
    this.#reads.hidden = true;
    this.#words.textContent = 'Kept in the memory of this page only, and sent to this listener only.';
    this.#words.className = 'small';
  }

  /** Reads again if it is time, and a token is there. */
  async update() {
    if (this.#token === '' || this.#isReading || performance.now() - this.#readMs < EVERY_MS) return;
    this.#isReading = true;
    this.#readMs = performance.now();
    const token = this.#token;
    try {
      const atRisk = await this.#get(`/operator/accounts-at-risk?limit=${ACCOUNTS_SHOWN}`);
      const backstop = await this.#get('/operator/backstop');
      const ledger = await this.#get('/operator/ledger');
      if (this.#token !== token) return;
      this.#show(atRisk, backstop, ledger);
      this.#words.textContent = `Read at ${new Date().toLocaleTimeString('en-GB')}.`;
      this.#words.className = 'small';
    } catch (error) {
      if (this.#token !== token) return;
      // A wrong token is not sent again.
      if (error instanceof RefusedRead && error.status === 401) this.#forget();
      this.#words.textContent = error instanceof Error ? error.message : String(error);
      this.#words.className = 'fault';
    } finally {
      this.#isReading = false;
    }
  }

  /** @param {string} path @returns {Promise<Members>} */
  async #get(path) {
    const response = await fetch(path, { headers: { Authorization: `Bearer ${this.#token}` } });
    const body = members(parseJsonText(await response.text()));
    if (response.ok) return body;
    const fault = members(body.get('error'));
    throw new RefusedRead(response.status, `${fault.get('code') ?? response.status}: ${fault.get('message') ?? ''}`);
  }

  /** @param {Members} atRisk @param {Members} backstop @param {Members} ledger */
  #show(atRisk, backstop, ledger) {
    this.#reads.hidden = false;
    this.#atRisk.show(
      list(atRisk.get('accounts')).map((value) => {
        const row = members(value);
        const key = `${row.get('user_id')} ${row.get('sub_account')}`;
        const stage =
          row.get('is_shielded') === true ? 'shielded' : (members(row.get('liquidation')).get('stage') ?? 'at risk');
        const cells = [
          account(key),
          short(row.get('maintenance_surplus')),
          short(row.get('maintenance_requirement')),
          String(stage),
        ];
        return { key, cells };
      }),
    );
    this.#backstop.show(
      list(backstop.get('sub_accounts')).map((value) => {
        const row = members(value);
        const key = `${row.get('source_user')} ${row.get('source_index')} ${row.get('index')}`;
        const closed = members(row.get('adl_closed'));
        return { key, cells: [account(key), String(row.get('state')), short(row.get('equity')), count(closed.size)] };
      }),
    );
    this.#ledger.show(
      [...members(ledger.get('assets'))].map(([asset, value]) => {
        const row = members(value);
        const difference = String(row.get('difference'));
        const shown = element('span', { class: difference === '0' ? 'good' : 'fault' }, difference);
        return { key: asset, cells: [asset, short(row.get('claims')), short(row.get('vault_holdings')), shown] };
      }),
    );
  }
}

/** The beginning of a user id and the sub-account. @param {string} key */
function account(key) {
  const [user = '', index = ''] = key.split(' ');
  return element('span', { title: user }, `${user.slice(0, ID_SHOWN)}… / ${index}`);
}
