// @ts-check
/** A schema as a table of members, nested ones folded. */
import { element } from './dom.js';

/** @typedef {Record<string, any>} Schema */

/** @param {Schema} schema @returns {readonly Schema[] | undefined} */
function alternativesOf(schema) {
  return schema['anyOf'] ?? schema['oneOf'];
}

/** @param {Schema} schema @returns {Schema} */
function unwrapped(schema) {
  const [only] = schema['allOf'] ?? [];
  return only === undefined ? schema : { ...only, description: schema['description'] ?? only['description'] };
}

/**
 * In a few words: `integer (uint64)`, `string or null`, `array of Order`.
 *
 * @param {Schema} raw
 * @returns {string}
 */
function kindOf(raw) {
  const schema = unwrapped(raw);
  const alternatives = alternativesOf(schema);
  if (schema['title'] !== undefined) return schema['title'];
  if (alternatives !== undefined) return [...new Set(alternatives.map(kindOf))].join(' or ');
  if (schema['enum'] !== undefined) return schema['enum'].map((/** @type {string} */ word) => `"${word}"`).join(' | ');
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (schema['type'] === 'array')
    return `array of ${schema['items'] === undefined ? 'anything' : kindOf(schema['items'])}`;
  if (schema['type'] === 'object' && schema['propertyNames'] !== undefined)
    return `map to ${kindOf(schema['additionalProperties'])}`;
  const keys = Object.keys(schema['properties'] ?? {});
  if (schema['type'] === 'object' && keys.length === 1) return `{ ${keys[0]} }`;
  return schema['format'] === undefined
    ? String(schema['type'] ?? 'anything')
    : `${schema['type']} (${schema['format']})`;
}

/**
 * The objects nested in a schema, which can be unfolded.
 *
 * @param {Schema} raw
 * @returns {readonly Schema[]}
 */
function objectsIn(raw) {
  const schema = unwrapped(raw);
  const alternatives = alternativesOf(schema);
  if (alternatives !== undefined) return alternatives.flatMap(objectsIn);
  if (schema['type'] === 'array' && schema['items'] !== undefined) return objectsIn(schema['items']);
  if (schema['type'] !== 'object') return [];
  if (schema['properties'] !== undefined && Object.keys(schema['properties']).length > 0) return [schema];
  return typeof schema['additionalProperties'] === 'object' ? objectsIn(schema['additionalProperties']) : [];
}

/** @param {Schema} schema @returns {HTMLElement} */
export function schemaView(schema) {
  const objects = objectsIn(schema);
  const view = element('div', { class: 'schema' });
  if (objects.length === 0) view.append(element('p', {}, element('code', {}, kindOf(schema))));
  for (const object of objects) view.append(membersOf(object));
  return view;
}

/** @param {Schema} object */
function membersOf(object) {
  const required = new Set(object['required'] ?? []);
  const table = element('dl', {});
  for (const [name, raw] of Object.entries(/** @type {Record<string, Schema>} */ (object['properties']))) {
    const schema = unwrapped(raw);
    const description = schema['description'];
    const meaning = element('dd', {}, element('span', { class: 'kind' }, kindOf(raw)));
    if (!required.has(name)) meaning.append(element('i', {}, ' optional'));
    if (typeof description === 'string') meaning.append(element('span', { class: 'description' }, ` ${description}`));
    const inner = objectsIn(raw);
    if (inner.length > 0) meaning.append(folded(inner));
    table.append(element('dt', {}, element('code', {}, name)), meaning);
  }
  return table;
}

/** Created when it is opened. @param {readonly Schema[]} objects */
function folded(objects) {
  const details = element('details', { class: 'inner' }, element('summary', {}, 'members'));
  details.addEventListener('toggle', () => {
    if (details.childElementCount === 1) details.append(...objects.map(membersOf));
  });
  return details;
}
