/** Groups that protect a market maker, put and read by their user (MMP-01 to MMP-03). Not signed: a session sets its own limits. */
import { decodeProtection, protectionReply, protectionsReply } from '../codec/protection-bodies.ts';
import { EMPTY } from '../codec/shapes/account-shapes.ts';
import { PROTECTION, PROTECTION_REQUEST, PROTECTIONS } from '../codec/shapes/protection-shapes.ts';
import type { AssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type RejectName, reject } from '../core/reject.ts';
import { answer, type GatewayRoute, type RequestParts, sessionRoute } from './oms-kit.ts';
import { marketIn } from './path-values.ts';

const BODY_BYTES_MAX = 1_024;
const GROUP_FORM = /^[A-Za-z0-9+/=_\-.:]{1,16}$/;
const LATE = reject('TIMEOUT_UNKNOWN_STATE', 'clearing did not answer in time; the action may have happened');
const OF_MARKET = { area: 'Account', auth: 'session', cost: 'action' } as const;
const ERRORS: readonly RejectName[] = ['MARKET_NOT_FOUND', 'SERVICE_UNAVAILABLE', 'TIMEOUT_UNKNOWN_STATE'];
const EXAMPLE_PATH = { asset_id: '1' };
const EXAMPLE_BODY =
  '{"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":20,"max_quantity":"5","max_notional":"100000","min_fill_notional":"10"}';
const EXAMPLE_REPLY =
  '{"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":20,"max_quantity":"5","max_notional":"100000","min_fill_notional":"10","live_orders":0,"is_frozen":false,"frozen_until_ns":null}';

interface GroupPath {
  readonly asset: AssetId;
  readonly group: string;
}

export const PROTECTION_ROUTES: readonly GatewayRoute[] = [
  sessionRoute({
    ...OF_MARKET,
    method: 'PUT',
    path: '/account/protection/{asset_id}',
    summary: 'Limit what a group of orders may trade',
    description:
      'Counted is what orders of the group trade as makers within `window_ms`, both sides together, fills that are not decided yet among them. The fill that reaches a limit takes all orders of the group off the book before the next fill, also in the middle of the match of one taker, and freezes the group: new orders of it are 409 `MMP_FROZEN`. ' +
      'Replaces the limits of a group of that name; its freeze and its window stay. Up to eight groups in a market.',
    bodyBytesMax: BODY_BYTES_MAX,
    body: PROTECTION_REQUEST,
    reply: PROTECTION,
    errors: [...ERRORS, 'INVALID_REQUEST', 'INSUFFICIENT_INVENTORY'],
    example: { path: EXAMPLE_PATH, body: EXAMPLE_BODY, reply: EXAMPLE_REPLY },
    late: LATE,
    isChange: true,
    read: ({ head, body }) => {
      const asset = marketIn(head, 0);
      if (!asset.ok) return asset;
      const request = decodeProtection(body);
      return request.ok ? accepted({ asset: asset.value, ...request.value }) : request;
    },
    serve: async ({ services }, call, { user }, { asset, group, terms }) =>
      answer(call, await services.protections.put({ user, asset, group }, terms), protectionReply),
  }),
  sessionRoute({
    ...OF_MARKET,
    method: 'GET',
    path: '/account/protection/{asset_id}',
    summary: 'Your protection groups in a market',
    reply: PROTECTIONS,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: EXAMPLE_PATH, reply: '{"groups":[]}' },
    read: ({ head }) => marketIn(head, 0),
    serve: ({ services }, call, { user }, asset) =>
      answer(call, services.protections.list(user, asset), protectionsReply),
  }),
  sessionRoute({
    ...OF_MARKET,
    method: 'DELETE',
    path: '/account/protection/{asset_id}/{group}',
    summary: 'Remove a protection group',
    description: 'Not while it is frozen (`MMP_FROZEN`), nor while orders of it live or have undecided fills.',
    reply: EMPTY,
    errors: [...ERRORS, 'NOT_FOUND', 'MMP_FROZEN', 'PROTECTION_IN_USE'],
    example: { path: { ...EXAMPLE_PATH, group: 'g1' }, reply: '{}' },
    late: LATE,
    isChange: true,
    read: groupIn,
    serve: async ({ services }, call, { user }, { asset, group }) =>
      answer(call, await services.protections.remove({ user, asset, group }), () => '{}'),
  }),
  sessionRoute({
    ...OF_MARKET,
    method: 'POST',
    path: '/account/protection/{asset_id}/{group}/reset',
    summary: 'End the freeze of a protection group',
    description: 'It begins with an empty window. Orders that the trip cancelled stay cancelled.',
    reply: PROTECTION,
    errors: [...ERRORS, 'NOT_FOUND'],
    example: { path: { ...EXAMPLE_PATH, group: 'g1' }, reply: EXAMPLE_REPLY },
    late: LATE,
    isChange: true,
    read: groupIn,
    serve: async ({ services }, call, { user }, { asset, group }) =>
      answer(call, await services.protections.reset({ user, asset, group }), protectionReply),
  }),
];

function groupIn({ head }: RequestParts): Outcome<GroupPath> {
  const asset = marketIn(head, 0);
  if (!asset.ok) return asset;
  const group = head.parameters[1] ?? '';
  return GROUP_FORM.test(group)
    ? accepted({ asset: asset.value, group })
    : rejected(reject('INVALID_REQUEST', 'a group has 1 to 16 characters of an order id', 'group'));
}
