/**
 * Draws a history from a seed while it is played, and keeps it: when an invariant breaks, what was done is a script that can be
 * played again and made shorter (shrinking.ts).
 */
import { SeededRandom } from '../../src/runtime/simulation.ts';
import { operationsOf } from './actions.ts';
import { Drawing, isLiquidating } from './drawing.ts';
import { Player, Tally } from './playing.ts';
import type { LifeOptions, Script, ScriptEvent } from './script.ts';

/** One event in so many is one of these. */
const REST_EVERY = 700;
const KILL_EVERY = 3_000;
/** While an account is liquidated or the backstop holds something. */
const KILL_IN_LIQUIDATION_EVERY = 150;
const POWER_CUT_EVERY = 4_000;
const SLOW_EVERY = 250;
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

class Director {
  readonly #random: SeededRandom;
  readonly #drawing: Drawing;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#drawing = new Drawing(seed);
  }

  lifeOptions(): LifeOptions {
    return {
      acks: this.#once(4) ? 'durable' : 'optimistic',
      ringBytes: this.#once(3) ? 1 << 14 : 1 << 16,
      checkpointAfter: this.#once(3) ? 40 : 2_000,
    };
  }

  next(player: Player): ScriptEvent {
    if (this.#once(REST_EVERY)) return { do: 'rest' };
    const killEvery = isLiquidating(player.node.clearing.ledger) ? KILL_IN_LIQUIDATION_EVERY : KILL_EVERY;
    if (this.#once(killEvery)) return { do: 'kill', next: this.lifeOptions() };
    if (this.#once(POWER_CUT_EVERY)) {
      const cut = { after: this.#random.below(40), write: this.#once(2) ? 'lost' : 'kept' } as const;
      return { do: 'powerCut', cut, next: this.lifeOptions() };
    }
    if (this.#once(SLOW_EVERY)) {
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

/** Plays one seed for so many operations. @param ended gets the journal that all its lives left. @throws BrokenLaw */
export async function playSeed(
  seed: number,
  operations: number,
  tally: Tally = new Tally(),
  ended: (journal: Player['journal']) => void = () => undefined,
): Promise<Tally> {
  const director = new Director(seed);
  const first = director.lifeOptions();
  const events: ScriptEvent[] = [];
  try {
    const player = new Player(seed, first, tally);
    for (let done = 0; done < operations; ) {
      const event = director.next(player);
      events.push(event);
      if (event.do === 'act') done += operationsOf(event.action);
      await player.play(event);
    }
    await player.finish();
    ended(player.journal);
  } catch (error) {
    throw new BrokenLaw({ seed, first, events }, error);
  }
  return tally;
}

/** Plays a script as it stands. @returns what broke, or null. */
export async function playScript({ seed, first, events }: Script): Promise<unknown> {
  try {
    const player = new Player(seed, first);
    for (const event of events) await player.play(event);
    await player.finish();
    return null;
  } catch (error) {
    return error;
  }
}
