/** Who acts in the simulation: users with real keys, which their logins are signed with; orders need no signature. */
import { keyFromSeed, type SigningKey } from '../../src/client/keys.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';

export const PEOPLE: readonly SigningKey[] = Array.from({ length: 6 }, (_, index) =>
  keyFromSeed(new Uint8Array(32).fill(index + 1)),
);
export const USERS: readonly UserId[] = PEOPLE.map(({ userId }) => userId);
export const MARKETS: readonly AssetId[] = ['12', '13'] as AssetId[];

export function userAt(who: number): UserId {
  return must(USERS[who], 'a person of the world');
}
