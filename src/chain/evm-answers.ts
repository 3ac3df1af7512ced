/**
 * Answers of JSON-RPC providers of EVM chains, validated: what is not exactly of the expected form is null, and the provider
 * counts as one that did not answer. Hex is written as the node writes it, in lower case without 0x.
 *
 * Nothing here is trusted further: whether an answer is true is decided by a majority (range-verdict.ts).
 */
import { parseHex } from '../core/hex.ts';
import {
  type ChainLog,
  DEPOSITED_TOPIC,
  DEPOSITED_WITH_CONFIG_TOPIC,
  decodeVaultEvent,
  FORCED_TOPIC,
  SETTLED_TOPIC,
  type VaultEventKind,
  WITHDREW_TOPIC,
} from './chain-events.ts';

/** Logs of one answer; a range with more is cut. */
export const LOGS_MAX = 20_000;
/** Blocks with logs of one answer; a range with more is cut. Each costs one request for its hash. */
export const LOG_BLOCKS_MAX = 256;
/** A deposit's configuration of CONFIG_SIGNERS_MAX signers takes less; a depositor may write a longer one. */
const DATA_BYTES_MAX = 262_144;
/** What is kept of a longer one: a deposit's amount. It counts; what it configures does not. */
const CUT_DIGITS = 64;
const TOPICS_MAX = 4;

/** The filter of `eth_getLogs`: deposits in either form, withdrawals, or settlements. */
export const EVENT_TOPICS: Readonly<Record<VaultEventKind, readonly string[]>> = {
  deposit: [`0x${DEPOSITED_TOPIC}`, `0x${DEPOSITED_WITH_CONFIG_TOPIC}`],
  withdrawal: [`0x${WITHDREW_TOPIC}`],
  settlement: [`0x${SETTLED_TOPIC}`],
  forced: [`0x${FORCED_TOPIC}`],
};

interface BlockHeader {
  readonly number: number;
  /** 64 hex. */
  readonly hash: string;
  /** Seconds. */
  readonly time: number;
}

export interface LogFilter {
  readonly event: VaultEventKind;
  /** 40 hex. */
  readonly vault: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** 64 hex: only events of this user; null: all. */
  readonly user: string | null;
}

type Json = Readonly<Record<string, unknown>>;

/** A quantity of at most 2^53 − 1: `0x` and up to 64 hex digits of any case; leading zeros, which some nodes write, are read (CHN-03). */
export function readQuantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : null;
}

/** @returns null unless it is the block of this number; a block that does not exist yet is null as well. */
export function readHeader(value: unknown, number: number): BlockHeader | null {
  const block = object(value);
  if (block === null || readQuantity(block['number']) !== number) return null;
  const hash = readBytes(block['hash'], 32);
  const time = readQuantity(block['timestamp']);
  return hash === null || time === null ? null : { number, hash, time };
}

/**
 * What providers write differently is read: null for no logs, logs in another order, the same log twice (CHN-03).
 *
 * @returns the events of the range in the order of the chain; null when a log is malformed, not of the filter, removed, no such event in
 *   spite of its topic, or contradicts another: another log in its place, or another block of its number; `'tooMany'` beyond the bounds.
 */
export function readLogs(value: unknown, filter: LogFilter): readonly ChainLog[] | 'tooMany' | null {
  const items = value === null ? [] : value;
  if (!Array.isArray(items)) return null;
  if (items.length > LOGS_MAX) return 'tooMany';
  const places = new Map<string, ChainLog>();
  const blocks = new Map<number, string>();
  for (const item of items) {
    const log = readLog(item, filter);
    if (log === null || (blocks.get(log.blockNumber) ?? log.blockHash) !== log.blockHash) return null;
    blocks.set(log.blockNumber, log.blockHash);
    const place = `${log.blockNumber}/${log.logIndex}`;
    const other = places.get(place);
    // mutant: evm-doubled-log
    if (other !== undefined && logKey(other) !== logKey(log)) return null;
    places.set(place, log);
  }
  if (blocks.size > LOG_BLOCKS_MAX && filter.fromBlock < filter.toBlock) return 'tooMany';
  return [...places.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** Everything that two showings of a log must have in common. */
export function logKey(log: ChainLog): string {
  return [log.blockNumber, log.blockHash, log.tx, log.logIndex, log.address, ...log.topics, log.data].join('|');
}

function readLog(value: unknown, filter: LogFilter): ChainLog | null {
  const item = object(value);
  if (item === null || item['removed'] === true) return null;
  const blockNumber = readQuantity(item['blockNumber']);
  const logIndex = readQuantity(item['logIndex']);
  const blockHash = readBytes(item['blockHash'], 32);
  const tx = readBytes(item['transactionHash'], 32);
  const address = readBytes(item['address'], 20);
  const topics = readTopics(item['topics']);
  const data = readData(item['data']);
  if (blockNumber === null || logIndex === null || blockHash === null || tx === null) return null;
  if (address === null || topics === null || data === null) return null;
  if (address !== filter.vault || blockNumber < filter.fromBlock || blockNumber > filter.toBlock) return null;
  const log = { blockNumber, blockHash, tx, logIndex, address, topics, data };
  const event = decodeVaultEvent(filter.event, log);
  return event === null || (filter.user !== null && event.user !== filter.user) ? null : log;
}

/** The answer of `eth_call` for one uint256. */
export function readUint256(value: unknown): bigint | null {
  const word = readBytes(value, 32);
  return word === null ? null : BigInt(`0x${word}`);
}

/** The answer of `eth_call` for one uint64. */
export function readCounter(value: unknown): number | null {
  const counter = readUint256(value);
  return counter === null || counter > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(counter);
}

function readTopics(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > TOPICS_MAX) return null;
  const topics = value.map((topic) => readBytes(topic, 32));
  return topics.every((topic) => topic !== null) ? topics : null;
}

function readData(value: unknown): string | null {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return null;
  const digits = value.length > 2 + 2 * DATA_BYTES_MAX ? CUT_DIGITS : value.length;
  return value.slice(2, 2 + digits).toLowerCase();
}

function readBytes(value: unknown, byteCount: number): string | null {
  if (typeof value !== 'string' || !value.startsWith('0x')) return null;
  return parseHex(value, byteCount) === null ? null : value.slice(2).toLowerCase();
}

function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}
