/** The users and assets that tests name: one value each, so that a failure of any suite reads alike. */
import type { AssetId, UserId } from '../../src/core/ids.ts';

export const ALICE: UserId = 'a1'.repeat(32) as UserId;
export const BOB: UserId = 'b2'.repeat(32) as UserId;
export const CAROL: UserId = 'c3'.repeat(32) as UserId;
/** The assets of the seeds of the dev and test profiles. */
export const USD: AssetId = '0' as AssetId;
export const BTC: AssetId = '1' as AssetId;
export const ETH: AssetId = '2' as AssetId;
