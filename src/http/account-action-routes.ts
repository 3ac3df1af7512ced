/**
 * Actions on a user's own accounts (wire.md 7.17): signed transfers and position closes, which clearing decides, and
 * names. A rejection of a signed action by clearing has status 200 and a body with the reason (AMB-67).
 */

import { clearingReply } from '../codec/clearing-reply.ts';
import { decodeRename, renameReply } from '../codec/rename.ts';
import { type ActionRequest, decodeClosePosition, decodeTransfer } from '../codec/signed-transfer.ts';
import { ACTION_BYTES_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { ClearingVerdict } from '../gateway/account-actions.ts';
import { answer, type RequestParts, type RouteKit } from './oms-kit.ts';
import type { Session } from './oms-session.ts';

/** The action was sent to clearing without a reply in time. */
const LATE: Reject = reject('TIMEOUT_UNKNOWN_STATE', 'clearing did not answer in time; the action may have happened');
const ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;

export function addAccountActionRoutes(kit: RouteKit): void {
  const { accountActions } = kit.services;
  addSigned(kit, '/account/transfer/sub-account', decodeTransfer, (request, { user }) =>
    accountActions.transfer(request, user),
  );
  addSigned(kit, '/account/transfer/close-position', decodeClosePosition, (request, { user }) =>
    accountActions.closePosition(request, user),
  );
  addRename(kit);
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

function addRename(kit: RouteKit): void {
  const { accountActions } = kit.services;
  kit.addSession({
    method: 'PATCH',
    pattern: '/account/:user_id/sub-account/:account_index/name',
    cost: 'action',
    isChange: true,
    namesUser: true,
    late: LATE,
    shape: renameOf,
    serve: async (call, { user }, { subAccount, name }) => {
      const renamed = await accountActions.rename({ user, subAccount, name });
      answer(call, renamed, () => renameReply(subAccount, name));
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
