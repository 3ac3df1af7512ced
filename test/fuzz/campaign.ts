/**
 * A fuzzing campaign: cases from a seed, run a few at a time against something that must survive them.
 *
 *   seed ─▶ dice ─▶ case ─▶ run ─▶ null: fine
 *                               └▶ a fault ─▶ run alone, smaller and smaller ─▶ Finding (seed, what, fewest bytes)
 *
 * The run ends with its first finding. A case is repeated from its own seed, without those before it.
 */
import { Dice } from './dice.ts';

/** Bytes in the pieces in which they are written. */
export type Pieces = readonly Uint8Array[];

export interface Case {
  /** What stays as it is while a case is made smaller: the head of a request, the path of a socket; '' for nothing. */
  readonly frame: string;
  readonly pieces: Pieces;
}

export interface Campaign {
  readonly name: string;
  /** Cases under way at the same time. */
  readonly parallel: number;
  make(dice: Dice): Case;
  /** @returns null, or what is wrong in a few words. */
  run(given: Case): Promise<string | null>;
  /** Lets go of what is kept between cases. */
  end(): void;
}

export interface Finding {
  readonly campaign: string;
  readonly seed: number;
  readonly fault: string;
  readonly frame: string;
  /** The fewest bytes that still show this fault. */
  readonly bytes: Uint8Array;
}

export interface Extent {
  readonly seed: number;
  /** Ends after so many cases … */
  readonly casesMax: number;
  /** … or after so many milliseconds. */
  readonly forMs: number;
}

export interface Result {
  readonly cases: number;
  readonly finding: Finding | null;
}

const SHRINK_RUNS_MAX = 400;
const BYTES_SHOWN_MAX = 1_024;

export async function runCampaign(campaign: Campaign, { seed, casesMax, forMs }: Extent): Promise<Result> {
  const dice = new Dice(seed);
  const untilMs = performance.now() + forMs;
  let cases = 0;
  let found: { readonly seed: number; readonly fault: string } | null = null;
  const loop = async (): Promise<void> => {
    while (found === null && cases < casesMax && performance.now() < untilMs) {
      cases += 1;
      const own = dice.seed();
      const fault = await campaign.run(campaign.make(new Dice(own)));
      if (fault !== null) found ??= { seed: own, fault };
    }
  };
  await Promise.all(Array.from({ length: campaign.parallel }, loop));
  const first = found as { readonly seed: number; readonly fault: string } | null;
  const finding = first === null ? null : await shrunk(campaign, first);
  campaign.end();
  return { cases, finding };
}

async function shrunk(campaign: Campaign, first: { readonly seed: number; readonly fault: string }): Promise<Finding> {
  const { seed } = first;
  const { frame, pieces: made } = campaign.make(new Dice(seed));
  const alone = await campaign.run({ frame, pieces: made });
  const fault = alone ?? `${first.fault} (not when run alone)`;
  const whole: Pieces = [Buffer.concat(made)];
  let pieces = (await campaign.run({ frame, pieces: whole })) === fault ? whole : made;
  let runs = alone === null ? SHRINK_RUNS_MAX : 0;
  for (let chunk = Math.ceil(total(pieces) / 2); chunk >= 1 && runs < SHRINK_RUNS_MAX; chunk = Math.floor(chunk / 2)) {
    for (let start = 0; start < total(pieces) && runs < SHRINK_RUNS_MAX; ) {
      const smaller = without(pieces, start, chunk);
      runs += 1;
      if ((await campaign.run({ frame, pieces: smaller })) === fault) pieces = smaller;
      else start += chunk;
    }
  }
  return { campaign: campaign.name, seed, fault, frame, bytes: Buffer.concat(pieces) };
}

function total(pieces: Pieces): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The pieces less the bytes [start … start + length) of them all. */
function without(pieces: Pieces, start: number, length: number): Pieces {
  let at = 0;
  return pieces.map((piece) => {
    const from = Math.max(0, Math.min(piece.byteLength, start - at));
    const to = Math.max(0, Math.min(piece.byteLength, start + length - at));
    at += piece.byteLength;
    return Buffer.concat([piece.subarray(0, from), piece.subarray(to)]);
  });
}

export function findingText({ campaign, seed, fault, frame, bytes }: Finding): string {
  const shown = Buffer.from(bytes.subarray(0, BYTES_SHOWN_MAX));
  return `${campaign}, case seed ${seed}: ${fault}\n${frame}\n${JSON.stringify(shown.toString('latin1'))}\n${shown.toString('base64')}`;
}
