/**
 * Signs approvals of withdrawals and settlements (APR-01 to APR-05, WDR-07, WDR-08, STL-01) with the keys of the configuration: secp256k1 over the
 * digest of wire.md 12.3, deterministic (RFC 6979) and low-s, so that the same row has the same signature after any kill.
 *
 * Invariants
 *   (1) Two approvals for one counter of a vault never live at one time: another approval for a counter is signed only if
 *       its validity begins after the end of the one before. (Clearing ends a row by the chain alone; this holds besides.)
 *   (2) Nothing is signed for the zero address or amount. An hour has at most APPROVALS_PER_HOUR_MAX approvals of withdrawals and
 *       as many of settlements, of these SETTLEMENTS_PER_USER_HOUR_MAX of one user: settlements need no checkpoint, and
 *       one user cannot take the approvals of all.
 *   (3) An hour has at most the configured base units of a token (`approval_limits`): what a fault of the ledger, or a thief
 *       of its host, can pay before an operator looks.
 *
 * The counts of (2) and (3) begin with all that was signed within the last hour, at a start as at a takeover, by rows that every node has
 * (approved-before.ts).
 *
 * Keys stay in this object: never in a log, a message or a file of the node. Another signer, with a module of hardware or on
 * another machine, has the same method.
 */
import { compactSignatureToSignature, type Hex, parseCompactSignature, recoverAddress, serializeSignature } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';
import type { ChainId, UserId } from '../core/ids.ts';
import {
  type CheckpointTerms,
  checkpointDigest,
  domainHash,
  type SettlementApproval,
  settlementDigest,
  type WithdrawalApproval,
  withdrawalDigest,
} from './approval-digests.ts';
import type { VaultSettings } from './chain-rows.ts';

export const APPROVALS_PER_HOUR_MAX = 3_600;
export const SETTLEMENTS_PER_USER_HOUR_MAX = 360;
const HOUR_MS = 3_600_000;
/** Counters that are remembered, the latest ones. */
const SIGNED_MAX = 100_000;
const NOTHING = '0'.repeat(64);

/** What is to be signed. */
export type Approval =
  | { readonly kind: 'withdrawal'; readonly approval: WithdrawalApproval }
  | { readonly kind: 'settlement'; readonly approval: SettlementApproval };

export type SigningRequest = Approval & {
  readonly chainId: ChainId;
  readonly vault: VaultSettings;
  /** Seconds: when the approval begins. */
  readonly validFrom: number;
};

/** What an approval takes from the counts of an hour. */
export interface CountedApproval {
  readonly kind: Approval['kind'];
  readonly user: UserId;
  /** What leaves the vault: `<token>@<chain id>`, and its base units. */
  readonly token: string;
  readonly baseUnits: bigint;
}

/** What was signed before this signer began, by this node or by another one. */
export interface ApprovedBefore {
  /** Within the last hour. */
  readonly counted: readonly CountedApproval[];
  /** Those that may live. */
  readonly live: readonly SigningRequest[];
}

const NOTHING_BEFORE: ApprovedBefore = { counted: [], live: [] };

/** `signatures`: 130 hex each, one for each administrator of the quorum; of a settlement one. */
export type Signed =
  | { readonly kind: 'signed'; readonly signatures: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Signer {
  sign(request: SigningRequest): Promise<Signed>;
}

/** Base units an hour, by `<token>@<chain id>`; a token without an entry has no limit. */
export type AmountLimits = ReadonlyMap<string, bigint>;

export class KeySigner implements Signer {
  /** Keys by their address, 40 hex. */
  readonly #keys: ReadonlyMap<string, Hex>;
  readonly #nowMs: () => number;
  readonly #limits: AmountLimits;
  readonly #signed = new Map<string, { readonly digest: string; readonly validUntil: bigint }>();
  #hourStartedMs: number;
  #inHour: Record<Approval['kind'], number> = { withdrawal: 0, settlement: 0 };
  /** Settlements of this hour. */
  readonly #ofUser = new Map<UserId, number>();
  /** Base units of this hour, of tokens with a limit. */
  readonly #paid = new Map<string, bigint>();

  /**
   * @param keys 64 hex each. @param nowMs real time that never goes back.
   * @param before what the rows have: it counts in the first hour, and no other approval of its counter is signed while it lives.
   */
  constructor(
    keys: readonly string[],
    nowMs: () => number,
    limits: AmountLimits = new Map(),
    before: ApprovedBefore = NOTHING_BEFORE,
  ) {
    this.#keys = new Map(keys.map((key) => [privateKeyToAddress(`0x${key}`).slice(2).toLowerCase(), `0x${key}`]));
    this.#nowMs = nowMs;
    this.#limits = limits;
    this.#hourStartedMs = nowMs();
    // mutant: approvals-of-before
    for (const approval of before.counted) this.#count(approval);
    const inOrder = [...before.live].sort((a, b) => a.validFrom - b.validFrom);
    for (const request of inOrder) this.#keep(request, digestOf(request));
  }

  /** 40 hex each. */
  get addresses(): readonly string[] {
    return [...this.#keys.keys()];
  }

  async sign(request: SigningRequest): Promise<Signed> {
    const { vault } = request;
    const count = request.kind === 'withdrawal' ? vault.quorum : 1;
    const keys = vault.administrators.map((address) => this.#keys.get(address)).filter((key) => key !== undefined);
    if (keys.length < count) return { kind: 'refused', reason: 'too few keys of administrators of the vault' };
    if (paysNothing(request)) return { kind: 'refused', reason: 'it pays nothing' };
    const digest = digestOf(request);
    const refusal = this.#remember(request, digest);
    if (refusal !== null) return { kind: 'refused', reason: refusal };
    const wanted = keys.slice(0, count);
    const signatures = await Promise.all(
      wanted.map((privateKey) => sign({ hash: `0x${digest}`, privateKey, to: 'hex' })),
    );
    return { kind: 'signed', signatures: signatures.map((signature) => signature.slice(2)) };
  }

  /** Signs a root for a vault: it pays nothing, so no bound of approvals counts it. */
  async signCheckpoint(vault: VaultSettings, chainId: ChainId, terms: CheckpointTerms): Promise<Signed> {
    const keys = vault.administrators.map((address) => this.#keys.get(address)).filter((key) => key !== undefined);
    if (keys.length < vault.quorum) return { kind: 'refused', reason: 'too few keys of administrators of the vault' };
    const digest = checkpointDigest(domainHash(vault.address, chainId), terms);
    const wanted = keys.slice(0, vault.quorum);
    const signatures = await Promise.all(
      wanted.map((privateKey) => sign({ hash: `0x${digest}`, privateKey, to: 'hex' })),
    );
    return { kind: 'signed', signatures: signatures.map((signature) => signature.slice(2)) };
  }

  /** @returns why it is refused; null when it is remembered. The same digest again is no other approval. */
  #remember(request: SigningRequest, digest: string): string | null {
    const place = placeOf(request);
    const before = this.#signed.get(place);
    if (before?.digest === digest) return null;
    // mutant: approval-of-one-counter
    if (before !== undefined && BigInt(request.validFrom) < before.validUntil) {
      return 'another approval for this counter may still live';
    }
    const excess = this.#takeHour(request);
    if (excess !== null) return excess;
    this.#keep(request, digest);
    return null;
  }

  #keep(request: SigningRequest, digest: string): void {
    const place = placeOf(request);
    this.#signed.delete(place);
    this.#signed.set(place, { digest, validUntil: request.approval.validUntil });
    for (const oldest of this.#signed.keys()) {
      if (this.#signed.size <= SIGNED_MAX) break;
      this.#signed.delete(oldest);
    }
  }

  /** Counts an approval in its hour. @returns why there is none left; then nothing was counted. */
  #takeHour(request: SigningRequest): string | null {
    const { kind, approval } = request;
    const { user } = approval;
    const nowMs = this.#nowMs();
    if (nowMs - this.#hourStartedMs >= HOUR_MS) {
      this.#hourStartedMs = nowMs;
      this.#inHour = { withdrawal: 0, settlement: 0 };
      this.#ofUser.clear();
      this.#paid.clear();
    }
    if (this.#inHour[kind] >= APPROVALS_PER_HOUR_MAX) return 'too many approvals in an hour';
    const { token, baseUnits } = chargeOf(request);
    const paid = (this.#paid.get(token) ?? 0n) + baseUnits;
    const limit = this.#limits.get(token);
    // mutant: approvals-by-amount
    if (limit !== undefined && paid > limit) return `more than ${limit} base units of ${token} in an hour`;
    const ofUser = this.#ofUser.get(user) ?? 0;
    // mutant: approvals-of-one-user
    if (kind === 'settlement' && ofUser >= SETTLEMENTS_PER_USER_HOUR_MAX)
      return 'too many approvals of this user in an hour';
    this.#count(chargeOf(request));
    return null;
  }

  #count({ kind, user, token, baseUnits }: CountedApproval): void {
    if (kind === 'settlement') this.#ofUser.set(user, (this.#ofUser.get(user) ?? 0) + 1);
    this.#inHour[kind] += 1;
    if (this.#limits.has(token)) this.#paid.set(token, (this.#paid.get(token) ?? 0n) + baseUnits);
  }
}

function digestOf(request: SigningRequest): string {
  const domain = domainHash(request.vault.address, request.chainId);
  return request.kind === 'withdrawal'
    ? withdrawalDigest(domain, request.approval)
    : settlementDigest(domain, request.approval);
}

/** What an approval takes from the counts of an hour. */
export function chargeOf({ kind, chainId, approval }: SigningRequest): CountedApproval {
  const { user } = approval;
  if (kind === 'withdrawal')
    return { kind, user, token: `${approval.token}@${chainId}`, baseUnits: approval.baseUnits };
  return { kind, user, token: `${approval.tokenOut}@${chainId}`, baseUnits: approval.baseUnitsOut };
}

/** The counter of the vault that an approval is for: of a user, for settlements of a sub-account. */
function placeOf(request: SigningRequest): string {
  const { kind, chainId, vault, approval } = request;
  const counter = `${kind}/${chainId}/${vault.address}/${approval.user}`;
  return request.kind === 'withdrawal'
    ? `${counter}/${approval.nonce}`
    : `${counter}/${request.approval.account}/${approval.nonce}`;
}

function paysNothing({ kind, approval }: Approval): boolean {
  if (kind === 'withdrawal') return approval.target === NOTHING || approval.baseUnits <= 0n;
  return approval.baseUnitsOut <= 0n || approval.baseUnitsIn <= 0n;
}

/** Who signed a digest, 40 hex; null for what is no signature. @param signature hex, 65 bytes or 64 in compact form. */
export async function signerOf(digest: string, signature: string): Promise<string | null> {
  const isWhole = signature.length === 130 && (signature.endsWith('1b') || signature.endsWith('1c'));
  if (!isWhole && signature.length !== 128) return null;
  try {
    const given: Hex = `0x${signature}`;
    const whole = isWhole ? given : serializeSignature(compactSignatureToSignature(parseCompactSignature(given)));
    return (await recoverAddress({ hash: `0x${digest}`, signature: whole })).slice(2).toLowerCase();
  } catch {
    return null;
  }
}
