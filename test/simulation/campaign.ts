/**
 * Draws a history from a seed while it is played, and keeps it: when an invariant breaks, what was done is a script that can be
 * played again and made shorter (shrinking.ts).
 */
import { SeededRandom } from '../support/simulation.ts';
import { operationsOf } from './actions.ts';
import { preloadSigner } from './chains.ts';
import { Drawing, isLiquidating, type Topic } from './drawing.ts';
import { Player, Tally } from './playing.ts';
import type { LifeOptions, Script, ScriptEvent } from './script.ts';

/** One event in so many is one of these. */
interface Pace {
  readonly rest: number;
  readonly kill: number;
  /** While an account is liquidated or the backstop holds something. */
  readonly killInLiquidation: number;
  readonly powerCut: number;
  readonly slow: number;
}

const PACES: Readonly<Record<Topic, Pace>> = {
  markets: { rest: 700, kill: 3_000, killInLiquidation: 150, powerCut: 4_000, slow: 250 },
  quotes: { rest: 120, kill: 300, killInLiquidation: 150, powerCut: 400, slow: 250 },
  funds: { rest: 30, kill: 60, killInLiquidation: 40, powerCut: 80, slow: 120 },
};
const SLOW_ACTIONS_MAX = 60;
const ACTORS = ['front-door', 'market-0', 'market-1', 'clearing', 'market-data'] as const;
/** Turns after an action: mostly few, so that much is under way at once. */
const TURNS = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 6] as const;

/** What went wrong, and the history that led there. */
export class BrokenLaw extends Error {
  readonly script: Script;

  constructor(script: Script, cause: unknown) {
    const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    super(`seed ${script.seed}, after ${script.events.length} events: ${why}`, { cause });
    this.script = script;
  }
}

/** No timer fires in a history: what is due comes with its events. Those that the node sets are forgotten. */
async function withoutTimers<T>(play: () => Promise<T>): Promise<T> {
  const { setInterval: interval, setTimeout: timeout } = globalThis;
  const never = (): { unref(): void } => ({ unref: () => undefined });
  Object.assign(globalThis, { setInterval: never, setTimeout: never });
  try {
    return await play();
  } finally {
    Object.assign(globalThis, { setInterval: interval, setTimeout: timeout });
  }
}

class Director {
  readonly #random: SeededRandom;
  readonly #drawing: Drawing;
  readonly #pace: Pace;

  constructor(seed: number, topic: Topic) {
    this.#random = new SeededRandom(seed);
    this.#drawing = new Drawing(seed, topic);
    this.#pace = PACES[topic];
  }

  lifeOptions(): LifeOptions {
    return {
      acks: this.#once(4) ? 'durable' : 'optimistic',
      ringBytes: this.#once(3) ? 1 << 14 : 1 << 16,
      checkpointAfter: this.#once(3) ? 40 : 2_000,
    };
  }

  next(player: Player): ScriptEvent {
    const { rest, kill, killInLiquidation, powerCut, slow } = this.#pace;
    if (this.#once(rest)) return { do: 'rest' };
    if (this.#once(isLiquidating(player.node.clearing.ledger) ? killInLiquidation : kill)) {
      return { do: 'kill', next: this.lifeOptions(), files: this.#once(2) ? 'lost' : 'kept' };
    }
    if (this.#once(powerCut)) {
      const cut = { after: this.#random.below(40), write: this.#once(2) ? 'lost' : 'kept' } as const;
      return { do: 'powerCut', cut, next: this.lifeOptions() };
    }
    if (this.#once(slow)) {
      const actor = ACTORS[this.#random.below(ACTORS.length)] ?? 'clearing';
      return { do: 'slow', actor, actions: 1 + this.#random.below(SLOW_ACTIONS_MAX) };
    }
    const turns = TURNS[this.#random.below(TURNS.length)] ?? 1;
    return { do: 'act', action: this.#drawing.draw(player.node), turns, seed: this.#random.next() };
  }

  #once(of: number): boolean {
    return this.#random.below(of) === 0;
  }
}

export interface Seed {
  readonly seed: number;
  readonly operations: number;
  readonly topic?: Topic;
}

/** Plays one seed for so many operations. @param ended gets the journal that all its lives left. @throws BrokenLaw */
export async function playSeed(
  { seed, operations, topic = 'markets' }: Seed,
  tally: Tally = new Tally(),
  ended: (journal: Player['journal']) => void = () => undefined,
): Promise<Tally> {
  await preloadSigner();
  const director = new Director(seed, topic);
  const first = director.lifeOptions();
  const events: ScriptEvent[] = [];
  await withoutTimers(async () => {
    try {
      const player = new Player(seed, first, tally);
      for (let done = 0; done < operations; ) {
        const event = director.next(player);
        events.push(event);
        if (event.do === 'act') done += operationsOf(event.action);
        await player.play(event);
      }
      await player.finish(topic);
      ended(player.journal);
    } catch (error) {
      throw new BrokenLaw({ seed, topic, first, events }, error);
    }
  });
  return tally;
}

/** Plays a script as it stands. @returns what broke, or null. */
export async function playScript({ seed, topic, first, events }: Script): Promise<unknown> {
  await preloadSigner();
  return withoutTimers(async () => {
    try {
      const player = new Player(seed, first);
      for (const event of events) await player.play(event);
      await player.finish(topic);
      return null;
    } catch (error) {
      return error;
    }
  });
}
