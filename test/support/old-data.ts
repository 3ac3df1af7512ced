/** Data directories of older versions: what a node of that version left (test/reliability/make-data.ts). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryDirectory } from './temporary-directory.ts';

export const OLD_VERSIONS = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] as const;
export type OldVersion = (typeof OLD_VERSIONS)[number];

interface Fixture {
  readonly files: Readonly<Record<string, string>>;
  readonly said: Said;
}

/** What the node of that version reported. */
export interface Said {
  readonly trades: readonly string[];
  readonly balances: readonly string[];
  readonly positions: readonly string[];
  /** The first page of each user's orders. */
  readonly orders: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

export interface OldData {
  readonly directory: string;
  readonly said: Said;
}

export function oldData(version: OldVersion, directory: string = temporaryDirectory()): OldData {
  const { files, said } = readFixture(version);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), Buffer.from(content, 'base64'));
  }
  return { directory, said };
}

function readFixture(version: OldVersion): Fixture {
  const text = gunzipSync(readFileSync(`test/fixtures/data-${version}.json.gz`)).toString('utf8');
  return JSON.parse(text) as Fixture;
}
