// @ts-check
/** What the private streams tell while somebody is logged in: orders and trades, newest first. */
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

  /** @param {string} kind @param {string} text */
  const show = (kind, text) => {
    const time = new Date().toTimeString().slice(0, 8);
    frames.prepend(element('li', {}, element('b', {}, kind), element('time', {}, time), element('pre', {}, text)));
    while (frames.childElementCount > FRAMES_SHOWN) frames.lastElementChild?.remove();
  };

  const follow = () => {
    if (session.token === token) return;
    token = session.token;
    for (const socket of sockets) socket.close();
    sockets = [];
    fill(frames);
    fill(state, token === '' ? 'Log in, and your orders and trades are told here.' : '');
    if (token === '') return;
    for (const path of ['/orders', `/trades/user/events/${session.userId}`]) {
      const socket = session.open(path, false);
      socket.addEventListener('message', ({ data }) => {
        const { kind, text } = summary(String(data));
        show(kind, text);
      });
      socket.addEventListener('close', ({ code, reason }) => {
        if (sockets.includes(socket)) show('closed', `${path} ${code} ${reason}`);
      });
      sockets.push(socket);
    }
  };
  session.watch(follow);
  follow();
  fill(state, 'Log in, and your orders and trades are told here.');
  return element('section', { class: 'box live' }, element('h2', {}, 'Live'), state, frames);
}

/**
 * The word of a frame: its tag, or the status of a trade.
 *
 * @param {string} data
 */
function summary(data) {
  const value = parseJsonText(data);
  const members = value instanceof Map ? value : new Map();
  const [first] = [...members];
  const isTagged = members.size === 1 && first?.[1] instanceof Map;
  const kind = isTagged ? String(first[0]) : `Trade ${members.get('status') ?? ''}`;
  return { kind, text: prettyJson(isTagged ? first[1] : value) };
}
