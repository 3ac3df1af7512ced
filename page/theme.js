// @ts-check
/** The button that changes between light and dark. The choice is kept in this browser, where that is allowed. */

const KEPT = 'ringbook-theme';

/** '' where none is kept. Browsers may forbid storage. */
function kept() {
  try {
    return localStorage.getItem(KEPT) ?? '';
  } catch {
    return '';
  }
}

/** Every change of the theme is announced as `themechange` to the window. @param {HTMLElement} button */
export function themeButton(button) {
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
  const current = () => document.documentElement.dataset['theme'] ?? (systemIsDark.matches ? 'dark' : 'light');
  /** @param {string} wanted '' stays with that of the system */
  const set = (wanted) => {
    if (wanted === 'dark' || wanted === 'light') document.documentElement.dataset['theme'] = wanted;
    button.textContent = current() === 'dark' ? '☀' : '☾';
    dispatchEvent(new Event('themechange'));
  };
  button.setAttribute('aria-label', 'Change between light and dark');
  set(kept());
  systemIsDark.addEventListener('change', () => set(''));
  button.addEventListener('click', () => {
    const wanted = current() === 'dark' ? 'light' : 'dark';
    set(wanted);
    try {
      localStorage.setItem(KEPT, wanted);
    } catch {
      // The choice lasts as long as the page.
    }
  });
}
