/**
 * A user's own accounts: signed transfers, position closes, withdrawals and settlements, which clearing decides, the queue of
 * withdrawals and the signatures of settlements (wire.md 7.17 to 7.19), names, and reads of signers (wire.md 7.20). Clearing's refusal of a signed action is a 200 with the refusal in its body (AMB-67).
 */

import { clearingReply, decodeRename, nextNonces, renameReply } from '../codec/account-bodies.ts';
import { decodeSignerKey, multisigConfig, signerAccounts } from '../codec/multisig.ts';
import type { SignerKey } from '../codec/signatures.ts';
import type { ActionRequest } from '../codec/signed-action.ts';
import { decodeAddSigner } from '../codec/signed-add-signer.ts';
import { decodeSettlement, settlementReply } from '../codec/signed-settlement.ts';
import { decodeClosePosition, decodeTransfer } from '../codec/signed-transfer.ts';
import { decodeWithdrawal, decodeWithdrawalCancel } from '../codec/signed-withdrawal.ts';
import { type ChainId, parseChainId } from '../core/ids.ts';
import { ACTION_BYTES_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { ClearingVerdict } from '../gateway/actions/account-actions.ts';
import { answer, noShape, type RequestParts, type RouteKit } from './oms-kit.ts';
import type { Session } from './oms-session.ts';

/** The action was sent to clearing and is not answered in time. */
const LATE: Reject = reject('TIMEOUT_UNKNOWN_STATE', 'clearing did not answer in time; the action may have happened');
const ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;

export function addAccountRoutes(kit: RouteKit): void {
  const { accountActions } = kit.services;
  addSigned(kit, '/account/transfer/sub-account', decodeTransfer, (request, { user }) =>
    accountActions.transfer(request, user),
  );
  addSigned(kit, '/account/transfer/close-position', decodeClosePosition, (request, { user }) =>
    accountActions.closePosition(request, user),
  );
  addWithdrawals(kit);
  addSettlements(kit);
  addNonces(kit);
  addRename(kit);
  addSigners(kit);
}

function addSigned<Inner>(
  kit: RouteKit,
  pattern: string,
  decode: (bytes: Uint8Array, start: number, end: number) => Outcome<ActionRequest<Inner>>,
  act: (request: ActionRequest<Inner>, session: Session) => Promise<ClearingVerdict>,
): void {
  kit.addSession({
    method: 'POST',
    pattern,
    bodyBytesMax: ACTION_BYTES_MAX,
    cost: 'action',
    isChange: true,
    late: LATE,
    shape: ({ body }) => decode(body, 0, body.length),
    serve: async (call, session, request) => answer(call, await act(request, session), clearingReply),
  });
}

function addWithdrawals(kit: RouteKit): void {
  const { accountActions, withdrawals } = kit.services;
  addSigned(kit, '/withdrawal/init', decodeWithdrawal, (request, { user }) => accountActions.withdraw(request, user));
  addSigned(kit, '/withdrawal/cancel', decodeWithdrawalCancel, (request, { user }) =>
    accountActions.cancelWithdrawal(request, user),
  );
  kit.addSession({
    method: 'GET',
    pattern: '/withdrawal/queue/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) => call.reply(withdrawals.queueOf(user)),
  });
}

function addSettlements(kit: RouteKit): void {
  const { accountActions, settlements } = kit.services;
  kit.addSession({
    method: 'POST',
    pattern: '/settlement/init',
    bodyBytesMax: ACTION_BYTES_MAX,
    cost: 'action',
    isChange: true,
    late: LATE,
    shape: ({ body }) => decodeSettlement(body, 0, body.length),
    serve: async (call, { user }, request) =>
      answer(call, await accountActions.settle(request, user), (verdict) =>
        verdict.kind === 'approved'
          ? settlementReply(verdict.row, verdict.isDuplicate)
          : clearingReply(verdict.refusal),
      ),
  });
  kit.addSession({
    method: 'GET',
    pattern: '/settlement/signatures/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) => call.reply(settlements.signaturesOf(user)),
  });
}

/** The numbers that own programs sign into withdrawals and settlements (MON-02). */
function addNonces(kit: RouteKit): void {
  const { accountActions } = kit.services;
  kit.addSession({
    method: 'GET',
    pattern: '/account/nonces/:user_id/:chain_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: ({ head }) => chainOf(head.parameters[1] ?? ''),
    serve: async (call, { user }, chainId) =>
      answer(call, await accountActions.nonces(user, chainId), ({ withdrawal, settlements }) =>
        nextNonces(withdrawal, settlements),
      ),
  });
}

function chainOf(text: string): Outcome<ChainId> {
  const chainId = parseChainId(text);
  return chainId === null
    ? rejected(reject('INVALID_REQUEST', 'a chain id has 18 hex digits', 'chain_id'))
    : accepted(chainId);
}

function addRename(kit: RouteKit): void {
  const { accountActions, queries } = kit.services;
  kit.addSession({
    method: 'PATCH',
    pattern: '/account/:user_id/sub-account/:account_index/name',
    cost: 'action',
    isChange: true,
    namesUser: true,
    late: LATE,
    shape: renameOf,
    serve: async (call, { user }, { subAccount, name }) => {
      const oldName = queries.accountName(user, subAccount) ?? '';
      const renamed = await accountActions.rename({ user, subAccount, name });
      answer(call, renamed, () => renameReply(subAccount, name, oldName));
    },
  });
}

function renameOf({ head, body }: RequestParts): Outcome<{ readonly subAccount: number; readonly name: string }> {
  const text = head.parameters[1] ?? '';
  if (!ACCOUNT_FORM.test(text) || Number(text) >= SUB_ACCOUNTS_MAX) {
    return rejected(reject('INVALID_REQUEST', 'a sub-account is a number from 0 to 255', 'account_index'));
  }
  const name = decodeRename(body);
  return name.ok ? accepted({ subAccount: Number(text), name: name.value }) : name;
}

function searchOf({ query, body }: RequestParts): Outcome<{ readonly key: SignerKey; readonly isBare: boolean }> {
  const bare = query.flag('bare');
  if (!bare.ok) return bare;
  const key = decodeSignerKey(body);
  return key.ok ? accepted({ key: key.value, isBare: bare.value }) : key;
}

/** A configuration is set up by a deposit, never by a request (MSG-40). */
function addSigners(kit: RouteKit): void {
  const { accountActions, signers } = kit.services;
  addSigned(kit, '/multisig/add-signer', decodeAddSigner, (request, { user }) =>
    accountActions.addSigner(request, user),
  );
  kit.addSession({
    method: 'GET',
    pattern: '/multisig/config/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) => call.reply(multisigConfig(signers.viewOf(user))),
  });
  for (const method of ['GET', 'POST'] as const) {
    kit.addPublic({
      method,
      pattern: '/multisig/signers',
      query: { bare: 'once' },
      readsBody: true,
      shape: searchOf,
      serve: (call, { key, isBare }) => call.reply(signerAccounts(signers.accountsOf(key), isBare)),
    });
  }
  // A path without any method: every request is 405.
  kit.routes.addMethodless('/multisig/config');
}
