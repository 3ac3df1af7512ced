/**
 * Authenticates a request or an upgrade (wire.md 3.4, 9.1).
 *
 *   REST        Authorization: Bearer <token>    User-Id: <user id>
 *   WebSocket   the same two headers, or, when there is no Authorization, two offered subprotocols in any position:
 *               Bearer-<token>, User-<user id>
 *
 * Everything else is 401: nothing, half of a pair, another scheme, a token of another user, a repeated value.
 */
import { parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import type { LiveSession } from '../gateway/sessions/tokens.ts';
import type { RequestHead } from './request-head.ts';
import { selectSubprotocol } from './uws-socket.ts';

export interface OmsSession extends LiveSession {
  readonly user: UserId;
}

const BEARER_FORM = /^Bearer ([!-~]{1,256})$/i;
const V1_PROTOCOL = 'svc.ws.v1';
/** Ends every name that opts into v1 (wire-additions.md 2.1). */
const V1_ENDING = '.ws.v1';
const BINARY_PROTOCOL = 'ringbook.fbs.v1';
const UNAUTHORIZED: Reject = reject('UNAUTHORIZED', 'a live session of this user is required');
/** The refusal of every change, and of `/control` (MON-13, RDO-01). */
export const READ_ONLY: Reject = reject(
  'READ_ONLY_SESSION',
  'this session only reads: it was opened so, or its signers weigh less than the threshold "low"',
);
export const OTHER_USER: Reject = reject('UNAUTHORIZED', 'the path names another user');

/** The session of a REST request, or UNAUTHORIZED (AUT-01, AUT-02, SES-15). */
export function sessionOf(services: GatewayServices, head: RequestHead): Outcome<OmsSession> {
  const token = BEARER_FORM.exec(head.headers.authorization)?.[1];
  return check(services, token, head.headers['user-id']);
}

/** The session of an upgrade; `Authorization` takes precedence over subprotocols (AUT-05 to AUT-07, AMB-90). */
export function socketSessionOf(services: GatewayServices, head: RequestHead): Outcome<OmsSession> {
  if (head.headers.authorization !== '') return sessionOf(services, head);
  const offered = offeredBy(head);
  return check(services, only(offered, 'Bearer-'), only(offered, 'User-'));
}

/** Whether an upgrade has credentials, valid or not; without any a private socket may bring them (PRV-02). */
export function hasCredentials(head: RequestHead): boolean {
  const { headers } = head;
  if (headers.authorization !== '' || headers['user-id'] !== '') return true;
  return offeredBy(head).some((value) => value.startsWith('Bearer-') || value.startsWith('User-'));
}

/** The session of a token and a user as a frame has them. */
export function sessionOfText(services: GatewayServices, userText: string, token: string): Outcome<OmsSession> {
  return check(services, token, userText);
}

/** The documented name selects version 1 from any position (AUT-08), every other `*.ws.v1` where it is selected: first. */
export function versionOf(head: RequestHead): 0 | 1 {
  return offeredBy(head).some(isV1Name) ? 1 : 0;
}

/** Whether version 1 is another name than the documented one: positions are then an object (wire-additions.md 9.2). */
export function choosesOtherV1(head: RequestHead): boolean {
  const offered = offeredBy(head);
  return !offered.includes(V1_PROTOCOL) && offered.some(isV1Name);
}

/** Whether `/control` carries FlatBuffers: of the subprotocols that name a form, the first offered decides. */
export function choosesBinary(head: RequestHead): boolean {
  return offeredBy(head).find((value, at) => value === BINARY_PROTOCOL || isV1Name(value, at)) === BINARY_PROTOCOL;
}

/** Whether the multiplexed market-data socket carries FlatBuffers: their name is the one that is selected, the first (BMD-01). */
export function choosesBinaryData(head: RequestHead): boolean {
  return selectSubprotocol(head.headers['sec-websocket-protocol']) === 'ringbook.md.fbs.v1';
}

/** @param at its place among the offered names; a credential is no name. */
function isV1Name(value: string, at: number): boolean {
  if (value === V1_PROTOCOL) return true;
  if (value.startsWith('Bearer-') || value.startsWith('User-')) return false;
  return at === 0 && value.endsWith(V1_ENDING) && selectSubprotocol(value) === value;
}

function offeredBy(head: RequestHead): readonly string[] {
  return head.headers['sec-websocket-protocol'].split(',').map((value) => value.trim());
}

/** The rest of the only value with `prefix`. */
function only(values: readonly string[], prefix: string): string | undefined {
  const matching = values.filter((value) => value.startsWith(prefix));
  return matching.length === 1 ? matching[0]?.slice(prefix.length) : undefined;
}

function check(
  services: GatewayServices,
  token: string | undefined,
  userText: string | undefined,
): Outcome<OmsSession> {
  const user = parseUserId(userText ?? '');
  if (user === null || token === undefined || token === '') return rejected(UNAUTHORIZED);
  const session = services.sessions.find(user, token);
  if (session === null) return rejected(UNAUTHORIZED);
  const { byCoSigners, isReadOnly, tokenHash } = session;
  return accepted({ user, byCoSigners, isReadOnly, tokenHash });
}
