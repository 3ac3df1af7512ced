// @ts-check
/**
 * What needs attention now, the most urgent first: the conditions of config/alerts.yml (src/client/page/alerts.ts), without the time that
 * an alert waits.
 */
import { isMajorityLast, isMajorityLost } from '../../src/client/page/alert-conditions.js';
import { ALERTS } from '../../src/client/page/alerts.js';
import { element, fill } from '../dom.js';
import { byId, bytes, count, duration, figure, percent } from './draw.js';

/**
 * @typedef {import('./main.js').Metrics} Metrics
 * @typedef {import('../../src/client/page/alert-conditions.js').Hit} Hit
 * @typedef {{ isUrgent: boolean, text: string, advice: string }} Finding
 */

const TEMPLATE = /\{\{ \$(value|labels\.(\w+))(?: \| (\w+))? \}\}/g;
/** @type {Readonly<Record<string, (value: number) => string>>} */
const FORMS = {
  humanizePercentage: percent,
  humanizeDuration: duration,
  // The template has the unit.
  humanize1024: (value) => bytes(value).replace(/B$/, ''),
};

/**
 * How the providers of a chain stand, as RingbookChainMajorityLost and RingbookChainRedundancyLost judge it.
 *
 * @param {number} configured @param {number} answering @param {number} agreeing
 */
export function standingOf(configured, answering, agreeing) {
  return {
    isLost: isMajorityLost(configured, agreeing),
    isLast: isMajorityLast(configured, agreeing),
    text: `${count(agreeing)} of ${count(configured)} agree, ${count(answering)} answer`,
  };
}

/** A text of an alert about one series. @param {string} template @param {Hit} hit */
function told(template, { labels, value }) {
  const text = template.replace(TEMPLATE, (_, what, label, form) =>
    what === 'value' ? (FORMS[form] ?? figure)(value) : (labels[label] ?? ''),
  );
  return text.replace(/[`*]/g, '');
}

/** @param {Metrics} metrics @param {number} windowMs @returns {readonly Finding[]} */
function findings(metrics, windowMs) {
  const found = ALERTS.flatMap(({ severity, condition, summary, action }) =>
    condition.judge(metrics, windowMs, Date.now()).map((hit) => {
      const text = told(summary, hit);
      return {
        isUrgent: severity === 'critical',
        text: text.charAt(0).toUpperCase() + text.slice(1),
        advice: told(action, hit),
      };
    }),
  );
  return found.sort((one, other) => Number(other.isUrgent) - Number(one.isUrgent));
}

export class AttentionPanel {
  #list = element('ul', { class: 'list' });
  #shown = '';

  constructor() {
    byId('attention').append(this.#list);
  }

  /** @param {Metrics} metrics @param {number} windowMs */
  update(metrics, windowMs) {
    const found = findings(metrics, windowMs);
    const key = JSON.stringify(found);
    if (key === this.#shown) return;
    this.#shown = key;
    const items = found.map(({ isUrgent, text, advice }) =>
      element(
        'li',
        {},
        element('span', { class: `dot ${isUrgent ? 'fault' : 'warn'}` }),
        element('span', {}, `${isUrgent ? 'Urgent: ' : ''}${text}`, element('small', {}, advice)),
      ),
    );
    if (items.length > 0) fill(this.#list, ...items);
    else
      fill(
        this.#list,
        element('li', {}, element('span', { class: 'dot good' }), element('span', {}, 'Nothing needs attention.')),
      );
  }
}
