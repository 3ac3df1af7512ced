// tier: quick
/** Statements as they lie in the folder, and the vaults that they name (LIA-01, LIA-04, LIA-05). */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import fc from 'fast-check';
import { ChainCursors } from '../../src/clearing/funds/chain-cursors.ts';
import { toHex } from '../../src/core/hex.ts';
import type { AssetId, ChainId } from '../../src/core/ids.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { Liabilities } from '../../src/evidence/liabilities/liabilities.ts';
import {
  removeStatement,
  StoredLiabilities,
  storedSequences,
  storeLiabilities,
} from '../../src/evidence/liabilities/stored-liabilities.ts';
import { comparedVaults } from '../../src/tools/compared-vaults.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const SECRET = new Uint8Array(32).fill(5);
const user = (at: number): string => toHex(new Uint8Array(32).fill(at));
const SUMS = { negative: 1n, own: 2n, longs: 3n, shorts: 4n };
const home = temporaryDirectory();

function liabilitiesOf(sequence: number, amounts: readonly (readonly [number, number, number, bigint])[]): Liabilities {
  const assets = [0, 1, 2].map((asset) => {
    const own = new Map(
      amounts
        .filter(([, of]) => of === asset)
        .map(([who, , subAccount, amount]) => [
          `${String(who).padStart(2, '0')}/${subAccount}`,
          { user: user(who), subAccount, amount },
        ]),
    );
    return {
      ...SUMS,
      asset: String(asset),
      accounts: [...own].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, account]) => account),
    };
  });
  const lastRowOf = (of: string): { n: number; hash: Uint8Array } => ({
    n: 7,
    hash: new Uint8Array(32).fill(of.length),
  });
  return new Liabilities({ origin: 'o', sequence, timeNs: 9n, secret: SECRET, assets, lastRowOf, vaults: [] });
}

suite('statements in their folder', () => {
  after(() => removeDirectory(home));

  test('LIA-05: what is read of the files for a user is what the trees have, of random ledgers', () => {
    const amount = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.nat(2), fc.nat(3), fc.bigInt(1n, (1n << 100n) - 1n));
    let sequence = 0;
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 60 }), (amounts) => {
        sequence += 1;
        const made = liabilitiesOf(sequence, amounts);
        storeLiabilities(home, made);
        const stored = new StoredLiabilities(home, sequence);
        assert.equal(stored.text, made.text);
        for (let who = 0; who <= 31; who += 1)
          assert.deepEqual(stored.partOf(user(who), SECRET), made.partOf(user(who)));
      }),
      propertyParameters(12),
    );
  });

  test('LIA-04: note and place are kept, another secret is refused, and one is removed whole', () => {
    const folder = join(home, 'own');
    storeLiabilities(folder, liabilitiesOf(41, [[1, 0, 0, 5n]]));
    storeLiabilities(folder, liabilitiesOf(42, [[1, 0, 0, 5n]]));
    const stored = new StoredLiabilities(folder, 42);
    assert.deepEqual([stored.note, stored.place], [null, null]);
    stored.note = 'a note\n';
    stored.place = { sequence: 50, index: 3 };
    const again = new StoredLiabilities(folder, 42);
    assert.deepEqual([again.note, again.place], ['a note\n', { sequence: 50, index: 3 }]);
    assert.throws(() => again.partOf(user(1), new Uint8Array(32)), /the secret is that of the statement/);
    writeFileSync(join(folder, 'what.else'), '');
    assert.deepEqual(storedSequences(folder), [41, 42]);
    removeStatement(folder, 41);
    assert.deepEqual(storedSequences(folder), [42]);
    assert.equal(readdirSync(folder).length, 2);
  });
});

suite('vaults of a statement', () => {
  const chainId = '000000000000007a69' as ChainId;
  const other = '000000000000000001' as ChainId;
  const token = `${'5a'.repeat(20)}${'00'.repeat(12)}`;
  const vault = '0d'.repeat(20);
  const hash = (block: number): string => toHex(new Uint8Array(32).fill(block));

  function ledger(
    changes: { readonly stopped?: boolean; readonly behind?: boolean; readonly missing?: bigint } = {},
  ): Parameters<typeof comparedVaults>[0] {
    const chainCursors = new ChainCursors();
    const cursor = { vault, recent: [], missing: [], stopped: null };
    const stopped = { reason: 'reorg', block: 11, deposits: 1 } as const;
    const anchors = (last: number): { number: number; hash: string }[] => [{ number: last, hash: hash(last) }];
    const recent = changes.behind === true ? [{ block: 12, what: 'one' }] : [];
    chainCursors.put({ chainId, event: 'deposit' }, { ...cursor, nextBlock: 13, anchors: anchors(12), recent });
    chainCursors.put(
      { chainId, event: 'withdrawal' },
      { ...cursor, nextBlock: 12, anchors: anchors(11), stopped: changes.stopped === true ? stopped : null },
    );
    const row = (chain: ChainId): [AssetId, { token: string; chainId: ChainId; asset: AssetId; baseUnits: bigint }] => [
      `${token}@${chain}` as AssetId,
      { token, chainId: chain, asset: '0' as AssetId, baseUnits: 77n },
    ];
    const missing = (changes.missing ?? 0n) as Amount18;
    const deviation = { asset: '0' as AssetId, chainId, missing, accepted: 0n as Amount18 };
    return {
      chainCursors,
      vaultTokens: new Map([row(chainId), row(other)]),
      tokenDecimals: new Map([chainId, other].map((chain) => [`${token}@${chain}`, 6])),
      vaultDeviations: new Map([['0', deviation]]),
    };
  }

  test('LIA-01: a vault line has the lowest block up to which all kinds of events are booked; a simulated chain has none', () => {
    const line = {
      chainId,
      address: vault,
      token,
      assetId: '0',
      block: 11,
      blockHash: hash(11),
      units: 77n,
      decimals: 6,
    };
    assert.deepEqual(comparedVaults(ledger()), [line]);
  });

  test('LIA-01: no statement while a vault lacks units, a chain is stopped, or an event behind the block is booked', () => {
    assert.throws(() => comparedVaults(ledger({ missing: 1n })), /lacks units of asset 0/);
    assert.throws(() => comparedVaults(ledger({ stopped: true })), /not booked up to a block/);
    assert.throws(
      () => comparedVaults(ledger({ behind: true })),
      /events of chain 000000000000007a69 behind block 11 are booked/,
    );
  });
});
