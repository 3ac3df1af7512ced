// @ts-check
/** The panels below the path of an order: what the node does, what waits where, what is on disk, and what is at risk. */
import { element } from '../dom.js';
import { standingOf } from './attention.js';
import { byId, bytes, count, duration, figure, percent, rate, share, Table } from './draw.js';

/**
 * @typedef {import('./main.js').Metrics} Metrics
 * @typedef {import('../../src/client/page/metric-window.js').Labels} Labels
 * @typedef {{ update(metrics: Metrics, windowMs: number): void }} Panel
 */

const P50_P99 = [0.5, 0.99];
const P99 = [0.99];
const MARKETS_SHOWN = 10;
const PRICES_SHOWN = 24;
/** From where a ring is high, and full: a full ring holds back or refuses what is written to it. */
const RING_LIMITS = { high: 0.5, full: 0.9 };
/** From where the stream of a journal is to be looked at, and where it is about to refuse. */
const STREAM_LIMITS = { high: 0.5, full: 0.9 };

/** @param {string} id @param {...Table} tables */
function into(id, ...tables) {
  byId(id).append(...tables.map(({ node }) => node));
}

/** Sum of several label values; null when none is there. @param {readonly (number | null)[]} values */
function sum(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

/** @returns {Panel} */
export function trafficPanel() {
  const actions = new Table('Actions', ['Action', 'Done', 'Refused', 'p50', 'p99'], 'No action in this window.');
  const replies = new Table('Replies', ['Listener', 'Reads', 'p99', 'Changes', 'p99'], 'No reply in this window.');
  const reads = new Table('Reads', ['Read', 'Done', 'Refused', 'p50', 'p99'], 'Nothing was read since the start.');
  const markets = new Table('Markets', ['Market', 'Done', 'Refused', 'p50', 'p99'], 'No market has seen an action.');
  const fills = new Table('Fills', ['Sides of fills', 'Rate', 'In the window', 'Since the start'], 'No fills.');
  into('traffic', actions, markets, replies, reads, fills);
  const ACTION = 'ringbook_actions_total';
  const REPLY = 'ringbook_response_seconds';
  return {
    update(metrics, windowMs) {
      const names = metrics
        .labelValues(ACTION, 'action')
        .filter((action) => (metrics.value(ACTION, { action }) ?? 0) > 0);
      actions.show(
        names.map((action) =>
          answered(metrics, { total: ACTION, seconds: 'ringbook_action_seconds' }, { action }, windowMs),
        ),
      );
      markets.show(
        busiest(metrics).map((market) =>
          answered(
            metrics,
            { total: 'ringbook_market_actions_total', seconds: 'ringbook_market_action_seconds' },
            { market },
            windowMs,
          ),
        ),
      );
      reads.show(
        metrics
          .labelValues('ringbook_reads_total', 'read')
          .map((read) =>
            answered(metrics, { total: 'ringbook_reads_total', seconds: 'ringbook_read_seconds' }, { read }, windowMs),
          ),
      );
      replies.show(
        metrics.labelValues(`${REPLY}_count`, 'service').map((service) => {
          const cells = ['read', 'change'].flatMap((kind) => {
            const { values } = metrics.quantiles(REPLY, { service, kind }, P99, windowMs);
            return [rate(metrics.rate(`${REPLY}_count`, { service, kind }, windowMs)), duration(values[0])];
          });
          return { key: service, cells: [service, ...cells] };
        }),
      );
      fills.show(counted(metrics, 'ringbook_fills_total', 'status', windowMs));
    },
  };
}

/**
 * What was done and refused of one kind, and how long it took.
 *
 * @param {Metrics} metrics
 * @param {{ total: string, seconds: string }} names of the counter by result, and of the histogram
 * @param {Labels} labels of the kind
 * @param {number} windowMs
 * @returns {import('./draw.js').Row}
 */
function answered(metrics, { total, seconds }, labels, windowMs) {
  const rates = metrics.labelValues(total, 'result', labels).map((result) => ({
    isDone: result !== 'rejected',
    perSecond: metrics.rate(total, { ...labels, result }, windowMs),
  }));
  const [p50 = null, p99 = null] = metrics.quantiles(seconds, labels, P50_P99, windowMs).values;
  const done = sum(rates.filter(({ isDone }) => isDone).map(({ perSecond }) => perSecond));
  const refused = sum(rates.filter(({ isDone }) => !isDone).map(({ perSecond }) => perSecond));
  const key = Object.values(labels).join(' ');
  return { key, cells: [key, rate(done), rate(refused), duration(p50), duration(p99)] };
}

/** The markets with the most actions since the start. @param {Metrics} metrics */
function busiest(metrics) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { labels, value } of metrics.samples('ringbook_market_actions_total')) {
    const market = labels['market'] ?? '';
    counts.set(market, (counts.get(market) ?? 0) + value);
  }
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, MARKETS_SHOWN);
  return most.map(([market]) => market);
}

/** Rows of a counter by one label. @param {Metrics} metrics @param {string} name @param {string} label @param {number} windowMs */
function counted(metrics, name, label, windowMs) {
  return metrics.labelValues(name, label).map((value) => {
    const labels = { [label]: value };
    const cells = [value, rate(metrics.rate(name, labels, windowMs)), count(metrics.increase(name, labels, windowMs))];
    return { key: value, cells: [...cells, count(metrics.value(name, labels))] };
  });
}

/** @returns {Panel} */
export function refusalsPanel() {
  const codes = new Table(
    'Refusals',
    ['Code', 'In the window', 'Since the start'],
    'Nothing was refused since the start.',
  );
  const budgets = new Table(
    'Empty budgets',
    ['429, empty budget', 'In the window', 'Since the start'],
    'No budget was empty.',
  );
  const others = new Table(
    'Held back',
    ['Also', 'In the window', 'Since the start'],
    'No order was shed or rolled back.',
  );
  into('refusals', codes, budgets, others);
  /** @param {Metrics} metrics @param {string} name @param {readonly string[]} labels @param {number} windowMs @param {string} [prefix] */
  const rows = (metrics, name, labels, windowMs, prefix = '') =>
    metrics
      .samples(name)
      .filter(({ value }) => value > 0)
      .sort((one, other) => other.value - one.value)
      .map((sample) => {
        const key = `${prefix}${labels.map((label) => sample.labels[label] ?? '').join(' ')}`;
        return { key, cells: [key, count(metrics.increase(name, sample.labels, windowMs)), count(sample.value)] };
      });
  return {
    update(metrics, windowMs) {
      codes.show(rows(metrics, 'ringbook_refusals_total', ['service', 'code'], windowMs));
      budgets.show(rows(metrics, 'ringbook_rate_limited_total', ['bucket'], windowMs));
      others.show([
        ...rows(metrics, 'ringbook_orders_shed_total', ['stage'], windowMs, 'shed unread: '),
        ...rows(metrics, 'ringbook_rollbacks_total', ['reason'], windowMs, 'rolled back: '),
      ]);
    },
  };
}

/** @returns {Panel} */
export function durabilityPanel() {
  const times = new Table('Commits and checkpoints', ['Write', 'p50', 'p99', 'Rate'], 'No commit in this window.');
  const figures = new Table('Journal', ['Journal', ''], '');
  into('durability', times, figures);
  const HISTOGRAMS = [
    ['Journal commit, flushed', 'ringbook_commit_seconds'],
    ['Checkpoint', 'ringbook_checkpoint_seconds'],
  ];
  return {
    update(metrics, windowMs) {
      times.show(
        HISTOGRAMS.flatMap(([label = '', name = '']) => {
          const { count: seen, values } = metrics.quantiles(name, {}, P50_P99, windowMs);
          const perSecond = rate(metrics.rate(`${name}_count`, {}, windowMs));
          return seen === 0
            ? []
            : [{ key: label, cells: [label, duration(values[0]), duration(values[1]), perSecond] }];
        }),
      );
      const sequence = metrics.value('ringbook_journal_sequence');
      const behind = metrics.value('ringbook_checkpoint_sequence');
      const lines = [
        ['Last flushed record', count(sequence)],
        ['Records behind the checkpoint', count(sequence === null || behind === null ? null : sequence - behind)],
        ['Rows of checkpoints', rate(metrics.rate('ringbook_checkpoint_rows_total', {}, windowMs))],
        ['Oldest event without a flush', duration(metrics.value('ringbook_unflushed_seconds'))],
        ['Journal kept', bytes(metrics.value('ringbook_journal_bytes'))],
        ['Data file', bytes(metrics.value('ringbook_data_file_bytes'))],
      ];
      figures.show(lines.map(([label = '', text = '']) => ({ key: label, cells: [label, text] })));
    },
  };
}

/** @returns {Panel} */
export function ringsPanel() {
  const table = new Table('Rings', ['From, to', 'Records', 'Used', 'Size'], 'No ring is measured.');
  into('rings', table);
  return {
    update(metrics) {
      table.show(
        metrics.samples('ringbook_ring_used_ratio').map(({ labels, value }) => {
          const name = `${labels['from']} → ${labels['to']}${labels['channel'] === undefined ? '' : ` (${labels['channel']})`}`;
          const records = count(metrics.value('ringbook_ring_records', labels));
          const size = bytes(metrics.value('ringbook_ring_capacity_bytes', labels));
          return { key: name, cells: [name, records, share(value, RING_LIMITS), size] };
        }),
      );
    },
  };
}

/** @returns {Panel} */
export function actorsPanel() {
  const table = new Table(
    'Mailboxes',
    ['Actor', 'Wait', 'Most', 'Records', 'Batch p99', 'Time p99', 'Stalls'],
    'No actor.',
  );
  const verifier = new Table('Verifier', ['Verifier pool', ''], '');
  into('actors', table, verifier);
  return {
    update(metrics, windowMs) {
      table.show(
        metrics.labelValues('ringbook_mailbox_depth', 'actor').map((actor) => {
          const batch = metrics.quantiles('ringbook_actor_batch_records', { actor }, P99, windowMs).values[0];
          const time = metrics.quantiles('ringbook_actor_service_seconds', { actor }, P99, windowMs).values[0];
          const cells = [
            actor,
            count(metrics.value('ringbook_mailbox_depth', { actor })),
            count(metrics.value('ringbook_mailbox_high_water', { actor })),
            rate(metrics.rate('ringbook_actor_records_total', { actor }, windowMs)),
            figure(batch),
            duration(time),
            count(metrics.increase('ringbook_actor_stalls_total', { actor }, windowMs)),
          ];
          return { key: actor, cells };
        }),
      );
      const byAttestation = metrics.rate('ringbook_orders_verified_total', { by: 'attestation' }, windowMs);
      const byClearing = metrics.rate('ringbook_orders_verified_total', { by: 'clearing' }, windowMs);
      const lines = [
        ['Signatures that wait', count(metrics.value('ringbook_verifier_signatures'))],
        ['Orders attested, before their first fill', rate(byAttestation)],
        ['Verified once more by clearing', rate(byClearing)],
      ];
      verifier.show(lines.map(([label = '', text = '']) => ({ key: label, cells: [label, text] })));
    },
  };
}

/** @returns {Panel} */
export function threadsPanel() {
  const table = new Table('Threads', ['Thread', 'CPU', 'No CPU', 'Loop p99', 'Pause p99'], 'No thread is measured.');
  const process = new Table('Process', ['Process', ''], '');
  into('threads', table, process);
  return {
    update(metrics, windowMs) {
      table.show(
        metrics.labelValues('ringbook_thread_cpu_seconds_total', 'thread').map((thread) => {
          const used = metrics.rate('ringbook_thread_cpu_seconds_total', { thread }, windowMs);
          const waited = metrics.rate('ringbook_thread_wait_seconds_total', { thread }, windowMs);
          const loop = metrics.quantiles('ringbook_event_loop_delay_seconds', { thread }, P99, windowMs).values[0];
          const pauses = metrics.quantiles('ringbook_collector_pause_seconds', { thread }, P99, windowMs);
          const cells = [
            thread,
            share(used, { high: 0.7, full: 0.95 }),
            percent(waited),
            duration(loop),
            duration(pauses.values[0]),
          ];
          return { key: thread, cells };
        }),
      );
      const started = metrics.value('process_start_time_seconds');
      const lines = [
        ['CPU of all threads', percent(metrics.rate('process_cpu_seconds_total', {}, windowMs))],
        ['Resident memory', bytes(metrics.value('process_resident_memory_bytes'))],
        ['Heap of the main thread', bytes(metrics.value('nodejs_heap_size_used_bytes'))],
        ['Open files and sockets', count(metrics.value('process_open_fds'))],
        ['Runs since', started === null ? '–' : new Date(started * 1_000).toLocaleString('en-CA', { hour12: false })],
      ];
      process.show(lines.map(([label = '', text = '']) => ({ key: label, cells: [label, text] })));
    },
  };
}

/** @returns {Panel} */
export function socketsPanel() {
  const table = new Table('Sockets', ['Listener', 'Open', 'Unread', 'Lag closes', 'Since the start'], 'No listener.');
  into('sockets', table);
  return {
    update(metrics, windowMs) {
      table.show(
        metrics.labelValues('ringbook_sockets', 'service').map((service) => {
          const cells = [
            service,
            count(metrics.value('ringbook_sockets', { service })),
            bytes(metrics.value('ringbook_socket_backlog_bytes', { service })),
            count(metrics.increase('ringbook_lag_closes_total', { service }, windowMs)),
            count(metrics.value('ringbook_lag_closes_total', { service })),
          ];
          return { key: service, cells };
        }),
      );
    },
  };
}

/** @returns {Panel} */
export function riskPanel() {
  const table = new Table('Risk', ['Accounts', ''], '');
  const totals = new Table('Liquidations', ['Since the start', 'In the window', 'All'], '');
  into('risk', table, totals);
  const USD = (/** @type {number | null} */ value) => (value === null ? '–' : `${figure(value)} USD`);
  return {
    update(metrics, windowMs) {
      const lines = [
        ['Close to liquidation', count(metrics.value('ringbook_accounts_at_risk'))],
        ['Shielded by a broken price', count(metrics.value('ringbook_accounts_shielded'))],
        ['Under liquidation', count(metrics.value('ringbook_accounts_liquidating'))],
        ['Of them blocked', count(metrics.value('ringbook_liquidations_blocked'))],
        ['Taken over and not sold', count(metrics.value('ringbook_backstop_accounts'))],
        ['Worth of the backstop', USD(metrics.value('ringbook_backstop_equity_usd'))],
        ['Its capital', USD(metrics.value('ringbook_backstop_capital_usd'))],
        ['Difference of the ledger', figure(metrics.value('ringbook_ledger_difference'))],
      ];
      table.show(lines.map(([label = '', text = '']) => ({ key: label, cells: [label, text] })));
      /** @type {readonly (readonly [string, string, Labels])[]} */
      const counters = [
        ['Liquidations begun', 'ringbook_liquidations_total', { event: 'begun' }],
        ['Ended healthy', 'ringbook_liquidations_total', { event: 'healthy' }],
        ['Taken over', 'ringbook_liquidations_total', { event: 'taken_over' }],
        ['Auto-deleveraging trades', 'ringbook_adl_trades_total', {}],
        ['Shortfall, USD', 'ringbook_shortfall_usd_total', {}],
      ];
      totals.show(
        counters.map(([label, name, labels]) => ({
          key: label,
          cells: [label, figure(metrics.increase(name, labels, windowMs)), figure(metrics.value(name, labels))],
        })),
      );
    },
  };
}

/** @returns {Panel} */
export function chainsPanel() {
  const chains = new Table('Chains', ['Chain', 'State', 'Behind', 'Providers', 'Last poll'], 'No chain is configured.');
  const prices = new Table('Prices', ['Asset', 'Oracle price', 'Mark', 'Vaults'], 'No asset has a price.');
  into('chains', chains, prices);
  const word = (/** @type {boolean} */ isBad, /** @type {string} */ bad, /** @type {string} */ good) =>
    element('span', { class: isBad ? 'fault' : 'good' }, isBad ? bad : good);
  return {
    update(metrics) {
      chains.show(
        metrics.labelValues('ringbook_chain_stopped', 'chain').map((chain) => {
          const head = metrics.value('ringbook_chain_head', { chain }) ?? 0;
          const processed = metrics.value('ringbook_chain_processed_block', { chain }) ?? 0;
          const providers = standingOf(
            metrics.value('ringbook_chain_providers_configured', { chain }) ?? 0,
            metrics.value('ringbook_chain_providers_answering', { chain }) ?? 0,
            metrics.value('ringbook_chain_providers_agreeing', { chain }) ?? 0,
          );
          const isStopped = metrics.value('ringbook_chain_stopped', { chain }) === 1;
          const isWaiting = providers.isLost || head < 0;
          const cells = [
            chain.replace(/^0+/, '0x'),
            word(isStopped || isWaiting, isStopped ? 'stopped' : 'no majority', 'credits'),
            // Without a head it is not known.
            head < 0 ? 'not known' : `${count(Math.max(0, head - processed))} blocks`,
            element(
              'span',
              { class: providers.isLost || providers.isLast ? 'wraps fault' : 'wraps good' },
              providers.text,
            ),
            duration(metrics.value('ringbook_chain_poll_age_seconds', { chain })),
          ];
          return { key: chain, cells };
        }),
      );
      const DEVIATION = 'ringbook_holdings_deviation';
      const assets = [
        ...metrics.labelValues('ringbook_breaker_open', 'asset'),
        ...metrics.labelValues(DEVIATION, 'asset'),
      ];
      const rows = [...new Set(assets)].map((asset) => {
        const oracle = metrics.value('ringbook_breaker_open', { asset, source: 'oracle' });
        const mark = metrics.value('ringbook_breaker_open', { asset, source: 'mark' });
        const age = metrics.value('ringbook_oracle_age_seconds', { asset });
        const off = metrics.value(DEVIATION, { asset });
        const isBroken = oracle === 1;
        const isOff = off !== null && off !== 0;
        return {
          key: asset,
          isUrgent: isBroken || isOff,
          cells: [
            asset,
            oracle === null || age === null
              ? 'no price'
              : word(isBroken, `broken, ${duration(age)} old`, duration(age)),
            // A market without a trade for a minute is ordinary: its mark is the oracle's price then.
            mark === null ? '–' : mark === 1 ? 'as the oracle' : 'last trade',
            off === null ? '–' : word(isOff, figure(off), 'as the ledger'),
          ],
        };
      });
      rows.sort(
        (one, other) => Number(other.isUrgent) - Number(one.isUrgent) || Number(one.key) - Number(other.key) || 0,
      );
      const hidden = rows.length - PRICES_SHOWN;
      const more = hidden > 0 ? [{ key: 'more', cells: [`${hidden} more`, '', '', ''] }] : [];
      prices.show([...rows.slice(0, PRICES_SHOWN), ...more]);
    },
  };
}

/**
 * What a state of a node of a cluster means.
 *
 * @type {Readonly<Record<string, { place: string, text: string, isWell: boolean }>>}
 */
const STATES = {
  starting: { place: 'Starts', text: 'reads its own journal', isWell: true },
  joining: { place: 'Joins', text: 'reads what it has missed of the stream', isWell: true },
  following: { place: 'Standby', text: 'applies what the leader decides, ready to take over', isWell: true },
  campaigning: { place: 'Standby', text: 'the leader is silent: it appends its takeover', isWell: true },
  restoring: { place: 'Takes over', text: 'it leads, and fills its books and its gateway', isWell: true },
  leading: { place: 'Leader', text: 'takes orders', isWell: true },
  stalled: {
    place: 'Leader, stalled',
    text: 'its lease is over: new orders are refused, nothing is confirmed',
    isWell: false,
  },
  'handing-over': { place: 'Leader, hands over', text: 'answers what is pending; another node goes on', isWell: true },
  ended: { place: 'Over', text: 'another node leads; this process ends', isWell: false },
};
const LEADS = new Set(['restoring', 'leading', 'stalled', 'handing-over']);

/** State of a node of a cluster; null on one machine. @param {Metrics} metrics @returns {string | null} */
function stateIn(metrics) {
  const found = metrics.samples('ringbook_cluster_state').find(({ value }) => value === 1);
  return found?.labels['state'] ?? null;
}

/** What the head of the page has of a node of a cluster; null on one machine. @param {Metrics} metrics */
export function placeIn(metrics) {
  const state = stateIn(metrics);
  return state === null ? null : (STATES[state] ?? null);
}

/** Hidden on one machine. @returns {Panel} */
export function clusterPanel() {
  const node = new Table('This node in its cluster', ['This node', ''], '');
  const stream = new Table('Stream of the journal', ['Stream of the journal', ''], 'Shown by the node that leads.');
  into('cluster', node, stream);
  const section = byId('cluster');
  const word = (/** @type {boolean} */ isBad, /** @type {string} */ text) =>
    element('span', { class: isBad ? 'fault' : 'good' }, text);
  /** @param {readonly (readonly [string, Node | string])[]} lines */
  const rows = (lines) => lines.map(([label, cell]) => ({ key: label, cells: [label, cell] }));
  return {
    update(metrics, windowMs) {
      const state = stateIn(metrics);
      section.hidden = state === null;
      if (state === null) return;
      const { place, text, isWell } = STATES[state] ?? { place: state, text: '', isWell: false };
      const at = (/** @type {string} */ name) => metrics.value('ringbook_replication_sequence', { at: name });
      const leads = LEADS.has(state);
      const lease = metrics.value('ringbook_cluster_lease_seconds');
      const standbys = metrics.value('ringbook_cluster_standbys');
      const [p50 = null, p99 = null] = metrics.quantiles(
        'ringbook_replication_store_seconds',
        {},
        P50_P99,
        windowMs,
      ).values;
      /** @type {[string, Node | string][]} */
      const ofLeader = [
        ['Lease that is left', lease === null ? '–' : word(lease <= 0, lease <= 0 ? 'over' : duration(lease))],
        [
          'Standbys',
          word(standbys === 0, standbys === 0 ? 'none: the next failure closes the venue' : count(standbys)),
        ],
        ['Last record stored', count(at('stored'))],
        ['Until a record is stored, p50 and p99', `${duration(p50)}, ${duration(p99)}`],
        ['Stalled, in the window', duration(metrics.increase('ringbook_cluster_stalled_seconds_total', {}, windowMs))],
      ];
      const lag = metrics.value('ringbook_replication_lag_seconds');
      node.show(
        rows([
          ['Place', word(!isWell, place)],
          ['State', element('span', { class: 'wraps' }, `${state}: ${text}`)],
          ['Epoch', count(metrics.value('ringbook_cluster_epoch'))],
          ['Last record applied', count(at('applied'))],
          ...(leads ? ofLeader : /** @type {[string, Node | string][]} */ ([['Lag', duration(lag)]])),
        ]),
      );
      const size = metrics.value('ringbook_stream_bytes');
      const limit = metrics.value('ringbook_stream_bytes_limit');
      const current = metrics.value('ringbook_stream_servers_current');
      const isAtHome = metrics.value('ringbook_stream_leader_at_home') === 1;
      stream.show(
        !leads || size === null
          ? []
          : rows([
              ['Servers that are current', word((current ?? 0) < 3, count(current))],
              ['Leader of the stream', word(isAtHome, isAtHome ? 'on this machine' : 'on another machine')],
              ['First record', count(metrics.value('ringbook_stream_first_sequence'))],
              ['Size', bytes(size)],
              ['Of its limit', limit === null || limit === 0 ? 'no limit' : share(size / limit, STREAM_LIMITS)],
            ]),
      );
    },
  };
}
