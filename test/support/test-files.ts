/**
 * The test files and their tiers. The first line of a test file states its tier, and its seconds on two quiet cores where
 * they are more than three:
 *
 *     // tier: quick
 *     // tier: full, 46 s
 *
 * `quick` is what `npm test` runs; `npm run test:all` runs both. The seconds order the files, longest first, and estimate
 * the time that is left. They bound nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const TIERS = ['quick', 'full'] as const;
export type Tier = (typeof TIERS)[number];

export interface TestFile {
  /** Path below `test`, without its ending: `matching/orders`. */
  readonly name: string;
  readonly tier: Tier;
  /** Estimated seconds on two quiet cores. */
  readonly seconds: number;
}

const END = '.test.ts';
const FIRST_LINE = /^\/\/ tier: (quick|full)(?:, (\d+) s)?$/;
/** Of a file that states none. */
const SECONDS = 0.5;

/** @returns every test file below `directory`, longest first. @throws Error for a file without a tier. */
export function testFiles(directory: string): readonly TestFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(END))
    .map((path) => describeFile(directory, path))
    .sort((one, other) => other.seconds - one.seconds || (one.name < other.name ? -1 : 1));
}

function describeFile(directory: string, path: string): TestFile {
  const [firstLine = ''] = readFileSync(join(directory, path), 'utf8').split('\n', 1);
  const [, tier, seconds] = FIRST_LINE.exec(firstLine) ?? [];
  if (tier === undefined)
    throw new Error(`test/${path} begins with no tier: write "// tier: quick" or "// tier: full"`);
  return {
    name: path.slice(0, -END.length),
    tier: tier as Tier,
    seconds: seconds === undefined ? SECONDS : Number(seconds),
  };
}

export interface Selection {
  readonly tier: Tier | 'all';
  /** Parts of paths; none: every file. */
  readonly parts: readonly string[];
}

export function selectFiles(files: readonly TestFile[], { tier, parts }: Selection): readonly TestFile[] {
  return files
    .filter((file) => tier === 'all' || file.tier === tier)
    .filter(({ name }) => parts.length === 0 || parts.some((part) => `${name}${END}`.includes(part)));
}
