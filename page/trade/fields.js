// @ts-check
/** Form fields with a label, a unit and a place for their error. */
import { parseScaled } from '../../src/core/decimal.js';
import { element, fill } from '../dom.js';

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

let lastId = 0;

export class Field {
  /** @type {HTMLElement} */
  root;
  /** @type {Control} */
  control;
  #error;
  #unit;

  /** @param {string} label @param {Control} control @param {string} [unit] */
  constructor(label, control, unit = '') {
    lastId += 1;
    const id = `field-${lastId}`;
    control.id = id;
    this.control = control;
    this.#error = element('p', { class: 'field-error', id: `${id}-error`, role: 'alert' });
    this.#unit = element('span', { class: 'unit' }, unit);
    control.setAttribute('aria-describedby', `${id}-error`);
    this.root = element(
      'div',
      { class: 'field' },
      element('label', { for: id }, label),
      element('div', { class: 'control' }, control, this.#unit),
      this.#error,
    );
    control.addEventListener('input', () => this.clear());
  }

  get value() {
    return this.control.value.trim();
  }

  set value(text) {
    this.control.value = text;
    this.clear();
  }

  /** What is taken where nothing is entered. @param {string} text */
  set hint(text) {
    this.control.setAttribute('placeholder', text);
  }

  /** @param {string} text */
  set unit(text) {
    this.#unit.textContent = text;
  }

  /** @param {string} text */
  fail(text) {
    this.#error.textContent = text;
    this.control.setAttribute('aria-invalid', 'true');
  }

  clear() {
    this.#error.textContent = '';
    this.control.removeAttribute('aria-invalid');
  }
}

/** A value of a field that cannot be sent. */
export class FieldFault extends Error {
  /** @param {Field} field @param {string} message */
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** @param {Field} field @param {number} decimals @returns {number} raw book units @throws {FieldFault} */
export function rawOf(field, decimals) {
  const raw = parseScaled(field.value, decimals);
  if (field.value === '') throw new FieldFault(field, 'a value is needed');
  if (raw === null)
    throw new FieldFault(field, `a number with at most ${decimals} ${decimals === 1 ? 'decimal' : 'decimals'}`);
  if (raw < 1n || raw > BigInt(Number.MAX_SAFE_INTEGER)) throw new FieldFault(field, 'out of range');
  return Number(raw);
}

/** @param {string} label @param {Record<string, string>} [attributes] @param {string} [unit] */
export function textField(label, attributes = {}, unit = '') {
  const input = element('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...attributes });
  return new Field(label, /** @type {HTMLInputElement} */ (input), unit);
}

/** @param {string} label */
export function decimalField(label) {
  return textField(label, { inputmode: 'decimal', placeholder: '0' });
}

/** @param {string} label @param {readonly (readonly [string, string])[]} options value and text */
export function choiceField(label, options) {
  const select = element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));
  return new Field(label, /** @type {HTMLSelectElement} */ (select));
}

/** Other choices, if they differ. @param {Field} field @param {readonly (readonly [string, string])[]} options */
export function refill({ control }, options) {
  const wanted = options.map(([value, text]) => `${value} ${text}`).join();
  if (control.dataset['options'] === wanted) return;
  control.dataset['options'] = wanted;
  const chosen = control.value;
  fill(control, ...options.map(([value, text]) => element('option', { value }, text)));
  if (options.some(([value]) => value === chosen)) control.value = chosen;
}

/** @param {string} label */
export function checkField(label) {
  const field = new Field(label, /** @type {HTMLInputElement} */ (element('input', { type: 'checkbox' })));
  field.root.classList.add('check');
  return field;
}

/**
 * Radio buttons side by side.
 *
 * @param {string} label @param {readonly (readonly [string, string])[]} options value and text; the first is chosen
 * @param {() => void} changed
 */
export function segments(label, options, changed) {
  lastId += 1;
  const name = `segments-${lastId}`;
  const root = element('fieldset', { class: 'segments' }, element('legend', {}, label));
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  for (const [value, text] of options) {
    const input = /** @type {HTMLInputElement} */ (element('input', { type: 'radio', name, value }));
    input.checked = inputs.length === 0;
    input.addEventListener('change', changed);
    inputs.push(input);
    root.append(element('label', { class: `segment ${value.toLowerCase()}` }, input, element('span', {}, text)));
  }
  return {
    root,
    get value() {
      return inputs.find(({ checked }) => checked)?.value ?? '';
    },
    set value(wanted) {
      for (const input of inputs) input.checked = input.value === wanted;
      changed();
    },
    /** @param {string} value @param {boolean} isAvailable */
    allow(value, isAvailable) {
      for (const input of inputs) if (input.value === value) input.disabled = !isAvailable;
    },
  };
}
