// @ts-check
/**
 * What needs attention now: conditions on the metrics, the most urgent first. They are those of config/alerts.yml as far as one
 * page can judge them, without the time that an alert waits, and some that are useful earlier at the page.
 */
import { element, fill } from '../dom.js';
import { byId, count, duration, figure, percent } from './draw.js';

/**
 * @typedef {import('./main.js').Metrics} Metrics
 * @typedef {{ isUrgent: boolean, text: string, advice: string }} Finding
 */

const RING_FULL = 0.5;
const UNFLUSHED_SECONDS = 0.5;
const LOOP_SECONDS = 0.05;
const COMMIT_SECONDS = 0.1;
const BACKLOG_BYTES = 4_194_304;

const MAJORITY_LOST_ADVICE = 'Nothing is credited or approved on it; the log has which providers do not answer.';
const LAST_MAJORITY_ADVICE = 'The log has which provider does not answer, or not alike.';

/**
 * How the providers of a chain stand, as RingbookChainMajorityLost and RingbookChainRedundancyLost of config/alerts.yml judge it.
 *
 * @param {number} configured @param {number} answering @param {number} agreeing
 */
export function standingOf(configured, answering, agreeing) {
  return {
    isLost: 2 * agreeing <= configured,
    isLast: 2 * (agreeing - 1) <= configured && configured > 2,
    text: `${count(agreeing)} of ${count(configured)} agree, ${count(answering)} answer`,
  };
}

/** @param {Metrics} metrics @param {number} windowMs @returns {readonly Finding[]} */
function findings(metrics, windowMs) {
  /** @type {Finding[]} */
  const found = [];
  const urgent = (/** @type {string} */ text, /** @type {string} */ advice) =>
    found.push({ isUrgent: true, text, advice });
  const look = (/** @type {string} */ text, /** @type {string} */ advice) =>
    found.push({ isUrgent: false, text, advice });
  const value = (/** @type {string} */ name) => metrics.value(name) ?? 0;
  const more = (/** @type {string} */ name) => metrics.increase(name, {}, windowMs) ?? 0;

  for (const { value: off } of metrics.samples('ringbook_ledger_difference'))
    if (off !== 0)
      urgent(`The ledger is off by ${figure(off)}`, 'Stop the node and keep its data: this must never be.');
  for (const { labels, value: off } of metrics.samples('ringbook_holdings_deviation'))
    if (off !== 0)
      urgent(
        `The vaults hold ${figure(off)} more of asset ${labels['asset']} than the ledger has`,
        'docs/funds.md, Ledger and chain differ.',
      );
  for (const { labels, value: missing } of metrics.samples('ringbook_approvals_stopped_units'))
    if (missing > 0)
      urgent(
        `Nothing of asset ${labels['asset']} is approved on chain ${labels['chain']}: its vault lacks ${figure(missing)}`,
        'docs/funds.md, Approvals beyond the vault.',
      );
  for (const { labels, value: isStopped } of metrics.samples('ringbook_chain_stopped'))
    if (isStopped > 0)
      urgent(`Chain ${labels['chain']} is stopped`, 'Nothing is credited or approved on it; the log has the reason.');
  for (const { labels, value: configured } of metrics.samples('ringbook_chain_providers_configured')) {
    const chain = { chain: labels['chain'] ?? '' };
    const standing = standingOf(
      configured,
      metrics.value('ringbook_chain_providers_answering', chain) ?? 0,
      metrics.value('ringbook_chain_providers_agreeing', chain) ?? 0,
    );
    if (standing.isLost)
      urgent(`Chain ${chain.chain}: no majority of its providers agrees (${standing.text})`, MAJORITY_LOST_ADVICE);
    else if (standing.isLast)
      look(
        `Chain ${chain.chain}: one more failing provider ends its majority (${standing.text})`,
        LAST_MAJORITY_ADVICE,
      );
  }
  if (more('ringbook_chain_provider_bombs_total') > 0)
    look('A provider sent an answer beyond its bounds', 'It rests for five minutes; the log has which one.');
  for (const { labels, value: isOpen } of metrics.samples('ringbook_breaker_open', { source: 'oracle' }))
    if (isOpen > 0)
      urgent(
        `Asset ${labels['asset']} has no usable oracle price`,
        'Publish its price: nothing in it is liquidated until then.',
      );
  if (value('ringbook_liquidations_blocked') > 0)
    urgent(
      `Liquidations that are blocked: ${count(value('ringbook_liquidations_blocked'))}`,
      'A price is missing or a market is halted.',
    );
  if (value('ringbook_backstop_equity_usd') < 0)
    urgent('The backstop is worth less than zero', 'Transfer USD to its account 0.');
  if (more('ringbook_adl_trades_total') > 0)
    urgent(
      `Positions closed by auto-deleveraging: ${count(more('ringbook_adl_trades_total'))}`,
      'Inform their users; the log has them.',
    );
  for (const { labels, value: used } of metrics.samples('ringbook_ring_used_ratio'))
    if (used > RING_FULL)
      look(`The ring ${labels['from']} → ${labels['to']} is ${percent(used)} full`, 'Its reader does not keep up.');
  const unflushed = value('ringbook_unflushed_seconds');
  if (unflushed > UNFLUSHED_SECONDS)
    look(`An event has waited ${duration(unflushed)} for its flush`, 'The disk is slow, or clearing is busy.');
  const commit = metrics.quantiles('ringbook_commit_seconds', {}, [0.99], windowMs).values[0] ?? 0;
  if (commit > COMMIT_SECONDS)
    look(`A journal commit takes ${duration(commit)} at p99`, 'Look at the disk of the data directory.');
  for (const thread of metrics.labelValues('ringbook_event_loop_delay_seconds_count', 'thread')) {
    const late = metrics.quantiles('ringbook_event_loop_delay_seconds', { thread }, [0.99], windowMs).values[0] ?? 0;
    if (late > LOOP_SECONDS)
      look(`The event loop of ${thread} is ${duration(late)} late at p99`, 'Too little CPU, or a long piece of work.');
  }
  if (value('ringbook_accounts_shielded') > 0)
    look(
      `Accounts shielded by a broken price: ${count(value('ringbook_accounts_shielded'))}`,
      'Their losses grow until it is published.',
    );
  if (more('ringbook_lag_closes_total') > 0)
    look(`Sockets closed for lag: ${count(more('ringbook_lag_closes_total'))}`, 'Their readers are too slow.');
  if (value('ringbook_socket_backlog_bytes') > BACKLOG_BYTES) look('Slow readers leave much unread', 'See Sockets.');
  if (more('ringbook_orders_shed_total') > 0)
    look(
      `Orders refused unread: ${count(more('ringbook_orders_shed_total'))}`,
      'The node is overloaded: docs/operating.md, Overload.',
    );
  if (more('ringbook_rollbacks_total') > 0)
    look(`Sides of fills rolled back: ${count(more('ringbook_rollbacks_total'))}`, 'See Refusals for the reasons.');
  if (more('ringbook_attestations_dropped_total') > 0)
    look('Clearing verifies orders that the pool had verified', 'The ring of attestations was full.');
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
