/**
 * Simulated chains in the data directory, one file each: `chains/<chain id>.json`, always written completely (state-file.ts).
 * Numbers beyond 2^53 are decimal strings. An unreadable file is damage: the node does not start with it.
 */
import { join } from 'node:path';
import { assert } from '../core/assert.ts';
import { type ChainId, parseChainId } from '../core/ids.ts';
import type { ChainLog } from './chain-events.ts';
import type { Block, ChainState } from './simulated-chain.ts';
import { type Json, loadStateFile, StateReader, saveStateFile } from './state-file.ts';

const FORMAT = 1;
const READ = new StateReader('the file of a simulated chain');

/** What keeps the chains: files of the data directory, or a memory that a simulation kills. */
export type ChainFiles = Pick<ChainStore, 'load' | 'save'>;

export class ChainStore {
  readonly #directory: string;

  /** @param dataDirectory exists; the chains get a subdirectory. */
  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, 'chains');
  }

  /** @returns null if nothing was saved. @throws InvariantError for a damaged file, Error when it cannot be read. */
  async load(chainId: ChainId): Promise<ChainState | null> {
    const text = await loadStateFile(this.#path(chainId));
    if (text === null) return null;
    const state = decodeChain(text);
    assert(state.chainId === chainId, `the file of chain ${chainId} holds that chain`);
    return state;
  }

  /** One call at a time per chain. @throws Error when writing fails; the old state is then still there. */
  async save(state: ChainState): Promise<void> {
    await saveStateFile(this.#path(state.chainId), encodeChain(state));
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
  const root = READ.root(text);
  READ.check(root['format'] === FORMAT, 'its format is known');
  const chainId = parseChainId(READ.string(root['chainId']));
  if (chainId === null) throw READ.damaged('it names no chain');
  const state: ChainState = {
    chainId,
    head: READ.count(root['head']),
    headNs: READ.whole(root['headNs']),
    blocks: READ.list(root['blocks']).map((item) => block(READ.object(item))),
    balances: READ.list(root['balances']).map((item) => {
      const [key, balance] = READ.list(item);
      return [READ.string(key), READ.whole(balance)];
    }),
  };
  let below = 0;
  for (const { number } of state.blocks) {
    READ.check(number > below && number <= state.head, 'blocks are in order and not above the head');
    below = number;
  }
  return state;
}

function block(json: Json): Block {
  const log = json['log'];
  return {
    number: READ.count(json['number']),
    hash: READ.hex(json['hash'], 32),
    timeNs: READ.whole(json['timeNs']),
    tx: READ.hex(json['tx'], 32),
    log: log === null ? null : chainLog(READ.object(log)),
  };
}

function chainLog(json: Json): ChainLog {
  return {
    blockNumber: READ.count(json['blockNumber']),
    blockHash: READ.hex(json['blockHash'], 32),
    tx: READ.hex(json['tx'], 32),
    logIndex: READ.count(json['logIndex']),
    address: READ.string(json['address']),
    topics: READ.list(json['topics']).map((topic) => READ.hex(topic, 32)),
    data: READ.string(json['data']),
  };
}
