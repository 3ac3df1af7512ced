/**
 * A user's own accounts: balances, signed transfers, position closes, withdrawals and settlements, which clearing decides, the
 * queue of withdrawals and the signatures of settlements (wire.md 7.11, 7.17 to 7.19), names, and reads of signers (wire.md 7.20).
 * Clearing's refusal of a signed action is a 200 with the refusal in its body (AMB-67).
 */

import { clearingReply, decodeRename, nextNonces, renameReply } from '../codec/account-bodies.ts';
import { decodeAddSigner, decodeSettlement, decodeSigned, decodeTransfer } from '../codec/account-requests.ts';
import { settlementReply } from '../codec/funds-replies.ts';
import { inventoryReply } from '../codec/inventory-reply.ts';
import { decodeSignerKey, multisigConfig, signerAccounts } from '../codec/multisig.ts';
import {
  ACTION_RESULT,
  ADD_SIGNER_REQUEST,
  CLOSE_POSITION_REQUEST,
  INVENTORY,
  MULTISIG_CONFIG,
  NEXT_NONCES,
  RENAME_REQUEST,
  RENAMED,
  SETTLEMENT_APPROVALS,
  SETTLEMENT_REQUEST,
  SETTLEMENT_RESULT,
  SIGNER_ACCOUNTS,
  SIGNER_SEARCH,
  TRANSFER_REQUEST,
  WITHDRAWAL_CANCEL_REQUEST,
  WITHDRAWAL_QUEUE,
  WITHDRAWAL_REQUEST,
} from '../codec/shapes/account-shapes.ts';
import type { SignerKey } from '../codec/signatures.ts';
import { type ChainId, parseChainId } from '../core/ids.ts';
import { ACTION_BYTES_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, type RejectName, reject } from '../core/reject.ts';
import type { ClearingVerdict } from '../gateway/actions/account-actions.ts';
import { BOOLEAN_WORD, SUB_ACCOUNT_QUERY } from './api/query-docs.ts';
import {
  answer,
  type GatewayRoute,
  nothing,
  publicRoute,
  type RequestParts,
  type RouteKit,
  sessionRoute,
} from './oms-kit.ts';
import { subAccountsOf } from './path-values.ts';
import type { HttpCall } from './uws-http.ts';

const TOKEN = '5a'.repeat(20).padEnd(64, '0');
const TOKEN_OUT = '6b'.repeat(20).padEnd(64, '0');
const TARGET = '7c'.repeat(20).padEnd(64, '0');
/** The action was sent to clearing and is not answered in time. */
const LATE: Reject = reject('TIMEOUT_UNKNOWN_STATE', 'clearing did not answer in time; the action may have happened');
const ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;
const ACCOUNT = { area: 'Account', cost: 'action' } as const;
const OWN = { ...ACCOUNT, method: 'GET', auth: 'session' } as const;
const SIGNER_ERRORS: readonly RejectName[] = [
  'SIGNER_MISMATCH',
  'INVALID_SIGNATURE',
  'INSUFFICIENT_SIGNER_WEIGHT',
  'SIGNER_UNKNOWN',
  'SIGNER_EXPIRED',
  'SIGNER_DUPLICATE',
  'TIMEOUT_UNKNOWN_STATE',
];

/** What the funds of an account can lack, and what all margin accounts together may hold. */
const FUNDS_REJECTIONS: readonly RejectName[] = [
  'INSUFFICIENT_INVENTORY',
  'INSUFFICIENT_MARGIN',
  'PROTOCOL_CAP_EXCEEDED',
];
const SIGNER_SEARCH_ROUTE = {
  path: '/multisig/signers',
  area: 'Account',
  auth: 'public',
  cost: 'publicRead',
  query: [{ name: 'bare', shape: BOOLEAN_WORD, summary: 'true: the reply is the array alone' }],
  body: SIGNER_SEARCH,
  reply: SIGNER_ACCOUNTS,
  example: { body: `{"Ed25519":[${'7,'.repeat(31)}7]}`, reply: '{"accounts":[]}' },
  read: searchOf,
  serve: ({ services }: RouteKit, call: HttpCall, { key, isBare }: SignerSearch) =>
    call.reply(signerAccounts(services.signers.accountsOf(key), isBare)),
} as const;

/** A signed action, which clearing decides. */
const SIGNED = {
  ...ACCOUNT,
  method: 'POST',
  auth: 'signed',
  bodyBytesMax: ACTION_BYTES_MAX,
  signs: 'inner',
  late: LATE,
} as const;

/** Replies with the decision of clearing. */
function decided(call: HttpCall, verdict: ClearingVerdict): void {
  answer(call, verdict, clearingReply);
}

export const ACCOUNT_ROUTES: readonly GatewayRoute[] = [
  sessionRoute({
    ...OWN,
    path: '/inventory/user/{user_id}',
    summary: 'What you own',
    description:
      'By sub-account and asset, in human units. Amounts locked for a withdrawal or a settlement are excluded; amounts reserved for orders are included.',
    query: [SUB_ACCOUNT_QUERY],
    reply: INVENTORY,
    example: {
      reply:
        '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1200.5","1":"0.75"},"margins":{}},"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"500"},"margins":{"2":{"base":{"credits":"2.5","liabilities":"0"},"quote":{"credits":"0","liabilities":"7875.6"}}}}}}',
    },
    read: ({ query }) => subAccountsOf(query),
    serve: ({ services }, call, { user }, subAccounts) =>
      call.reply(inventoryReply(services.queries.inventory(user, subAccounts))),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/account/transfer/sub-account',
    summary: 'Move a balance between your sub-accounts',
    description:
      'A target that does not exist is created with the kind `target_account_type`: `"Spot"`, `"CrossMargin"` or `{"Isolated":{"asset":"…"}}`; null for one that exists. A rejection by clearing has status 200. ' +
      'Nonces must increase; a nonce is used up only by a successful transfer.',
    body: TRANSFER_REQUEST,
    reply: ACTION_RESULT,
    errors: SIGNER_ERRORS,
    rejections: ['INVALID_REQUEST', 'INVALID_NONCE', 'ASSET_NOT_FOUND', ...FUNDS_REJECTIONS],
    example: {
      body: '{"inner":{"user":"{user_id}","source_index":0,"target_index":2,"transfer_asset":"0","transfer_amount":"2500000000000000000","target_account_type":"Spot","nonce":1770000000123},"signature":[],"additional_signers":[]}',
      reply: '{"success":true}',
    },
    read: ({ body }) => decodeTransfer(body, 0, body.length),
    serve: async ({ services }, call, { user }, request) =>
      decided(call, await services.accountActions.transfer(request, user)),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/account/transfer/close-position',
    summary: 'Move the quote leg of a flat position into the balance',
    description:
      'For a position without size and with a remaining quote leg. Rejections have status 200: `POSITION_NOT_FOUND`, `POSITION_NOT_FLAT`, `POSITION_BUSY`.',
    body: CLOSE_POSITION_REQUEST,
    reply: ACTION_RESULT,
    errors: SIGNER_ERRORS,
    rejections: [
      'INVALID_REQUEST',
      'INVALID_NONCE',
      'POSITION_NOT_FOUND',
      'POSITION_NOT_FLAT',
      'POSITION_BUSY',
      'INSUFFICIENT_INVENTORY',
    ],
    example: {
      body: '{"inner":{"user":"{user_id}","account":1,"asset_identifier":"1","nonce":1770000000124},"signature":[],"additional_signers":[]}',
      reply:
        '{"success":false,"details":{"code":"POSITION_NOT_FOUND","message":"there is no such position","retryable":false}}',
    },
    read: ({ body }) => decodeSigned(CLOSE_POSITION_REQUEST, body),
    serve: async ({ services }, call, { user }, request) =>
      decided(call, await services.accountActions.closePosition(request, user)),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/withdrawal/init',
    summary: 'Withdraw from account 0',
    description:
      'Locks the amount and the fee. It waits for its delay, is filled in its order as far as the vault has free units, and is approved at the next checkpoint: then the queue has the signatures for the vault. ' +
      'A signed text is accepted once: while its row is live the same text is answered with `"duplicate":true` and moves nothing, after that with 409 `ACTION_ALREADY_USED`. A rejection by clearing has status 200.',
    body: WITHDRAWAL_REQUEST,
    reply: ACTION_RESULT,
    errors: [...SIGNER_ERRORS, 'ACTION_ALREADY_USED'],
    rejections: ['INVALID_REQUEST', 'INVALID_NONCE', 'VAULT_NOT_FOUND', 'ASSET_NOT_FOUND', 'INSUFFICIENT_INVENTORY'],
    example: {
      body: `{"inner":{"tplus_user":"{user_id}","asset":"${TOKEN}@000000000000007a69","amount":"de0b6b3a7640000","nonce":null,"target":"${TARGET}","request_id":"a1"},"signature":[],"additional_signers":[]}`,
      reply: '{"success":true}',
    },
    read: ({ body }) => decodeSigned(WITHDRAWAL_REQUEST, body),
    serve: async ({ services }, call, { user }, request) =>
      decided(call, await services.accountActions.withdraw(request, user)),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/withdrawal/cancel',
    summary: 'Cancel a withdrawal',
    description:
      'Of a withdrawal that is queued or filled; what it locked returns at once, without a fee. With `requested_at_ns` it is about that row of the queue alone, else about the live row of its nonce, each time that it is sent. Once it is to be approved only the chain ends it: `WITHDRAWAL_NOT_FOUND`, with status 200.',
    body: WITHDRAWAL_CANCEL_REQUEST,
    reply: ACTION_RESULT,
    errors: SIGNER_ERRORS,
    rejections: ['WITHDRAWAL_NOT_FOUND'],
    example: {
      body: `{"inner":{"tplus_user":"{user_id}","asset_address":"${TOKEN}@000000000000007a69","nonce":0},"signature":[],"additional_signers":[]}`,
      reply: '{"success":true}',
    },
    read: ({ body }) => decodeSigned(WITHDRAWAL_CANCEL_REQUEST, body),
    serve: async ({ services }, call, { user }, request) =>
      decided(call, await services.accountActions.cancelWithdrawal(request, user)),
  }),
  sessionRoute({
    ...OWN,
    path: '/withdrawal/queue/{user_id}',
    summary: 'Your withdrawals',
    description:
      'Those that live and those that ended within a day. `signature`, `expiry` and `epoch_hash` of an approved one are arguments of the vault.',
    reply: WITHDRAWAL_QUEUE,
    example: {
      reply: `[{"tplus_user":"{user_id}","asset":"${TOKEN}@000000000000007a69","amount":"de0b6b3a7640000","nonce":0,"target":"${TARGET}","status":{"type":"queued"},"requested_at_ns":1770000004000000000}]`,
    },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(services.withdrawals.queueOf(user)),
  }),
  sessionRoute({
    ...OWN,
    path: '/account/nonces/{user_id}/{chain_id}',
    summary: 'Next nonces of a chain',
    description:
      "The next number of a withdrawal, and by sub-account of a settlement, that no live row holds. A request that signs it is refused by the vault's counter once it is executed.",
    reply: NEXT_NONCES,
    example: {
      path: { chain_id: '000000000000007a69' },
      reply: '{"withdrawal":0,"settlements":{"0":0,"1":0}}',
    },
    read: ({ head }) => chainOf(head.parameters[1] ?? ''),
    serve: async ({ services }, call, { user }, chainId) =>
      answer(call, await services.accountActions.nonces(user, chainId), ({ withdrawal, settlements }) =>
        nextNonces(withdrawal, settlements),
      ),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/settlement/init',
    summary: 'Settle with a vault',
    description:
      'Locks `amount_out` of the sub-account, binds it in the vault, and answers with the approval that the executor of the settler passes to `executeAtomicSettlement`. ' +
      'The vault settles in the order of nonces. When it has, the amount is debited and `amount_in` is credited; without it the lock ends once a confirmed block is past `expiry`. ' +
      'A signed text, and the text of a maker order, is accepted once: while its row is live the same request gets the same approval with `"duplicate":true`, after that 409 `ACTION_ALREADY_USED`. ' +
      'A rejection by clearing has status 200. `TIMEOUT_UNKNOWN_STATE`: it is locked; look among the signatures.',
    body: SETTLEMENT_REQUEST,
    reply: SETTLEMENT_RESULT,
    errors: [...SIGNER_ERRORS, 'SERVICE_UNAVAILABLE', 'ACTION_ALREADY_USED'],
    rejections: [
      'INVALID_REQUEST',
      'INVALID_NONCE',
      'CHAIN_NOT_FOUND',
      'VAULT_NOT_FOUND',
      'SETTLER_NOT_FOUND',
      'ASSET_NOT_FOUND',
      ...FUNDS_REJECTIONS,
    ],
    example: {
      body: `{"inner":{"tplus_user":"{user_id}","sub_account_index":0,"settler":"{user_id}","mode":"spot","asset_in":"${TOKEN}","amount_in":"de0b6b3a7640000","asset_out":"${TOKEN_OUT}","amount_out":"9c4","chain_id":"000000000000007a69","expires_at":null,"mm_pubkey":null},"signature":[],"additional_signers":[]}`,
      reply:
        '{"success":false,"details":{"code":"SETTLER_NOT_FOUND","message":"this settler is not registered on the chain","retryable":false,"field":"settler"}}',
    },
    read: ({ body }) => decodeSettlement(body, 0, body.length),
    serve: async ({ services }, call, { user }, request) =>
      answer(call, await services.accountActions.settle(request, user), (verdict) =>
        verdict.kind === 'approved'
          ? settlementReply(verdict.row, verdict.isDuplicate)
          : clearingReply(verdict.refusal),
      ),
  }),
  sessionRoute({
    ...OWN,
    path: '/settlement/signatures/{user_id}',
    summary: 'Your settlement approvals',
    description: 'Those that were neither executed nor expired.',
    reply: SETTLEMENT_APPROVALS,
    example: { reply: '[]' },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(services.settlements.signaturesOf(user)),
  }),
  sessionRoute({
    ...ACCOUNT,
    method: 'PATCH',
    path: '/account/{user_id}/sub-account/{account_index}/name',
    auth: 'session',
    summary: 'Name a sub-account',
    description: 'Sub-accounts 0 and 1 keep their names.',
    body: RENAME_REQUEST,
    reply: RENAMED,
    errors: ['TIMEOUT_UNKNOWN_STATE'],
    example: {
      path: { account_index: '2' },
      body: '{"name":"Hedge book"}',
      reply:
        '{"sub_account_index":2,"name":"Hedge book","account_index":2,"old_name":"Account 2","new_name":"Hedge book"}',
    },
    isChange: true,
    late: LATE,
    read: renameOf,
    serve: async ({ services }, call, { user }, { subAccount, name }) => {
      const oldName = services.queries.accountName(user, subAccount) ?? '';
      const renamed = await services.accountActions.rename({ user, subAccount, name });
      answer(call, renamed, () => renameReply(subAccount, name, oldName));
    },
  }),
  sessionRoute({
    ...OWN,
    path: '/multisig/config/{user_id}',
    summary: 'Who may sign for you',
    description:
      'Set up by a first deposit, or by `POST /multisig/add-signer`; `POST /multisig/config` is always 405. An account without a configuration has the default: its own key alone.',
    reply: MULTISIG_CONFIG,
    example: {
      reply: '{"master_weight":1,"signers":[],"thresholds":{"low":1,"medium":1,"high":1},"config_nonce":0}',
    },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(multisigConfig(services.signers.viewOf(user))),
  }),
  sessionRoute({
    ...SIGNED,
    path: '/multisig/add-signer',
    summary: 'Add a signer to your account',
    description:
      'Needs the weight of the threshold `high`. The signer is in the configuration until it expires, and is never taken out; at most 16. A rejection by clearing has status 200: a `ce_nonce` that is not the current one is `INVALID_NONCE`, a key that is there `SIGNER_DUPLICATE`.',
    body: ADD_SIGNER_REQUEST,
    reply: ACTION_RESULT,
    errors: [...SIGNER_ERRORS, 'NONCE_NOT_FOUND', 'NONCE_EXPIRED'],
    rejections: ['INVALID_REQUEST', 'INVALID_NONCE', 'SIGNER_DUPLICATE', 'INSUFFICIENT_SIGNER_WEIGHT'],
    example: {
      body: `{"inner":{"user":"{user_id}","signer":{"Secp256k1":[2,${'7,'.repeat(31)}7]},"weight":1,"session_duration_ns":86400000000000,"ce_nonce":0},"signature":[],"additional_signers":[]}`,
      reply: '{"success":true}',
    },
    read: ({ body }) => decodeAddSigner(body, 0, body.length),
    serve: async ({ services }, call, { user }, request) =>
      decided(call, await services.accountActions.addSigner(request, user)),
  }),
  publicRoute({
    ...SIGNER_SEARCH_ROUTE,
    method: 'POST',
    summary: 'Accounts for which a key may sign',
    description:
      'The body is the bare key. A key that signs for no account has an empty list; of more than 1,000 accounts the first are listed.',
  }),
  publicRoute({
    ...SIGNER_SEARCH_ROUTE,
    method: 'GET',
    summary: 'The same with a GET that has a body',
    description: 'For clients that can send one; others, browsers among them, use POST. The reply is the same.',
  }),
];

function chainOf(text: string): Outcome<ChainId> {
  const chainId = parseChainId(text);
  return chainId === null
    ? rejected(reject('INVALID_REQUEST', 'a chain id has 18 hex digits', 'chain_id'))
    : accepted(chainId);
}

function renameOf({ head, body }: RequestParts): Outcome<{ readonly subAccount: number; readonly name: string }> {
  const text = head.parameters[1] ?? '';
  if (!ACCOUNT_FORM.test(text) || Number(text) >= SUB_ACCOUNTS_MAX) {
    return rejected(reject('INVALID_REQUEST', 'a sub-account is a number from 0 to 255', 'account_index'));
  }
  const name = decodeRename(body);
  return name.ok ? accepted({ subAccount: Number(text), name: name.value }) : name;
}

interface SignerSearch {
  readonly key: SignerKey;
  readonly isBare: boolean;
}

function searchOf({ query, body }: RequestParts): Outcome<SignerSearch> {
  const bare = query.flag('bare');
  if (!bare.ok) return bare;
  const key = decodeSignerKey(body);
  return key.ok ? accepted({ key: key.value, isBare: bare.value }) : key;
}
