/**
 * Events as a vault writes them into the log of its chain (wire.md 12.2): deposits, withdrawals and settlements, encoded and decoded.
 *
 *   deposit      topics   topic0 │ user, 32 bytes │ nonce, uint256 │ token, address in the last 20 bytes
 *                data     amount, uint256 │ in the configured form: offsets and the multisig configuration
 *   withdrawal   topics   topic0 │ user │ nonce
 *                data     token │ amount
 *   settlement   topics   topic0 │ user │ sub-account, uint64 │ nonce
 *                data     token out │ amount out │ token in │ amount in │ mode │ settler
 *
 * event-watch.ts decides whether an event counts.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { SignerSetup } from '../clearing/signers/deposit-config.ts';
import { assert } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { parseUserId, type UserId } from '../core/ids.ts';

export const U256_MAX: bigint = (1n << 256n) - 1n;

/** One log as a node of the chain returns it. Hex is lower case without 0x. */
export interface ChainLog {
  readonly blockNumber: number;
  /** 64 hex. */
  readonly blockHash: string;
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  /** 40 hex: the contract that wrote it. */
  readonly address: string;
  /** 64 hex each. */
  readonly topics: readonly string[];
  readonly data: string;
}

/** `forced`: without the node, of a vault in escape mode. */
export type VaultEventKind = 'deposit' | 'withdrawal' | 'settlement' | 'forced';

/** What a settlement has beside what left the vault. */
interface SettledTerms {
  readonly account: number;
  /** 64 hex, right-padded. */
  readonly tokenIn: string;
  readonly baseUnitsIn: bigint;
  readonly mode: 'spot' | 'margin';
  readonly settler: UserId;
}

/** A deposit, a withdrawal or a settlement; of the last, `token` and `baseUnits` are what left the vault. */
export interface VaultEvent {
  readonly user: UserId;
  /** The vault's counter of the user before this event, of its kind; 0 is the first. */
  readonly nonce: number;
  /** 64 hex, right-padded (IDN-05). */
  readonly token: string;
  readonly baseUnits: bigint;
  /** What a deposit configures, with a verified signature (deposit-config.ts); absent: nothing. */
  readonly setup?: SignerSetup;
  /** Of a settlement only. */
  readonly settled?: SettledTerms;
}

/** An event at its place on the chain: with the chain id, its identity. */
export interface ConfirmedEvent extends VaultEvent {
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  readonly block: number;
}

/** What has a counter of its own in the vault: the user, for settlements the user's sub-account. */
export function counterOwner({ user, settled }: Pick<VaultEvent, 'user' | 'settled'>): string {
  return settled === undefined ? user : `${user}/${settled.account}`;
}

/** keccak256 of a text: topics, transaction ids, block hashes. @returns 64 hex. */
export function keccakText(text: string): string {
  return toHex(keccak_256(new TextEncoder().encode(text)));
}

export const DEPOSITED_TOPIC: string = keccakText('Deposited(bytes32,uint256,address,uint256)');
/** Emitted instead by the configured overload; an equivalent deposit (AMB-74). */
export const DEPOSITED_WITH_CONFIG_TOPIC = '12b18ee7e4271ef0be00bb30644d0408877a75d425b9e1a6016a6ce48cfe35f0';
export const WITHDREW_TOPIC: string = keccakText('Withdrew(bytes32,uint256,address,uint256)');

export const SETTLED_TOPIC: string = keccakText(
  'Settled(bytes32,uint64,uint256,address,uint256,address,uint256,uint8,bytes32)',
);

/** Of the escape hatch (AMB-85, CHN-07): wire.md has no form of it. Its nonce is a counter of its own. */
export const FORCED_TOPIC: string = keccakText('ForceWithdrew(bytes32,uint256,address,uint256)');

const WORD_DIGITS = 64;
const ADDRESS_DIGITS = 40;
const ADDRESS_PADDING = '0'.repeat(WORD_DIGITS - ADDRESS_DIGITS);

function word(value: bigint): string {
  assert(value >= 0n && value <= U256_MAX, 'a word of a log is a uint256');
  return value.toString(16).padStart(WORD_DIGITS, '0');
}

/** Topics and data of a deposit. @param config what `DepositedWithConfig` has behind the amount (deposit-config.ts); '' of `Deposited`. */
export function encodeDeposit(event: VaultEvent, config: string = ''): Pick<ChainLog, 'topics' | 'data'> {
  const token = ADDRESS_PADDING + event.token.slice(0, ADDRESS_DIGITS);
  const topic = config === '' ? DEPOSITED_TOPIC : DEPOSITED_WITH_CONFIG_TOPIC;
  return { topics: [topic, event.user, word(BigInt(event.nonce)), token], data: word(event.baseUnits) + config };
}

/** @returns null for a log that is not a well-formed deposit. */
export function decodeDeposit(log: Pick<ChainLog, 'topics' | 'data'>): VaultEvent | null {
  const [topic0, userTopic = '', nonceTopic = '', tokenTopic = ''] = log.topics;
  if (log.topics.length !== 4) return null;
  if (topic0 !== DEPOSITED_TOPIC && topic0 !== DEPOSITED_WITH_CONFIG_TOPIC) return null;
  const user = parseUserId(userTopic);
  const nonce = uint256(nonceTopic);
  const baseUnits = uint256(log.data.slice(0, WORD_DIGITS));
  const token = addressWord(tokenTopic);
  if (user === null || nonce === null || baseUnits === null || token === null) return null;
  if (nonce > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return { user, nonce: Number(nonce), token, baseUnits };
}

/** Topics and data of a `Withdrew` event, or of a forced one. */
export function encodeWithdrawal(event: VaultEvent, topic: string = WITHDREW_TOPIC): Pick<ChainLog, 'topics' | 'data'> {
  const token = ADDRESS_PADDING + event.token.slice(0, ADDRESS_DIGITS);
  return { topics: [topic, event.user, word(BigInt(event.nonce))], data: token + word(event.baseUnits) };
}

/** @returns null for a log that is not a well-formed withdrawal. */
function decodeWithdrawal(log: Pick<ChainLog, 'topics' | 'data'>, topic: string = WITHDREW_TOPIC): VaultEvent | null {
  const [topic0, userTopic = '', nonceTopic = ''] = log.topics;
  if (log.topics.length !== 3 || topic0 !== topic || log.data.length !== 2 * WORD_DIGITS) return null;
  const user = parseUserId(userTopic);
  const nonce = uint256(nonceTopic);
  const token = addressWord(log.data.slice(0, WORD_DIGITS));
  const baseUnits = uint256(log.data.slice(WORD_DIGITS));
  if (user === null || nonce === null || baseUnits === null || token === null) return null;
  return nonce > BigInt(Number.MAX_SAFE_INTEGER) ? null : { user, nonce: Number(nonce), token, baseUnits };
}

/** Topics and data of a `Settled` event. */
export function encodeSettlement(
  event: VaultEvent & { readonly settled: SettledTerms },
): Pick<ChainLog, 'topics' | 'data'> {
  const { account, tokenIn, baseUnitsIn, mode, settler } = event.settled;
  const address = (token: string): string => ADDRESS_PADDING + token.slice(0, ADDRESS_DIGITS);
  const out = address(event.token) + word(event.baseUnits);
  return {
    topics: [SETTLED_TOPIC, event.user, word(BigInt(account)), word(BigInt(event.nonce))],
    data: out + address(tokenIn) + word(baseUnitsIn) + word(mode === 'margin' ? 1n : 0n) + settler,
  };
}

/** @returns null for a log that is not a well-formed settlement. */
function decodeSettlement(log: Pick<ChainLog, 'topics' | 'data'>): VaultEvent | null {
  const [topic0, userTopic = '', accountTopic = '', nonceTopic = ''] = log.topics;
  if (log.topics.length !== 4 || topic0 !== SETTLED_TOPIC || log.data.length !== 6 * WORD_DIGITS) return null;
  const at = (index: number): string => log.data.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS);
  const user = parseUserId(userTopic);
  const account = safeInteger(accountTopic);
  const nonce = safeInteger(nonceTopic);
  const token = addressWord(at(0));
  const baseUnits = uint256(at(1));
  const tokenIn = addressWord(at(2));
  const baseUnitsIn = uint256(at(3));
  const mode = uint256(at(4));
  const settler = parseUserId(at(5));
  if (user === null || account === null || nonce === null || token === null || baseUnits === null) return null;
  if (tokenIn === null || baseUnitsIn === null || settler === null || mode === null || mode > 1n) return null;
  const settled: SettledTerms = { account, tokenIn, baseUnitsIn, mode: mode === 1n ? 'margin' : 'spot', settler };
  return { user, nonce, token, baseUnits, settled };
}

const DECODERS: Readonly<Record<VaultEventKind, typeof decodeDeposit>> = {
  deposit: decodeDeposit,
  withdrawal: decodeWithdrawal,
  settlement: decodeSettlement,
  forced: (log) => decodeWithdrawal(log, FORCED_TOPIC),
};

/** @returns null for a log that is no event of this kind. */
export function decodeVaultEvent(kind: VaultEventKind, log: Pick<ChainLog, 'topics' | 'data'>): VaultEvent | null {
  return DECODERS[kind](log);
}

function safeInteger(text: string): number | null {
  const value = uint256(text);
  return value === null || value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value);
}

/** An address in the last 20 bytes of a word. @returns 64 hex, right-padded. */
function addressWord(text: string): string | null {
  if (uint256(text) === null || !text.startsWith(ADDRESS_PADDING)) return null;
  return text.slice(ADDRESS_PADDING.length) + ADDRESS_PADDING;
}

function uint256(text: string): bigint | null {
  return text.length === WORD_DIGITS && parseHex(text, 32) !== null ? BigInt(`0x${text}`) : null;
}
