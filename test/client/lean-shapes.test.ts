// tier: quick
/** The shapes of the client's package are those of the node without what only documents publish, and bundlers drop the rest. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { suite, test } from 'node:test';
import { build } from 'esbuild';
import { leanShapes } from '../../packaging/lean-shapes.ts';

const OF_NODE = resolve('dist/src/codec/shapes');
const OF_PACKAGE = resolve('packages/client/dist/codec/shapes');
/** Of the whole SDK, minified, with the packages that it needs but \`ws\`. */
const BUNDLE_BYTES_MAX = 230_000;

const names = readdirSync(OF_PACKAGE).filter((name) => name.endsWith('-shapes.js') || name === 'shape-kit.js');

/** A shape without descriptions. */
function plain(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(plain);
  if (typeof shape !== 'object' || shape === null) return shape;
  const members = Object.entries(shape).filter(([name, value]) => name !== 'description' || typeof value !== 'string');
  return Object.fromEntries(members.map(([name, value]) => [name, plain(value)]));
}

/** Characters of descriptions. */
function described(shape: unknown): number {
  if (typeof shape !== 'object' || shape === null) return 0;
  const own = 'description' in shape && typeof shape.description === 'string' ? shape.description.length : 0;
  return Object.values(shape).reduce<number>((sum, value) => sum + described(value), own);
}

const moduleOf = async (folder: string, name: string): Promise<Record<string, unknown>> =>
  (await import(resolve(folder, name))) as Record<string, unknown>;

suite('the shapes of the package', () => {
  for (const name of names) {
    test(`${name}: each shape is that of the node, without descriptions`, async () => {
      const own = await moduleOf(OF_PACKAGE, name);
      const node = await moduleOf(OF_NODE, name);
      assert.deepEqual(Object.keys(own), Object.keys(node));
      for (const [shape, value] of Object.entries(own)) {
        if (typeof value !== 'object') continue;
        assert.deepEqual(plain(value), plain(node[shape]), shape);
      }
      // What is left has no space, or is of a function that makes shapes.
      assert.ok(described(own) <= described(node) / 10, `${described(own)} of ${described(node)} characters are left`);
    });
  }

  test('nothing but descriptions is taken for one', () => {
    const text = "export const A = named('A', 'one, two', described(words('a b', 'c'), 'it''s'));\n".replace(
      "it''s",
      'is it',
    );
    const lean = "export const A = /* @__PURE__ */ (() => named('A', '', described(words('a b', 'c'), '')))();\n";
    assert.equal(leanShapes(text), lean);
    assert.equal(leanShapes(lean), lean, 'a second time');
  });

  test('the SDK, bundled and minified, takes less than 230 kB, and its bundle has no shape that it does not use', async () => {
    const { outputFiles } = await build({
      entryPoints: [resolve('packages/client/dist/client/sdk.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      external: ['ws'],
      write: false,
      logLevel: 'silent',
    });
    const bytes = outputFiles[0]?.contents ?? new Uint8Array();
    assert.ok(bytes.length > 100_000 && bytes.length < BUNDLE_BYTES_MAX, `${bytes.length} bytes`);
    const text = Buffer.from(bytes).toString();
    assert.ok(
      text.includes('max_trading_fees_rate') && !text.includes('SolvencyStream'),
      'a shape of use, and one without',
    );
    assert.ok(!text.includes('cancel_orders_at_disconnect'), 'no shape of what the SDK neither sends nor reads');
  });
});
