/**
 * The root of the package `ringbook-client`, and of `ringbook/client`: what a trading program imports, and the types of all that
 * it passes and receives. Less common parts are modules of their own: the operator API `ringbook-client/operator`, files of
 * co-signatures `ringbook-client/cosign-file`.
 */

// The root of a published package is the one place that re-exports: its callers have no other path to what is inside.
// biome-ignore-start lint/performance/noBarrelFile: the root of a published package
export { AssetNames } from './asset-names.ts';
export { depositConfigText, vaultKey } from './canonical.ts';
export { RingbookClient } from './client.ts';
export {
  assertionBytes,
  coSign,
  ed25519CoSigner,
  generateSecret,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from './co-signers.ts';
export { ControlConnection } from './control.ts';
export { RingbookError } from './errors.ts';
export { EventStream } from './event-stream.ts';
export { devKey, generateSeed, keyFromSeed, loadKey, saveSeed } from './keys.ts';
export { LiveBook } from './live-book.ts';
export { LocalBook } from './local-book.ts';
export { FeedBook, MarketFeed } from './market-feed.ts';
export {
  signMakerOrder,
  unsignedAddSigner,
  unsignedCancel,
  unsignedClosePosition,
  unsignedCreate,
  unsignedQuotes,
  unsignedReplace,
  unsignedSettlement,
  unsignedTransfer,
  unsignedWithdrawal,
  unsignedWithdrawalCancel,
} from './signed-actions.ts';
export { movePrice, priceOnTick, quantityInLots, ticksBetween } from './ticks.ts';
// biome-ignore-end lint/performance/noBarrelFile: the root of a published package

export type * from '../codec/json-tree.ts';
export type { ProtectionState } from '../codec/reply-types.ts';
export type { Signatures, SignerKey, SignerScheme } from '../codec/signatures.ts';
export type { AssetId, UserId } from '../core/ids.ts';
export type * from './account.ts';
export type * from './action-signers.ts';
export type { LeaderAddress } from './addresses.ts';
export type * from './canonical.ts';
export type * from './client.ts';
export type * from './co-signers.ts';
export type { Closed, ConnectionEvents, Shutdown } from './connection-events.ts';
export type * from './control.ts';
export type * from './errors.ts';
export type * from './event-stream.ts';
export type * from './http-transport.ts';
export type * from './keys.ts';
export type * from './ledger.ts';
export type * from './limits.ts';
export type * from './live-book.ts';
export type * from './local-book.ts';
export type * from './margin.ts';
export type * from './market-feed.ts';
export type * from './order-events.ts';
export type * from './private-feed.ts';
export type { ProtectionTicket } from './protection.ts';
export type * from './registry.ts';
export type * from './replies.ts';
export type * from './signed-actions.ts';
export type * from './ticks.ts';
export type * from './time.ts';
export type * from './user-reads.ts';
