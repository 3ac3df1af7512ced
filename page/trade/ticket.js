// @ts-check
/**
 * The order ticket: every order type and flag, a reading of the text that will be signed, and refusals at the field that
 * they are about.
 */
import { orderText } from '../../src/client/canonical.js';
import { feeAllowed18, feeLimitOf } from '../../src/client/fee-limit.js';
import { formatScaled, parseDecimal18, parseScaled } from '../../src/core/decimal.js';
import { button, element, fill, oncePerFrame, setText } from '../dom.js';
import { checkField, choiceField, decimalField, FieldFault, rawOf, refill, segments, textField } from './fields.js';
import { figure, percent } from './format.js';
import { Refusal } from './service.js';
import { createOrder, newOrderId, readingOf, userOf } from './signing.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {import('./fields.js').Field} Field */
/** @typedef {import('../../src/client/canonical.js').Order} Order */

const RATE_UNITS = 1_000_000n;
const PARTS = [25n, 50n, 75n, 100n];

export class Ticket {
  #app;
  #side;
  #type;
  #domain;
  #account = choiceField('Account', []);
  #price = decimalField('Price');
  #quantity = decimalField('Size');
  #unit;
  #cap = decimalField('At most');
  #force = choiceField('Time in force', [
    ['GTC', 'Good till cancelled'],
    ['GTD', 'Good till a date'],
    ['IOC', 'Immediate or cancel'],
    ['FOK', 'Fill or kill'],
  ]);
  #until = textField('Until', { type: 'datetime-local', step: '1' });
  #post = checkField('Post only');
  #reduce = checkField('Reduce only');
  #killable = checkField('Fill or kill');
  #trigger = choiceField('Release', [
    ['', 'at once'],
    ['PriceAbove', 'at or above a price'],
    ['PriceBelow', 'at or below a price'],
  ]);
  #triggerPrice = decimalField('Trigger price');
  #parent = choiceField('Parent order', [['', 'none']]);
  #fee = textField('Fees up to', { inputmode: 'decimal' }, '%');
  #available = element('p', { class: 'available' });
  #total = element('p', { class: 'available' });
  #status = element('p', { class: 'warn', role: 'status' });
  #rules = element('dl', { class: 'rules' });
  #parts = element('div', { class: 'parts', role: 'group', 'aria-label': 'Part of what is available' });
  #reading = element('p', { class: 'reading' });
  #text = element('pre', { class: 'wrap' });
  #state = element('p', { class: 'ticket-state', role: 'status' });
  /** @type {HTMLButtonElement} */
  #send;
  #draw = oncePerFrame(() => this.#redraw());

  /** @param {Element} root @param {App} app @param {() => void} connect shows the dialog of keys */
  constructor(root, app, connect) {
    this.#app = app;
    this.#side = segments(
      'Side',
      [
        ['Buy', 'Buy'],
        ['Sell', 'Sell'],
      ],
      this.#draw,
    );
    this.#type = segments(
      'Type',
      [
        ['Limit', 'Limit'],
        ['Market', 'Market'],
      ],
      this.#draw,
    );
    this.#domain = segments(
      'Trade with',
      [
        ['spot', 'Balances'],
        ['margin', 'Margin'],
      ],
      this.#draw,
    );
    this.#unit = segments(
      'Size in',
      [
        ['base', 'Asset'],
        ['quote', 'USD'],
      ],
      this.#draw,
    );
    this.#send = /** @type {HTMLButtonElement} */ (element('button', { type: 'submit', class: 'send' }, 'Buy'));
    fill(this.#parts, ...PARTS.map((part) => button(`${part} %`, () => this.#takePart(part))));
    const more = element('details', { class: 'more' }, element('summary', {}, 'Trigger, parent, fee limit'));
    more.append(this.#trigger.root, this.#triggerPrice.root, this.#parent.root, this.#fee.root);
    const signed = element('details', { class: 'more' }, element('summary', {}, 'What is signed'), this.#text);
    const rules = element('details', { class: 'more' }, element('summary', {}, 'Rules of this market'), this.#rules);
    const form = element('form', { class: 'ticket-form', novalidate: '' });
    form.append(this.#side.root, this.#type.root, this.#account.root, this.#domain.root, this.#available);
    form.append(this.#price.root, this.#quantity.root, this.#unit.root, this.#parts, this.#cap.root, this.#total);
    const flags = element('div', { class: 'flags' }, this.#post.root, this.#reduce.root, this.#killable.root);
    form.append(this.#force.root, this.#until.root, flags);
    form.append(more, this.#reading, this.#status, this.#send, this.#state, signed, rules);
    root.append(form);
    form.addEventListener('input', this.#draw);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (app.session.token === '') connect();
      else void this.#submit();
    });
    app.onPick = (price) => {
      this.#type.value = 'Limit';
      this.#price.value = price;
      this.#draw();
    };
    for (const what of /** @type {const} */ (['market', 'session', 'balances', 'margin', 'markets', 'orders']))
      app.on(what, this.#draw);
    // A node may have no market yet.
    this.#send.disabled = true;
    app.on('market', () => {
      this.#send.disabled = false;
      this.#reset();
    });
    app.on('balances', () => this.#fillAccounts());
    this.#draw();
  }

  /** Side and focus, by the keys B and S. @param {'Buy' | 'Sell'} side */
  begin(side) {
    this.#side.value = side;
    (this.#type.value === 'Limit' ? this.#price : this.#quantity).control.focus();
  }

  /**
   * Fills the ticket with an order that would close a position.
   *
   * @param {Plain} position
   */
  close(position) {
    this.#side.value = position.side === 'long' ? 'Sell' : 'Buy';
    this.#type.value = 'Market';
    this.#unit.value = 'base';
    this.#account.value = String(position.sub_account_index);
    this.#domain.value = 'margin';
    this.#quantity.value = position.size;
    /** @type {HTMLInputElement} */ (this.#reduce.control).checked = true;
    this.#draw();
    this.#send.focus();
  }

  #reset() {
    for (const field of [this.#price, this.#quantity, this.#cap, this.#triggerPrice, this.#parent]) field.value = '';
    fill(this.#state);
  }

  #fillAccounts() {
    const { control } = this.#account;
    const accounts = Object.entries(this.#app.account.inventory);
    const names = accounts.map(([index, { name }]) => `${index} · ${name}`);
    if ([...control.children].map(({ textContent }) => textContent).join() === names.join()) return;
    const chosen = control.value === '' ? '1' : control.value;
    fill(control, ...accounts.map(([value], index) => element('option', { value }, names[index] ?? '')));
    control.value = accounts.some(([index]) => index === chosen) ? chosen : (accounts[0]?.[0] ?? '');
  }

  get #isMargin() {
    return this.#domain.value === 'margin';
  }

  /**
   * The free balance that the order would use, 18 decimals; null without a login.
   *
   * @returns {[bigint, string, number] | null} with its unit and the decimals to show
   */
  #balance() {
    const { account, market } = this.#app;
    const index = this.#account.value;
    const own = account.inventory[index];
    if (own === undefined || market === null) return null;
    if (this.#isMargin)
      return [parseDecimal18(account.margin[index]?.available_margin ?? '0') ?? 0n, 'USD of margin', 2];
    const isBuy = this.#side.value === 'Buy';
    const asset = isBuy ? '0' : market.asset_id;
    const held = account.held(index, asset, (id) => this.#app.markets.get(id)?.taker_fee_rate ?? 0n);
    const free = (parseDecimal18(own.spot[asset] ?? '0') ?? 0n) - held;
    return [free < 0n ? 0n : free, this.#app.symbolOf(asset), isBuy ? 2 : this.#app.quantityDecimals];
  }

  /** The price that a size is computed with, 18 decimals; 0n when there is none. */
  #expectedPrice() {
    const { feed, market } = this.#app;
    const typed = this.#type.value === 'Limit' ? parseDecimal18(this.#price.value) : null;
    const levels = feed.book.isCurrent ? (this.#side.value === 'Buy' ? feed.book.asks(1) : feed.book.bids(1)) : [];
    const last = feed.trades[0]?.price ?? this.#app.tickers.get(market?.asset_id)?.last_price;
    return typed ?? parseDecimal18(levels[0]?.price ?? last ?? '0') ?? 0n;
  }

  /** @param {bigint} part percent */
  #takePart(part) {
    const found = this.#balance();
    const { market, quantityDecimals } = this.#app;
    if (found === null || market === null) return;
    const unit = 10n ** BigInt(18 - quantityDecimals);
    let amount = (found[0] * part) / 100n;
    const isQuote = this.#type.value === 'Market' && this.#unit.value === 'quote';
    if (this.#side.value === 'Buy' || this.#isMargin) {
      // What fees may take is left.
      amount = (amount * RATE_UNITS) / (RATE_UNITS + market.taker_fee_rate);
      if (!isQuote) {
        const price = this.#expectedPrice();
        amount = price === 0n ? 0n : (amount * 10n ** 18n) / price;
      }
    }
    this.#quantity.value = formatScaled(amount / unit, quantityDecimals);
    this.#draw();
  }

  #redraw() {
    const { market } = this.#app;
    const symbol = market === null ? '' : this.#app.symbolOf(market.asset_id);
    const isBuy = this.#side.value === 'Buy';
    const isLimit = this.#type.value === 'Limit';
    const isQuote = !isLimit && this.#unit.value === 'quote';
    const force = this.#force.value;
    const kind = this.#app.account.inventory[this.#account.value]?.kind;
    this.#domain.allow('margin', kind !== 'spot');
    if (kind === 'spot' && this.#isMargin) this.#domain.value = 'spot';
    this.#price.root.hidden = !isLimit;
    this.#price.unit = 'USD';
    this.#quantity.unit = isQuote ? 'USD' : symbol;
    this.#unit.root.hidden = isLimit;
    // A cap is for a buy by size, in USD, and for a sale by amount, in the asset.
    this.#cap.root.hidden = isLimit || isBuy === isQuote;
    this.#cap.unit = isQuote ? symbol : 'USD';
    this.#force.root.hidden = !isLimit;
    this.#until.root.hidden = !isLimit || force !== 'GTD';
    this.#post.root.hidden = !isLimit || force === 'IOC' || force === 'FOK';
    this.#killable.root.hidden = isLimit;
    this.#reduce.root.hidden = !this.#isMargin;
    this.#triggerPrice.root.hidden = this.#trigger.value === '';
    this.#triggerPrice.unit = 'USD';
    const found = this.#balance();
    setText(
      this.#available,
      found === null ? '' : `Available: ${figure(formatScaled(found[0], 18), found[2])} ${found[1]}`,
    );
    const isIn = this.#app.session.token !== '';
    this.#account.root.hidden = !isIn;
    this.#parts.hidden = found === null;
    this.#drawParents();
    this.#drawRules();
    this.#fee.hint = market === null ? '' : formatScaled(BigInt(this.#usualFeeLimit()), 4);
    this.#send.className = `send ${isBuy ? 'buy' : 'sell'}`;
    setText(this.#send, isIn ? `${this.#side.value} ${symbol}` : 'Connect a key to trade');
    this.#describe();
  }

  /** Orders that a child could belong to: live limit orders of the other side, of this market and account, without a trigger. */
  #drawParents() {
    const { account, market, quantityDecimals, priceDecimals } = this.#app;
    const side = this.#side.value === 'Buy' ? 'Sell' : 'Buy';
    const rows = [...account.orders.values()].filter(
      (order) =>
        order.base_asset === market?.asset_id &&
        order.side === side &&
        order.limit_price !== null &&
        order.trigger_above_price === null &&
        order.trigger_below_price === null &&
        order.account_index !== undefined &&
        String(order.account_index) === this.#account.value,
    );
    const names = rows.map((order) => {
      const terms = `${figure(order.quantity, quantityDecimals)} at ${figure(order.limit_price, priceDecimals)}`;
      return /** @type {const} */ ([order.order_id, `${side} ${terms} (${order.order_id.slice(0, 6)})`]);
    });
    refill(this.#parent, [['', 'none'], ...names]);
    this.#parent.root.hidden = this.#trigger.value === '';
  }

  #drawRules() {
    const { market } = this.#app;
    const { status } = market ?? {};
    setText(
      this.#status,
      status === 'Halted'
        ? 'This market is halted: it takes no orders.'
        : status === 'CancelOnly'
          ? 'This market takes cancels only.'
          : '',
    );
    if (market === null) return;
    const symbol = this.#app.symbolOf(market.asset_id);
    const rows = [
      ['Price step', `${market.tick_size} USD`],
      ['Smallest size', `${market.min_order_size} ${symbol}`],
      ['Fee of a maker', percent(market.maker_fee_rate)],
      ['Fee of a taker', percent(market.taker_fee_rate)],
      ['Leverage', market.max_leverage ? `up to ${market.max_leverage}×` : '–'],
      ['Margin', market.isolated_only ? 'isolated accounts only' : 'cross and isolated accounts'],
      ['Own orders that meet', market.self_trade_prevention ? 'the resting one is cancelled' : 'trade with each other'],
    ];
    const text = rows.flat().join();
    if (this.#rules.dataset['shown'] === text) return;
    this.#rules.dataset['shown'] = text;
    fill(
      this.#rules,
      ...rows.map(([name = '', value = '']) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
    );
  }

  #describe() {
    const isLimit = this.#type.value === 'Limit';
    try {
      const text = orderText(this.#order('0'.repeat(22)));
      setText(
        this.#reading,
        readingOf(text, (asset) => this.#app.symbolOf(asset)),
      );
      setText(this.#text, text);
    } catch {
      setText(this.#reading, '');
      setText(this.#text, 'The ticket is not complete.');
    }
    const quantity = parseDecimal18(this.#quantity.value);
    const price = this.#expectedPrice();
    const hasTotal = quantity !== null && quantity > 0n && price > 0n && (isLimit || this.#unit.value === 'base');
    const total18 = hasTotal ? (quantity * price) / 10n ** 18n : null;
    setText(this.#total, total18 === null ? '' : `${isLimit ? 'Total' : 'Total, about'}: ${this.#costOf(total18)}`);
  }

  /** With the fee that would be taken now, and the one that the signed limit permits. @param {bigint} total18 */
  #costOf(total18) {
    const { market } = this.#app;
    const isMaker = this.#type.value === 'Limit' && isChecked(this.#post);
    const fee18 = (total18 * (isMaker ? market.maker_fee_rate : market.taker_fee_rate)) / RATE_UNITS;
    const fee = figure(formatScaled(fee18, 18), 2);
    const limit = this.#feeLimit();
    const most = limit === null ? '' : `, at most ${figure(formatScaled(feeAllowed18(total18, limit), 18), 2)}`;
    return `${figure(formatScaled(total18, 18), 2)} USD, fee ${fee} now${most}`;
  }

  /** What is signed, in 1e-6: the limit of the field, or that of the market's rates; null for no number. @returns {number | null} */
  #feeLimit() {
    if (this.#fee.value === '') return this.#usualFeeLimit();
    const rate = parseScaled(this.#fee.value, 4);
    return rate === null || rate < 0n ? null : Number(rate);
  }

  #usualFeeLimit() {
    const { market } = this.#app;
    const rates = { makerFeeRate: Number(market.maker_fee_rate), takerFeeRate: Number(market.taker_fee_rate) };
    const force = this.#force.value;
    const mayRest = this.#type.value === 'Limit' && force !== 'IOC' && force !== 'FOK';
    return feeLimitOf(rates, mayRest || this.#trigger.value !== '');
  }

  /** @param {string} orderId @returns {Order} @throws {FieldFault} */
  #order(orderId) {
    const { market, session } = this.#app;
    const isLimit = this.#type.value === 'Limit';
    const priceDecimals = Number(market.book_price_decimals);
    const quantityDecimals = Number(market.book_quantity_decimals);
    const rate = this.#feeLimit();
    if (rate === null) throw new FieldFault(this.#fee, 'a percentage with at most 4 decimals');
    const kind = this.#trigger.value;
    const parent = this.#parent.value;
    const trigger =
      kind === ''
        ? null
        : {
            kind: /** @type {'PriceAbove' | 'PriceBelow'} */ (kind),
            price: rawOf(this.#triggerPrice, priceDecimals),
            ...(parent === '' ? {} : { parentOrderId: parent }),
          };
    const common = {
      signer: session.userId === '' ? /** @type {any} */ ('0'.repeat(64)) : userOf(this.#app),
      orderId,
      assetId: market.asset_id,
      priceDecimals,
      quantityDecimals,
      side: /** @type {'Buy' | 'Sell'} */ (this.#side.value),
      trigger,
      creationTimestampNs: session.nowNs(),
      target: { account: Number(this.#account.value || '1'), isSpot: !this.#isMargin },
      reduceOnly: this.#isMargin && isChecked(this.#reduce),
      maxTradingFeesRate: rate,
    };
    const quantity = rawOf(this.#quantity, quantityDecimals);
    if (isLimit) {
      return { ...common, limitPrice: rawOf(this.#price, priceDecimals), quantity, timeInForce: this.#timeInForce() };
    }
    const cap = this.#cap.root.hidden || this.#cap.value === '' ? null : rawOf(this.#cap, quantityDecimals);
    const unit = /** @type {'base' | 'quote'} */ (this.#unit.value);
    return { ...common, size: { unit, quantity, cap }, fillOrKill: isChecked(this.#killable) };
  }

  /** @returns {import('../../src/client/canonical.js').TimeInForce} */
  #timeInForce() {
    const postOnly = isChecked(this.#post);
    switch (this.#force.value) {
      case 'IOC':
        return { kind: 'IOC' };
      case 'FOK':
        return { kind: 'FOK' };
      case 'GTD': {
        const ms = new Date(this.#until.value).getTime();
        if (Number.isNaN(ms)) throw new FieldFault(this.#until, 'a date and a time');
        return { kind: 'GTD', postOnly, timestampNs: BigInt(ms) * 1_000_000n };
      }
      default:
        return { kind: 'GTC', postOnly };
    }
  }

  async #submit() {
    for (const field of this.#fields()) field.clear();
    fill(this.#state);
    try {
      const order = this.#order(newOrderId());
      this.#send.disabled = true;
      const startedAt = performance.now();
      await createOrder(this.#app, order);
      const tookMs = Math.max(1, Math.round(performance.now() - startedAt));
      const reading = readingOf(orderText(order), (asset) => this.#app.symbolOf(asset));
      fill(this.#state, element('b', { class: 'good' }, `Received in ${tookMs} ms. `), reading);
      setText(this.#text, orderText(order));
    } catch (error) {
      this.#showFault(error);
    } finally {
      this.#send.disabled = false;
    }
  }

  #fields() {
    return [
      this.#account,
      this.#price,
      this.#quantity,
      this.#cap,
      this.#force,
      this.#until,
      this.#post,
      this.#reduce,
    ].concat([this.#killable, this.#trigger, this.#triggerPrice, this.#parent, this.#fee]);
  }

  /** @param {unknown} error */
  #showFault(error) {
    if (error instanceof FieldFault) {
      this.#failAt(error.field, error.message);
      return;
    }
    const { code = '', field = '', message = String(error) } = error instanceof Refusal ? error : {};
    const at = this.#fieldOf(code, field);
    if (at !== null) this.#failAt(at, message);
    if (code === 'UNREACHABLE') {
      const words = 'The order may have arrived all the same: see your open orders when the page is connected again.';
      fill(this.#state, element('b', { class: 'fault' }, 'No answer. '), words);
    } else fill(this.#state, element('b', { class: 'fault' }, `Refused: ${code} `), message);
  }

  /** @param {Field} field @param {string} message */
  #failAt(field, message) {
    field.fail(message);
    const closed = field.root.closest('details');
    if (closed !== null) closed.open = true;
    field.control.focus();
  }

  /** The field that a refusal of the node is about; null when it is about none. @param {string} code @param {string} member */
  #fieldOf(code, member) {
    /** @type {Record<string, Field>} */
    const byMember = {
      limit_price: this.#price,
      quantity: this.#quantity,
      max_sellable_amount: this.#cap,
      max_sellable_quantity: this.#cap,
      time_in_force: this.#force,
      timestamp_ns: this.#until,
      post_only: this.#post,
      reduce_only: this.#reduce,
      fill_or_kill: this.#killable,
      target: this.#account,
      price: this.#triggerPrice,
      trigger: this.#trigger,
      parent_order_id: this.#parent,
      max_trading_fees_rate: this.#fee,
    };
    /** @type {Record<string, Field>} */
    const byCode = {
      INSUFFICIENT_INVENTORY: this.#quantity,
      INSUFFICIENT_MARGIN: this.#quantity,
      WOULD_CROSS: this.#post,
      REDUCE_ONLY_WOULD_INCREASE: this.#reduce,
      ORDER_NOT_FOUND: this.#parent,
    };
    const name = member.split('.').at(-1) ?? '';
    const found = byMember[name] ?? byCode[code] ?? null;
    return found === null || found.root.hidden ? null : found;
  }
}

/** @param {Field} field */
function isChecked(field) {
  return !field.root.hidden && /** @type {HTMLInputElement} */ (field.control).checked;
}
