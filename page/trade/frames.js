// @ts-check
/** Drawing at most once per frame of the screen, however often the data changes. */

/** @param {() => void} draw @returns {() => void} call when something has changed */
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
