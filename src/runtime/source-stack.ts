/**
 * Stacks of a bundle (bundle.ts) in terms of the sources, for a line of the log: `…/dist/bundle/src/node/main.js:9210:13` becomes
 * `…/src/matching/book.ts:57:9`. Node's own way, `--enable-source-maps`, reads every map at the start.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const PLACE = /(file:\/\/[^\s()]*?\/bundle\/[^\s()]*?\.js):(\d+):(\d+)/g;

/** Any text; what is no place in a bundle, and what has no map, stays. Never throws. */
export function sourceStack(text: string): string {
  const maps = new Map<string, SourceMap | null>();
  return text.replace(PLACE, (place: string, url: string, line: string, column: string) => {
    const map = maps.get(url) ?? mapOf(url);
    maps.set(url, map);
    return map === null ? place : (sourceOf(map, url, Number(line), Number(column)) ?? place);
  });
}

function mapOf(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
  } catch {
    return null;
  }
}

function sourceOf(map: SourceMap, url: string, line: number, column: number): string | null {
  // A map counts from zero.
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalSource' in entry)) return null;
  const source = new URL(entry.originalSource, url);
  return `${source.href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
