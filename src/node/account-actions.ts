/**
 * Actions on a user's own accounts on their way through the front door:
 *
 *   signer 403 ─▶ weight 400 ─▶ signature 401 ─▶ clearing, which consumes the nonce with the effect ─▶ verdict
 *
 * A refusal before clearing consumes nothing (AMB-68). What clearing refuses is a verdict, not a refusal of the door
 * (AMB-67); that clearing has no room is the door's.
 */
import type { TargetType } from '../clearing/inputs.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import type { AccountActionBackend, ClearingVerdict } from '../edge/account-backend.ts';
import type { ActionRequest, SignedClosePosition, SignedTransfer, TargetAccountType } from '../wire/signed-transfer.ts';
import { BAD_SIGNATURE, POOL_FULL, refuseSigners } from './door-refusals.ts';
import type { OperatorCommand, Reply } from './ops-parts.ts';
import type { SignatureDesk } from './verify-desk.ts';

const NOT_THE_SIGNER: Reject = reject('SIGNER_MISMATCH', 'the signer is not the user of the session', 'user');

export interface AccountActionParts {
  readonly desk: SignatureDesk;
  readonly command: (command: OperatorCommand) => Promise<Reply>;
  /** Asks for a flush at the end of this turn of the event loop. */
  readonly poke: () => void;
}

export class AccountActions implements AccountActionBackend {
  private readonly parts: AccountActionParts;
  /** Signatures of one connection are verified in order; every request here is a connection of its own. */
  private connections = 0;
  private unanswered = 0;

  constructor(parts: AccountActionParts) {
    this.parts = parts;
  }

  /** Actions that clearing has not answered. */
  get inFlight(): number {
    return this.unanswered;
  }

  transfer(request: ActionRequest<SignedTransfer>, user: UserId): Promise<ClearingVerdict> {
    const { sourceIndex, targetIndex, transferAsset, transferAmount, targetAccountType, nonce } = request.inner;
    return this.act(request, user, {
      kind: 'transfer',
      user,
      sourceIndex,
      targetIndex,
      asset: transferAsset.id,
      amount: BigInt(transferAmount) as Amount18,
      targetType: targetTypeOf(targetAccountType),
      nonce,
    });
  }

  closePosition(request: ActionRequest<SignedClosePosition>, user: UserId): Promise<ClearingVerdict> {
    const { account, asset, nonce } = request.inner;
    return this.act(request, user, { kind: 'closePosition', user, account, asset: asset.id, nonce });
  }

  async rename(request: {
    readonly user: UserId;
    readonly subAccount: number;
    readonly name: string;
  }): Promise<Outcome<null>> {
    const { user, subAccount: index, name } = request;
    const reply = await this.send({ kind: 'renameSubAccount', user, index, name });
    return reply.ok ? accepted(null) : reply;
  }

  private async act(
    request: ActionRequest<{ readonly user: { readonly id: UserId } }>,
    user: UserId,
    command: OperatorCommand,
  ): Promise<ClearingVerdict> {
    if (request.inner.user.id !== user) return rejected(NOT_THE_SIGNER);
    const refusal = refuseSigners(request) ?? (await this.verify(request, user));
    if (refusal !== null) return rejected(refusal);
    const reply = await this.send(command);
    if (reply.ok) return accepted(null);
    // Every refusal of clearing itself is final; only a full lane says "not now".
    return reply.reject.code === 'SERVICE_UNAVAILABLE' ? reply : accepted(reply.reject);
  }

  private verify(request: ActionRequest<unknown>, user: UserId): Promise<Reject | null> {
    const { desk, poke } = this.parts;
    const publicKey = must(parseHex(user, 32), 'a session user is 32 bytes of hex');
    this.connections += 1;
    const job = { connection: this.connections, signature: request.signature, text: request.text, publicKey };
    return new Promise((resolve) => {
      const isTaken = desk.verify(job, (isValid) => resolve(isValid ? null : BAD_SIGNATURE));
      if (!isTaken) resolve(POOL_FULL);
      poke();
    });
  }

  private async send(command: OperatorCommand): Promise<Reply> {
    this.unanswered += 1;
    try {
      return await this.parts.command(command);
    } finally {
      this.unanswered -= 1;
    }
  }
}

function targetTypeOf(type: TargetAccountType | null): TargetType | null {
  if (type === null) return null;
  if (type.kind === 'Isolated') return { kind: 'isolated_margin', asset: type.asset.id };
  return { kind: type.kind === 'Spot' ? 'spot' : 'cross_margin', asset: null };
}
