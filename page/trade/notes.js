// @ts-check
/** Short notes at the edge of the page, such as a fill; each disappears by itself and can be removed earlier. */
import { button, element } from '../dom.js';

const SHOWN_MS = 5_000;
const NOTES_MAX = 3;

/**
 * @param {string} text
 * @param {'good' | 'fault' | ''} [kind]
 * @param {string} [subject] a note with the same subject is replaced, such as that of a fill that was pending
 */
export function note(text, kind = '', subject = '') {
  const root = document.getElementById('notes');
  if (root === null) return;
  const box = element('p', { class: `note ${kind}`, 'data-subject': subject }, text);
  const remove = button('×', () => box.remove(), 'remove');
  remove.setAttribute('aria-label', 'Remove this note');
  box.append(remove);
  const before = [...root.children].find((one) => one instanceof HTMLElement && one.dataset['subject'] === subject);
  if (subject !== '' && before !== undefined) before.replaceWith(box);
  else root.append(box);
  while (root.childElementCount > NOTES_MAX) root.firstElementChild?.remove();
  setTimeout(() => box.remove(), SHOWN_MS);
}
