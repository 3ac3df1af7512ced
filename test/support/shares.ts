/**
 * How much of each campaign runs: by `npm test` (`quick`), in `.ci/run` and when a file is run by itself (`ci`), and with
 * `RINGBOOK_SHARE=command`, for a night. One table, so that what a tier costs is decided in one place; the campaigns of
 * `docs/reliability.md` that have a command of their own take their extent from its arguments.
 */
export const SHARES = {
  /** Of the number of runs that stands at each property. */
  'times the runs of a property': { quick: 1, ci: 1, command: 20 },
  'operations of a history': { quick: 2_000, ci: 4_000, command: 50_000 },
  'operations of a long history': { quick: 2_000, ci: 25_000, command: 1_000_000 },
  'steps of a simulated cluster': { quick: 2_000, ci: 50_000, command: 1_000_000 },
  'operations of a history of funds': { quick: 100, ci: 360, command: 50_000 },
  'runs of the engine against its reference': { quick: 250, ci: 900, command: 4_000 },
  'rounds of random clients': { quick: 40, ci: 40, command: 4_000 },
  'texts for readers of client input': { quick: 10_000, ci: 30_000, command: 10_000_000 },
  'bodies of requests': { quick: 1_000, ci: 14_000, command: 1_000_000 },
  'heads of requests': { quick: 1_000, ci: 8_000, command: 1_000_000 },
  'frames of control': { quick: 1_000, ci: 14_000, command: 1_000_000 },
  'frames of streams': { quick: 300, ci: 3_000, command: 1_000_000 },
  'rounds of signed actions': { quick: 2, ci: 25, command: 1_000 },
  kills: { quick: 3, ci: 12, command: 10_000 },
  'double kills': { quick: 2, ci: 8, command: 10_000 },
  'kills of a whole node': { quick: 1, ci: 2, command: 50 },
  'kills of a command': { quick: 1, ci: 4, command: 400 },
  'damaged images': { quick: 50, ci: 400, command: 20_000 },
  'damage under a running node': { quick: 1, ci: 2, command: 200 },
  'power losses': { quick: 20, ci: 200, command: 100_000 },
  'lying disks': { quick: 10, ci: 40, command: 10_000 },
  'failing calls': { quick: 10, ci: 100, command: 10_000 },
  'seconds of a soak with faults': { quick: 6, ci: 6, command: 600 },
  /** Of watches behind providers with random limits and words; times the runs of a property. */
  'stories of companies': { quick: 1, ci: 4, command: 100 },
  'seconds of starved nodes': { quick: 12, ci: 12, command: 300 },
} as const;

export type Campaign = keyof typeof SHARES;
export const EXTENTS = ['quick', 'ci', 'command'] as const;
export type Extent = (typeof EXTENTS)[number];

/** @throws Error for a `RINGBOOK_SHARE` that is none of the extents. */
export function extentOf(environment: Readonly<Record<string, string | undefined>> = process.env): Extent {
  const wanted = environment['RINGBOOK_SHARE'] ?? 'ci';
  const extent = EXTENTS.find((name) => name === wanted);
  if (extent === undefined) throw new Error(`RINGBOOK_SHARE is ${EXTENTS.join(', ')}, not ${wanted}`);
  return extent;
}

export function shareOf(campaign: Campaign): number {
  return SHARES[campaign][extentOf()];
}
