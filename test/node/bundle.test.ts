// tier: full, 8 s
/** `dist/bundle` (docs/decisions/0040): a start takes it only while it is what the modules are, and its stacks name sources. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BUNDLE_INPUTS, BUNDLED_NODE, isBundleCurrent } from '../../src/runtime/bundle.ts';
import { sourceStack } from '../../src/runtime/source-stack.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const DIST = fileURLToPath(new URL('../../', import.meta.url));
const NO_BUNDLER = existsSync('node_modules/esbuild') ? false : 'without esbuild a build has no bundle';

suite('the bundle of a node', { skip: NO_BUNDLER }, () => {
  const root = temporaryDirectory();
  const dist = join(root, 'dist');
  after(() => removeDirectory(root));
  for (const part of ['src', 'workers', 'packaging', 'bundle'])
    cpSync(join(DIST, part), join(dist, part), { recursive: true });
  for (const part of ['package.json', 'config', 'page']) cpSync(part, join(root, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  const env = { ...bareEnvironment(), RINGBOOK_CONFIG: 'dev', RINGBOOK_DATA_DIR: join(root, 'data') };
  const run = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const build = (): string => run(join(dist, 'packaging/bundle.js'));
  const outputs = (): readonly string[] =>
    readdirSync(join(dist, 'bundle'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /-[A-Z0-9]{8}\.js/.test(name),
    );

  test('is what the build of this repository made of its modules', () => {
    assert.ok(isBundleCurrent(DIST));
    const inputs = JSON.parse(readFileSync(join(DIST, BUNDLE_INPUTS), 'utf8')) as readonly (readonly [string])[];
    assert.ok(inputs.some(([module]) => module === 'src/matching/market-engine.js'));
    for (const name of readdirSync(join(DIST, 'workers')).filter((each) => each.endsWith('.js'))) {
      assert.ok(existsSync(join(DIST, 'bundle/workers', name)), name);
      assert.ok(
        inputs.some(([module]) => module === `workers/${name}`),
        name,
      );
    }
  });

  test('is taken in a copy whose files are younger, and not once a module has changed, has gone, or without its list', () => {
    const module = join(dist, 'src/risk/exposure.js');
    const before = readFileSync(module, 'utf8');
    const later = new Date(Date.now() + 60_000);
    utimesSync(module, later, later);
    assert.ok(isBundleCurrent(dist), 'written since, with the same content');
    writeFileSync(module, before.replace('import', 'Import'));
    utimesSync(module, later, later);
    assert.equal(isBundleCurrent(dist), false, 'another content of the same size');
    writeFileSync(module, `${before}\n`);
    const earlier = new Date(0);
    utimesSync(module, earlier, earlier);
    assert.equal(isBundleCurrent(dist), false, 'another size');
    rmSync(module);
    assert.equal(isBundleCurrent(dist), false, 'gone');
    writeFileSync(module, before);
    assert.ok(isBundleCurrent(dist));
    assert.equal(isBundleCurrent(root), false, 'no list');
  });

  test('runs at a start, and the modules do when one of them has changed', () => {
    const start = (): string => run(join(dist, 'src/cli/main.js'), 'start');
    const says = (form: string): string => `export async function main() { process.stdout.write('${form}'); }\n`;
    const bundled = readFileSync(join(dist, BUNDLED_NODE), 'utf8');
    const module = readFileSync(join(dist, 'src/node/main.js'), 'utf8');
    writeFileSync(join(dist, BUNDLED_NODE), says('bundle'));
    assert.equal(start(), 'bundle');
    writeFileSync(join(dist, 'src/node/main.js'), says('modules'));
    assert.equal(start(), 'modules');
    writeFileSync(join(dist, 'src/node/main.js'), module);
    writeFileSync(join(dist, BUNDLED_NODE), bundled);
  });

  test('a build leaves the files of the build before, which a node may be running from, and no earlier ones', () => {
    const boot = join(dist, 'src/node/boot.js');
    rmSync(join(dist, 'bundle'), { recursive: true });
    build();
    const generations = [outputs()];
    for (let generation = 1; generation <= 2; generation += 1) {
      appendFileSync(boot, `globalThis.generation = ${generation};\n`);
      build();
      assert.ok(isBundleCurrent(dist));
      generations.push(outputs());
    }
    const [first = [], second = [], third = []] = generations;
    const made = second.filter((name) => !first.includes(name));
    assert.equal(made.filter((name) => name.endsWith('.js')).length, 1, 'the file with the changed module');
    for (const name of first) assert.ok(second.includes(name), `${name} is left once`);
    for (const name of made) assert.ok(third.includes(name), `${name} is left once`);
    assert.equal(third.length, second.length);
    assert.ok(first.some((name) => !third.includes(name)));
    assert.equal(build(), '', 'and nothing is built of unchanged modules');
  });

  test('a stack names the source of its places, and what is none stays', () => {
    const file = join(DIST, 'bundle/workers/market.js');
    const lines = readFileSync(file, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('MarketEngine = class'));
    assert.ok(at > 0);
    const place = `${pathToFileURL(file).href}:${at + 1}:${(lines[at] ?? '').indexOf('class') + 1}`;
    const text = `Error: x\n    at new MarketEngine (${place})\n    at ${place}\n    at node:internal/main:1:2`;
    const [, one = '', other = '', last = ''] = sourceStack(text).split('\n');
    const source = readFileSync('src/matching/market-engine.ts', 'utf8').split('\n');
    const found = /^ {4}at new MarketEngine \((file:\/\/.*\/src\/matching\/market-engine\.ts):(\d+):\d+\)$/.exec(one);
    assert.ok(found !== null, one);
    assert.equal(found[1], pathToFileURL(resolve('src/matching/market-engine.ts')).href);
    assert.match(source[Number(found[2]) - 1] ?? '', /class MarketEngine/);
    assert.match(other, /^ {4}at file:.*market-engine\.ts:\d+:\d+$/);
    assert.equal(last, '    at node:internal/main:1:2');
    const without = `at ${pathToFileURL(join(root, 'bundle/none.js')).href}:1:1`;
    assert.equal(sourceStack(without), without);
  });
});
