// @ts-check
/**
 * The API reference: reads the two documents of its service, displays them, and sends requests signed in this page. Its
 * security policy permits no other host.
 */
import { readOperations, readStreams } from '../src/client/page/api-reader.js';
import { parseJsonText } from '../src/client/page/json-text.js';
import { element, fill } from './dom.js';
import { keyBox } from './key-box.js';
import { livePanel } from './live-panel.js';
import { operationCard } from './operation-card.js';
import { Session } from './session.js';
import { streamCard } from './stream-card.js';

/** @param {string} path */
async function load(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return parseJsonText(await response.text());
}

/**
 * @template {{ area: string }} T
 * @param {readonly T[]} all
 * @returns {Map<string, T[]>}
 */
function byArea(all) {
  const areas = new Map();
  for (const one of all) areas.set(one.area, [...(areas.get(one.area) ?? []), one]);
  return areas;
}

/** @param {string} id @param {string} label @param {string} kind */
function link(id, label, kind) {
  return element('a', { href: `#${id}`, class: 'link' }, element('b', { class: `tag ${kind}` }, kind), label);
}

async function main() {
  const [openApi, asyncApi] = await Promise.all([load('/api-doc.json'), load('/async-api.json')]);
  const info = /** @type {Map<string, Map<string, string>>} */ (openApi).get('info');
  const operations = readOperations(openApi);
  const streams = readStreams(asyncApi);
  const hasSessions = operations.some(({ needsSession }) => needsSession);
  const session = new Session();

  const title = info?.get('title') ?? '';
  document.title = title;
  const nav = element('nav', { 'aria-label': 'Contents' });
  const content = element(
    'main',
    {},
    element('h1', {}, title),
    element('p', { class: 'lead' }, info?.get('description') ?? ''),
  );
  content.append(
    element(
      'p',
      { class: 'small' },
      'Version ',
      info?.get('version') ?? '',
      '. The same as documents: ',
      element('a', { href: '/api-doc.json' }, 'OpenAPI 3.1'),
      ', ',
      element('a', { href: '/async-api.json' }, 'AsyncAPI 3.0'),
      '.',
    ),
  );
  if (hasSessions) content.append(firstSteps());
  for (const [area, inArea] of byArea(operations)) {
    nav.append(element('h2', {}, area));
    content.append(element('h2', { id: `area-${area.replace(/\W/g, '-')}` }, area));
    for (const operation of inArea) {
      nav.append(link(operation.id, operation.summary, operation.method.toLowerCase()));
      content.append(operationCard(operation, session));
    }
  }
  nav.append(element('h2', {}, 'Streams'));
  content.append(element('h2', { id: 'streams' }, 'Streams'));
  for (const stream of streams) {
    nav.append(link(`stream-${stream.id}`, stream.summary, 'ws'));
    content.append(streamCard(stream, session));
  }

  const side = element('aside', {});
  if (hasSessions) side.append(keyBox(session), livePanel(session));
  const header = element(
    'header',
    {},
    element('img', { src: '/api-reference/page/icon.svg', alt: '' }),
    element('b', {}, 'ringbook'),
    element('span', {}, 'API reference'),
    ...(hasSessions ? [element('a', { href: '/' }, 'Watch and trade')] : []),
  );
  document.body.classList.toggle('wide', hasSessions);
  fill(document.body, header, nav, content, ...(hasSessions ? [side] : []));
  openTarget();
  addEventListener('hashchange', openTarget);
}

/** The steps from a new key to a trade. */
function firstSteps() {
  const isSeeded = document.body.dataset['keys'] === 'dev';
  const key = isSeeded ? 'Choose a key: user a is funded in this profile.' : 'Enter the seed of a funded key.';
  return element(
    'ol',
    { class: 'steps' },
    element('li', {}, key),
    element(
      'li',
      {},
      element('a', { href: '#post_orders_create' }, 'Create an order'),
      ': sign and send the example; it rests in the book.',
    ),
    element(
      'li',
      {},
      isSeeded ? 'Choose user b, turn ' : 'With a second key, turn ',
      element('code', {}, '"Sell"'),
      ' into ',
      element('code', {}, '"Buy"'),
      ' and send it: the two trade.',
    ),
    element(
      'li',
      {},
      'The live panel shows every step: ',
      element('code', {}, 'Pending'),
      ' at the match, ',
      element('code', {}, 'Confirmed'),
      ' once it is on disk.',
    ),
  );
}

/** A link to a card opens it. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

main().catch((error) => fill(document.body, element('p', { class: 'fault' }, `The page could not start: ${error}`)));
