// tier: quick
/** `npm test` beside a running node: what is removed from the build, and what is not. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { removeStaleOutputs } from './support/stale-outputs.ts';
import { removeDirectory, temporaryDirectory } from './support/temporary-directory.ts';

/** A source tree and its build as the compiler leaves them. */
function built(root: string, modules: readonly string[]): void {
  for (const module of modules) {
    const source = join(root, `${module}.ts`);
    const output = join(root, 'dist', module);
    for (const path of [source, output]) mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(source, '');
    writeFileSync(`${output}.js`, '');
    writeFileSync(`${output}.d.ts`, '');
    const up = '../'.repeat(module.split('/').length);
    writeFileSync(`${output}.js.map`, JSON.stringify({ version: 3, sources: [`${up}${module}.ts`], names: [] }));
  }
}

suite('a build with outputs of removed sources', () => {
  test('loses those, and keeps everything a running node may load', () => {
    const root = temporaryDirectory();
    built(root, ['src/cli/main', 'workers/market', 'test/node/flow.test', 'test/node/gone.test', 'src/gone/far/away']);
    const dist = join(root, 'dist');
    writeFileSync(join(dist, 'src/cli/by-hand.js'), '');
    writeFileSync(join(dist, 'src/cli/torn.js.map'), '{"version":3,"sour');
    removeDirectory(join(root, 'src/gone'));
    removeDirectory(join(root, 'test/node/gone.test.ts'));
    assert.deepEqual([...removeStaleOutputs(dist)].sort(), ['src/gone/far/away', 'test/node/gone.test']);
    for (const end of ['.js', '.d.ts', '.js.map']) {
      for (const kept of ['src/cli/main', 'workers/market', 'test/node/flow.test'])
        assert.ok(existsSync(join(dist, kept + end)), kept + end);
      for (const gone of ['src/gone/far/away', 'test/node/gone.test'])
        assert.ok(!existsSync(join(dist, gone + end)), gone);
    }
    assert.ok(existsSync(join(dist, 'src/cli/by-hand.js')), 'what the compiler did not make is left alone');
    assert.deepEqual(removeStaleOutputs(dist), []);
    removeDirectory(root);
  });

  test('the tests run on the build in place', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    assert.equal(scripts['test'], 'npm run -s build && node dist/test/support/run-tests.js --tier quick');
    assert.equal(scripts['test:all'], 'npm run -s build && node dist/test/support/run-tests.js');
    assert.doesNotMatch(`${scripts['build']} ${scripts['test']}`, /\brm(?:Sync)?\b|--clean/);
  });
});
