// tier: full
/** What `ringbook slim` removes of an installation, what it never touches, and that a node starts with what is left. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { binaryName } from '../../src/http/uws-integrity.ts';
import { bytesOf, installedPackages, removable } from '../../src/node/slim-install.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const MEGABYTE = 1_000_000;
const PRODUCTION_MB_MAX = 200;
const PREBUILT = `${process.platform}-${process.arch}`;

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** Packages of an installation with `--omit=dev`, as paths below the repository: without those inside another one. */
function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && dev !== true && link !== true)
    .map(([path]) => path)
    .filter((path) => existsSync(path));
}

suite('a slim installation', () => {
  const root = temporaryDirectory();
  const packages = join(root, 'node_modules');
  after(() => removeDirectory(root));

  /** The build and its packages: links, but for those that lose files. */
  function install(): void {
    for (const part of ['dist/src', 'dist/workers', 'config', 'page', 'package.json'])
      cpSync(part, join(root, part), { recursive: true });
    for (const path of productionPackages()) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      symlinkSync(resolve(path), join(root, path));
    }
    for (const name of ['uWebSockets.js', 'sodium-native', 'typescript']) {
      rmSync(join(packages, name), { force: true });
      mkdirSync(join(packages, name));
    }
    for (const name of ['package.json', 'uws.js', binaryName()])
      cpSync(join('node_modules/uWebSockets.js', name), join(packages, 'uWebSockets.js', name));
    writeFileSync(join(packages, 'uWebSockets.js/uws_win32_x64_137.node'), 'of another system');
    writeFileSync(join(packages, 'uWebSockets.js/uws_linux_x64_83.node'), 'of another Node');
    for (const name of ['package.json', 'index.js', 'binding.js', join('prebuilds', PREBUILT)])
      cpSync(join('node_modules/sodium-native', name), join(packages, 'sodium-native', name), { recursive: true });
    mkdirSync(join(packages, 'sodium-native/prebuilds/ios-arm64'));
    writeFileSync(join(packages, 'typescript/package.json'), '{}');
  }

  const ringbook = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], {
      cwd: root,
      env: { ...bareEnvironment(), RINGBOOK_OPS_PORT: '0' },
      encoding: 'utf8',
    });
  const binaries = (): readonly string[] =>
    readdirSync(join(packages, 'uWebSockets.js')).filter((name) => name.endsWith('.node'));

  test('first says what it would remove, then removes it, then finds nothing', () => {
    install();
    const trial = ringbook('slim', '--dry-run');
    assert.equal(trial.status, 0, String(trial.stderr));
    assert.equal(binaries().length, 3);
    const { status, stdout, stderr } = ringbook('slim');
    assert.equal(status, 0, String(stderr));
    assert.equal(String(trial.stdout).replace(' would be removed', ' removed'), String(stdout));
    for (const name of ['uws_win32_x64_137.node', 'uws_linux_x64_83.node', 'prebuilds/ios-arm64', 'typescript'])
      assert.ok(String(stdout).includes(name), name);
    assert.deepEqual(binaries(), [binaryName()]);
    assert.deepEqual(readdirSync(join(packages, 'sodium-native/prebuilds')), [PREBUILT]);
    assert.equal(existsSync(join(packages, 'typescript')), false);
    assert.match(String(ringbook('slim').stdout), /^0 removed, 0 MB/m);
    assert.match(String(ringbook('doctor').stdout), /^ok +uWebSockets\.js +loads\n.*\nok +sodium-native +loads/m);
  });

  test('leaves the compiler where development packages are, and everything without a binary for this Node', () => {
    mkdirSync(join(packages, 'typescript'));
    mkdirSync(join(packages, '@biomejs/biome'), { recursive: true });
    assert.match(String(ringbook('slim').stdout), /^0 removed/m);
    assert.ok(existsSync(join(packages, 'typescript')));
    rmSync(join(packages, 'uWebSockets.js', binaryName()));
    writeFileSync(join(packages, 'uWebSockets.js/uws_linux_x64_83.node'), 'of another Node');
    const without = ringbook('slim');
    assert.notEqual(without.status, 0);
    assert.match(String(without.stderr), /has no uws_\S+\.node: install again with npm ci; nothing is removed/);
    assert.deepEqual(binaries(), ['uws_linux_x64_83.node']);
    rmSync(join(packages, 'uWebSockets.js'), { recursive: true });
    symlinkSync(resolve('node_modules/uWebSockets.js'), join(packages, 'uWebSockets.js'));
    const linked = ringbook('slim', '--dry-run');
    assert.match(String(linked.stderr), /is not a folder of this installation: nothing is removed/);
  });

  test('as a package of another program, leaves the compiler of that program', () => {
    const program = join(root, 'program/node_modules');
    const server = join(program, 'uWebSockets.js');
    mkdirSync(server, { recursive: true });
    mkdirSync(join(program, 'typescript'));
    for (const name of [binaryName(), 'uws_win32_x64_137.node']) writeFileSync(join(server, name), '');
    const found = installedPackages(join(program, 'ringbook/dist/src/node'));
    assert.deepEqual(found, { folder: program, isOwn: false });
    assert.deepEqual(removable(found), [{ path: 'uWebSockets.js/uws_win32_x64_137.node', bytes: 0 }]);
    assert.equal(installedPackages(join(root, 'dist/src/node')).isOwn, true);
  });

  test(`is below ${PRODUCTION_MB_MAX} MB`, () => {
    const kept = productionPackages().reduce((sum, path) => sum + bytesOf(path), 0);
    const server = 'node_modules/uWebSockets.js';
    const sodium = 'node_modules/sodium-native/prebuilds';
    const gone = [
      ...readdirSync(server)
        .filter((name) => name.endsWith('.node') && name !== binaryName())
        .map((name) => join(server, name)),
      ...readdirSync(sodium)
        .filter((name) => name !== PREBUILT)
        .map((name) => join(sodium, name)),
      ...['node_modules/typescript', 'node_modules/@typescript'].filter((path) => existsSync(path)),
    ].reduce((sum, path) => sum + bytesOf(path), 0);
    assert.ok(kept - gone < PRODUCTION_MB_MAX * MEGABYTE, `${(kept - gone) / MEGABYTE} MB`);
  });
});

test('the scripts of every package that has one are refused by name, so npm has nothing to warn of', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { readonly hasInstallScript?: boolean }>;
  };
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    allowScripts: Record<string, boolean>;
  };
  const withScript = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  assert.deepEqual(allowScripts, Object.fromEntries(withScript.sort().map((name) => [name, false])));
});
