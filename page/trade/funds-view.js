// @ts-check
/** Balances and margin by sub-account, deposits, transfers, withdrawals, names of accounts, and the faucet of a dev node. */
import { format18, parseDecimal18 } from '../../src/core/decimal.js';
import { button, element, fill } from '../dom.js';
import { choiceField, decimalField, refill, textField } from './fields.js';
import { chainNumber, direction, figure, signed } from './format.js';
import { note } from './notes.js';
import { faultText, Refusal, request } from './service.js';
import { cancelWithdrawal, renameAccount, transfer, withdraw } from './signing.js';
import { KeyedTable } from './tables.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./service.js').Plain} Plain */

/** Accounts 0 and 1 are there from the beginning, with these names; a user has 256. */
const FIRST_INDEX = 2;
const ACCOUNTS_MAX = 256;
const DECIMALS_SHOWN = 8;
/** Of a withdrawal that can still be cancelled. */
const CANCELLABLE = new Set(['queued', 'filled']);

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
  #queue;
  #names;
  #balances = new KeyedTable('Balances', ['Account', 'Asset', '#Balance'], 'No funds yet.');
  #margins = element('div', { class: 'margins' });
  #from = choiceField('From', []);
  #to = choiceField('To', []);
  #asset = choiceField('Asset', []);
  #amount = decimalField('Amount');
  #token = choiceField('Token', []);
  #taken = decimalField('Amount');
  #target = textField('To the address', { placeholder: '0x…' });
  #deposit = element('div', { class: 'fund-form' });
  #named = choiceField('Account', []);
  #name = textField('New name', { maxlength: '32' });
  #withdrawals = new KeyedTable(
    'Withdrawals',
    ['Token', '#Amount', 'To', 'Status'],
    'No withdrawals within a day.',
    (key) => this.#withdrawalActions(key),
  );

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const forms = element('div', { class: 'fund-forms' });
    if (document.body.dataset['faucet'] !== undefined) forms.append(this.#faucet());
    const names = this.#nameForm();
    forms.append(this.#deposit, this.#transferForm(), this.#withdrawalForm(), names);
    const figures = element('div', { class: 'fund-figures' }, this.#margins, this.#balances.root);
    const queue = element('section', {}, element('h3', {}, 'Withdrawals'), this.#withdrawals.root);
    this.#queue = queue;
    this.#names = names;
    figures.append(queue);
    this.root.append(figures, forms);
  }

  /** When it comes on display: the queue is read, which no stream carries. */
  open() {
    this.#app.account.readWithdrawals().catch((error) => note(faultText(error), 'fault'));
  }

  draw() {
    const { inventory, margin } = this.#app.account;
    const accounts = Object.entries(inventory);
    const rows = accounts.flatMap(([index, { name, spot }]) =>
      Object.entries(spot).map(([asset, amount]) => ({
        key: `${index}/${asset}`,
        cells: [
          `${index} · ${name}`,
          this.#app.symbolOf(asset),
          /** @type {const} */ ([shortened(String(amount)), '', String(amount)]),
        ],
      })),
    );
    this.#balances.draw(rows, (row) => row);
    fill(this.#margins, ...Object.entries(margin).map(([index, figures]) => this.#marginBox(index, figures)));
    const names = accounts.map(([index, { name }]) => /** @type {const} */ ([index, `${index} · ${name}`]));
    refill(this.#from, names);
    refill(this.#to, [...names.slice(1), ...names.slice(0, 1), ...this.#newAccounts()]);
    const own = names.filter(([index]) => Number(index) >= FIRST_INDEX);
    this.#names.hidden = own.length === 0;
    refill(this.#named, own);
    this.#drawDeposit();
    const { withdrawals } = this.#app.account;
    this.#queue.hidden = withdrawals.length === 0;
    this.#withdrawals.draw(withdrawals, (row) => ({
      key: keyOf(row),
      cells: [
        this.#app.tokens.find(([token]) => token === row.asset)?.[1] ?? `${row.asset.slice(0, 8)}…`,
        // The text of an amount has no prefix (wire.md 7.18).
        figure(format18(BigInt(`0x${row.amount}`))),
        /** @type {const} */ ([addressText(row.target), 'id', addressText(row.target)]),
        row.status.type,
      ],
    }));
    const assets = [...new Set(accounts.flatMap(([, { spot }]) => Object.keys(spot)))];
    refill(
      this.#asset,
      assets.map((asset) => /** @type {const} */ ([asset, this.#app.symbolOf(asset)])),
    );
    refill(this.#token, this.#app.tokens);
  }

  /** Accounts that a transfer creates: the next free index, by kind. @returns {(readonly [string, string])[]} */
  #newAccounts() {
    const { account, market } = this.#app;
    const used = new Set(Object.keys(account.inventory));
    let next = FIRST_INDEX;
    while (used.has(String(next))) next += 1;
    if (next >= ACCOUNTS_MAX || used.size === 0) return [];
    const kinds = [
      ['Spot', 'balances only'],
      ['CrossMargin', 'cross margin'],
    ];
    if (market !== null)
      kinds.push([`Isolated ${market.asset_id}`, `margin of ${this.#app.symbolOf(market.asset_id)} only`]);
    return kinds.map(
      ([kind = '', text = '']) => /** @type {const} */ ([`${next} ${kind}`, `new account ${next}: ${text}`]),
    );
  }

  /** The vaults of the chains, and the call that credits this user. */
  #drawDeposit() {
    const { vaults, session } = this.#app;
    const shown = `${session.userId} ${vaults.join()}`;
    if (this.#deposit.dataset['shown'] === shown) return;
    this.#deposit.dataset['shown'] = shown;
    this.#deposit.hidden = vaults.length === 0;
    const rows = vaults.map((vault) => {
      const [address = '', chainId = ''] = vault.split('@');
      const chain = element('dt', {}, `Vault on chain ${chainNumber(chainId)}`);
      return element('div', {}, chain, element('dd', {}, element('code', {}, addressText(address))));
    });
    const user = element('div', {}, element('dt', {}, 'user'));
    user.append(element('dd', {}, element('code', {}, `0x${session.userId}`)));
    const how = element('p', { class: 'small' }, 'Approve the token for the vault of its chain, then call ');
    how.append(
      element('code', {}, 'deposit(user, token, amount)'),
      ' of the vault. It is credited once the chain has confirmed it.',
    );
    fill(this.#deposit, element('h3', {}, 'Deposit'), how, element('dl', { class: 'addresses' }, user, ...rows));
  }

  /** @param {string} key */
  #withdrawalActions(key) {
    const row = () => this.#app.account.withdrawals.find((one) => keyOf(one) === key);
    const cancel = button('Cancel', async () => {
      const found = row();
      if (found === undefined) return;
      cancel.disabled = true;
      try {
        await cancelWithdrawal(this.#app, found);
        note('The withdrawal is cancelled.', 'good');
        await this.#app.account.readWithdrawals();
        this.#app.account.balancesChanged();
      } catch (error) {
        note(faultText(error), 'fault');
      }
      cancel.disabled = false;
    });
    cancel.hidden = !CANCELLABLE.has(row()?.status.type);
    return [cancel];
  }

  #nameForm() {
    const form = element('form', { class: 'fund-form', novalidate: '' }, element('h3', {}, 'Name of an account'));
    form.append(this.#named.root, this.#name.root, element('button', { type: 'submit' }, 'Rename'));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (this.#name.value === '') return this.#name.fail('1 to 32 characters');
      try {
        await renameAccount(this.#app, Number(this.#named.value), this.#name.value);
        this.#name.value = '';
        note('Renamed.', 'good');
        this.#app.account.balancesChanged();
      } catch (error) {
        this.#name.fail(faultText(error));
      }
    });
    return form;
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
      const from = Number(this.#from.value);
      // An account that is created has its kind behind its index.
      const [to = '', word = '', isolated = ''] = this.#to.value.split(' ');
      const kind = word === '' ? null : word === 'Isolated' ? { isolated } : word;
      const terms = { from, to: Number(to), assetId: this.#asset.value, amount18, kind };
      try {
        await transfer(this.#app, /** @type {Parameters<typeof transfer>[1]} */ (terms));
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
        this.open();
      } catch (error) {
        const member = error instanceof Refusal ? error.field : '';
        (member.includes('target') ? this.#target : this.#taken).fail(faultText(error));
      }
    });
    return form;
  }
}

/** Balances have as many as 18 decimals; the whole text is in the title. @param {string} text */
function shortened(text) {
  const decimals = text.split('.')[1]?.length ?? 0;
  return figure(text, Math.min(decimals, DECIMALS_SHOWN));
}

/** A finished row stays, and its actions are those of its status. @param {Plain} row @returns {string} */
function keyOf({ asset, nonce, status }) {
  return `${asset} ${nonce} ${status.type}`;
}

/** Without the zeros that fill an EVM address up. @param {string} address 64 or 40 hex digits @returns {string} */
function addressText(address) {
  return `0x${address.length === 64 ? address.replace(/0{24}$/, '') : address}`;
}
