// @ts-check
/**
 * Single keys outside of a field, and the dialog that lists them. They can be turned off there (WCAG 2.1.4): a person who
 * dictates could begin an order by a word.
 */
import { button, element } from '../dom.js';
import { checkField } from './fields.js';

const STORED = 'ringbook-single-keys';
/** Inputs that take no text. */
const WITHOUT_TEXT = new Set(['radio', 'checkbox']);

/** Browsers may forbid storage. */
function areOff() {
  try {
    return localStorage.getItem(STORED) === 'off';
  } catch {
    return false;
  }
}

/** @param {boolean} isOn */
function keep(isOn) {
  try {
    if (isOn) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, 'off');
  } catch {
    // The choice lasts as long as the page.
  }
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.has(target.type);
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

const KEYS = /** @type {const} */ ([
  ['B', 'begin a buy'],
  ['S', 'begin a sale'],
  ['/', 'find a market'],
  ['?', 'show this list'],
  ['↑ ↓', 'move in the book; Enter takes the price'],
  ['← →', 'move between the tabs of your account'],
  ['Enter', 'in the ticket: send the order'],
  ['Escape', 'close a dialog'],
]);

/**
 * @param {HTMLElement} open the button of the list
 * @param {import('./ticket.js').Ticket} ticket
 * @param {(id: string) => void} show a part, on a narrow screen
 */
export function shortcuts(open, ticket, show) {
  const single = checkField('Single keys outside of fields');
  const box = /** @type {HTMLInputElement} */ (single.control);
  box.checked = !areOff();
  box.addEventListener('change', () => keep(box.checked));
  const list = element('dl', { class: 'keys' });
  for (const [key, about] of KEYS)
    list.append(element('div', {}, element('dt', {}, element('kbd', {}, key)), element('dd', {}, about)));
  const dialog = /** @type {HTMLDialogElement} */ (element('dialog', { 'aria-labelledby': 'keys-title' }));
  const close = button('Close', () => dialog.close());
  dialog.append(element('h2', { id: 'keys-title' }, 'Keyboard'), list, single.root, close);
  document.body.append(dialog);
  open.addEventListener('click', () => dialog.showModal());

  /** @type {Record<string, () => void>} */
  const acts = {
    b: () => begin('Buy'),
    s: () => begin('Sell'),
    '/': () => findMarket(),
    '?': () => dialog.showModal(),
  };
  /** @param {'Buy' | 'Sell'} side */
  const begin = (side) => {
    show('ticket');
    ticket.begin(side);
  };
  addEventListener('keydown', (event) => {
    const act = acts[event.key.toLowerCase()];
    if (act === undefined || !box.checked || isTyping(event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return;
    event.preventDefault();
    act();
  });
}

/** The field of the list, or the menu of markets where the list is not shown. */
function findMarket() {
  for (const selector of ['.market-filter', '.market-list a', '.picker']) {
    const found = document.querySelector(selector);
    if (!(found instanceof HTMLElement) || !found.checkVisibility()) continue;
    found.focus();
    return;
  }
}
