/**
 * The examples of the documentation, as they stand in its fenced blocks. The words behind the fence say what a block is;
 * renderers show only the first as the language.
 *
 *   sh                          `npx ringbook …` commands, one a line
 *   sh script                   a script for bash, with curl and openssl; `json answer` behind it is what it prints
 *   ts                          a whole program
 *   json config                 a configuration file
 *   text vector                 a signed text and, on its second line, the signature in hex
 *   http [mds|ops]              a request; `json answer [status]` behind it has the shape of the answer
 *   json control v0|v1          a frame for `/control`; `json answer` behind it has the shape of the answer
 *   json frame PATH             the shape of a frame that the stream at PATH has told
 *
 * A block below an HTML comment `<!-- not run: reason -->` is not run.
 */
import { readFileSync } from 'node:fs';

export interface Example {
  readonly file: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** The words behind the fence. */
  readonly words: readonly string[];
  readonly text: string;
  /** Why it is not run; null when it is. */
  readonly notRun: string | null;
}

const NOT_RUN_FORM = /^<!-- not run: (.+) -->$/;

/** @returns every fenced block of a file, in order. @throws Error for a fence that is not closed. */
export function examplesOf(file: string): readonly Example[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const examples: Example[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = lines[at] ?? '';
    if (!fence.startsWith('```')) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`${file}:${at + 1}: the fence is not closed`);
    examples.push({
      file,
      line: at + 1,
      words: fence.slice(3).split(' '),
      text: lines.slice(at + 1, end).join('\n'),
      notRun: NOT_RUN_FORM.exec(lines[at - 1] ?? '')?.[1] ?? null,
    });
    at = end;
  }
  return examples;
}

/**
 * The shape of a JSON value: member names and the kinds of the values, nothing else. Numbers that a double cannot hold
 * are of the same kind as those it can. A text that begins like a decimal number is a decimal. Arrays have the shape of
 * their first element; an empty one has none and fits any.
 */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (value === null) return 'null';
  if (typeof value === 'string') return /^-?\d+(?:\.\d+)?$/.test(value) ? 'decimal' : 'string';
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

/** What the signer of a documented request puts in place of the values on the page. */
export interface Refresh {
  readonly nowNs: bigint;
  readonly sign: (text: string) => Uint8Array;
}

const TIMES = /("(?:creation_timestamp_ns|timestamp_ns|post_sign_timestamp)": ?)\d+/g;
const SIGNATURE = /("signature": ?)\[[^\]]*\]/g;
const SIGNED_MEMBER = /"(?:order|request|cancel|inner)": ?\{/g;

/**
 * A documented request with times of now and true signatures: each over the `order`, `request`, `cancel` or `inner`
 * object before it, with the members in the order in which the page has them. A page with a wrong order of members is
 * refused by the node.
 */
export function refreshed(body: string, { nowNs, sign }: Refresh): string {
  const current = body.replace(TIMES, (_whole, name: string) => `${name}${nowNs}`);
  const texts = [...current.matchAll(SIGNED_MEMBER)].map((start) => {
    const from = start.index + start[0].length - 1;
    return current.slice(from, closingBrace(current, from) + 1).replaceAll(' ', '');
  });
  if (texts.length === 0) return current;
  return current.replace(SIGNATURE, (_whole, name: string) => `${name}[${sign(texts.shift() ?? '').join(',')}]`);
}

/** None of the signed strings holds a brace. */
function closingBrace(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`no end of the object: ${text.slice(from, from + 60)}`);
}
