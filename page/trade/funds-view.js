// @ts-check
/** Balances and margin by sub-account, transfers between them, withdrawals, and the faucet of a dev node. */
import { parseDecimal18 } from '../../src/core/decimal.js';
import { button, element, fill } from '../dom.js';
import { choiceField, decimalField, textField } from './fields.js';
import { direction, figure, signed } from './format.js';
import { note } from './notes.js';
import { faultText, request } from './service.js';
import { transfer, withdraw } from './signing.js';
import { KeyedTable } from './tables.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./service.js').Plain} Plain */

/** Margin figures: member of the reply, label, whether its sign has a meaning. */
const FIGURES = /** @type {const} */ ([
  ['account_equity', 'Equity', false],
  ['available_margin', 'Available margin', false],
  ['utilized_margin', 'Used margin', false],
  ['maintenance_margin_surplus', 'Above maintenance', false],
  ['unrealized_pnl', 'Unrealized', true],
  ['account_leverage', 'Leverage', false],
]);

export class FundsView {
  root = element('div', { class: 'funds' });
  #app;
  #balances = new KeyedTable('Balances', ['Account', 'Asset', '#Balance'], 'No funds yet.');
  #margins = element('div', { class: 'margins' });
  #from = choiceField('From', []);
  #to = choiceField('To', []);
  #asset = choiceField('Asset', []);
  #amount = decimalField('Amount');
  #token = choiceField('Token', []);
  #taken = decimalField('Amount');
  #target = textField('To the address', { placeholder: '0x…' });

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const forms = element('div', { class: 'fund-forms' });
    if (document.body.dataset['faucet'] !== undefined) forms.append(this.#faucet());
    forms.append(this.#transferForm(), this.#withdrawalForm());
    this.root.append(element('div', { class: 'fund-figures' }, this.#margins, this.#balances.root), forms);
  }

  draw() {
    const { inventory, margin } = this.#app.account;
    const accounts = Object.entries(inventory);
    const rows = accounts.flatMap(([index, { name, spot }]) =>
      Object.entries(spot).map(([asset, amount]) => ({
        key: `${index}/${asset}`,
        cells: [`${index} · ${name}`, this.#app.symbolOf(asset), figure(String(amount))],
      })),
    );
    this.#balances.draw(rows, (row) => row);
    fill(this.#margins, ...Object.entries(margin).map(([index, figures]) => this.#marginBox(index, figures)));
    const names = accounts.map(([index, { name }]) => /** @type {const} */ ([index, `${index} · ${name}`]));
    refill(this.#from, names);
    refill(this.#to, [...names.slice(1), ...names.slice(0, 1)]);
    const assets = [...new Set(accounts.flatMap(([, { spot }]) => Object.keys(spot)))];
    refill(
      this.#asset,
      assets.map((asset) => /** @type {const} */ ([asset, this.#app.symbolOf(asset)])),
    );
    refill(this.#token, this.#app.tokens);
  }

  /** @param {string} index @param {Plain} figures */
  #marginBox(index, figures) {
    const name = this.#app.account.inventory[index]?.name ?? '';
    const box = element('section', { class: 'margin' }, element('h3', {}, `${index} · ${name}`));
    const risk = figures.is_liquidatable ? 'liquidatable' : figures.is_solvent ? '' : 'below maintenance';
    if (risk !== '') box.append(element('span', { class: 'badge fault' }, risk));
    const list = element('dl', {});
    for (const [member, label, hasSign] of FIGURES) {
      const value = figures[member];
      const text = hasSign ? signed(value, 2) : figure(value, 2);
      const kind = hasSign ? direction(value) : '';
      list.append(element('div', {}, element('dt', {}, label), element('dd', { class: kind }, text)));
    }
    box.append(list);
    return box;
  }

  #faucet() {
    const get = button('Get test funds', async () => {
      get.disabled = true;
      try {
        const body = JSON.stringify({ user_id: this.#app.session.userId });
        await request('/dev/faucet', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
        note('Test funds were credited.', 'good');
        this.#app.account.balancesChanged();
      } catch (error) {
        note(faultText(error), 'fault');
      }
      get.disabled = false;
    });
    get.className = 'main faucet';
    const about = element(
      'p',
      { class: 'small' },
      'This is a dev node: its funds are made up, and it gives some to any key.',
    );
    return element('section', { class: 'fund-form' }, element('h3', {}, 'Test funds'), about, get);
  }

  #transferForm() {
    const form = element(
      'form',
      { class: 'fund-form', novalidate: '' },
      element('h3', {}, 'Transfer between accounts'),
    );
    form.append(this.#from.root, this.#to.root, this.#asset.root, this.#amount.root);
    form.append(element('button', { type: 'submit' }, 'Sign and transfer'));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const amount18 = parseDecimal18(this.#amount.value);
      if (amount18 === null || amount18 <= 0n) return this.#amount.fail('a number with at most 18 decimals');
      const [from, to] = [Number(this.#from.value), Number(this.#to.value)];
      try {
        await transfer(this.#app, { from, to, assetId: this.#asset.value, amount18 });
        this.#amount.value = '';
        note('Transferred.', 'good');
        this.#app.account.balancesChanged();
      } catch (error) {
        this.#amount.fail(faultText(error));
      }
    });
    return form;
  }

  #withdrawalForm() {
    const form = element('form', { class: 'fund-form', novalidate: '' }, element('h3', {}, 'Withdraw'));
    form.append(this.#token.root, this.#taken.root, this.#target.root);
    form.append(element('button', { type: 'submit' }, 'Sign and withdraw'));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const amount18 = parseDecimal18(this.#taken.value);
      if (amount18 === null || amount18 <= 0n) return this.#taken.fail('a number with at most 18 decimals');
      const target = this.#target.value.replace(/^0x/i, '').toLowerCase();
      if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(target)) return this.#target.fail('40 or 64 hex digits');
      const [token = '', chainId = ''] = this.#token.value.split('@');
      try {
        await withdraw(this.#app, { token, chainId, amount18, target });
        this.#taken.value = '';
        note('The withdrawal is queued.', 'good');
        this.#app.account.balancesChanged();
      } catch (error) {
        this.#taken.fail(faultText(error));
      }
    });
    return form;
  }
}

/** @param {import('./fields.js').Field} field @param {readonly (readonly [string, string])[]} options */
function refill({ control }, options) {
  const wanted = options.map(([value, text]) => `${value} ${text}`).join();
  if (control.dataset['options'] === wanted) return;
  control.dataset['options'] = wanted;
  const chosen = control.value;
  fill(control, ...options.map(([value, text]) => element('option', { value }, text)));
  if (options.some(([value]) => value === chosen)) control.value = chosen;
}
