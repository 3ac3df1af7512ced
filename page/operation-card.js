// @ts-check
/** One route: its description, parameters, body and replies, and a form that sends a request. */
import { refreshed, signedBody, withOrderIds, withUser } from '../src/client/page/attempt.js';
import { parseJsonText, prettyJson } from '../src/client/page/json-text.js';
import { button, element, fill, prose } from './dom.js';
import { schemaView } from './schema-view.js';

/** @typedef {import('../src/client/page/api-reader.js').Operation} Operation */
/** @typedef {import('./session.js').Session} Session */

const ANSWER_CHARACTERS_SHOWN = 100_000;
const CREATES = /^post_orders_/;

/** @param {Operation} operation @param {Session} session */
export function operationCard(operation, session) {
  const method = operation.method.toLowerCase();
  const summary = element(
    'summary',
    { class: 'head' },
    element('b', { class: `tag ${method}` }, operation.method),
    element('code', { class: 'path' }, operation.path),
    element('span', { class: 'about' }, operation.summary),
    ...(operation.isDeprecated ? [element('span', { class: 'badge' }, 'deprecated')] : []),
    ...(operation.needsSession
      ? [element('span', { class: 'badge' }, operation.signs === null ? 'session' : 'signed')]
      : []),
  );
  const card = element('details', { id: operation.id, class: 'card' }, summary);
  card.addEventListener('toggle', () => {
    if (card.childElementCount === 1) card.append(inside(operation, session));
  });
  return card;
}

/** @param {Operation} operation @param {Session} session */
function inside(operation, session) {
  const described = element('div', { class: 'described' });
  if (operation.body !== null) described.append(element('h4', {}, 'Request body'), schemaView(operation.body.schema));
  for (const reply of operation.replies) {
    const isGood = reply.status.startsWith('2');
    const part = element(
      'details',
      { class: 'inner' },
      element('summary', {}, `${reply.status} ${isGood ? reply.description : 'errors'}`),
    );
    if (!isGood) part.append(prose(reply.description));
    else {
      if (reply.schema !== null) part.append(schemaView(reply.schema));
      if (reply.example !== undefined) part.append(element('pre', {}, prettyJson(reply.example)));
    }
    described.append(part);
  }
  const columns = element('div', { class: 'columns' }, described, tryForm(operation, session));
  return element('div', { class: 'inside' }, prose(operation.description), columns);
}

/** @param {Operation} operation @param {Session} session */
function tryForm(operation, session) {
  const form = element('div', { class: 'try' });
  const inputs = new Map(operation.parameters.map((one) => [one, field(one.name, one.example, one.description)]));
  const body = /** @type {HTMLTextAreaElement} */ (
    element('textarea', { spellcheck: 'false', 'aria-label': 'Request body' })
  );
  const result = element('div', { class: 'result', 'aria-live': 'polite' });

  /** @param {any} value */
  const show = (value) => {
    const text = prettyJson(value);
    body.value = text;
    body.rows = Math.min(28, text.split('\n').length + 1);
  };
  const reset = () => {
    if (operation.body !== null) show(fitted(operation, session, refreshed(operation.body.example, session.nowNs())));
  };
  /** After a change of key or of the last order: edited text stays, user id and order id are replaced. */
  const follow = () => {
    for (const [{ name }, input] of inputs) {
      if (name === 'user_id' && session.userId !== '') input.value = session.userId;
      if (name === 'order_id' && session.lastOrderId !== '') input.value = session.lastOrderId;
    }
    try {
      if (operation.body !== null) show(fitted(operation, session, parseJsonText(body.value)));
    } catch {
      // Incomplete text is left unchanged.
    }
  };
  reset();
  session.watch(follow);
  follow();

  // A browser sends no body with a GET.
  const isSendable = operation.method !== 'GET' || operation.body === null;
  const send = async () => {
    fill(result, 'Sending…');
    try {
      fill(result, await sent(operation, session, inputs, body));
    } catch (error) {
      fill(result, element('p', { class: 'fault' }, error instanceof Error ? error.message : String(error)));
    }
  };
  form.append(
    element('h4', {}, 'Try it'),
    ...[...inputs].map(([{ name, place }, input]) =>
      element('label', {}, element('span', {}, name, place === 'path' ? '' : '?'), input),
    ),
    ...(operation.body === null ? [] : [body]),
    element(
      'div',
      { class: 'row' },
      ...(isSendable
        ? [button(operation.signs === null ? 'Send' : 'Sign and send', send, 'main')]
        : [element('span', { class: 'small' }, 'Browsers cannot send a GET with a body.')]),
      ...(operation.body === null ? [] : [button('Start over', reset)]),
      element('span', { class: 'small' }, operation.cost),
    ),
    result,
  );
  return form;
}

/**
 * A body with the user and the order of the session; creates get a new id.
 *
 * @param {Operation} operation
 * @param {Session} session
 * @param {any} value
 */
function fitted(operation, session, value) {
  const own = session.userId === '' ? value : withUser(value, session.userId, session.userIdBefore);
  if (CREATES.test(operation.id)) return withOrderIds(own, newOrderId);
  return session.lastOrderId === '' ? own : withOrderIds(own, () => session.lastOrderId);
}

/** @param {string} name @param {string} value @param {string} description */
function field(name, value, description) {
  return /** @type {HTMLInputElement} */ (
    element('input', { name, value, placeholder: description, spellcheck: 'false', autocomplete: 'off' })
  );
}

function newOrderId() {
  return `page-${Date.now().toString(36)}-${Math.floor(Math.random() * 1e6).toString(36)}`;
}

/**
 * @param {Operation} operation
 * @param {Session} session
 * @param {ReadonlyMap<import('../src/client/page/api-reader.js').Parameter, HTMLInputElement>} inputs
 * @param {HTMLTextAreaElement} body
 */
async function sent(operation, session, inputs, body) {
  if (operation.needsSession && session.token === '') throw new Error('log in first, on the right or below');
  let path = operation.path;
  const query = new URLSearchParams();
  for (const [{ name, place }, { value }] of inputs) {
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value).replaceAll('%40', '@'));
    else for (const one of value.split(',')) if (one !== '') query.append(name, one.trim());
  }
  /** @type {RequestInit} */
  const request = { method: operation.method, headers: { ...session.headers(), 'Content-Type': 'application/json' } };
  let signed = /** @type {readonly string[]} */ ([]);
  if (operation.body !== null) {
    // Timestamps are set when sending: a request is valid for a minute.
    const value = refreshed(parseJsonText(body.value), session.nowNs());
    const attempt = operation.id === 'post_auth' ? login(value, session) : signedBody(operation, value, session);
    request.body = attempt.body;
    signed = attempt.signed;
  }
  const url = query.size === 0 ? path : `${path}?${query}`;
  const began = performance.now();
  const response = await fetch(url, request);
  const text = await response.text();
  const took = performance.now() - began;
  if (response.ok && operation.id === 'post_orders_create') remember(session, String(request.body));
  return answerView({ operation, url, status: response.status, text, took, signed });
}

/** The nonce of a login is signed as its own bytes. @param {any} value @param {Session} session */
function login(value, session) {
  const nonce = value instanceof Map ? String(value.get('nonce')) : '';
  if (!/^[A-Za-z0-9_-]{43}$/.test(nonce)) throw new Error('a nonce is 43 characters of A-Z a-z 0-9 _ -');
  const signature = [...session.sign(new TextEncoder().encode(nonce))];
  return { body: JSON.stringify({ user_id: session.userId, nonce, signature }), signed: [nonce] };
}

/** Uses this order for the next replace and cancel. @param {Session} session @param {string} body */
function remember(session, body) {
  const order = /** @type {any} */ (parseJsonText(body)).get('order');
  session.lastOrderId = String(order.get('order_id'));
  session.changed();
}

/** @param {{ operation: Operation, url: string, status: number, text: string, took: number, signed: readonly string[] }} answer */
function answerView({ operation, url, status, text, took, signed }) {
  const view = element(
    'div',
    {},
    element(
      'p',
      {},
      element('b', { class: status < 300 ? 'good' : 'fault' }, String(status)),
      ` ${operation.method} ${url} `,
      element('span', { class: 'small' }, `${took.toFixed(1)} ms`),
    ),
  );
  if (signed.length > 0) {
    view.append(
      element(
        'details',
        { class: 'inner' },
        element('summary', {}, 'what was signed'),
        ...signed.map((one) => element('pre', { class: 'wrap' }, one)),
      ),
    );
  }
  view.append(element('pre', {}, shown(text)));
  return view;
}

/** @param {string} text */
function shown(text) {
  if (text.length > ANSWER_CHARACTERS_SHOWN) return `${text.slice(0, ANSWER_CHARACTERS_SHOWN)}…`;
  try {
    return prettyJson(parseJsonText(text));
  } catch {
    return text;
  }
}
