// @ts-check
/** Frames of the private streams while a user is logged in: orders and trades, newest first. */
import { parseJsonText, prettyJson } from '../src/client/page/json-text.js';
import { element, fill } from './dom.js';

const FRAMES_SHOWN = 60;

/** @param {import('./session.js').Session} session */
export function livePanel(session) {
  const frames = element('ol', { class: 'frames', 'aria-live': 'polite' });
  const state = element('span', { class: 'small' });
  /** @type {WebSocket[]} */
  let sockets = [];
  let token = '';

  /** @param {string} kind @param {string} about @param {string} text */
  const show = (kind, about, text) => {
    const time = new Date().toTimeString().slice(0, 8);
    const line = element('summary', {}, element('b', {}, kind), element('time', {}, time), element('span', {}, about));
    frames.prepend(element('li', {}, element('details', {}, line, element('pre', {}, text))));
    while (frames.childElementCount > FRAMES_SHOWN) frames.lastElementChild?.remove();
  };

  const follow = () => {
    if (session.token === token) return;
    token = session.token;
    for (const socket of sockets) socket.close();
    sockets = [];
    fill(frames);
    fill(state, token === '' ? 'Log in to see your orders and trades here.' : '');
    if (token === '') return;
    for (const path of ['/orders', `/trades/user/events/${session.userId}`]) {
      const socket = session.open(path, false);
      socket.addEventListener('message', ({ data }) => {
        const { kind, about, text } = told(String(data));
        show(kind, about, text);
      });
      socket.addEventListener('close', ({ code, reason }) => {
        if (sockets.includes(socket)) show('closed', path, `${code} ${reason}`);
      });
      sockets.push(socket);
    }
  };
  session.watch(follow);
  follow();
  fill(state, 'Log in to see your orders and trades here.');
  return element('section', { class: 'box live' }, element('h2', {}, 'Live'), state, frames);
}

/**
 * A frame as one line: its tag, or the status of a trade, and its subject.
 *
 * @param {string} data
 */
function told(data) {
  const value = /** @type {Map<string, any>} */ (parseJsonText(data));
  const [first] = [...value];
  const isTagged = value.size === 1 && first?.[1] instanceof Map;
  const inner = /** @type {Map<string, any>} */ (isTagged ? first?.[1] : value);
  const text = prettyJson(inner);
  if (!isTagged) return { kind: `Trade ${inner.get('status') ?? ''}`, about: tradeLine(inner), text };
  const order = inner.get('user_order') ?? inner;
  return { kind: String(first?.[0]), about: orderLine(order), text };
}

/** @param {Map<string, any>} order */
function orderLine(order) {
  const limit = order.get('details')?.get('Limit');
  const terms =
    limit === undefined ? '' : `${order.get('side')} ${limit.get('quantity')} at ${limit.get('limit_price')}`;
  const reason = order.get('reason') ?? '';
  return [order.get('order_id'), terms, reason].filter((part) => part !== '').join(', ');
}

/** @param {Map<string, any>} trade */
function tradeLine(trade) {
  return `${trade.get('order_id')}, ${trade.get('is_buyer') ? 'bought' : 'sold'} ${trade.get('quantity')} at ${trade.get('price')}`;
}
