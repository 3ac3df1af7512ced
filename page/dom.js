// @ts-check
/** Creates and changes elements without parsing markup: text is always inserted as text. */

/**
 * @param {string} name
 * @param {Readonly<Record<string, string>>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value);
  node.append(...children);
  return node;
}

/**
 * @param {string} label
 * @param {() => unknown} act
 * @param {string} [kind]
 * @returns {HTMLButtonElement}
 */
export function button(label, act, kind = '') {
  const node = /** @type {HTMLButtonElement} */ (element('button', { type: 'button', class: kind }, label));
  node.addEventListener('click', act);
  return node;
}

/** @param {Element} parent @param {...(Node | string)} children */
export function fill(parent, ...children) {
  parent.replaceChildren(...children);
}

/**
 * Drawing at most once per frame of the screen, however often the data changes.
 *
 * @param {() => void} draw
 * @returns {() => void} call when something has changed
 */
export function oncePerFrame(draw) {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      draw();
    });
  };
}

/** Sets the text of a node only if it differs: an unchanged node is not laid out again. @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {Element} node @param {string} name */
export function setClass(node, name) {
  if (node.className !== name) node.className = name;
}

/**
 * Formats prose of the documents: `code` between back quotes, and lines that begin with a dash as a list.
 *
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function prose(text) {
  const fragment = document.createDocumentFragment();
  const lines = text.split('\n');
  const items = lines.filter((line) => line.startsWith('- '));
  const others = lines.filter((line) => !line.startsWith('- ')).join(' ');
  if (others !== '') fragment.append(element('p', {}, ...spans(others)));
  if (items.length > 0)
    fragment.append(element('ul', {}, ...items.map((item) => element('li', {}, ...spans(item.slice(2))))));
  return fragment;
}

/** @param {string} text @returns {(Node | string)[]} */
function spans(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part));
}
