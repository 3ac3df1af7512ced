/**
 * A measurement of a node over `/control`: creates at rates in steps up to and past saturation, then the other flows at
 * the lowest rate. Each step is a run of the load generator with its own process and, on a dev node, its own users.
 *
 *   market and users ─▶ saturation ─▶ step, step, … ─▶ report
 *
 * A step during which the generator itself was late is repeated, and then has no figures.
 */
import { RingbookClient } from '../client/client.ts';
import { RingbookError } from '../client/errors.ts';
import { loadKey } from '../client/keys.ts';
import { OperatorClient } from '../client/operator.ts';
import type { JsonObject } from '../codec/json-tree.ts';
import { latenessFault } from './lateness.ts';
import { existingMarket, makeMarginMarket, makeSpotMarket } from './load-market.ts';
import { type Circumstances, circumstances } from './machine.ts';
import { missing, type Need } from './own-users.ts';
import { actionsOf, type Flow, type LoadMarket, type LoadPlan, type LoadResult, UNANSWERED_MAX } from './plan.ts';
import { runPlan } from './run-plan.ts';

export interface OwnUsers {
  /** The seller's key file, then the buyer's. */
  readonly keyFiles: readonly [string, string];
  readonly assetId: string;
  /** Human decimal. */
  readonly price: string;
  readonly account: number;
}

export interface SweepOptions {
  readonly oms: string;
  readonly mds: string;
  readonly ops: string;
  readonly operatorToken: string;
  /** Null: a market and users are made through the operator API. */
  readonly own: OwnUsers | null;
  /** The first has every rate, the others the lowest one. */
  readonly flows: readonly Flow[];
  /** Orders per second, ascending; null, with made users only: fractions of the measured saturation. */
  readonly rates: readonly number[] | null;
  /** Counted seconds of a step; a warm-up of half of it precedes. */
  readonly seconds: number;
  /** Neither streams nor hop times. */
  readonly isBare: boolean;
  /** Process of the node, on this machine. */
  readonly pid: number | null;
  /** A line that stays, and one that the next replaces. */
  readonly onStep: (text: string) => void;
  readonly onProgress: (text: string) => void;
}

/** One run. Without `result` the generator was late, and `fault` says how much. */
export interface SweepStep {
  readonly label: string;
  readonly flow: Flow;
  /** Orders per second; null: as fast as IN_FLIGHT unanswered ones allow. */
  readonly perSecond: number | null;
  readonly result: LoadResult | null;
  readonly fault: string | null;
}

export interface SweepReport extends Circumstances {
  readonly name: 'control';
  /** Load averages at the end. */
  readonly loadAfter: readonly number[];
  readonly target: {
    readonly oms: string;
    readonly version: string | null;
    readonly commit: string | null;
    readonly market: string;
    readonly users: 'new' | 'own';
  };
  readonly seconds: number;
  readonly steps: readonly SweepStep[];
}

/** A node or users that a measurement cannot be made with; the message says what is missing. */
export class SweepSetupError extends Error {
  override readonly name = 'SweepSetupError';
}

export const SECONDS_MAX = 30;
export const RATE_MAX = 100_000;
/** All messages of a run are signed before it: signatures must not be older than a minute when they are sent. */
const MESSAGES_MAX = 300_000;
const IN_FLIGHT = 256;
/** Orders of the run at saturation that warm the node up, and those that are counted, per second of a step. */
const SATURATION_PER_SECOND = { warmUp: 1_000, count: 4_000 } as const;
/** Of the saturation. */
const FRACTIONS: readonly number[] = [0.1, 0.25, 0.5, 0.75, 0.9, 1.1, 1.5];
const ATTEMPTS = 2;
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Two significant digits. */
function rounded(rate: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(rate)) - 1);
  return Math.max(1, Math.round(rate / unit)) * unit;
}

function setupError(error: unknown): unknown {
  if (!(error instanceof RingbookError) || error.code === 'UNREACHABLE') return error;
  return new SweepSetupError(
    `${error.message}\nUsers and a market are made through the operator API of a dev node (--ops URL, ` +
      'RINGBOOK_OPERATOR_TOKEN). For any other node give funded users and a market: ' +
      '--key SELLER --key BUYER --market ID --price PRICE',
  );
}

class Sweep {
  readonly #options: SweepOptions;
  readonly #operator: OperatorClient;
  readonly #steps: SweepStep[] = [];

  constructor(options: SweepOptions, operator: OperatorClient) {
    this.#options = options;
    this.#operator = operator;
  }

  /** @returns every step, the saturation first where it was measured. */
  async run(): Promise<readonly SweepStep[]> {
    const { flows, own } = this.#options;
    const [first = 'creates', ...others] = flows;
    const spot = own === null ? await makeSpotMarket(this.#operator) : await this.#existing(own);
    if (own !== null) await this.#requireOwn(own, spot, this.#options.rates ?? []);
    // It also warms the node up: cold code would be measured in the first step otherwise.
    const saturation = own === null ? await this.#saturation(first, spot) : null;
    const rates = this.#options.rates ?? this.#fractionsOf(saturation ?? 1);
    for (const [index, rate] of rates.entries()) await this.#step(first, rate, spot, `${index + 1} of ${rates.length}`);
    for (const flow of others) await this.#step(flow, rates[0] ?? 1, spot, 'at the lowest rate');
    return this.#steps;
  }

  async #existing({ assetId, price, account, keyFiles }: OwnUsers): Promise<LoadMarket> {
    const client = new RingbookClient({ oms: this.#options.oms, key: loadKey(keyFiles[0]) });
    const market = await existingMarket(client, assetId, price, account).finally(() => client.close());
    if (typeof market === 'string') throw new SweepSetupError(market);
    return market;
  }

  async #requireOwn({ keyFiles }: OwnUsers, market: LoadMarket, rates: readonly number[]): Promise<void> {
    const { oms, mds, seconds, flows } = this.#options;
    const lowest = flows.slice(1).map(() => rates[0] ?? 0);
    const orders = [...rates, ...lowest].reduce((sum, rate) => sum + rate * seconds * 1.5, 0);
    const need: Need = { flows, orders, perSecond: Math.max(0, ...rates) };
    const clients = keyFiles.map((file) => new RingbookClient({ oms, mds, key: loadKey(file) }));
    const [seller, buyer] = clients;
    if (seller === undefined || buyer === undefined) throw new SweepSetupError('two key files are needed');
    try {
      const faults = await missing([seller, buyer], market, need);
      if (faults.length > 0) throw new SweepSetupError(faults.join('\n'));
    } finally {
      for (const client of clients) client.close();
    }
  }

  /** @returns orders per second. */
  async #saturation(flow: Flow, market: LoadMarket): Promise<number> {
    this.#options.onStep(`saturation: ${IN_FLIGHT} orders in flight`);
    const actions = actionsOf(flow);
    const { seconds } = this.#options;
    const plan: LoadPlan = {
      ...this.#plan(flow, 1, await this.#marketOf(flow, market)),
      pace: { kind: 'closed', inFlight: IN_FLIGHT },
      warmUp: Math.ceil((SATURATION_PER_SECOND.warmUp * seconds) / actions),
      count: Math.ceil((SATURATION_PER_SECOND.count * seconds) / actions),
      streams: false,
      hops: false,
    };
    const result = await runPlan(plan, this.#options.onProgress);
    if (result.unanswered > 0 || result.perSecond < 1) {
      throw new SweepSetupError(
        `the saturation was not measured: ${result.closed ?? result.firstRejection ?? 'no answer'}`,
      );
    }
    this.#steps.push({ label: `${flow}, ${IN_FLIGHT} in flight`, flow, perSecond: null, result, fault: null });
    return result.perSecond;
  }

  #fractionsOf(perSecond: number): readonly number[] {
    const rateMax = MESSAGES_MAX / (this.#options.seconds * 1.5);
    return [...new Set(FRACTIONS.map((fraction) => rounded(Math.min(rateMax, fraction * perSecond))))];
  }

  async #step(flow: Flow, perSecond: number, market: LoadMarket, which: string): Promise<void> {
    const label = `${flow}, ${perSecond}/s`;
    for (let attempt = 1; ; attempt += 1) {
      this.#options.onStep(`${label}, ${which}${attempt === 1 ? '' : ', again: the generator was late'}`);
      const plan = this.#plan(flow, perSecond, await this.#marketOf(flow, market));
      const result = await runPlan(plan, this.#options.onProgress);
      const fault = latenessFault(result);
      if (fault !== null && attempt < ATTEMPTS) continue;
      this.#steps.push({ label, flow, perSecond, result: fault === null ? result : null, fault });
      return;
    }
  }

  /** Positions need a price that is not stale. */
  async #marketOf(flow: Flow, market: LoadMarket): Promise<LoadMarket> {
    return flow === 'margin' && this.#options.own === null ? makeMarginMarket(this.#operator) : market;
  }

  #plan(flow: Flow, perSecond: number, market: LoadMarket): LoadPlan {
    const { oms, mds, ops, operatorToken, own, seconds, isBare, pid } = this.#options;
    const messages = perSecond / actionsOf(flow);
    const count = Math.max(2, Math.round(messages * seconds));
    return {
      target: {
        kind: 'node',
        oms,
        mds,
        users: own === null ? { kind: 'new', ops, token: operatorToken } : { kind: 'own', keyFiles: own.keyFiles },
        market,
      },
      flow,
      pace: { kind: 'open', perSecond: messages, unansweredMax: UNANSWERED_MAX },
      warmUp: count >> 1,
      count,
      streams: !isBare,
      hops: !isBare,
      pid,
    };
  }
}

/** @throws RangeError when a step would be too long. */
export function checkSize(rates: readonly number[], seconds: number): void {
  const longest = Math.max(0, ...rates) * seconds * 1.5;
  if (longest > MESSAGES_MAX)
    throw new RangeError(`a step has at most ${MESSAGES_MAX} orders: fewer --seconds or lower --rates`);
}

/** Restores the budgets that it has lifted, once, also before a signal ends the process. */
class LiftedBudgets {
  readonly #operator: OperatorClient;
  #limits: JsonObject | null = null;
  #restored: Promise<void> | null = null;

  constructor(operator: OperatorClient) {
    this.#operator = operator;
  }

  async lift(): Promise<void> {
    this.#limits = await this.#operator.rateLimits();
    for (const signal of END_SIGNALS) process.once(signal, this.#onSignal);
    await this.#operator.liftRateLimits();
  }

  async restore(): Promise<void> {
    if (this.#limits === null) return;
    this.#restored ??= this.#operator.putRateLimits(this.#limits);
    await this.#restored.finally(() => {
      for (const signal of END_SIGNALS) process.off(signal, this.#onSignal);
    });
  }

  /** Afterwards the signal has its default effect; a second signal has it at once. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    void this.restore()
      .catch(() => {})
      .finally(() => process.kill(process.pid, signal));
  };
}

async function versionOf(operator: OperatorClient): Promise<{ version: string | null; commit: string | null }> {
  const reply = await operator.call('GET', '/version').catch(() => null);
  const text = (name: string): string | null => {
    const value = reply?.get(name);
    return typeof value === 'string' ? value : null;
  };
  return { version: text('version'), commit: text('commit') };
}

/**
 * Measures. On a dev node the budgets are lifted meanwhile and restored at the end, also at that by a signal.
 *
 * @throws SweepSetupError when users, funds or a market are missing.
 */
export async function sweep(options: SweepOptions): Promise<SweepReport> {
  const operator = new OperatorClient(options.ops, options.operatorToken);
  const begun = circumstances();
  const budgets = new LiftedBudgets(operator);
  try {
    if (options.own === null) {
      await budgets.lift().catch((error: unknown) => {
        throw setupError(error);
      });
    }
    const steps = await new Sweep(options, operator).run().catch((error: unknown) => {
      throw setupError(error);
    });
    return {
      name: 'control',
      ...begun,
      loadAfter: circumstances().load,
      target: {
        oms: options.oms,
        ...(await versionOf(operator)),
        market: options.own?.assetId ?? 'made',
        users: options.own === null ? 'new' : 'own',
      },
      seconds: options.seconds,
      steps,
    };
  } finally {
    await budgets.restore();
    operator.close();
  }
}
