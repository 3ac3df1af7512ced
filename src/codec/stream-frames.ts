/** Frames around payloads on WebSockets: the v1 envelope, welcome, ping and pong, channel errors (wire.md 9.1, 9.2). */
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { errorObject } from './error-envelope.ts';
import { isJsonObject, parseJson } from './json-tree.ts';
import { quote, quoteOrNull } from './json-writer.ts';

/** Channels of the order service. */
export type OmsChannel =
  | 'orders'
  | 'trades'
  | 'positions'
  | 'account_stats'
  | 'account_events'
  | 'control'
  | 'at_risk'
  | 'pending_settlements'
  | 'user';

/** Channels of the market-data service, as its welcome names them. */
export type MdsChannel = 'trades' | 'trade_events' | 'marketdepth' | 'klines' | 'ticker' | 'tickers';

interface EnvelopeView {
  readonly type: 'event' | 'response' | 'error' | 'pong' | 'sequence' | 'server_shutdown';
  readonly channel: OmsChannel;
  readonly requestId: string | null;
  readonly timestampNs: TimestampNs;
  /** JSON text, exactly the v0 payload. */
  readonly data: string | null;
  /** JSON text of an error object. */
  readonly error: string | null;
}

/** The v1 envelope: six members, always all of them (WS-04). */
export function streamEnvelope(view: EnvelopeView): string {
  return (
    `{"type":"${view.type}","channel":"${view.channel}","request_id":${quoteOrNull(view.requestId)},` +
    `"timestamp_ns":${view.timestampNs},"data":${view.data ?? 'null'},"error":${view.error ?? 'null'}}`
  );
}

/** One event on a stream: the payload itself on v0, in an envelope on v1. */
export function eventFrame(version: 0 | 1, channel: OmsChannel, timestampNs: TimestampNs, payload: string): string {
  if (version === 0) return payload;
  return streamEnvelope({ type: 'event', channel, requestId: null, timestampNs, data: payload, error: null });
}

/** As `eventFrame` on v1, with the sequence number that the client requested. */
export function numberedFrame(
  channel: OmsChannel,
  timestampNs: TimestampNs,
  payload: string,
  sequence: number,
): string {
  return `${eventFrame(1, channel, timestampNs, payload).slice(0, -1)},"sequence":${sequence}}`;
}

/** First frame for a client that requested sequence numbers: the last number before the frames that follow. */
export function sequenceFrame(channel: OmsChannel, timestampNs: TimestampNs, sequence: number): string {
  const view = { type: 'sequence', channel, requestId: null, timestampNs, data: null, error: null } as const;
  return `${streamEnvelope(view).slice(0, -1)},"sequence":${sequence}}`;
}

/** First frame of a market-data socket (WS-06). */
export function welcomeFrame(channel: MdsChannel): string {
  return `{"type":"subscriptions","channels":[{"name":"${channel}"}],"errors":[]}`;
}

/** The reply to a text ping on a one-way stream (WS-09, AMB-95). */
export function pongFrame(version: 0 | 1, channel: OmsChannel, timestampNs: TimestampNs): string {
  if (version === 0) return '{"type":"pong"}';
  return streamEnvelope({ type: 'pong', channel, requestId: null, timestampNs, data: null, error: null });
}

/** v1 only: the service stops soon. New requests are rejected, pending ones are answered; then close 1001. */
export function shutdownFrame(channel: OmsChannel, timestampNs: TimestampNs): string {
  return streamEnvelope({
    type: 'server_shutdown',
    channel,
    requestId: null,
    timestampNs,
    data: null,
    error: null,
  });
}

/** Longer texts are not parsed as a ping. */
const PING_BYTES_MAX = 256;

/** True for an object with `type` `ping`; every other text on a one-way stream is ignored. */
export function isTextPing(text: Uint8Array): boolean {
  if (text.length > PING_BYTES_MAX) return false;
  const tree = parseJson(text, { fractions: 'text' });
  return tree.ok && isJsonObject(tree.value) && tree.value.get('type') === 'ping';
}

/**
 * Sent to a socket on another user's path or with an expired session, before its close with 1000 (AUT-12, AMB-88). Not
 * for `/control`.
 */
export function unauthorizedFrame(
  version: 0 | 1,
  channel: OmsChannel,
  timestampNs: TimestampNs,
  message = 'the path names another user',
): string {
  const error = `{"code":"unauthorized","message":${quote(message)},"retryable":false}`;
  if (version === 0) return `{"type":"error","channel":"${channel}","error":${error}}`;
  return streamEnvelope({ type: 'error', channel, requestId: null, timestampNs, data: null, error });
}

/**
 * Sent to a lagging v1 socket before it is closed with 1013 (WS-14), and to one that requests numbers no longer kept.
 * v0 is closed without a frame.
 */
export function resyncFrame(channel: OmsChannel, timestampNs: TimestampNs, message = 'the stream fell behind'): string {
  const error = `{"code":"RESYNC_REQUIRED","message":${quote(message)},"retryable":true}`;
  return streamEnvelope({ type: 'error', channel, requestId: null, timestampNs, data: null, error });
}

/**
 * Sent on `/control` after an action signed by another user or when the session has expired, before the close with 1000
 * (AUT-13, AMB-88, AMB-92).
 */
export function controlUnauthorizedFrame(
  version: 0 | 1,
  timestampNs: TimestampNs,
  message = 'the action is signed by another user',
): string {
  const error = errorObject(reject('UNAUTHORIZED', message));
  if (version === 0) return `{"error":${error}}`;
  return streamEnvelope({ type: 'error', channel: 'control', requestId: null, timestampNs, data: null, error });
}
