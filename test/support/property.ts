/**
 * How a property test runs: few cases by default (shares.ts), more by `RINGBOOK_PROPERTY_RUNS`; always the same ones, so that a change
 * and nothing else makes one fail, unless `RINGBOOK_PROPERTY_SEED` is a seed of your own or `random`. fast-check prints it.
 */
import fc from 'fast-check';
import { shareOf } from './shares.ts';

export interface PropertyParameters {
  readonly numRuns: number;
  readonly seed: number;
}

const SEED = 20_261_121;

/** @param runs the number of runs in CI, without the variable. */
export function propertyParameters(runs = 50): PropertyParameters {
  const wanted = numberOf('RINGBOOK_PROPERTY_RUNS');
  const share = Math.ceil(runs * shareOf('times the runs of a property'));
  return { numRuns: wanted !== null && wanted > 0 ? wanted : share, seed: propertySeed() };
}

function propertySeed(): number {
  if (process.env['RINGBOOK_PROPERTY_SEED'] === 'random') return Date.now() | 0;
  return numberOf('RINGBOOK_PROPERTY_SEED') ?? SEED;
}

/** A variable's whole number; null without one. */
function numberOf(variable: string): number | null {
  const text = process.env[variable] ?? '';
  return Number.isSafeInteger(Number(text)) && text !== '' ? Number(text) : null;
}

/** A random run: of each step its place in the list, and a number from which the step draws. */
export function storyOf(
  steps: readonly unknown[],
  [minLength, maxLength]: readonly [number, number],
  pickMax = 1_000_000,
): fc.Arbitrary<[step: number, pick: number][]> {
  return fc.array(fc.tuple(fc.nat(steps.length - 1), fc.nat(pickMax)), { minLength, maxLength, size: 'max' });
}
