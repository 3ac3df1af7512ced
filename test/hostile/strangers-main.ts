/**
 * A process of attackers, at a low priority so that what they cost is the node's time and not theirs:
 * `node strangers-main.js PLAN`, where PLAN is JSON (StrangersPlan). Prints its tally as one JSON line.
 */
import { setPriority } from 'node:os';
import { must } from '../../src/core/assert.ts';
import { SeededRandom } from '../support/simulation.ts';
import { ATTACKS } from './attacks.ts';
import type { Tally } from './stranger.ts';

export interface StrangersPlan {
  readonly oms: number;
  readonly mds: number;
  readonly ms: number;
  readonly seed: number;
  /** Names of attacks. */
  readonly attacks: readonly string[];
  readonly funded: readonly (readonly number[])[];
  readonly money: readonly (readonly number[])[];
  readonly ops: string;
  readonly honestIds: readonly string[];
}

const LOW_PRIORITY = 10;

const plan = JSON.parse(must(process.argv[2], 'a plan is given')) as StrangersPlan;
setPriority(LOW_PRIORITY);
const tally: Tally = new Map();
const world = {
  target: { oms: plan.oms, mds: plan.mds, untilMs: performance.now() + plan.ms },
  random: new SeededRandom(plan.seed),
  tally,
  funded: plan.funded.map((seed) => Uint8Array.from(seed)),
  money: plan.money.map((seed) => Uint8Array.from(seed)),
  ops: plan.ops,
  honestIds: plan.honestIds,
};
const known = new Map(Object.values(ATTACKS).flatMap((group) => Object.entries(group)));
await Promise.all(plan.attacks.map((name) => must(known.get(name), `there is an attack ${name}`)(world)));
process.stdout.write(`${JSON.stringify(Object.fromEntries([...tally].sort()))}\n`, () => process.exit(0));
