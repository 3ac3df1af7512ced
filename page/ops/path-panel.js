// @ts-check
/**
 * The path of an order or a batch through the node, hop by hop: how long each stage took, as p50 and p99 of the window on a scale of
 * decades, and the shares of the stages in the way of the median order as one strip.
 *
 *   parse ─▶ verify ─▶ reserve ─▶ market: ring ─▶ match ─▶ … ─▶ reply   then, after the reply: flush ─▶ confirmed
 */
import { element } from '../dom.js';
import { byId, duration, rate, Table } from './draw.js';

/** @typedef {import('./main.js').Metrics} Metrics */

const STAGE_SECONDS = 'ringbook_action_stage_seconds';
const QUANTILES = [0.5, 0.99];
const ACTIONS = [
  ['create', 'Create'],
  ['replace', 'Replace'],
  ['amend', 'Amend'],
  ['cancel', 'Cancel'],
  ['batch-create', 'Batch of creates'],
  ['batch-replace', 'Batch of replaces'],
  ['cancel-all', 'Cancel all'],
];
/** Those that follow each other and add up. A mass cancel is answered before its markets: there `market` is beside `reply`. */
const IN_TURN = ['parse', 'verify', 'reserve', 'market', 'reply'];
const BESIDE = { action: 'cancel-all', stage: 'market' };
/** @type {Readonly<Record<string, string>>} */
const ABOUT = {
  parse: 'bytes to a typed request',
  verify: 'the signature, in the pool',
  reserve: 'rules, margin, reservation',
  market: 'to the market and back',
  ring: 'of it: the way into the market',
  match: 'of it: price-time matching',
  reply: 'the reply is written',
};
const ROWS = ['parse', 'verify', 'reserve', 'market', 'ring', 'match', 'reply'];
const AXIS = ['1 µs', '10 µs', '100 µs', '1 ms', '10 ms', '100 ms', '1 s'];
const DECADES = AXIS.length - 1;

export class PathPanel {
  #action = 'create';
  /** Until one is chosen, an action that was seen in the window is on display. */
  #isChosen = false;
  /** @type {Map<string, HTMLInputElement>} */
  #inputs = new Map();
  #total = element('span', { class: 'total' });
  #strip = element('div', { class: 'strip', role: 'img' });
  #table = new Table(
    'Stages of an order',
    ['Stage', 'p50', 'p99', 'Rate', axis()],
    'No order in this window. Stages appear with the first ones.',
    'stages',
  );
  #after = new Table('After the reply', ['After the reply', 'p50', 'p99', 'Rate', ''], '', 'stages');
  /** @type {() => void} */
  #changed;

  /** @param {() => void} changed called when another action is chosen */
  constructor(changed) {
    this.#changed = changed;
    const labels = ACTIONS.map(([name = '', label = '']) => {
      const input = /** @type {HTMLInputElement} */ (element('input', { type: 'radio', name: 'action', value: name }));
      input.checked = name === this.#action;
      this.#inputs.set(name, input);
      input.addEventListener('change', () => {
        this.#action = name;
        this.#isChosen = true;
        this.#changed();
      });
      return element('label', {}, input, label);
    });
    const choice = element('fieldset', { class: 'choice' }, element('legend', {}, 'Action'), ...labels);
    byId('path').append(
      element('div', { class: 'path-head' }, choice, this.#total),
      this.#strip,
      this.#table.node,
      this.#after.node,
    );
  }

  /** @param {Metrics} metrics @param {number} windowMs */
  update(metrics, windowMs) {
    if (!this.#isChosen) this.#follow(metrics, windowMs);
    const action = this.#action;
    const whole = metrics.quantiles('ringbook_action_seconds', { action }, QUANTILES, windowMs);
    const [p50 = null, p99 = null] = whole.values;
    this.#total.textContent =
      whole.count === 0
        ? ''
        : `bytes to reply: p50 ${duration(p50)}, p99 ${duration(p99)}, ${rate(metrics.rate('ringbook_action_seconds_count', { action }, windowMs))}`;
    const stages = new Map(
      ROWS.map((stage) => [stage, metrics.quantiles(STAGE_SECONDS, { action, stage }, QUANTILES, windowMs)]),
    );
    const isBeside = (/** @type {string} */ stage) => action === BESIDE.action && stage === BESIDE.stage;
    this.#showStrip(
      IN_TURN.map((stage) => ({ stage, median: isBeside(stage) ? 0 : (stages.get(stage)?.values[0] ?? 0) })),
    );
    // Orders of batches pass a market too, and have no other stage.
    const rows = whole.count === 0 ? [] : [...stages].filter(([, { count }]) => count > 0);
    this.#table.show(
      rows.map(([stage, { values }]) => {
        const perSecond = metrics.rate(`${STAGE_SECONDS}_count`, { action, stage }, windowMs);
        const isInner = stage === 'ring' || stage === 'match';
        return rowOf(stage, values, perSecond, { kind: isInner ? 'inner' : '', about: ABOUT[stage] ?? '' });
      }),
    );
    this.#showAfter(metrics, windowMs);
  }

  /** The action on display stays as long as the window has any of it; then it is the one that the window has most of. */
  #follow(/** @type {Metrics} */ metrics, /** @type {number} */ windowMs) {
    const seen = (/** @type {string} */ action) =>
      metrics.increase('ringbook_action_seconds_count', { action }, windowMs) ?? 0;
    if (seen(this.#action) > 0) return;
    const [most] = [...this.#inputs.keys()].sort((one, other) => seen(other) - seen(one));
    const input = this.#inputs.get(most ?? '');
    if (most === undefined || input === undefined || seen(most) === 0) return;
    this.#action = most;
    input.checked = true;
  }

  /** @param {readonly { stage: string, median: number }[]} parts */
  #showStrip(parts) {
    const sum = parts.reduce((total, { median }) => total + median, 0);
    this.#strip.hidden = sum === 0;
    if (sum === 0) return;
    const words = parts.filter(({ median }) => median > 0).map(({ stage, median }) => `${stage} ${duration(median)}`);
    this.#strip.setAttribute('aria-label', `Shares of the stages at the median: ${words.join(', ')}`);
    for (const [at, { stage, median }] of parts.entries()) {
      let part = /** @type {HTMLElement | undefined} */ (this.#strip.children[at]);
      if (part === undefined) {
        part = element('span', {}, element('b', {}, stage), element('br', {}), element('span', {}));
        this.#strip.append(part);
      }
      part.hidden = median === 0;
      part.style.width = `${(100 * median) / sum}%`;
      part.title = `${stage}: ${duration(median)}, ${ABOUT[stage]}`;
      if (part.lastElementChild !== null) part.lastElementChild.textContent = duration(median);
    }
  }

  /** What follows the reply, for all orders together. @param {Metrics} metrics @param {number} windowMs */
  #showAfter(metrics, windowMs) {
    const parts = [
      { name: 'flush', about: 'one journal commit', metric: 'ringbook_commit_seconds', labels: {} },
      { name: 'confirm', about: 'match to Confirmed', metric: 'ringbook_stage_seconds', labels: { stage: 'confirm' } },
      {
        name: 'unflushed',
        about: 'how long an event waits for its flush: what a kill takes',
        metric: 'ringbook_unflushed_window_seconds',
        labels: {},
      },
    ];
    const rows = parts.flatMap(({ name, about, metric, labels }) => {
      const { count, values } = metrics.quantiles(metric, labels, QUANTILES, windowMs);
      return count === 0
        ? []
        : [rowOf(name, values, metrics.rate(`${metric}_count`, labels, windowMs), { kind: '', about })];
    });
    this.#after.node.hidden = rows.length === 0;
    this.#after.show(rows);
  }
}

/**
 * @param {string} name
 * @param {readonly (number | null)[]} values p50 and p99, seconds
 * @param {number | null} perSecond
 * @param {{ kind: string, about: string }} words
 * @returns {import('./draw.js').Row}
 */
function rowOf(name, [p50 = null, p99 = null], perSecond, { kind, about }) {
  const range = element('span', {});
  const [from, to] = [placeOf(p50 ?? 0), placeOf(p99 ?? 0)];
  range.style.left = `${from}%`;
  range.style.width = `${Math.max(0.8, to - from)}%`;
  const label = element('span', { title: about }, name);
  const scale = element('div', { class: 'scale', 'aria-hidden': 'true' }, range);
  return { key: name, kind, cells: [label, duration(p50), duration(p99), rate(perSecond), scale] };
}

function axis() {
  return element('div', { class: 'axis' }, ...AXIS.map((text) => element('span', {}, text)));
}

/** In percent of the scale of decades. @param {number} seconds */
function placeOf(seconds) {
  return Math.min(100, Math.max(0, ((Math.log10(Math.max(seconds, 1e-9)) + 6) * 100) / DECADES));
}
