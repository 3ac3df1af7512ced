// @ts-check
/** One stream: its messages, and a form that subscribes. */
import { refreshed, signedBody, withUser } from '../src/client/page/attempt.js';
import { parseJsonText, prettyJson } from '../src/client/page/json-text.js';
import { button, element, fill, prose } from './dom.js';
import { schemaView } from './schema-view.js';

/** @typedef {import('../src/client/page/api-reader.js').Stream} Stream */
/** @typedef {import('./session.js').Session} Session */

const FRAMES_SHOWN = 100;

/** @param {Stream} stream @param {Session} session */
export function streamCard(stream, session) {
  const summary = element(
    'summary',
    { class: 'head' },
    element('b', { class: 'tag ws' }, 'WS'),
    element('code', { class: 'path' }, stream.path),
    element('span', { class: 'about' }, stream.summary),
    ...(stream.needsSession ? [element('span', { class: 'badge' }, 'session')] : []),
  );
  const card = element('details', { id: `stream-${stream.id}`, class: 'card' }, summary);
  card.addEventListener('toggle', () => {
    if (card.childElementCount === 1) card.append(inside(stream, session));
  });
  return card;
}

/** @param {Stream} stream @param {Session} session */
function inside(stream, session) {
  const described = element('div', { class: 'described' });
  for (const message of [...stream.sends, ...stream.receives]) {
    const part = element(
      'details',
      { class: 'inner' },
      element('summary', {}, `${message.name}: ${message.description}`),
    );
    part.append(schemaView(message.schema));
    if (message.example !== undefined) part.append(element('pre', {}, prettyJson(message.example)));
    described.append(part);
  }
  const columns = element('div', { class: 'columns' }, described, listenForm(stream, session));
  return element('div', { class: 'inside' }, prose(stream.description), columns);
}

/** @param {Stream} stream @param {Session} session */
function listenForm(stream, session) {
  const frames = element('ol', { class: 'frames' });
  const path = /** @type {HTMLInputElement} */ (element('input', { 'aria-label': 'Path', spellcheck: 'false' }));
  const isV1 = /** @type {HTMLInputElement} */ (element('input', { type: 'checkbox' }));
  const state = element('span', { class: 'small' });
  /** @type {WebSocket | null} */
  let socket = null;

  const fillPath = () => {
    path.value = stream.path.replace('{user_id}', session.userId || '{user_id}').replace('{asset_id}', '1');
  };
  session.watch(fillPath);
  fillPath();

  /** @param {string} text @param {string} kind */
  const show = (text, kind) => {
    frames.prepend(element('li', { class: kind }, element('pre', {}, text)));
    while (frames.childElementCount > FRAMES_SHOWN) frames.lastElementChild?.remove();
  };
  const listen = () => {
    socket?.close();
    fill(frames);
    const opened = session.open(path.value, isV1.checked);
    socket = opened;
    fill(state, 'opening…');
    opened.addEventListener('open', () => fill(state, 'listening'));
    opened.addEventListener('message', ({ data }) => show(prettyJson(parseJsonText(String(data))), ''));
    opened.addEventListener('close', ({ code, reason }) => fill(state, `closed ${code} ${reason}`));
  };

  const form = element(
    'div',
    { class: 'try' },
    element('h4', {}, 'Listen'),
    path,
    element(
      'div',
      { class: 'row' },
      button('Listen', listen, 'main'),
      button('Close', () => socket?.close(1000)),
      ...(stream.needsSession ? [element('label', { class: 'check' }, isV1, 'v1')] : []),
      state,
    ),
  );
  if (stream.receives.length > 0) form.append(sendForm(stream, session, (text) => socket?.send(text), show));
  form.append(frames);
  return form;
}

/**
 * @param {Stream} stream
 * @param {Session} session
 * @param {(text: string) => void} send
 * @param {(text: string, kind: string) => void} show
 */
function sendForm(stream, session, send, show) {
  const [message] = stream.receives;
  const body = /** @type {HTMLTextAreaElement} */ (
    element('textarea', { spellcheck: 'false', rows: '10', 'aria-label': 'Frame' })
  );
  const reset = () => {
    if (message?.example !== undefined)
      body.value = prettyJson(
        refreshed(withUser(message.example, session.userId || '{user_id}', '{user_id}'), session.nowNs()),
      );
  };
  session.watch(reset);
  reset();
  return element(
    'div',
    {},
    body,
    element(
      'div',
      { class: 'row' },
      button(
        'Sign and send',
        () => {
          try {
            const text = signedFrame(stream, session, body.value);
            send(text);
            show(text, 'sent');
          } catch (error) {
            show(error instanceof Error ? error.message : String(error), 'fault');
          }
        },
        'main',
      ),
      button('Start over', reset),
    ),
  );
}

/** What is signed in each control request. */
const SIGNED = new Map([
  ['CreateOrderRequest', 'order'],
  ['ReplaceOrderRequest', 'request'],
  ['CancelOrderRequest', 'cancel'],
  ['BatchCreateRequest', 'order'],
  ['BatchReplaceRequest', 'request'],
]);

/** @param {Stream} stream @param {Session} session @param {string} text */
function signedFrame(stream, session, text) {
  const frame = /** @type {Map<string, any>} */ (refreshed(parseJsonText(text), session.nowNs()));
  const tagged = frame.get('data') ?? frame;
  const [tag, wrapper] = [...tagged][0] ?? [];
  const signs = SIGNED.get(tag);
  const [{ schema }] = /** @type {[import('../src/client/page/api-reader.js').Message]} */ (stream.receives);
  if (signs === undefined) throw new Error(`one of ${[...SIGNED.keys()].join(', ')}`);
  const shape = /** @type {any} */ (schema)['oneOf'].find((/** @type {any} */ one) => tag in one.properties).properties[
    tag
  ];
  const operation = /** @type {any} */ ({ signs, body: { schema: shape, example: null } });
  const { body } = signedBody(operation, wrapper, session);
  const inner = `{"${tag}":${body}}`;
  if (!frame.has('data')) return inner;
  const id = frame.get('request_id');
  return `{"type":"request","channel":"control","request_id":${JSON.stringify(id ?? null)},"data":${inner}}`;
}
