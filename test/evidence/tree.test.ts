// tier: full, 20 s
/** The tree of the evidence: against RFC 6962, Go's implementation, a plain one in Python, and a plain one of this file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import fc from 'fast-check';
import { must as mustBe } from '../../src/core/assert.ts';
import { parseHex, toHex } from '../../src/core/hex.ts';
import { readTilePath, tilePath } from '../../src/core/tile-paths.ts';
import { EMPTY_TREE_ROOT, leafHash, nodeHash, TREE_HASH_BYTES } from '../../src/evidence/tree/hashes.ts';
import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  rootAt,
  rootOfPath,
  TILE_WIDTH,
  type TileReader,
} from '../../src/evidence/tree/proofs.ts';
import {
  entriesRoot,
  entryHash,
  entryPaths,
  RECORD_LEAF_BYTES,
  rawCommitment,
  readRecordLeaf,
  recordLeaf,
  Salts,
} from '../../src/evidence/tree/record-leaf.ts';
import { TileFiles } from '../../src/evidence/tree/tile-files.ts';
import { TreeEdge } from '../../src/evidence/tree/tree-edge.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const leafOf = (index: number): Uint8Array => leafHash(utf8(`leaf ${index}`));
const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const base64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
const same = (one: readonly Uint8Array[], other: readonly Uint8Array[], what: string): void =>
  assert.deepEqual(one.map(toHex), other.map(toHex), what);

/** All stored levels in memory. */
class TreeInMemory implements TileReader {
  readonly edge = new TreeEdge();
  readonly roots: Uint8Array[] = [EMPTY_TREE_ROOT];
  readonly #levels: Uint8Array[][] = [];

  append(hash: Uint8Array): void {
    this.edge.append(hash, (height, index, node) => {
      if (height % 8 !== 0) return;
      this.#levels[height / 8] ??= [];
      const level = must(this.#levels[height / 8]);
      assert.equal(level.length, index, 'hashes of a level come in order');
      level.push(node);
    });
  }

  read(level: number, index: number, count: number): Uint8Array {
    const hashes = must(this.#levels[level]).slice(index, index + count);
    assert.equal(hashes.length, count, 'only stored hashes are read');
    return Buffer.concat(hashes);
  }
}

function treeOf(size: number): TreeInMemory {
  const tree = new TreeInMemory();
  for (let index = 0; index < size; index += 1) tree.append(leafOf(index));
  return tree;
}

interface Vectors {
  readonly roots: readonly string[];
  readonly inclusion: readonly { readonly Size: number; readonly Index: number; readonly Path: readonly string[] }[];
  readonly consistency: readonly { readonly Older: number; readonly Size: number; readonly Path: readonly string[] }[];
}

/** A proof that differs from a right one in one bit, one hash less, one more, or two exchanged. */
function* damaged(proof: readonly Uint8Array[], pick: number): Generator<readonly Uint8Array[]> {
  yield [...proof, leafOf(pick)];
  const at = proof.length === 0 ? 0 : pick % proof.length;
  const hash = proof[at];
  if (hash === undefined) return;
  const flipped = Uint8Array.from(hash);
  flipped[pick % TREE_HASH_BYTES] = (flipped[pick % TREE_HASH_BYTES] ?? 0) ^ (1 << (pick % 8));
  yield proof.with(at, flipped);
  yield proof.toSpliced(at, 1);
  yield proof.with(at, hash.subarray(1));
}

suite('EVD-03: the tree of the evidence', () => {
  const home = temporaryDirectory();
  after(() => removeDirectory(home));

  test('has the roots and proofs of Go transparency-dev/merkle', () => {
    const vectors = JSON.parse(readFileSync('test/fixtures/evidence-vectors.json', 'utf8')) as Vectors;
    const tree = new TreeInMemory();
    assert.deepEqual(EMPTY_TREE_ROOT, base64(must(vectors.roots[0])));
    for (let size = 1; size < vectors.roots.length; size += 1) {
      tree.append(leafOf(size - 1));
      assert.deepEqual(Uint8Array.from(tree.edge.root()), base64(must(vectors.roots[size])), `root ${size}`);
    }
    for (const { Size, Index, Path } of vectors.inclusion)
      same(inclusionProof(tree, Index, Size), Path.map(base64), `inclusion ${Index} of ${Size}`);
    for (const { Older, Size, Path } of vectors.consistency)
      same(consistencyProof(tree, Older, Size), Path.map(base64), `consistency ${Older} to ${Size}`);
    assert.ok(vectors.inclusion.length > 40 && vectors.consistency.length > 40);
  });

  test('has the vectors of RFC 6962 implementations: the empty tree and eight known leaves', () => {
    const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
    const edge = new TreeEdge();
    const roots = [toHex(edge.root())];
    for (const leaf of leaves) {
      edge.append(leafHash(must(parseHex(leaf, leaf.length / 2))));
      roots.push(toHex(edge.root()));
    }
    assert.deepEqual(roots, [
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
  });

  test('proofs of every leaf and every older size of small trees are right, and refused when damaged', () => {
    const tree = treeOf(40);
    for (let size = 1; size <= 40; size += 1) {
      const root = rootAt(tree, size);
      for (let index = 0; index < size; index += 1) {
        const path = inclusionProof(tree, index, size);
        assert.deepEqual(rootOfPath(index, size, leafOf(index), path), root);
        assert.notDeepEqual(rootOfPath(index, size, leafOf(index + 1), path), root);
        for (const wrong of damaged(path, index + size)) {
          const other = rootOfPath(index, size, leafOf(index), wrong);
          assert.ok(other === null || toHex(other) !== toHex(root));
        }
      }
      for (let older = 0; older <= size; older += 1) {
        const proof = consistencyProof(tree, older, size);
        const [from, to] = [
          { size: older, root: rootAt(tree, older) },
          { size, root },
        ];
        assert.ok(isConsistent(from, to, proof), `${older} to ${size}`);
        assert.ok(!isConsistent({ size: older, root: leafOf(0) }, to, proof) || older === 1);
        assert.ok(!isConsistent(from, { size, root: leafOf(99) }, proof) || older === 0);
        for (const wrong of damaged(proof, older + size)) assert.ok(!isConsistent(from, to, wrong));
      }
    }
    for (const [index, size] of [
      [1, 1],
      [-1, 4],
      [0.5, 4],
      [0, Number.NaN],
      [0, 2 ** 60],
    ])
      assert.equal(rootOfPath(must(index), must(size), leafOf(0), []), null);
  });

  test('random trees to 100,000 leaves: sampled proofs hold, at every size that the tree had', () => {
    const tree = treeOf(100_000);
    fc.assert(
      fc.property(fc.nat(99_999), fc.nat(), fc.nat(), (last, pick, other) => {
        const size = last + 1;
        const [index, older] = [pick % size, other % (size + 1)];
        const root = rootAt(tree, size);
        const path = inclusionProof(tree, index, size);
        assert.deepEqual(rootOfPath(index, size, leafOf(index), path), root);
        for (const wrong of damaged(path, pick))
          assert.notDeepEqual(rootOfPath(index, size, leafOf(index), wrong), root);
        const proof = consistencyProof(tree, older, size);
        const [from, to] = [
          { size: older, root: rootAt(tree, older) },
          { size, root },
        ];
        assert.ok(isConsistent(from, to, proof));
        for (const wrong of damaged(proof, pick)) assert.ok(!isConsistent(from, to, wrong));
      }),
      propertyParameters(200),
    );
    const edge = new TreeEdge();
    for (let index = 0; index < 100_000; index += 1) {
      edge.append(leafOf(index));
      if (index % 9_973 === 0) assert.deepEqual(edge.root(), rootAt(tree, index + 1));
    }
  });

  test('a tree of a million leaves in files: proofs, tiles, a cut at any size, a lost upper level', () => {
    const folder = join(home, 'million');
    const files = new TileFiles(folder, 'append');
    const edge = new TreeEdge();
    const roots = new Map<number, Uint8Array>();
    for (let index = 0; index < 1_050_000; index += 1) {
      files.append(edge, leafOf(index));
      if (index % 104_729 === 0) roots.set(index + 1, edge.root());
    }
    files.sync();
    const reader = new TileFiles(folder, 'read');
    assert.equal(reader.size, 1_050_000);
    assert.deepEqual(rootAt(reader, 1_050_000), edge.root());
    for (const [size, root] of roots) assert.deepEqual(rootAt(reader, size), root);
    for (const index of [0, 255, 256, 65_535, 65_536, 1_048_575, 1_048_576, 1_049_999]) {
      const path = inclusionProof(reader, index, 1_050_000);
      assert.deepEqual(rootOfPath(index, 1_050_000, leafOf(index), path), edge.root());
      const older = { size: index + 1, root: rootAt(reader, index + 1) };
      const newer = { size: 1_050_000, root: edge.root() };
      assert.ok(isConsistent(older, newer, consistencyProof(reader, index + 1, 1_050_000)));
    }
    const tile = reader.read(1, 0, TILE_WIDTH);
    const ofTile = new TreeEdge();
    for (let at = 0; at < tile.length; at += TREE_HASH_BYTES) ofTile.append(tile.subarray(at, at + TREE_HASH_BYTES));
    assert.deepEqual(ofTile.root(), Uint8Array.from(reader.read(2, 0, 1)));
    reader.close();

    // A crash: the upper level lost what the lower one has, and the caller's position is before both.
    files.close();
    truncateSync(join(folder, '01', '000000'), 1_000 * TREE_HASH_BYTES + 7);
    const again = new TileFiles(folder, 'append');
    const cut = again.truncate(1_048_600);
    assert.equal(cut.size, 1_048_600);
    assert.deepEqual(cut.encode(), TreeEdge.decode(cut.encode())?.encode());
    for (let index = 1_048_600; index < 1_050_000; index += 1) again.append(cut, leafOf(index));
    assert.deepEqual(cut.root(), edge.root());
    assert.deepEqual(rootAt(again, 1_050_000), edge.root());
    again.truncate(524_289);
    assert.deepEqual([again.size, rootAt(again, 524_289)], [524_289, rootAt(again, 524_289)]);
    assert.throws(() => again.read(0, 524_289, 1), /are not there/);
    assert.throws(() => again.truncate(600_000), /of 600000/);
    assert.equal(again.truncate(0).size, 0);
    again.append(new TreeEdge(), leafOf(5));
    again.sync();
    assert.deepEqual(rootAt(again, 1), leafOf(5));
    again.close();
  });

  test('the right edge goes over any cut and goes on as before', () => {
    fc.assert(
      fc.property(fc.nat(700), fc.nat(700), (before, behind) => {
        const whole = new TreeEdge();
        for (let index = 0; index < before; index += 1) whole.append(leafOf(index));
        const carried = must(TreeEdge.decode(whole.encode()));
        assert.deepEqual(carried.root(), whole.root());
        for (let index = 0; index < behind; index += 1) {
          whole.append(leafOf(before + index));
          carried.append(leafOf(before + index));
        }
        assert.deepEqual(carried.encode(), whole.encode());
      }),
      propertyParameters(),
    );
    const bytes = treeOf(7).edge.encode();
    for (const wrong of [bytes.subarray(1), bytes.subarray(0, 8), new Uint8Array(7), Buffer.concat([bytes, bytes])])
      assert.equal(TreeEdge.decode(wrong), null);
  });

  test('EVD-09: paths of tiles are canonical', () => {
    const tile = { level: 0, index: 1_234_067, width: 256 };
    assert.equal(tilePath(tile), 'tile/0/x001/x234/067');
    assert.equal(tilePath({ level: 1, index: 0, width: 7 }), 'tile/1/000.p/7');
    fc.assert(
      fc.property(fc.nat(63), fc.nat(2 ** 31), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
        assert.deepEqual(readTilePath(tilePath({ level, index, width })), { level, index, width });
      }),
      propertyParameters(),
    );
    for (const wrong of [
      ...[
        'tile/0/1',
        'tile/0/0001',
        'tile/00/001',
        'tile/64/001',
        'tile/0/x000/001',
        'tile/0/001.p/0',
        'tile/0/001.p/256',
      ],
      ...[
        'tile/0/001.p/07',
        'tile/0/001.p/257',
        'tile/entries/001',
        '/tile/0/001',
        'tile/0/001/',
        'tile/0/x001',
        'tile/-1/001',
      ],
    ])
      assert.equal(readTilePath(wrong), null, wrong);
  });

  test('salts, entries, record leaves and proofs are those of the plain implementation in Python', (t) => {
    const secret = Uint8Array.from({ length: 32 }, (_, index) => index * 7 + 3);
    const records = Array.from({ length: 12 }, (_, number) => ({
      sequence: number === 0 ? Number.MAX_SAFE_INTEGER : number * 4_294_967_295 + 1,
      epoch: number * 3,
      time_ns: String(1_795_945_858_123_456_789n + BigInt(number)),
      hash: toHex(leafOf(number)),
      rows: Array.from(
        { length: number },
        (_, row) => `{"v":1,"index":${row},"text":"\u00e9\u2028${'x'.repeat(row * 20)}"}`,
      ),
    }));
    const roots = [0, 1, 2, 3, 100, 255, 256, 257, 511, 700];
    const inclusion = [...Array(60).keys()].map((step) => [(step * 37) % (step * 11 + 1), step * 11 + 1] as const);
    const consistency = [...Array(60).keys()].map((step) => [(step * 41) % (step * 11 + 2), step * 11 + 1] as const);
    const asked = { size: 700, secret: toHex(secret), roots, inclusion, consistency, records };
    const ran = spawnSync('python3', ['test/evidence/plain_tree.py'], {
      input: JSON.stringify(asked),
      encoding: 'utf8',
    });
    if (ran.error !== undefined) return t.skip('there is no python3');
    assert.equal(ran.status, 0, ran.stderr);
    const plain = JSON.parse(ran.stdout) as {
      readonly roots: readonly string[];
      readonly inclusion: readonly (readonly string[])[];
      readonly consistency: readonly (readonly string[])[];
      readonly records: readonly {
        readonly leaf: string;
        readonly entries: readonly string[];
        readonly paths: readonly (readonly string[])[];
      }[];
    };
    const tree = treeOf(700);
    assert.deepEqual(
      plain.roots,
      roots.map((size) => toHex(rootAt(tree, size))),
    );
    assert.deepEqual(
      plain.inclusion,
      inclusion.map(([index, size]) => inclusionProof(tree, index, size).map(toHex)),
    );
    assert.deepEqual(
      plain.consistency,
      consistency.map(([older, size]) => consistencyProof(tree, older, size).map(toHex)),
    );
    const salts = new Salts(secret);
    records.forEach(({ sequence, epoch, time_ns, hash, rows }, number) => {
      const hashes = rows.map((row, index) =>
        entryHash({ sequence, index, salt: salts.salt(sequence, index) }, utf8(row)),
      );
      const leaf = {
        sequence,
        epoch,
        timeNs: BigInt(time_ns),
        count: rows.length,
        entriesRoot: entriesRoot(hashes),
        rawCommitment: rawCommitment(salts.rawSalt(sequence), must(parseHex(hash, 32))),
      };
      const expected = must(plain.records[number]);
      assert.deepEqual(hashes.map(toHex), expected.entries);
      assert.equal(toHex(recordLeaf(leaf)), expected.leaf);
      const read = must(readRecordLeaf(recordLeaf(leaf)));
      assert.deepEqual(
        { ...read, entriesRoot: toHex(read.entriesRoot), rawCommitment: toHex(read.rawCommitment) },
        {
          ...leaf,
          entriesRoot: toHex(leaf.entriesRoot),
          rawCommitment: toHex(leaf.rawCommitment),
        },
      );
      hashes.forEach((entry, index) => {
        const path = must(entryPaths(hashes, [index])[0]);
        assert.deepEqual(path.map(toHex), expected.paths[index]);
        assert.deepEqual(rootOfPath(index, hashes.length, entry, path), leaf.entriesRoot);
      });
    });
    const bytes = recordLeaf({
      ...must(readRecordLeaf(must(parseHex(must(plain.records[1]).leaf, RECORD_LEAF_BYTES)))),
    });
    for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, bytes]), bytes.with(0, 1), bytes.with(19, 0xff)])
      assert.equal(readRecordLeaf(wrong), null);
  });

  test('a leaf is never a node: the two have domains of their own', () => {
    const [left, right] = [leafOf(0), leafOf(1)];
    assert.notDeepEqual(nodeHash(left, right), leafHash(Buffer.concat([left, right])));
  });
});
