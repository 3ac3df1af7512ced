/** Readers of the account actions that need nothing but their shapes, by name. */
import { decodeSigned } from '../../src/codec/account-requests.ts';
import type {
  ActionRequest,
  SignedClosePosition,
  SignedWithdrawal,
  SignedWithdrawalCancel,
} from '../../src/codec/action-types.ts';
import {
  CLOSE_POSITION_REQUEST,
  WITHDRAWAL_CANCEL_REQUEST,
  WITHDRAWAL_REQUEST,
} from '../../src/codec/shapes/account-shapes.ts';
import type { Outcome } from '../../src/core/outcome.ts';

type Decode<Inner> = (bytes: Uint8Array, start: number, end: number) => Outcome<ActionRequest<Inner>>;

export const decodeClosePosition: Decode<SignedClosePosition> = (...bytes) =>
  decodeSigned(CLOSE_POSITION_REQUEST, ...bytes);
export const decodeWithdrawal: Decode<SignedWithdrawal> = (...bytes) => decodeSigned(WITHDRAWAL_REQUEST, ...bytes);
export const decodeWithdrawalCancel: Decode<SignedWithdrawalCancel> = (...bytes) =>
  decodeSigned(WITHDRAWAL_CANCEL_REQUEST, ...bytes);
