/**
 * Simulated chains in the data directory, one file each: `chains/<chain id>.json`, always written completely.
 *
 *   state ─▶ <name>.new ─fsync─▶ rename over <name> ─▶ fsync of the directory ─▶ save resolves
 *
 * A file contains the old state or the new one, never a part; a state for which `save` has resolved survives a kill and
 * a power cut. Numbers beyond 2^53 are decimal strings. An unreadable file is damage: the node does not start with it.
 */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { assert, InvariantError } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { type ChainId, parseChainId } from '../core/ids.ts';
import type { ChainLog } from './chain-events.ts';
import type { Block, ChainState } from './simulated-chain.ts';

const FORMAT = 1;
const WHOLE_FORM = /^(?:0|[1-9][0-9]{0,77})$/;

type Json = Readonly<Record<string, unknown>>;

export class ChainStore {
  readonly #directory: string;

  /** @param dataDirectory exists; the chains get a subdirectory. */
  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, 'chains');
  }

  /** @returns null if nothing was saved. @throws InvariantError for a damaged file, Error when it cannot be read. */
  async load(chainId: ChainId): Promise<ChainState | null> {
    let text: string;
    try {
      text = await readFile(this.#path(chainId), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
    const state = decodeChain(text);
    assert(state.chainId === chainId, `the file of chain ${chainId} holds that chain`);
    return state;
  }

  /** One call at a time per chain. @throws Error when writing fails; the old state is then still there. */
  async save(state: ChainState): Promise<void> {
    const path = this.#path(state.chainId);
    const text = encodeChain(state);
    await mkdir(this.#directory, { recursive: true });
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    const directory = await open(this.#directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  #path(chainId: ChainId): string {
    return join(this.#directory, `${chainId}.json`);
  }
}

export function encodeChain(state: ChainState): string {
  const exact = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
  return `${JSON.stringify({ format: FORMAT, ...state }, exact)}\n`;
}

/** @throws InvariantError unless `text` is a complete state written by `encodeChain`. */
export function decodeChain(text: string): ChainState {
  let root: Json;
  try {
    root = object(JSON.parse(text));
  } catch {
    throw damaged('it is no JSON object');
  }
  check(root['format'] === FORMAT, 'its format is known');
  const chainId = parseChainId(string(root['chainId']));
  if (chainId === null) throw damaged('it names no chain');
  const state: ChainState = {
    chainId,
    head: count(root['head']),
    headNs: whole(root['headNs']),
    blocks: list(root['blocks']).map((item) => block(object(item))),
    balances: list(root['balances']).map((item) => {
      const [key, balance] = list(item);
      return [string(key), whole(balance)];
    }),
  };
  let below = 0;
  for (const { number } of state.blocks) {
    check(number > below && number <= state.head, 'blocks are in order and not above the head');
    below = number;
  }
  return state;
}

function block(json: Json): Block {
  const log = json['log'];
  return {
    number: count(json['number']),
    hash: hash(json['hash']),
    timeNs: whole(json['timeNs']),
    tx: hash(json['tx']),
    log: log === null ? null : chainLog(object(log)),
  };
}

function chainLog(json: Json): ChainLog {
  return {
    blockNumber: count(json['blockNumber']),
    blockHash: hash(json['blockHash']),
    tx: hash(json['tx']),
    logIndex: count(json['logIndex']),
    address: string(json['address']),
    topics: list(json['topics']).map(hash),
    data: string(json['data']),
  };
}

function damaged(what: string): InvariantError {
  return new InvariantError(`the file of a simulated chain is damaged: ${what}`);
}

function check(condition: boolean, promise: string): void {
  if (!condition) throw damaged(`expected that ${promise}`);
}

function object(value: unknown): Json {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object is one');
  return value as Json;
}

function list(value: unknown): readonly unknown[] {
  check(Array.isArray(value), 'a list is one');
  return value as readonly unknown[];
}

function string(value: unknown): string {
  check(typeof value === 'string', 'a text is one');
  return value as string;
}

function hash(value: unknown): string {
  const text = string(value);
  check(parseHex(text, 32) !== null, 'a hash has 32 bytes');
  return text;
}

function count(value: unknown): number {
  check(Number.isSafeInteger(value) && (value as number) >= 0, 'a count is one');
  return value as number;
}

function whole(value: unknown): bigint {
  const text = string(value);
  check(WHOLE_FORM.test(text), 'a whole number is one');
  return BigInt(text);
}
