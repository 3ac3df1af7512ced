// @ts-check
/** The user's account in tabs: open orders, positions, fills, finished orders, funds. */
import { format18, parseScaled } from '../../src/core/decimal.js';
import { button, element, fill, oncePerFrame, setText } from '../dom.js';
import { decimalField, FieldFault, rawOf } from './fields.js';
import { decimalsOf, direction, figure, signed, timeCell } from './format.js';
import { FundsView } from './funds-view.js';
import { note } from './notes.js';
import { faultText, Refusal } from './service.js';
import { amendOrder, cancelOrder, replaceOrder } from './signing.js';
import { KeyedTable } from './tables.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {import('./fields.js').Field} Field */

/** @param {string} side */
function sideCell(side) {
  return /** @type {const} */ ([side, side === 'Buy' ? 'up' : 'down']);
}

export class AccountView {
  #app;
  #ticket;
  #shown = 'orders';
  /** @type {{ id: string, tab: HTMLButtonElement, panel: HTMLElement, label: string }[]} */
  #tabs = [];
  #tables;
  #funds;
  #edit;
  /** @type {HTMLButtonElement} */
  #cancelAllButton;
  #draw = oncePerFrame(() => this.#redraw());

  /** @param {Element} root @param {App} app @param {import('./ticket.js').Ticket} ticket @param {() => void} connect */
  constructor(root, app, ticket, connect) {
    this.#app = app;
    this.#ticket = ticket;
    this.#edit = new EditDialog(app);
    this.#funds = new FundsView(app);
    const orderColumns = ['Time', 'Market', 'Side', '#Price', '#Size', '#Filled', 'Trigger', 'Status', 'Account', 'Id'];
    this.#tables = {
      orders: new KeyedTable('Open orders', orderColumns, 'No open orders.', (key) => this.#orderActions(key)),
      positions: new KeyedTable(
        'Positions',
        [
          'Market',
          'Account',
          'Side',
          '#Size',
          '#Entry',
          '#Mark',
          '#Unrealized',
          '#Margin',
          '#Leverage',
          '#Liquidation',
        ],
        'No positions.',
        (key) => [button('Close …', () => this.#close(key))],
      ),
      fills: new KeyedTable(
        'Fills',
        ['Time', 'Market', 'Side', '#Price', '#Size', '#Fee (USD)', 'As', 'Status'],
        'No fills yet.',
      ),
      ended: new KeyedTable('Finished orders', orderColumns, 'No finished orders.'),
    };
    const list = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Your account' });
    const all = button('Cancel all', () => void this.#cancelAll());
    all.className = 'cancel-all';
    this.#cancelAllButton = all;
    root.append(element('div', { class: 'tab-bar' }, list, all));
    this.#addTab(root, list, 'orders', 'Open orders', this.#tables.orders.root);
    this.#addTab(root, list, 'positions', 'Positions', this.#tables.positions.root);
    this.#addTab(root, list, 'fills', 'Fills', this.#tables.fills.root);
    this.#addTab(root, list, 'ended', 'Finished', this.#tables.ended.root);
    this.#addTab(root, list, 'funds', 'Funds', this.#funds.root);
    list.addEventListener('keydown', (event) => this.#move(event));
    const invite = element('div', { class: 'invite' }, element('p', {}, 'Your orders, fills, positions and funds.'));
    invite.append(button('Connect a key', connect, 'main'));
    root.append(invite);
    app.on('session', () => {
      invite.hidden = app.session.token !== '';
      root.classList.toggle('anonymous', app.session.token === '');
      if (app.session.token !== '' && (this.#shown === 'funds' || this.#shown === 'ended')) this.#show(this.#shown);
    });
    root.classList.add('anonymous');
    for (const what of /** @type {const} */ ([
      'orders',
      'fills',
      'positions',
      'balances',
      'margin',
      'session',
      'markets',
      'market',
    ]))
      app.on(what, this.#draw);
    this.#show('orders');
  }

  /** @param {Element} root @param {Element} list @param {string} id @param {string} label @param {HTMLElement} content */
  #addTab(root, list, id, label, content) {
    const tab = button(label, () => this.#show(id));
    tab.setAttribute('role', 'tab');
    tab.id = `tab-${id}`;
    tab.setAttribute('aria-controls', `panel-${id}`);
    const panel = element(
      'div',
      { id: `panel-${id}`, role: 'tabpanel', class: 'tab-panel', 'aria-labelledby': `tab-${id}` },
      content,
    );
    list.append(tab);
    root.append(panel);
    this.#tabs.push({ id, tab, panel, label });
  }

  /** @param {string} id */
  #show(id) {
    this.#shown = id;
    for (const one of this.#tabs) {
      const isShown = one.id === id;
      one.tab.setAttribute('aria-selected', String(isShown));
      one.tab.tabIndex = isShown ? 0 : -1;
      one.panel.hidden = !isShown;
    }
    if (id === 'ended' && this.#app.session.token !== '')
      this.#app.account.readEnded().catch((error) => note(faultText(error), 'fault'));
    if (id === 'funds' && this.#app.session.token !== '') this.#funds.open();
    this.#draw();
  }

  /** Arrow keys move between tabs. @param {KeyboardEvent} event */
  #move(event) {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = this.#tabs.findIndex(({ id }) => id === this.#shown);
    const next = this.#tabs[(at + step + this.#tabs.length) % this.#tabs.length];
    if (next === undefined) return;
    this.#show(next.id);
    next.tab.focus();
  }

  #redraw() {
    const { account } = this.#app;
    const counts = /** @type {Record<string, number>} */ ({
      orders: account.orders.size,
      positions: account.positions.filter(({ side }) => side !== 'closed').length,
    });
    for (const { id, tab, label } of this.#tabs) {
      const count = counts[id] ?? 0;
      setText(tab, count === 0 ? label : `${label} ${count}`);
    }
    this.#cancelAllButton.hidden = this.#shown !== 'orders' || account.orders.size === 0;
    switch (this.#shown) {
      case 'orders':
        this.#tables.orders.draw(byTime([...account.orders.values()]), (order) => this.#orderRow(order));
        break;
      case 'ended':
        this.#tables.ended.draw(account.ended, (order) => this.#orderRow(order));
        break;
      case 'fills':
        this.#tables.fills.draw([...account.fills], ([key, trade]) => this.#fillRow(key, trade));
        break;
      case 'positions':
        this.#tables.positions.draw(
          account.positions.filter(({ side }) => side !== 'closed'),
          (position) => this.#positionRow(position),
        );
        break;
      default:
        this.#funds.draw();
    }
  }

  /** @param {string} assetId @returns {[number, number]} decimals of price and quantity */
  #decimals(assetId) {
    const market = this.#app.markets.get(assetId);
    if (market === undefined) return [0, 0];
    return [decimalsOf(market.tick_size), Math.max(0, Number(market.book_quantity_decimals))];
  }

  /** @param {Plain} order */
  #orderRow(order) {
    const [price, quantity] = this.#decimals(order.base_asset);
    const above = order.trigger_above_price;
    const below = order.trigger_below_price;
    const trigger = above !== null ? `≥ ${figure(above, price)}` : below !== null ? `≤ ${figure(below, price)}` : '';
    const left = this.#app.account.openQuantity(order);
    const total = parseScaled(order.quantity ?? '0', 18) ?? 0n;
    const size = order.quantity === null ? `${figure(order.amount ?? null)} USD` : figure(order.quantity, quantity);
    const flags = [
      order.is_reduce_only ? 'reduce only' : '',
      order.is_liquidation ? 'liquidation' : '',
      order.parent_id === null || order.parent_id === undefined ? '' : `child of ${shortId(order.parent_id)}`,
      (order.quote_set_id ?? null) === null ? '' : `quote set ${order.quote_set_id}`,
    ];
    const status = [statusText(order), ...flags].filter((part) => part !== '').join(', ');
    return {
      key: `${order.base_asset}/${order.order_id}`,
      cells: [
        timeCell(order.timestamp_ns),
        this.#app.symbolOf(order.base_asset),
        sideCell(order.side),
        order.limit_price === null ? 'Market' : figure(order.limit_price, price),
        size,
        figure(format18(total - left), quantity),
        trigger,
        status,
        accountText(order),
        /** @type {const} */ ([shortId(order.order_id), 'id', order.order_id]),
      ],
    };
  }

  /** @param {string} key @param {Plain} trade */
  #fillRow(key, trade) {
    const [price, quantity] = this.#decimals(trade.asset_id);
    const kind = trade.status === 'Confirmed' ? 'good' : trade.status === 'Rollbacked' ? 'fault' : 'warn';
    const reason = trade.status === 'Rollbacked' ? ` (${trade.rollback_reason})` : '';
    const marks = [trade.is_liquidation ? 'liquidation' : '', trade.is_auto_deleverage ? 'auto-deleverage' : ''];
    return {
      key,
      cells: [
        timeCell(trade.timestamp_ns),
        this.#app.symbolOf(trade.asset_id),
        sideCell(trade.is_buyer ? 'Buy' : 'Sell'),
        figure(trade.price, price),
        figure(trade.quantity, quantity),
        trade.trading_fee === undefined ? '–' : figure(trade.trading_fee, 4),
        [trade.is_maker ? 'Maker' : 'Taker', ...marks].filter((part) => part !== '').join(', '),
        /** @type {const} */ ([`${trade.status}${reason}`, `badge ${kind}`]),
      ],
    };
  }

  /** @param {Plain} position */
  #positionRow(position) {
    const [price, quantity] = this.#decimals(position.asset_id);
    return {
      key: `${position.sub_account_index}/${position.asset_id}`,
      cells: [
        this.#app.symbolOf(position.asset_id),
        `${position.sub_account_index} · ${position.name}`,
        /** @type {const} */ ([position.side === 'long' ? 'Long' : 'Short', position.side === 'long' ? 'up' : 'down']),
        figure(position.size, quantity),
        figure(position.entry_price, price),
        figure(position.mark_price, price),
        /** @type {const} */ ([signed(position.unrealized_pnl, 2), direction(position.unrealized_pnl)]),
        figure(position.margin, 2),
        position.leverage === null ? '–' : `${figure(position.leverage, 2)}×`,
        figure(position.liquidation_price, price),
      ],
    };
  }

  /** @param {string} key */
  #orderActions(key) {
    const order = () => this.#app.account.orders.get(key);
    const edit = button('Edit', () => {
      const found = order();
      if (found !== undefined) this.#edit.open(found);
    });
    // Neither a market order that waits for its trigger nor an entry of a quote set can be replaced.
    edit.hidden = (order()?.limit_price ?? null) === null || (order()?.quote_set_id ?? null) !== null;
    const cancel = button('Cancel', async () => {
      const found = order();
      if (found === undefined) return;
      cancel.disabled = true;
      await cancelOrder(this.#app, found).catch((error) => note(faultText(error), 'fault'));
      cancel.disabled = false;
    });
    return [edit, cancel];
  }

  async #cancelAll() {
    if (this.#app.account.orders.size === 0) return;
    const count = this.#app.account.orders.size;
    try {
      await this.#app.account.request('/orders/cancel-all', { method: 'DELETE' });
      note(`Cancel of ${count} ${count === 1 ? 'order' : 'orders'} accepted.`, 'good');
    } catch (error) {
      note(faultText(error), 'fault');
    }
  }

  /** @param {string} key */
  #close(key) {
    const position = this.#app.account.positions.find((one) => `${one.sub_account_index}/${one.asset_id}` === key);
    if (position === undefined) return;
    this.#app.select(position.asset_id);
    this.#ticket.close(position);
  }
}

/** An id is as long as 64 characters, and its whole text is in the title. @param {string} id */
function shortId(id) {
  return id.length > 8 ? `${id.slice(0, 6)}…` : id;
}

/** Whether an order moves balances or a margin position, and of which account. @param {Plain} order */
function accountText({ account_index: index, is_spot: isSpot }) {
  return isSpot === undefined ? '' : `${index} ${isSpot ? 'balances' : 'margin'}`;
}

/** @param {Plain} order */
function statusText(order) {
  if (order.reason) return `${order.status}${order.reason === order.status ? '' : ` (${order.reason})`}`;
  return order.status === 'PartiallyFilled' ? 'Partially filled' : order.status;
}

/** @param {Plain[]} orders */
function byTime(orders) {
  return orders.sort((left, right) => Number(right.timestamp_ns - left.timestamp_ns));
}

/** A new price or size for an open order: a smaller size alone is an amend, anything else is signed as a replace. */
class EditDialog {
  #app;
  #root = /** @type {HTMLDialogElement} */ (element('dialog', { 'aria-labelledby': 'edit-title' }));
  #title = element('h2', { id: 'edit-title' });
  #price = decimalField('Price');
  #quantity = decimalField('Total size, with what is filled');
  #trigger = decimalField('Trigger price');
  #way = element('p', { class: 'small' });
  #state = element('p', { class: 'fault', role: 'status' });
  #send = /** @type {HTMLButtonElement} */ (element('button', { type: 'submit', class: 'main' }));
  /** @type {Plain} */
  #order = null;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const row = element(
      'div',
      { class: 'row' },
      this.#send,
      button('Close', () => this.#root.close()),
    );
    const form = element('form', { novalidate: '' }, this.#title, this.#price.root, this.#quantity.root);
    form.append(this.#trigger.root);
    form.append(this.#way, this.#state, row);
    form.addEventListener('input', () => this.#describe());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#root.append(form);
    document.body.append(this.#root);
  }

  /** @param {Plain} order */
  open(order) {
    this.#order = order;
    const symbol = this.#app.symbolOf(order.base_asset);
    this.#title.textContent = `${order.side} ${order.quantity} ${symbol}`;
    this.#price.root.hidden = order.limit_price === null;
    this.#price.value = order.limit_price ?? '';
    this.#price.unit = 'USD';
    this.#quantity.value = order.quantity;
    this.#quantity.unit = symbol;
    // Once it has fired it stays as it was.
    this.#trigger.root.hidden = order.status !== 'Untriggered';
    this.#trigger.value = order.trigger_above_price ?? order.trigger_below_price ?? '';
    this.#trigger.unit = 'USD';
    fill(this.#state);
    this.#describe();
    this.#root.showModal();
  }

  /**
   * What is changed, in raw book units; null for what stays. `reduced` is the new size where nothing else is changed.
   *
   * @throws {FieldFault}
   */
  #changes() {
    const order = this.#order;
    const market = this.#app.markets.get(order.base_asset);
    /** @param {Field} field @param {bigint} decimals @param {string | null} before */
    const changed = (field, decimals, before) => {
      if (before === null) return null;
      const raw = rawOf(field, Number(decimals));
      return BigInt(raw) === parseScaled(before, Number(decimals)) ? null : raw;
    };
    const price = changed(this.#price, market.book_price_decimals, order.limit_price);
    const quantity = changed(this.#quantity, market.book_quantity_decimals, order.quantity);
    const release = order.trigger_above_price ?? order.trigger_below_price;
    const triggerPrice = this.#trigger.root.hidden ? null : changed(this.#trigger, market.book_price_decimals, release);
    /** @type {'PriceAbove' | 'PriceBelow'} */
    const kind = order.trigger_above_price === null ? 'PriceBelow' : 'PriceAbove';
    const trigger = triggerPrice === null ? null : { kind, price: triggerPrice };
    const before = parseScaled(order.quantity, Number(market.book_quantity_decimals)) ?? 0n;
    const isSame = price === null && trigger === null;
    const isAmend = order.limit_price !== null && isSame && quantity !== null && BigInt(quantity) < before;
    return { price, quantity, trigger, reduced: isAmend ? quantity : null };
  }

  #describe() {
    let isAmend = false;
    try {
      isAmend = this.#changes().reduced !== null;
    } catch (error) {
      // Shown at its field when it is sent.
      if (!(error instanceof FieldFault)) throw error;
    }
    setText(this.#send, isAmend ? 'Reduce the size' : 'Sign and replace');
    setText(
      this.#way,
      isAmend ? 'A smaller size alone needs no signature. The order keeps its place in the queue.' : '',
    );
  }

  async #submit() {
    fill(this.#state);
    try {
      const { price, quantity, trigger, reduced } = this.#changes();
      this.#send.disabled = true;
      if (reduced !== null) await amendOrder(this.#app, this.#order, reduced);
      else if (price !== null || quantity !== null || trigger !== null)
        await replaceOrder(this.#app, this.#order, { price, quantity, trigger });
      this.#root.close();
    } catch (error) {
      const member = error instanceof Refusal ? error.field : '';
      if (error instanceof FieldFault) error.field.fail(error.message);
      else if (member.includes('trigger') && !this.#trigger.root.hidden) this.#trigger.fail(faultText(error));
      else if (member.includes('price')) this.#price.fail(faultText(error));
      else if (member.includes('quantity')) this.#quantity.fail(faultText(error));
      else fill(this.#state, faultText(error));
    } finally {
      this.#send.disabled = false;
    }
  }
}
