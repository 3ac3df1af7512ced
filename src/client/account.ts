/**
 * A user's own accounts: transfers between them, closing flat positions, names, multisig reads, and the stream of
 * account events (wire.md 7.17, 7.20, 9.5).
 *
 * Signed actions throw the clearing engine's rejection, which the service returns with status 200. Nonces increase
 * strictly per user and kind of action; the nonce of a rejected action may be used again.
 */
import { isJsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import type { ClosePositionRequest, TransferRequest, WithdrawalRequest } from './canonical.ts';
import { invalidResponse, malformed, RingbookError } from './errors.ts';
import type { EventStream, ResumingReconnect } from './event-stream.ts';
import type { HttpExchange } from './http-transport.ts';
import type { SigningKey } from './keys.ts';
import { readObject } from './replies.ts';
import { signClosePosition, signTransfer, signWithdrawal, signWithdrawalCancel } from './signed-actions.ts';

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

/** A withdrawal of the queue; an approved one has what the vault asks for. */
export interface Withdrawal {
  /** `<token>@<chain id>`. */
  readonly asset: string;
  /** As the node writes amounts: hex unless its setting `amount_text` is decimal. */
  readonly amount: string;
  readonly nonce: number;
  readonly target: string;
  readonly status: string;
  /** One for each administrator of the quorum; empty unless approved. */
  readonly approvals: readonly { readonly signature: string; readonly expiry: number; readonly epochHash: string }[];
}

export interface MultisigConfig {
  readonly masterWeight: number;
  readonly signerCount: number;
  readonly thresholds: { readonly low: number; readonly medium: number; readonly high: number };
  readonly configNonce: number;
}

/** The parts of the client that account calls use. */
export interface AccountParts {
  signer(): SigningKey;
  exchange(request: HttpExchange): Promise<JsonValue>;
  stream<T>(
    path: string,
    decode: (frame: JsonValue) => readonly T[],
    reconnect?: ResumingReconnect,
  ): Promise<EventStream<T>>;
}

const COUNT_MAX = 0xffff_ffff;

export class AccountClient {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /** Moves an asset between the user's own sub-accounts. @throws RingbookError with the clearing engine's code. */
  async transfer(request: Omit<TransferRequest, 'user'>): Promise<void> {
    const body = signTransfer(this.#parts.signer(), request);
    await this.#write('/account/transfer/sub-account', body);
  }

  /** Folds the quote leg of a flat position into spot USD. @throws RingbookError with the clearing engine's code. */
  async closePosition(request: Omit<ClosePositionRequest, 'user'>): Promise<void> {
    const body = signClosePosition(this.#parts.signer(), request);
    await this.#write('/account/transfer/close-position', body);
  }

  /** Withdraws from account 0 to an address of a chain. @throws RingbookError with the clearing engine's code. */
  async withdraw(request: Omit<WithdrawalRequest, 'user'>): Promise<void> {
    await this.#write('/withdrawal/init', signWithdrawal(this.#parts.signer(), request));
  }

  /** Of a withdrawal that is queued or filled. @throws RingbookError with the clearing engine's code. */
  async cancelWithdrawal(request: {
    readonly token: string;
    readonly chainId: string;
    readonly nonce: number;
  }): Promise<void> {
    await this.#write('/withdrawal/cancel', signWithdrawalCancel(this.#parts.signer(), request));
  }

  /** The user's withdrawals that live or ended within a day, oldest first. */
  async withdrawals(): Promise<readonly Withdrawal[]> {
    const path = `/withdrawal/queue/${this.#parts.signer().userId}`;
    const reply = await this.#parts.exchange({ method: 'GET', path });
    if (!Array.isArray(reply)) throw invalidResponse('withdrawals', 'expected an array');
    return reply.map(readWithdrawal);
  }

  /** Names a sub-account that the user created: 1 to 32 characters. */
  async rename(subAccount: number, name: string): Promise<void> {
    const path = `/account/${this.#parts.signer().userId}/sub-account/${subAccount}/name`;
    await this.#parts.exchange({ method: 'PATCH', path, body: JSON.stringify({ name }) });
  }

  async multisigConfig(): Promise<MultisigConfig> {
    const path = `/multisig/config/${this.#parts.signer().userId}`;
    return readObject(await this.#parts.exchange({ method: 'GET', path }), 'multisig', (reader) => ({
      masterWeight: reader.integer('master_weight', 0, COUNT_MAX),
      signerCount: reader.array('signers').length,
      thresholds: readObject(reader.object('thresholds'), 'thresholds', (inner) => ({
        low: inner.integer('low', 0, COUNT_MAX),
        medium: inner.integer('medium', 0, COUNT_MAX),
        high: inner.integer('high', 0, COUNT_MAX),
      })),
      configNonce: reader.integer('config_nonce', 0, COUNT_MAX),
    }));
  }

  /** Events of the user's accounts, published after they are flushed. */
  events(reconnect?: ResumingReconnect): Promise<EventStream<AccountEvent>> {
    const path = `/account/events/${this.#parts.signer().userId}`;
    const decode = (frame: JsonValue): readonly AccountEvent[] => {
      const event = readAccountEvent(frame);
      return event === null ? [] : [event];
    };
    return this.#parts.stream(path, decode, reconnect);
  }

  async #write(path: string, body: string): Promise<void> {
    throwRefusal(await this.#parts.exchange({ method: 'POST', path, body }));
  }
}

function readWithdrawal(value: JsonValue): Withdrawal {
  return readObject(value, 'withdrawal', (reader) => ({
    asset: reader.string('asset'),
    amount: reader.string('amount'),
    nonce: reader.integer('nonce', 0, Number.MAX_SAFE_INTEGER),
    target: reader.string('target'),
    ...readStatus(reader.object('status')),
  }));
}

function readStatus(value: JsonValue): Pick<Withdrawal, 'status' | 'approvals'> {
  return readObject(value, 'status', (reader) => {
    const status = reader.string('type');
    if (status !== 'approved') return { status, approvals: [] };
    const approvals = reader.array('approvals').map((approval) =>
      readObject(approval, 'approval', (inner) => ({
        signature: readObject(inner.object('inner'), 'inner', (signed) => signed.string('signature')),
        expiry: inner.integer('expiry', 0, Number.MAX_SAFE_INTEGER),
        epochHash: Buffer.from(inner.array('epoch_hash').map(Number)).toString('hex'),
      })),
    );
    return { status, approvals };
  });
}

/** @returns null for a tag unknown to this version. */
export function readAccountEvent(value: JsonValue): AccountEvent | null {
  if (!isJsonObject(value) || value.size !== 1) throw invalidResponse('account event', 'expected one tag');
  const [[tag, content] = ['', null]] = value;
  if (!isJsonObject(content)) throw invalidResponse('account event', 'a tag holds an object');
  const reader = new MemberReader(content);
  const event = readTagged(tag, reader);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('account event', fault);
  return event;
}

function readTagged(tag: string, reader: MemberReader): AccountEvent | null {
  const common = (): { asset: string; timestampNs: bigint } => ({
    asset: reader.string('asset'),
    timestampNs: reader.u64('timestamp_ns'),
  });
  switch (tag) {
    case 'DepositLanded':
    case 'WithdrawalCompleted': {
      const nonce = reader.u64(tag === 'DepositLanded' ? 'deposit_nonce' : 'withdrawal_nonce');
      return { kind: tag, ...common(), amount18: amountOf(reader), chainId: reader.string('chain_id'), nonce };
    }
    case 'PositionCleared':
      return { kind: tag, ...common(), subAccount: reader.integer('sub_account_index', 0, COUNT_MAX) };
    case 'SubAccountAssetTransferred':
      return {
        kind: tag,
        ...common(),
        amount18: amountOf(reader),
        sourceIndex: reader.integer('source_sub_account_index', 0, COUNT_MAX),
        targetIndex: reader.integer('target_sub_account_index', 0, COUNT_MAX),
      };
    default:
      return null;
  }
}

function amountOf(reader: MemberReader): bigint {
  const text = reader.string('amount');
  return /^0x[0-9a-f]{1,64}$/.test(text) ? BigInt(text) : reader.fail('amount', 'expected 0x hex', 0n);
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
    details,
  });
}
