/**
 * Histories for tests and campaigns: some seeds one after the other, and what is printed when one of them breaks an
 * invariant: a short script in a file, and the command that plays it.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BrokenLaw, playScript, playSeed } from './campaign.ts';
import type { Topic } from './drawing.ts';
import type { Tally } from './playing.ts';
import { scriptText } from './script.ts';
import { shrink } from './shrinking.ts';

/** Attempts to make a failing history shorter. */
const PLAYS_MAX = 400;

export interface Histories {
  readonly seed: number;
  readonly seeds: number;
  /** Of each seed. */
  readonly operations: number;
  readonly topic?: Topic;
}

/** @throws BrokenLaw of a short script, with the command that repeats it. */
export async function playAll(
  { seed: first, seeds, ...each }: Histories,
  tally: Tally,
  done: (seed: number) => void = () => undefined,
): Promise<void> {
  for (let seed = first; seed < first + seeds; seed += 1) {
    try {
      await playSeed({ ...each, seed }, tally);
    } catch (error) {
      throw error instanceof BrokenLaw ? await shortened(error) : error;
    }
    done(seed);
  }
}

async function shortened({ script, cause }: BrokenLaw): Promise<Error> {
  const short = await shrink(script, playScript, () => undefined, PLAYS_MAX);
  const broken = await playScript(short);
  const file = join(tmpdir(), `ringbook-history-${script.seed}.json`);
  writeFileSync(file, scriptText(short));
  const from = `${script.events.length} events of seed ${script.seed}, ${short.events.length} are enough`;
  const repeat = `node dist/test/reliability/run.js simulation --script ${file}`;
  const why = (broken ?? cause) instanceof Error ? ((broken ?? cause) as Error).stack : String(broken ?? cause);
  return new Error(`of ${from}; repeat with\n  ${repeat}\n${why}`, { cause });
}

/** What must have happened in a long run of histories, so that no invariant holds for want of cases. */
export const HAPPENINGS: readonly string[] = [
  ...[
    'create',
    'createBatch',
    'replace',
    'replaceBatch',
    'amend',
    'cancel',
    'cancelAll',
    'cancelBatch',
    'cancelAllAfter',
  ],
  ...['hangUp', 'transfer', 'close', 'rename', 'login', 'logout', 'read', 'price', 'faucet', 'deposit', 'patchMarket'],
  ...['patchRisk', 'patchUser', 'fault', 'hold', 'release', 'pass'],
  ...['rests', 'kill', 'power lost, lost', 'power lost, kept', 'slow clearing', 'slow market-data', 'slow front-door'],
  ...['fill confirmed', 'triggered', 'activated', 'cancelPending', 'replaced', 'amended', 'restored'],
  ...['restarted'],
  ...['UserRequested', 'SelfTradePrevented', 'PostOnlyWouldCross', 'MarginInsufficient', 'ParentCanceled', 'Filled'],
  ...['Expired', 'ImmediateOrCancel', 'FillOrKill', 'AutoReduced'],
  ...['positionChanged', 'positionCleared', 'transferDone', 'priceAccepted', 'depositLanded', 'subAccountChanged'],
  ...['fill ReduceOnlyViolation', 'fill InvalidSignature', 'fill StaleMatch', 'fill InsufficientInventory'],
  ...['Liquidation', 'liquidationStep', 'accountCleared', 'taken over', 'kill in a liquidation'],
  ...['RATE_LIMITED', 'UNAUTHORIZED', 'SERVICE_UNAVAILABLE', 'MARKET_HALTED', 'PRICING_UNAVAILABLE'],
  ...['INSUFFICIENT_MARGIN', 'INSUFFICIENT_INVENTORY', 'POSITION_NOT_FLAT', 'INVALID_NONCE', 'DUPLICATE_ORDER'],
  ...['ORDER_REVISION_MISMATCH'],
];

/** @returns those of `HAPPENINGS` that never happened. */
export function missingIn(tally: Tally): readonly string[] {
  return HAPPENINGS.filter((name) => tally.of(name) === 0);
}
