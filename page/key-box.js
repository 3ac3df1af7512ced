// @ts-check
/** The key of the page, and the login with it. */
import { button, element, fill } from './dom.js';
import { newSeed } from './session.js';

/** Published seeds of the two funded users of the dev profile. The document states whether the node has them. */
const FUNDED = [
  ['a', '01'.repeat(32)],
  ['b', '02'.repeat(32)],
];

/** @param {import('./session.js').Session} session */
export function keyBox(session) {
  const state = element('p', { class: 'state', role: 'status' });
  const seed = /** @type {HTMLInputElement} */ (
    element('input', {
      type: 'password',
      placeholder: 'seed: 64 hex digits',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-label': 'Seed of your key',
    })
  );

  /** @param {() => unknown} act */
  const attempt = async (act) => {
    try {
      await act();
    } catch (error) {
      fill(state, element('span', { class: 'fault' }, error instanceof Error ? error.message : String(error)));
    }
  };
  /** @param {string} text */
  const use = (text) =>
    attempt(async () => {
      seed.value = text;
      session.useSeed(text);
      await session.logIn();
    });

  const show = () => {
    if (session.userId === '') fill(state, 'No key yet.');
    else {
      const verdict = session.token === '' ? 'not logged in' : 'logged in';
      fill(
        state,
        element('span', { class: session.token === '' ? '' : 'good' }, verdict),
        ' as ',
        element('code', {}, session.userId),
      );
    }
  };
  session.watch(show);
  show();

  const offered = document.body.dataset['keys'] === 'dev' ? FUNDED : [];
  const form = element('form', {}, seed);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void use(seed.value);
  });
  form.append(element('button', { type: 'submit', class: 'main' }, 'Log in'));
  return element(
    'section',
    { class: 'box' },
    element('h2', {}, 'Your key'),
    form,
    element(
      'div',
      { class: 'row' },
      ...offered.map(([name, text = '']) => button(`User ${name}`, () => use(text))),
      button('New key', () => use(newSeed())),
      button('Remove', () => {
        seed.value = '';
        session.forget();
      }),
    ),
    state,
    element(
      'p',
      { class: 'small' },
      'The key stays in this page: it signs here, is not stored, and is never sent. Closing the page removes it.',
      ...(offered.length > 0 ? [' Users a and b are the funded ones of this profile; their keys are public.'] : []),
    ),
  );
}
