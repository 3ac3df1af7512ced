// tier: quick
/** The tree of what is owed of one asset, against a second writing of the same bytes, and against a venue that cheats (LIA-03, LIA-07). */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  CHUNKS_MAX,
  CHUNKS_MIN,
  chunksOf,
  OWED_LEAVES_MIN,
  type Owed,
  type OwedChunk,
  type OwedNode,
  OwedTree,
  owedContext,
  owedLeaf,
  owedNode,
  owedWidth,
  rootOfOwedPath,
} from '../../src/evidence/liabilities/owed-tree.ts';
import { propertyParameters } from '../support/property.ts';

const SECRET = new Uint8Array(32).fill(7);
const ORIGIN = 'ringbook.example/log/1';
const MAX = (1n << 127n) - 1n;

const sha256 = (...parts: readonly Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
function number(bytes: number, value: bigint | number): Buffer {
  return Buffer.from(
    BigInt(value)
      .toString(16)
      .padStart(2 * bytes, '0'),
    'hex',
  );
}

/** The specification once more: the root by recursion over sorted leaves, zero leaves made as such. */
function plainRoot(context: Buffer, chunks: readonly OwedChunk[]): OwedNode {
  const leaves = chunks.map(({ amount, nonce, user, subAccount, i, k, n, last }) => ({
    sum: amount,
    hash: sha256(
      ...[Buffer.of(0), Buffer.from('ringbook/owed/v1\n'), context, number(16, amount), Buffer.from(nonce)],
      ...[Buffer.from(user, 'hex'), number(2, subAccount), number(4, i), number(4, k), number(8, n), Buffer.from(last)],
    ),
  }));
  leaves.sort((a, b) => Buffer.compare(a.hash, b.hash));
  let width = 1_024;
  while (width < leaves.length) width *= 2;
  while (leaves.length < width) leaves.push({ sum: 0n, hash: Buffer.alloc(32) });
  const rootOf = (from: number, to: number): { sum: bigint; hash: Buffer } => {
    if (to - from === 1) return leaves[from] ?? assert.fail();
    const middle = (from + to) / 2;
    const [left, right] = [rootOf(from, middle), rootOf(middle, to)];
    const hash = sha256(Buffer.of(1), number(16, left.sum), left.hash, number(16, right.sum), right.hash);
    return { sum: left.sum + right.sum, hash };
  };
  return rootOf(0, width);
}

const owed: fc.Arbitrary<Owed> = fc.record({
  user: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  subAccount: fc.nat(65_535),
  amount: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 30n)),
  n: fc.nat(),
  last: fc.uint8Array({ minLength: 32, maxLength: 32 }),
});
const everyone = (max: number): fc.Arbitrary<Owed[]> =>
  fc.uniqueArray(owed, { maxLength: max, selector: ({ user, subAccount }) => `${user}.${subAccount}` });

suite('the tree of what is owed', () => {
  test('LIA-03: chunks add up to what is owed, are the same each time, and another place in the journal has others', () => {
    fc.assert(
      fc.property(owed, fc.nat(), (one, sequence) => {
        const context = owedContext(ORIGIN, sequence, '2');
        const chunks = chunksOf(SECRET, context, one);
        assert.ok(chunks.length >= CHUNKS_MIN && chunks.length <= CHUNKS_MAX);
        assert.equal(
          chunks.reduce((sum, { amount }) => sum + amount, 0n),
          one.amount,
        );
        for (const [place, { amount, i, k, nonce }] of chunks.entries()) {
          assert.ok(amount >= 0n);
          assert.deepEqual([i, k], [place, chunks.length]);
          const message = [Buffer.from('ringbook/nonce/v1\n'), Buffer.from(context), Buffer.from(one.user, 'hex')];
          const hmac = createHmac('sha256', SECRET);
          hmac.update(Buffer.concat([...message, number(2, one.subAccount), number(4, i)]));
          assert.deepEqual(Buffer.from(nonce), hmac.digest());
        }
        assert.deepEqual(chunksOf(SECRET, context, one), chunks);
        const later = chunksOf(SECRET, owedContext(ORIGIN, sequence + 1, '2'), one);
        assert.notDeepEqual(later.map(({ nonce }) => nonce).slice(0, 2), chunks.map(({ nonce }) => nonce).slice(0, 2));
      }),
      propertyParameters(200),
    );
  });

  test('LIA-03: the context is the hash of origin, sequence and asset', () => {
    const plain = sha256(
      Buffer.from('ringbook/owed-ctx/v1\n'),
      Buffer.from(`${ORIGIN}\n`),
      number(8, 77),
      Buffer.from('2'),
    );
    assert.deepEqual(Buffer.from(owedContext(ORIGIN, 77, '2')), plain);
  });

  test('LIA-03: root and sum are those of a second writing, and the path of every chunk leads to them', () => {
    fc.assert(
      fc.property(everyone(600), (all) => {
        const context = owedContext(ORIGIN, 5, '0');
        const chunks = all.flatMap((one) => chunksOf(SECRET, context, one));
        const tree = new OwedTree(context, chunks);
        const plain = plainRoot(Buffer.from(context), chunks);
        assert.equal(tree.root.sum, plain.sum);
        assert.equal(
          tree.root.sum,
          all.reduce((sum, { amount }) => sum + amount, 0n),
        );
        assert.deepEqual(Buffer.from(tree.root.hash), plain.hash);
        assert.equal(tree.leaves, chunks.length);
        const seen = new Set<number>();
        for (const chunk of chunks) {
          const proof = tree.proofOf(chunk);
          seen.add(proof.index);
          assert.deepEqual(rootOfOwedPath(owedLeaf(context, chunk), proof, tree.leaves), tree.root);
        }
        assert.equal(seen.size, chunks.length);
      }),
      propertyParameters(12),
    );
  });

  test('LIA-03: a tree is never narrower than 1,024 leaves, and one without users owes nothing', () => {
    assert.equal(owedWidth(0), OWED_LEAVES_MIN);
    assert.equal(owedWidth(1_024), 1_024);
    assert.equal(owedWidth(1_025), 2_048);
    const context = owedContext(ORIGIN, 1, '2');
    const tree = new OwedTree(context, []);
    assert.equal(tree.root.sum, 0n);
    assert.deepEqual(Buffer.from(tree.root.hash), plainRoot(Buffer.from(context), []).hash);
  });
});

suite('a venue that cheats', () => {
  const context = owedContext(ORIGIN, 9, '2');
  const people: Owed[] = Array.from({ length: 40 }, (_, at) => ({
    user: Buffer.alloc(32, at + 1).toString('hex'),
    ...{ subAccount: at % 3, amount: BigInt(at + 1) * 10n ** 18n, n: at, last: new Uint8Array(32).fill(at) },
  }));
  const chunks = people.flatMap((one) => chunksOf(SECRET, context, one));
  const tree = new OwedTree(context, chunks);
  const chunk = chunks[0] ?? assert.fail();
  const leaf = owedLeaf(context, chunk);
  const proof = tree.proofOf(chunk);
  const isProven = (given: OwedNode | null): boolean =>
    given !== null && given.sum === tree.root.sum && Buffer.compare(given.hash, tree.root.hash) === 0;

  test('LIA-07: swapped sums, a cut path, another index, another chunk and another context lead elsewhere', () => {
    assert.ok(isProven(rootOfOwedPath(leaf, proof, tree.leaves)));
    const [first = assert.fail(), ...rest] = proof.path;
    const wrong: [string, OwedNode | null][] = [
      [
        'a sibling with the sum of the leaf',
        rootOfOwedPath(
          { ...leaf, sum: first.sum },
          { ...proof, path: [{ ...first, sum: leaf.sum }, ...rest] },
          tree.leaves,
        ),
      ],
      [
        'a sibling that owes less',
        rootOfOwedPath(leaf, { ...proof, path: [{ ...first, sum: first.sum - 1n }, ...rest] }, tree.leaves),
      ],
      ['a path that is cut', rootOfOwedPath(leaf, { ...proof, path: proof.path.slice(0, -1) }, tree.leaves)],
      ['a longer path', rootOfOwedPath(leaf, { ...proof, path: [...proof.path, first] }, tree.leaves)],
      ['the other side', rootOfOwedPath(leaf, { ...proof, index: proof.index ^ 1 }, tree.leaves)],
      ['an index behind the chunks', rootOfOwedPath(leaf, { ...proof, index: chunks.length }, tree.leaves)],
      ['no index', rootOfOwedPath(leaf, { ...proof, index: -1 }, tree.leaves)],
      ['a wider tree', rootOfOwedPath(leaf, proof, 1_025)],
    ];
    const other = { ...chunk, user: 'ff'.repeat(32) };
    for (const [name, changed] of Object.entries({
      user: other,
      account: { ...chunk, subAccount: chunk.subAccount + 1 },
      amount: { ...chunk, amount: chunk.amount + 1n },
      part: { ...chunk, i: chunk.i + 1 },
      parts: { ...chunk, k: chunk.k + 1 },
      rows: { ...chunk, n: chunk.n + 1 },
      last: { ...chunk, last: new Uint8Array(32).fill(0xee) },
      nonce: { ...chunk, nonce: new Uint8Array(32) },
    }))
      wrong.push([name, rootOfOwedPath(owedLeaf(context, changed), proof, tree.leaves)]);
    wrong.push(['another asset', rootOfOwedPath(owedLeaf(owedContext(ORIGIN, 9, '3'), chunk), proof, tree.leaves)]);
    wrong.push([
      'an older statement',
      rootOfOwedPath(owedLeaf(owedContext(ORIGIN, 8, '2'), chunk), proof, tree.leaves),
    ]);
    wrong.push(['another origin', rootOfOwedPath(owedLeaf(owedContext('other', 9, '2'), chunk), proof, tree.leaves)]);
    for (const [name, found] of wrong) assert.equal(isProven(found), false, name);
  });

  test('LIA-07: a sum that would wrap at 2^127, or is negative, is no node', () => {
    const full: OwedNode = { sum: MAX, hash: new Uint8Array(32) };
    assert.ok(owedNode(full, { ...full, sum: 0n }) !== null);
    assert.equal(owedNode(full, { ...full, sum: 1n }), null);
    assert.equal(owedNode({ ...full, sum: -1n }, full), null);
    assert.equal(rootOfOwedPath(full, { index: 0, path: Array.from({ length: 10 }, () => full) }, 2), null);
  });

  test('LIA-07: a leaf that is there twice makes no tree', () => {
    assert.throws(() => new OwedTree(context, [...chunks, { ...chunk }]), /no leaf is there twice/);
  });
});
