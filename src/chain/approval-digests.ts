/**
 * What an approval signs (wire.md 12.3, APR-01 to APR-03): keccak256 of 32-byte words, one after another, without an
 * EIP-712 envelope. The domain hash in the second word binds vault, chain and schema version.
 *
 *   withdrawal   type │ domain │ token │ amount │ user │ nonce │ valid until │ epoch hash │ target
 *   settlement   type │ domain │ token out │ amount out │ token in │ amount in │ mode │ user │ account │ nonce │ valid
 *                until │ settler
 *   checkpoint   type │ domain │ root │ number
 *
 * Addresses are padded on the right, numbers on the left. Amounts are base units of the token.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { assert, must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { keccakText, U256_MAX } from './chain-events.ts';

const WITHDRAWAL_TYPE = keccakText('WithdrawalApprovalV1');
const SETTLEMENT_TYPE = keccakText('SettlementApprovalV2');
const CHECKPOINT_TYPE = keccakText('CheckpointV1');
const SCHEMA_VERSION = 1n;
const WORD_BYTES = 32;

/** Addresses are 64 hex, right-padded; all numbers are uint256. */
export interface WithdrawalApproval {
  readonly token: string;
  readonly baseUnits: bigint;
  readonly user: UserId;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly validUntil: bigint;
  /** 64 hex. */
  readonly epochHash: string;
  readonly target: string;
}

export interface SettlementApproval {
  readonly tokenOut: string;
  readonly baseUnitsOut: bigint;
  readonly tokenIn: string;
  readonly baseUnitsIn: bigint;
  readonly mode: 'spot' | 'margin';
  readonly user: UserId;
  readonly account: number;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly validUntil: bigint;
  readonly settler: UserId;
}

/** @param vault 64 hex, right-padded. @returns 64 hex. */
export function domainHash(vault: string, chainId: ChainId): string {
  const routingId = BigInt(`0x${chainId.slice(0, 2)}`);
  const vmId = BigInt(`0x${chainId.slice(2)}`);
  return digest([vault, uint(routingId), uint(vmId), uint(SCHEMA_VERSION)]);
}

/** @param domain of the vault. @returns 64 hex. */
export function withdrawalDigest(domain: string, approval: WithdrawalApproval): string {
  const { token, baseUnits, user, nonce, validUntil, epochHash, target } = approval;
  return digest([
    WITHDRAWAL_TYPE,
    domain,
    token,
    uint(baseUnits),
    user,
    uint(nonce),
    uint(validUntil),
    epochHash,
    target,
  ]);
}

/** The atomic form, of 12 words; the squashing and batch forms leave the settler out. @returns 64 hex. */
export function settlementDigest(domain: string, approval: SettlementApproval): string {
  const { tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, user, account, nonce, validUntil, settler } = approval;
  return digest([
    SETTLEMENT_TYPE,
    domain,
    tokenOut,
    uint(baseUnitsOut),
    tokenIn,
    uint(baseUnitsIn),
    uint(mode === 'margin' ? 1n : 0n),
    user,
    uint(BigInt(account)),
    uint(nonce),
    uint(validUntil),
    settler,
  ]);
}

/** A root that administrators commit to a vault, and its number, which only grows (CHN-07). */
export interface CheckpointTerms {
  /** 64 hex. */
  readonly root: string;
  /** uint64, above 0. */
  readonly number: bigint;
}

/** @param domain of the vault. @returns 64 hex. */
export function checkpointDigest(domain: string, { root, number }: CheckpointTerms): string {
  return digest([CHECKPOINT_TYPE, domain, root, uint(number)]);
}

function uint(value: bigint): string {
  assert(value >= 0n && value <= U256_MAX, 'a word of a digest is a uint256');
  return value.toString(16).padStart(WORD_BYTES * 2, '0');
}

function digest(words: readonly string[]): string {
  const bytes = new Uint8Array(words.length * WORD_BYTES);
  words.forEach((word, index) => {
    bytes.set(must(parseHex(word, WORD_BYTES), 'a word of a digest has 32 bytes'), index * WORD_BYTES);
  });
  return toHex(keccak_256(bytes));
}
