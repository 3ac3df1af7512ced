// @ts-check
/** The dialog of the user's key: made here or imported, in memory only unless the user wants it kept in this browser. */
import { button, element, fill } from '../dom.js';
import { newSeed } from '../session.js';
import { checkField, textField } from './fields.js';
import { faultText } from './service.js';

/** @typedef {import('./app.js').App} App */

const STORED = 'ringbook-key';
const KEPT = 'This key is kept in this browser, unencrypted: whoever can use this browser can trade with it.';
const IN_MEMORY =
  'The key stays in the memory of this page: it signs here, is never sent, and is gone when the page is closed.';

/** The kept seed, or ''. Browsers may forbid storage. */
function kept() {
  try {
    return localStorage.getItem(STORED) ?? '';
  } catch {
    return '';
  }
}

/** @param {string} seed '' removes it */
function keep(seed) {
  try {
    if (seed === '') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, seed);
    return true;
  } catch {
    return false;
  }
}

export class KeyDialog {
  #app;
  #root;
  #open;
  #seed = textField('Seed, 64 hex digits', { type: 'password', maxlength: '64', autocomplete: 'off' });
  #keep = checkField('Keep it in this browser');
  #about = element('p', { class: 'small' }, IN_MEMORY);
  #state = element('p', { class: 'key-state', role: 'status' });
  #out;
  #made = element('div', { class: 'made' });

  /** @param {HTMLDialogElement} root @param {HTMLButtonElement} open @param {App} app */
  constructor(root, open, app) {
    this.#app = app;
    this.#root = root;
    this.#open = open;
    const form = element('form', { novalidate: '' }, element('h2', { id: 'key-title' }, 'Your key'));
    const dev = document.body.dataset['keys'] === 'dev';
    const ways = element(
      'div',
      { class: 'row' },
      button('Make a new key', () => this.#make()),
    );
    if (dev) {
      for (const [name, digit] of /** @type {const} */ ([
        ['a', '01'],
        ['b', '02'],
      ]))
        ways.append(button(`User ${name}`, () => this.#use(digit.repeat(32))));
    }
    form.append(
      element('p', {}, 'A key is an account: there is no registration. Make one, or enter the seed of yours.'),
      ways,
    );
    if (dev)
      form.append(
        element('p', { class: 'small' }, 'Users a and b are the funded ones of this dev node; their keys are public.'),
      );
    this.#out = button('Log out and remove the key', () => this.#forget());
    form.append(this.#made, this.#seed.root, this.#keep.root, this.#about, this.#state);
    const send = element('button', { type: 'submit', class: 'main' }, 'Use this key');
    form.append(
      element(
        'div',
        { class: 'row' },
        send,
        this.#out,
        button('Close', () => root.close()),
      ),
    );
    root.append(form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#use(this.#seed.value);
    });
    this.#keep.control.addEventListener('change', () => {
      fill(this.#about, this.#isKept ? KEPT : IN_MEMORY);
      if (!this.#isKept) keep('');
    });
    open.addEventListener('click', () => this.show());
    app.session.watch(() => this.#draw());
    this.#draw();
  }

  /** Logs in with the key that this browser keeps, unless another one is in use. */
  restore() {
    const seed = kept();
    if (seed === '' || this.#app.session.userId !== '') return;
    /** @type {HTMLInputElement} */ (this.#keep.control).checked = true;
    fill(this.#about, KEPT);
    void this.#use(seed);
  }

  show() {
    this.#draw();
    this.#root.showModal();
  }

  get #isKept() {
    return /** @type {HTMLInputElement} */ (this.#keep.control).checked;
  }

  #make() {
    const seed = newSeed();
    this.#seed.value = seed;
    fill(
      this.#made,
      element(
        'p',
        {},
        'This is the seed of your new key. Whoever has it owns the account; without it the account is lost. Write it down:',
      ),
      element('code', { class: 'seed' }, seed),
    );
    fill(this.#state);
  }

  /** @param {string} seed */
  async #use(seed) {
    const { session, account } = this.#app;
    fill(this.#state, 'Logging in …');
    try {
      session.useSeed(seed);
    } catch (error) {
      this.#seed.fail(faultText(error));
      fill(this.#state);
      return;
    }
    try {
      await account.logIn();
    } catch (error) {
      fill(this.#state, element('span', { class: 'fault' }, faultText(error)));
      return;
    }
    if (this.#isKept && !keep(seed.trim())) fill(this.#state, 'This browser does not keep anything for this page.');
    else fill(this.#state);
    this.#seed.value = '';
    fill(this.#made);
    this.#root.close();
  }

  #forget() {
    keep('');
    /** @type {HTMLInputElement} */ (this.#keep.control).checked = false;
    fill(this.#about, IN_MEMORY);
    this.#seed.value = '';
    fill(this.#made);
    this.#app.session.forget();
  }

  #draw() {
    const { userId, token } = this.#app.session;
    const isIn = token !== '';
    this.#open.textContent = isIn ? `${userId.slice(0, 6)}…${userId.slice(-4)}` : 'Connect a key';
    this.#open.className = isIn ? '' : 'main';
    this.#out.hidden = userId === '';
    if (isIn) fill(this.#state, element('span', {}, 'Logged in as '), element('code', {}, userId));
    this.#app.emit('session');
  }
}
