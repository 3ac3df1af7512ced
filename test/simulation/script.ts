/**
 * A simulated history as a list of events: actions, each with the turns that follow it and the seed of their order,
 * slow actors, rests, kills, power cuts. Leaving one out changes what happens, but not the schedule of the others, so a
 * list that fails can be made shorter. Written as JSON it is a file that can be run again.
 *
 * Not here: drawing one (campaign.ts), playing it (playing.ts).
 */
import type { Action } from './actions.ts';
import type { PowerCut } from './disk.ts';

/** How a node is started. */
export interface LifeOptions {
  readonly acks: 'optimistic' | 'durable';
  /** Of every channel. */
  readonly ringBytes: number;
  /** Journal records and changed rows that make a checkpoint due. */
  readonly checkpointAfter: number;
}

export type ScriptEvent =
  | { readonly do: 'act'; readonly action: Action; readonly turns: number; readonly seed: number }
  /** No turn for this actor during the next so many actions. */
  | { readonly do: 'slow'; readonly actor: string; readonly actions: number }
  /** Holds and faults end, everything is answered and decided, all invariants are checked. */
  | { readonly do: 'rest' }
  /** `files`: what was being written of the chains is there afterwards, or is not. */
  | { readonly do: 'kill'; readonly next: LifeOptions; readonly files: 'kept' | 'lost' }
  | { readonly do: 'powerCut'; readonly cut: PowerCut; readonly next: LifeOptions };

export interface Script {
  readonly seed: number;
  /** What the history is mostly about; those of funds end when nothing is outstanding. */
  readonly topic: 'markets' | 'funds' | 'quotes';
  readonly first: LifeOptions;
  readonly events: readonly ScriptEvent[];
}

export function parseScript(text: string): Script {
  return JSON.parse(text) as Script;
}

/** One event a line, so that a short history can be read. */
export function scriptText({ seed, topic, first, events }: Script): string {
  const lines = events.map((event) => `  ${JSON.stringify(event)}`);
  return `{"seed":${seed},"topic":"${topic}","first":${JSON.stringify(first)},"events":[\n${lines.join(',\n')}\n]}\n`;
}
