/** Replies on `/control` as bytes, in the form of their connection: JSON, bare or in an envelope, or FlatBuffers. */
import { REJECT_CODE, type Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { binaryFailure, binaryResponse, binarySubmitted, binaryUnsigned } from './binary-replies.ts';
import type { ControlAction, FrameHead } from './control-frame.ts';
import {
  controlError,
  controlResponse,
  controlSubmitted,
  controlUnsigned,
  type OperationView,
  type UnsignedView,
} from './operation-replies.ts';

/** A correlated reply. @param assetText identical to that of the request (wire.md 10.2). */
export function responseFrame(
  to: FrameHead,
  action: ControlAction,
  view: OperationView,
  assetText: string,
): Uint8Array {
  if (to.version === 'binary') return binaryResponse(to.requestId, action, view, assetText);
  return Buffer.from(controlResponse(to, action, view, assetText), 'utf8');
}

/** The answer to an unsigned request. */
export function unsignedFrame(to: FrameHead, timestampNs: TimestampNs, done: UnsignedView): Uint8Array {
  if (to.version === 'binary') return binaryUnsigned(to.requestId, timestampNs, done);
  return Buffer.from(controlUnsigned(to, timestampNs, done), 'utf8');
}

/** A batch was accepted for processing: a reply for each of its orders follows (wire.md 10.2, CTL-06). */
export function submittedFrame(to: FrameHead, timestampNs: TimestampNs): Uint8Array {
  if (to.version === 'binary') return binarySubmitted(to.requestId, timestampNs);
  return Buffer.from(controlSubmitted(to, timestampNs), 'utf8');
}

/** An error without a matching pending request (wire.md 10.2). */
export function errorFrame(to: FrameHead, timestampNs: TimestampNs, reject: Reject): Uint8Array {
  if (to.version === 'binary') return binaryFailure(to.requestId, timestampNs, reject);
  return Buffer.from(controlError(to, timestampNs, reject), 'utf8');
}

/** Whether a request was refused for its shape, budget or session, or for want of the service: not by a rule of its action. */
export function isBeforeRules({ code }: Reject): boolean {
  // mutant: short-request-errors
  return code === 'UNAUTHORIZED' || REJECT_CODE[code] < REJECT_CODE.UNAUTHORIZED;
}
