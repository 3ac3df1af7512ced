// @ts-check
/**
 * The page of operators and of people who measure latency: reads `/metrics` and `/readyz` of its listener now and then and draws
 * what changed between two reads. It costs the node a read of the metrics every two seconds, and none while the page is hidden.
 */

import { parseJsonText } from '../../src/client/page/json-text.js';
import { MetricWindow } from '../../src/client/page/metric-window.js';
import { themeButton } from '../theme.js';
import { AttentionPanel } from './attention.js';
import { byId, count, duration, percent, rate, Tile } from './draw.js';
import { OperatorReads } from './operator-reads.js';
import {
  actorsPanel,
  chainsPanel,
  clusterPanel,
  durabilityPanel,
  placeIn,
  refusalsPanel,
  ringsPanel,
  riskPanel,
  socketsPanel,
  threadsPanel,
  trafficPanel,
} from './panels.js';
import { PathPanel } from './path-panel.js';

/** @typedef {MetricWindow} Metrics */

const EVERY_MS = 2_000;
const LONGEST_WINDOW_MS = 300_000;
/** How long a read may take before it is given up. */
const READ_MS_MAX = 8_000;

/**
 * Name, what it is, and its figure.
 *
 * @type {readonly [string, string, (metrics: Metrics, windowMs: number) => readonly [string, number | null, string?]][]}
 */
const TILES = [
  [
    'Actions',
    'Order actions answered a second: creates, replaces, cancels and batches',
    (metrics, windowMs) => {
      const perSecond = metrics.rate('ringbook_actions_total', {}, windowMs);
      return [rate(perSecond), perSecond];
    },
  ],
  [
    'Reply, p99',
    'From the bytes of a create to its reply',
    (metrics, windowMs) => {
      const seconds =
        metrics.quantiles('ringbook_action_seconds', { action: 'create' }, [0.99], windowMs).values[0] ?? null;
      return [duration(seconds), seconds];
    },
  ],
  [
    'Commit, p99',
    'One flushed journal commit',
    (metrics, windowMs) => {
      const seconds = metrics.quantiles('ringbook_commit_seconds', {}, [0.99], windowMs).values[0] ?? null;
      return [duration(seconds), seconds];
    },
  ],
  [
    'Confirmed',
    'Sides of fills confirmed a second',
    (metrics, windowMs) => {
      const perSecond = metrics.rate('ringbook_fills_total', { status: 'Confirmed' }, windowMs);
      return [rate(perSecond), perSecond];
    },
  ],
  [
    'Open orders',
    'Live orders of all users',
    (metrics) => {
      const orders = metrics.value('ringbook_open_orders');
      return [count(orders), orders];
    },
  ],
  [
    'Sockets',
    'Open sockets of both public listeners',
    (metrics) => {
      const sockets = metrics.value('ringbook_sockets');
      return [count(sockets), sockets];
    },
  ],
  [
    'CPU',
    'Of all threads, in percent of one core',
    (metrics, windowMs) => {
      const used = metrics.rate('process_cpu_seconds_total', {}, windowMs);
      return [percent(used), used];
    },
  ],
  [
    'At risk',
    'Margin accounts close to liquidation',
    (metrics) => {
      const accounts = metrics.value('ringbook_accounts_at_risk');
      return [count(accounts), accounts, (accounts ?? 0) > 0 ? 'warn' : ''];
    },
  ],
];

class OpsPage {
  #metrics = new MetricWindow(LONGEST_WINDOW_MS);
  #windowMs = 60_000;
  #isPaused = false;
  #isReading = false;
  #tiles = TILES.map(([name, title]) => new Tile(name, title));
  #reads = new OperatorReads();
  #panels = [
    new PathPanel(() => this.#draw(false)),
    new AttentionPanel(),
    trafficPanel(),
    refusalsPanel(),
    durabilityPanel(),
    ringsPanel(),
    actorsPanel(),
    threadsPanel(),
    socketsPanel(),
    riskPanel(),
    chainsPanel(),
    clusterPanel(),
  ];

  constructor() {
    byId('tiles').append(...this.#tiles.map(({ node }) => node));
    const select = /** @type {HTMLSelectElement} */ (byId('window'));
    select.addEventListener('change', () => {
      this.#windowMs = Number(select.value);
      this.#draw(false);
    });
    const pause = byId('pause');
    pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused;
      pause.setAttribute('aria-pressed', String(this.#isPaused));
      pause.textContent = this.#isPaused ? 'Go on' : 'Pause';
      void this.read();
    });
    themeButton(byId('theme'));
    document.addEventListener('visibilitychange', () => void this.read());
    setInterval(() => void this.read(), EVERY_MS);
  }

  /** One read, unless the page is paused or hidden, or the one before is not done. */
  async read() {
    if (this.#isPaused || this.#isReading || document.hidden) return;
    this.#isReading = true;
    try {
      const signal = AbortSignal.timeout(READ_MS_MAX);
      const ready = await fetch('/readyz', { signal });
      const body = /** @type {Map<string, unknown>} */ (parseJsonText(await ready.text()));
      this.#showState(body);
      const response = await fetch('/metrics', { signal });
      if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
      this.#metrics.add(await response.text(), performance.now());
      this.#showState(body);
      this.#draw(true);
      byId('trouble').hidden = true;
      byId('read-at').textContent = `Read at ${new Date().toLocaleTimeString('en-GB')}.`;
      await this.#reads.update();
    } catch (error) {
      const state = byId('state');
      state.className = 'state fault';
      state.textContent = 'Not reachable';
      byId('trouble').hidden = false;
      byId('trouble').textContent =
        `The node does not answer (${error instanceof Error ? error.message : error}). What you see is what it was; the page goes on trying.`;
    } finally {
      this.#isReading = false;
    }
  }

  /** @param {Map<string, unknown>} body of `/readyz` */
  #showState(body) {
    const state = byId('state');
    const isReady = body.get('ready') === true;
    const waiting = /** @type {readonly unknown[]} */ (body.get('waiting_for') ?? []);
    const progress = body.get('progress');
    const step =
      progress instanceof Map ? `, ${progress.get('step')} ${progress.get('done')} of ${progress.get('of')}` : '';
    const place = placeIn(this.#metrics);
    if (place !== null && !isReady) {
      state.className = `state ${place.isWell ? 'good' : 'warn'}`;
      state.textContent = place.place;
      return;
    }
    state.className = `state ${isReady ? 'good' : 'warn'}`;
    state.textContent = isReady ? 'Ready' : `Starts: waits for ${waiting.join(', ').replaceAll('_', ' ')}${step}`;
  }

  /** @param {boolean} isNew whether there was a read since the last time */
  #draw(isNew) {
    const { labels = {} } = this.#metrics.samples('ringbook_build_info')[0] ?? {};
    byId('build').textContent = ['version', 'commit', 'profile'].flatMap((name) => labels[name] ?? []).join(' · ');
    for (const [at, tile] of this.#tiles.entries()) {
      const [text, value, kind] = TILES[at]?.[2](this.#metrics, this.#windowMs) ?? ['–', null];
      tile.show(text, isNew ? value : null, kind ?? '');
    }
    for (const panel of this.#panels) panel.update(this.#metrics, this.#windowMs);
  }
}

await new OpsPage().read();
