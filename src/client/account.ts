/**
 * A user's own accounts: transfers between them, closing flat positions, withdrawals, names, co-signers, and the stream of
 * account events (wire.md 7.17, 7.18, 7.20, 9.5).
 *
 * Signed actions throw the clearing engine's rejection, which the service returns with status 200. Nonces increase
 * strictly per user and kind of action; the nonce of a rejected action may be used again.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import type { ApprovalReply, NextNonces, Renaming, Withdrawal } from '../codec/reply-types.ts';
import {
  NEXT_NONCES,
  RENAMED,
  SETTLEMENT_APPROVAL,
  SETTLEMENT_APPROVALS,
  WITHDRAWAL_QUEUE,
} from '../codec/shapes/account-shapes.ts';
import { ACCOUNT_EVENT } from '../codec/shapes/stream-shapes.ts';
import { type Signatures, type SignerKey, signerKeyText } from '../codec/signatures.ts';
import { toHex } from '../core/hex.ts';
import { type AssetId, parseUserId, type UserId } from '../core/ids.ts';
import { type AccountSigners, type CoSignatures, signerKeyIn, signText } from './action-signers.ts';
import type {
  ClosePositionRequest,
  SettlementRequest,
  TransferRequest,
  WithdrawalCancelRequest,
  WithdrawalRequest,
} from './canonical.ts';
import { invalidArgument, invalidResponse, plainDetails, RingbookError } from './errors.ts';
import type { EventStream, ResumingReconnect } from './event-stream.ts';
import type { HttpExchange } from './http-transport.ts';
import { readObject } from './read-members.ts';
import { replyReader, taggedReader } from './reply-reader.ts';
import {
  bodyOf,
  type MakerOrder,
  randomRequestId,
  type UnsignedAction,
  unsignedAddSigner,
  unsignedClosePosition,
  unsignedSettlement,
  unsignedTransfer,
  unsignedWithdrawal,
  unsignedWithdrawalCancel,
  WRAPPERS,
  withMakerOrder,
} from './signed-actions.ts';

export type { NextNonces, Renaming, Withdrawal } from '../codec/reply-types.ts';

export type AccountEvent =
  | {
      readonly kind: 'DepositLanded' | 'WithdrawalCompleted';
      readonly asset: string;
      /** 18-decimal units. */
      readonly amount18: bigint;
      readonly chainId: string;
      readonly nonce: bigint;
      readonly timestampNs: bigint;
    }
  | {
      readonly kind: 'PositionCleared';
      readonly asset: string;
      readonly subAccount: number;
      readonly timestampNs: bigint;
    }
  | {
      readonly kind: 'SubAccountAssetTransferred';
      readonly asset: string;
      readonly amount18: bigint;
      readonly sourceIndex: number;
      readonly targetIndex: number;
      readonly timestampNs: bigint;
    };

/** What the executor of a settler passes to the vault's `executeAtomicSettlement`. */
export interface SettlementApproval {
  readonly nonce: number;
  /** 65 bytes in hex. */
  readonly signature: string;
  /** `validUntil`, seconds. */
  readonly expiry: number;
}

/** A co-signer of an account. */
export interface RegisteredSigner extends SignerKey {
  readonly weight: number;
  readonly expiresAtNs: bigint | null;
  readonly maxSigningWindowNs: bigint | null;
}

/** A co-signer to be registered. */
export interface NewSigner {
  readonly signer: SignerKey;
  /** From 1. */
  readonly weight: number;
  /** How long the key may sign, from when it is added; null: for ever. */
  readonly sessionDurationNs: bigint | null;
  /** Default: read from the configuration. */
  readonly ceNonce?: number;
  /** Default false. True: with a fresh nonce of the order service in the signed text, so that it is sent within five minutes. */
  readonly withNonce?: boolean;
}

export interface MultisigConfig {
  readonly masterWeight: number;
  readonly signers: readonly RegisteredSigner[];
  readonly thresholds: { readonly low: number; readonly medium: number; readonly high: number };
  readonly configNonce: number;
}

/** The parts of the client that account calls use. */
export interface AccountParts {
  signers(): AccountSigners;
  /** A fresh nonce of the order service; the session is open already, because a login consumes the nonce. */
  nonce(): Promise<string>;
  exchange(request: HttpExchange): Promise<JsonValue>;
  asset(name: string): Promise<AssetId>;
  /** Without a session. */
  exchangePublic(request: HttpExchange): Promise<JsonValue>;
  stream<T>(
    path: string,
    decode: (frame: JsonValue) => readonly T[],
    reconnect?: ResumingReconnect,
  ): Promise<EventStream<T>>;
}

/** A request of the account, whose asset may be named by its symbol. */
type Named<Request> = Omit<Request, 'user' | 'assetId'> & { readonly assetId: string };

const COUNT_MAX = 0xffff_ffff;
/** States in which a withdrawal may be cancelled. */
const CANCELLABLE: ReadonlySet<string> = new Set(['queued', 'filled']);

export class AccountClient {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /** Moves an asset between the user's own sub-accounts. @throws RingbookError with the clearing engine's code. */
  async transfer(request: Named<TransferRequest>, also?: CoSignatures): Promise<void> {
    const assetId = await this.#parts.asset(request.assetId);
    await this.submit(unsignedTransfer(this.#user, { ...request, assetId }), also);
  }

  /** Folds the quote leg of a flat position into spot USD. @throws RingbookError with the clearing engine's code. */
  async closePosition(request: Named<ClosePositionRequest>, also?: CoSignatures): Promise<void> {
    const assetId = await this.#parts.asset(request.assetId);
    await this.submit(unsignedClosePosition(this.#user, { ...request, assetId }), also);
  }

  /**
   * Withdraws from account 0 to an address of a chain. The text is accepted once: without them it gets the next nonce and a random
   * request id.
   *
   * @throws RingbookError with the clearing engine's code; ACTION_ALREADY_USED for a text of before.
   */
  async withdraw(request: Omit<WithdrawalRequest, 'user'>, also?: CoSignatures): Promise<void> {
    return this.submit(await this.unsignedWithdrawal(request), also);
  }

  /** `withdraw` before it is signed, with the nonce and the request id that it takes: for co-signers on other machines. */
  async unsignedWithdrawal(request: Omit<WithdrawalRequest, 'user'>): Promise<UnsignedAction> {
    const { requestId = randomRequestId() } = request;
    const nonce = request.nonce === undefined ? (await this.nextNonces(request.chainId)).withdrawal : request.nonce;
    return unsignedWithdrawal(this.#user, { ...request, nonce, requestId });
  }

  /**
   * Of a withdrawal that is queued or filled. Without the time of its request, that of the live row of the nonce is read from the
   * queue, so that no later row is cancelled.
   *
   * @throws RingbookError with the clearing engine's code.
   */
  async cancelWithdrawal(request: Omit<WithdrawalCancelRequest, 'user'>, also?: CoSignatures): Promise<void> {
    return this.submit(await this.unsignedWithdrawalCancel(request), also);
  }

  /** `cancelWithdrawal` before it is signed, with the time of the row that it names: for co-signers on other machines. */
  async unsignedWithdrawalCancel(request: Omit<WithdrawalCancelRequest, 'user'>): Promise<UnsignedAction> {
    if (request.requestedNs !== undefined) return unsignedWithdrawalCancel(this.#user, request);
    const asset = `${request.token.replace(/^0x/i, '').toLowerCase().padEnd(64, '0')}@${request.chainId}`;
    const row = (await this.withdrawals()).find(
      (one) => one.asset === asset && one.nonce === request.nonce && CANCELLABLE.has(one.status),
    );
    // Without such a row there is nothing to name, and the node says so.
    return unsignedWithdrawalCancel(
      this.#user,
      row === undefined ? request : { ...request, requestedNs: row.requestedNs },
    );
  }

  /** The next numbers that no live row of the user on the chain holds. */
  async nextNonces(chainId: string): Promise<NextNonces> {
    const path = `/account/nonces/${this.#user}/${chainId}`;
    return readNonces(await this.#parts.exchange({ method: 'GET', path }));
  }

  /**
   * Settles with the vault of a chain: the amount that is given is locked, and the approval comes with the reply. A
   * TIMEOUT_UNKNOWN_STATE: it is locked, and its approval will be in `settlementSignatures`. Without them it gets the next nonce of
   * its sub-account and a random request id.
   *
   * @param makerOrder of a delegated settlement. @throws RingbookError with the clearing engine's code.
   */
  async settle(
    request: Omit<SettlementRequest, 'user' | 'maker'>,
    { makerOrder, ...also }: CoSignatures & { readonly makerOrder?: MakerOrder } = {},
  ): Promise<SettlementApproval> {
    const maker = makerOrder?.maker ?? null;
    const { requestId = randomRequestId() } = request;
    const nonce =
      request.nonce === undefined
        ? ((await this.nextNonces(request.chainId)).settlements.get(request.subAccount) ?? null)
        : request.nonce;
    const action = unsignedSettlement(this.#user, { ...request, nonce, requestId, maker });
    const body = bodyOf(action, signText(this.#parts.signers(), action.text, also), 0n);
    const { method, path } = WRAPPERS[action.kind];
    const whole = makerOrder === undefined ? body : withMakerOrder(body, makerOrder);
    const reply = await this.#parts.exchange({ method, path, body: whole });
    throwRefusal(reply);
    return readObject(reply, 'settlement', (reader) => approvalOf(readApproval(reader.object('approval'))));
  }

  /** Approvals of settlements that were neither executed nor expired, by chain, sub-account and nonce. */
  async settlementSignatures(): Promise<readonly SettlementApproval[]> {
    const path = `/settlement/signatures/${this.#user}`;
    return readApprovals(await this.#parts.exchange({ method: 'GET', path })).map(approvalOf);
  }

  /**
   * Registers a co-signer of the account; tier high. @throws RingbookError with the node's code.
   *
   * @returns the configuration's nonce that the request had: the next one has one more.
   */
  async addSigner(request: NewSigner, also?: CoSignatures): Promise<number> {
    const action = await this.unsignedSigner(request);
    await this.submit(action, also);
    return action.ceNonce;
  }

  /** `addSigner` before it is signed, with the nonces that it takes: for co-signers on other machines. */
  async unsignedSigner({
    withNonce = false,
    ...request
  }: NewSigner): Promise<UnsignedAction & { readonly ceNonce: number }> {
    const ceNonce = request.ceNonce ?? (await this.multisigConfig()).configNonce;
    const omsNonce = withNonce ? await this.#parts.nonce() : null;
    const whole = { ...request, ceNonce, ...(omsNonce === null ? {} : { omsNonce }) };
    return { ...unsignedAddSigner(this.#user, whole), ceNonce };
  }

  /** Signs an action with the signers that are here and sends it. Not for actions on orders. */
  submit(action: UnsignedAction, also?: CoSignatures): Promise<void> {
    const signers = this.#parts.signers();
    if (action.user !== signers.userId) throw invalidArgument('an action is signed by its signer');
    return this.submitSigned(action, signText(signers, action.text, also));
  }

  /** Sends an action with the signatures that it has, and no others. Not for actions on orders. */
  async submitSigned(action: UnsignedAction, signatures: Signatures): Promise<void> {
    const { member, method, path } = WRAPPERS[action.kind];
    if (member !== 'inner') throw invalidArgument('an action on an order is sent by the client');
    const body = bodyOf(action, signatures, 0n);
    throwRefusal(await this.#parts.exchange({ method, path, body }));
  }

  /** The user's withdrawals that live or ended within a day, oldest first. */
  async withdrawals(): Promise<readonly Withdrawal[]> {
    const path = `/withdrawal/queue/${this.#user}`;
    const reply = await this.#parts.exchange({ method: 'GET', path });
    const rows = reply as readonly JsonObject[];
    return readQueue(reply).map((row, index) => ({ ...row, ...readStatus(rows[index]?.get('status') ?? null) }));
  }

  /** Names a sub-account that the user created: 1 to 32 characters. @returns the name before, given or default, and now. */
  async rename(subAccount: number, name: string): Promise<Renaming> {
    const path = `/account/${this.#user}/sub-account/${subAccount}/name`;
    const reply = await this.#parts.exchange({ method: 'PATCH', path, body: JSON.stringify({ name }) });
    return readRenaming(reply);
  }

  /** The signers of an account and what they weigh; an account without a configuration has the default one. */
  async multisigConfig(user: UserId = this.#user): Promise<MultisigConfig> {
    return readMultisigConfig(await this.#parts.exchange({ method: 'GET', path: `/multisig/config/${user}` }));
  }

  /** Accounts that list this key as a co-signer; without a session. */
  async accountsOfSigner(key: SignerKey): Promise<readonly UserId[]> {
    const body = signerKeyText(key);
    const reply = await this.#parts.exchangePublic({ method: 'POST', path: '/multisig/signers', body });
    return readObject(reply, 'accounts of a signer', (reader) =>
      reader.array('accounts').map((account) => {
        const user = parseUserId(String(account));
        if (user === null) throw invalidResponse('accounts of a signer', 'expected user ids');
        return user;
      }),
    );
  }

  /** Events of the user's accounts, published after they are flushed. */
  events(reconnect?: ResumingReconnect): Promise<EventStream<AccountEvent>> {
    const path = `/account/events/${this.#user}`;
    const decode = (frame: JsonValue): readonly AccountEvent[] => {
      const event = readAccountEvent(frame);
      return event === null ? [] : [event];
    };
    return this.#parts.stream(path, decode, reconnect);
  }

  get #user(): UserId {
    return this.#parts.signers().userId;
  }
}

const readNonces = replyReader('nonces', NEXT_NONCES);
const readRenaming = replyReader('renaming', RENAMED);
const readQueue = replyReader('withdrawals', WITHDRAWAL_QUEUE);
const readApproval = replyReader('approval', SETTLEMENT_APPROVAL);
const readApprovals = replyReader('settlement signatures', SETTLEMENT_APPROVALS);
const readEvent = taggedReader('account event', ACCOUNT_EVENT);

/** @returns null for a tag unknown to this version. */
export function readAccountEvent(value: JsonValue): AccountEvent | null {
  return readEvent(value) as AccountEvent | null;
}

function approvalOf({ inner, expiry }: ApprovalReply): SettlementApproval {
  return { ...inner, expiry };
}

function readMultisigConfig(reply: JsonValue): MultisigConfig {
  return readObject(reply, 'multisig', (reader) => ({
    masterWeight: reader.integer('master_weight', 0, COUNT_MAX),
    signers: reader.array('signers').map(readRegisteredSigner),
    thresholds: readObject(reader.object('thresholds'), 'thresholds', (inner) => ({
      low: inner.integer('low', 0, COUNT_MAX),
      medium: inner.integer('medium', 0, COUNT_MAX),
      high: inner.integer('high', 0, COUNT_MAX),
    })),
    configNonce: reader.integer('config_nonce', 0, Number.MAX_SAFE_INTEGER),
  }));
}

function readRegisteredSigner(value: JsonValue): RegisteredSigner {
  return readObject(value, 'signer', (reader) => {
    const optional = (name: string): bigint | null => (reader.has(name) ? reader.u64(name) : null);
    const key = signerKeyIn(reader.value('key'));
    if (key === null) throw invalidResponse('signer', 'expected a key of a known scheme');
    return {
      ...{ ...key, weight: reader.integer('weight', 0, COUNT_MAX) },
      ...{ expiresAtNs: optional('expires_at_ns'), maxSigningWindowNs: optional('max_signing_window_ns') },
    };
  });
}

function readStatus(value: JsonValue): Pick<Withdrawal, 'status' | 'approvals'> {
  return readObject(value, 'status', (reader) => {
    const status = reader.string('type');
    if (status !== 'approved') return { status, approvals: [] };
    const approvals = reader.array('approvals').map((approval) =>
      readObject(approval, 'approval', (inner) => ({
        signature: readObject(inner.object('inner'), 'inner', (signed) => signed.string('signature')),
        expiry: inner.integer('expiry', 0, Number.MAX_SAFE_INTEGER),
        epochHash: toHex(Uint8Array.from(inner.array('epoch_hash').map(Number))),
      })),
    );
    return { status, approvals };
  });
}

/** The clearing engine rejects with status 200 (AMB-67). */
function throwRefusal(reply: JsonValue): void {
  if (!isJsonObject(reply) || reply.get('success') !== false) return;
  const details = reply.get('details');
  const code = isJsonObject(details) ? details.get('code') : undefined;
  if (!isJsonObject(details) || typeof code !== 'string') throw invalidResponse('account', 'a refusal without a code');
  throw new RingbookError({
    code,
    message: String(details.get('message') ?? code),
    retryable: details.get('retryable') === true,
    status: 200,
    details: plainDetails(details),
  });
}
