// @ts-check
/** The page to watch and to trade: creates its parts and connects them. */
import { button, element, fill } from '../dom.js';
import { themeButton } from '../theme.js';
import { AccountView } from './account-view.js';
import { App } from './app.js';
import { candleChart } from './chart.js';
import { KeyDialog } from './key-dialog.js';
import { ladder } from './ladder.js';
import { marketList, marketStats } from './markets.js';
import { note } from './notes.js';
import { MARKET_STREAMS } from './service.js';
import { shortcuts } from './shortcuts.js';
import { tape } from './tape.js';
import { Ticket } from './ticket.js';

const RETRY_MS = 2_000;

/** @param {string} id @returns {HTMLElement} */
function part(id) {
  const found = document.querySelector(`#${id} > .fill`) ?? document.getElementById(id);
  if (!(found instanceof HTMLElement)) throw new Error(`no part ${id}`);
  return found;
}

/** The parts that a narrow screen shows one at a time. */
const VIEWS = /** @type {const} */ ([
  ['chart', 'Chart'],
  ['book', 'Book'],
  ['tape', 'Trades'],
  ['ticket', 'Order'],
  ['account', 'Account'],
]);

function views() {
  const nav = part('views');
  const buttons = VIEWS.map(([id, label]) => button(label, () => show(id)));
  /** @param {string} id */
  const show = (id) => {
    document.body.dataset['view'] = id;
    for (const [index, [each]] of VIEWS.entries()) buttons[index]?.setAttribute('aria-pressed', String(each === id));
  };
  nav.append(...buttons);
  show('chart');
  return show;
}

/** @param {App} app */
function linkState(app) {
  const state = part('link-state');
  const draw = () => {
    const isIn = app.session.token !== '';
    // Without a market there is no feed.
    const hasFeed = app.feed.isLive || (app.isStarted && app.market === null);
    const isLive = hasFeed && (!isIn || app.account.isLive);
    state.className = `link-state ${isLive ? 'live' : 'waiting'}`;
    state.textContent = isLive ? 'Live' : hasFeed ? 'Connecting your account …' : 'Connecting …';
    state.title = isLive ? '' : `Streams of market data are at ${MARKET_STREAMS}.`;
  };
  app.on('state', draw);
  app.on('account-state', draw);
  app.on('session', draw);
  draw();
}

async function main() {
  themeButton(part('theme'));
  const show = views();
  const app = new App();
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('key-dialog'));
  const connect = () => keys.show();
  marketStats(part('market-stats'), app);
  marketList(part('markets'), app);
  candleChart(part('chart'), app);
  ladder(part('book'), app);
  tape(part('tape'), app);
  const ticket = new Ticket(part('ticket'), app, connect);
  new AccountView(part('account'), app, ticket, connect);
  const keys = new KeyDialog(dialog, /** @type {HTMLButtonElement} */ (document.getElementById('key-button')), app);
  linkState(app);
  shortcuts(part('keys'), ticket, show);
  app.account.onNotice = ({ subject, text, isGood }) => note(text, isGood ? 'good' : 'fault', subject);
  for (;;) {
    try {
      await app.start();
      break;
    } catch {
      part('link-state').textContent = 'The node does not answer, trying again …';
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  keys.restore();
}

main().catch((error) => fill(document.body, element('p', { class: 'fault' }, `The page could not start: ${error}`)));
