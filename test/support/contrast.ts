/** Contrast of the texts of a page (WCAG 2.2, 1.4.3), measured in the browser. */
import type { Page } from 'playwright-core';

/** AA, text of normal size. */
const CONTRAST_MIN = 4.5;

/** Each visible, enabled text, as faint as its opacity makes it, against the nearest opaque ground behind it; colors are read as the browser paints them. Runs in the page. */
const FAINT_TEXTS = `(() => {
  const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [red, green, blue] = color.map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (node) => {
    for (let at = node; at !== null; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] > 250) return color;
    }
    return [255, 255, 255, 255];
  };
  const opacityOf = (node) => {
    let product = 1;
    for (let at = node; at !== null; at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
    return product;
  };
  const faint = [];
  for (const node of document.querySelectorAll('body *')) {
    const text = [...node.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ nodeValue }) => nodeValue).join('').trim();
    if (text === '' || !node.checkVisibility() || node.closest(':disabled') !== null) continue;
    const [color, ground, opacity] = [rgba(getComputedStyle(node).color), groundOf(node), opacityOf(node)];
    if (opacity === 0) continue;
    const seen = color.map((part, at) => part * opacity + ground[at] * (1 - opacity));
    const [one, other] = [luminance(seen), luminance(ground)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < ${CONTRAST_MIN}) faint.push(ratio.toFixed(2) + ' ' + text.slice(0, 40));
  }
  return faint;
})()`;

/** @returns one line for each visible text with less contrast than AA wants; none for a page that has it. */
export function faintTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(FAINT_TEXTS);
}
