/**
 * The thread of the demo traders (load/demo-traders.ts), which the dev profile has on request: it begins when the listeners are
 * open and ends before they close.
 *
 * No other thread waits for it: it is a client of the node. When it dies, out of memory too, the node goes on and the thread
 * begins anew after a pause; with the process it ends at any moment.
 */
import { randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { DemoReport, DemoSettings } from '../load/demo-traders.ts';
import { DEMO_BYTE } from '../operator/seed-data.ts';

const HEAP_MIB_MAX = 64;
const AGAIN_MS = 30_000;
/** How long its orders may take to be cancelled before the node stops. */
const STOP_MS_MAX = 2_000;

/** The demo traders of a node: their keys are those of the dev profile. */
export function demoSettings(node: Pick<DemoSettings, 'oms' | 'ops' | 'operatorToken'>): DemoSettings {
  const seedOf = (byte: number): string => byte.toString(16).repeat(32);
  const makers = DEMO_BYTE.makers.map(seedOf);
  return { ...node, makers, taker: seedOf(DEMO_BYTE.taker), seed: randomInt(2 ** 32) };
}

interface DemoThreadOptions {
  readonly entry: URL;
  readonly settings: DemoSettings;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** From a death to the next beginning. Default 30 s. */
  readonly againMs?: number;
}

export class DemoThread {
  readonly #options: DemoThreadOptions;
  #worker: Worker | null = null;
  #again: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(options: DemoThreadOptions) {
    this.#options = options;
  }

  start(): void {
    const { entry, settings, log } = this.#options;
    const worker = new Worker(entry, {
      name: 'demo',
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    });
    this.#worker = worker;
    worker.on('message', (report: DemoReport) => {
      if (report.kind === 'failed') log.warn({ reason: report.reason }, 'the demo traders pause');
      else log.info({ markets: report.markets }, 'the demo traders trade');
    });
    worker.on('error', (error) => {
      if (!this.#isStopping) log.warn({ reason: String(error) }, 'the thread of the demo traders died and begins anew');
    });
    worker.once('exit', () => {
      this.#worker = null;
      if (this.#isStopping) return;
      this.#again = setTimeout(() => this.start(), this.#options.againMs ?? AGAIN_MS);
    });
  }

  /** Cancels the orders of the traders as far as there is time, and ends the thread. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#again !== null) clearTimeout(this.#again);
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const late = setTimeout(() => void worker.terminate(), STOP_MS_MAX);
    worker.postMessage(null);
    await ended;
    clearTimeout(late);
  }
}
