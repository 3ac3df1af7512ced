// tier: quick
/** The binaries of the native server are those that were compared, and what else could come in is named by its hash. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { binaryFault, binaryName, packageFolder } from '../../src/http/uws-integrity.ts';
import { UWS_SUMS } from '../../src/http/uws-sums.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** Of other platforms, optional, and not to be had where the lock file was completed: nothing is added to them. */
const WITHOUT_INTEGRITY =
  /^node_modules\/(@foundry-rs\/anvil-(darwin-(amd64|arm64)|linux-arm64|win32-amd64)|@biomejs\/cli-(android|darwin|win32)-(arm64|x64)|@biomejs\/cli-linux-(arm64|x64)-musl|@msgpackr-extract\/msgpackr-extract-(darwin-arm64|darwin-x64|linux-arm|win32-x64))$/;

interface Locked {
  readonly integrity?: string;
  readonly optional?: boolean;
  /** A package of this repository. */
  readonly link?: boolean;
}

suite('supply chain', () => {
  const root = temporaryDirectory();
  after(() => removeDirectory(root));

  test('every binary of the installed package is in the table, and the one that is loaded has its sum', () => {
    const installed = readdirSync(packageFolder()).filter((name) => name.endsWith('.node'));
    for (const name of installed) assert.equal(binaryFault(packageFolder(), name), null);
    assert.ok(installed.includes(binaryName()) && Object.keys(UWS_SUMS).length >= installed.length);
  });

  test('a start with another binary is refused with 78 and one line, before it is loaded', () => {
    const packages = join(root, 'node_modules');
    mkdirSync(join(packages, 'uWebSockets.js'), { recursive: true });
    for (const part of ['dist/src', 'dist/workers', 'config', 'package.json'])
      cpSync(part, join(root, part), { recursive: true });
    for (const name of readdirSync('node_modules')) {
      if (name !== 'uWebSockets.js') symlinkSync(resolve('node_modules', name), join(packages, name));
    }
    for (const name of ['package.json', 'uws.js'])
      cpSync(join(packageFolder(), name), join(packages, 'uWebSockets.js', name));
    writeFileSync(
      join(packages, 'uWebSockets.js', binaryName()),
      Buffer.concat([readFileSync(join(packageFolder(), binaryName())), Buffer.of(0)]),
    );
    const env = { ...bareEnvironment(), RINGBOOK_CONFIG: 'dev', RINGBOOK_DATA_DIR: join(root, 'data') };
    const run = spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), 'start'], { env, encoding: 'utf8' });
    assert.equal(run.status, 78, run.stderr);
    assert.equal(run.stderr.trimEnd().split('\n').length, 1, run.stderr);
    assert.match(run.stderr, /is not the one that was compared: sha256 [0-9a-f]{64}, expected [0-9a-f]{64}/);
  });

  test('every package in the lock file has an integrity, but for optional ones of other platforms', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    const isOwn = (path: string): boolean =>
      path === '' || path.startsWith('packages/') || packages[path]?.link === true;
    const without = Object.entries(packages).filter(([path, { integrity }]) => !isOwn(path) && integrity === undefined);
    for (const [path, { optional }] of without) assert.ok(optional === true && WITHOUT_INTEGRITY.test(path), path);
    for (const [path, { integrity }] of Object.entries(packages)) {
      if (integrity !== undefined) assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    }
  });

  test('every base image is named by digest', () => {
    const text = readFileSync('Dockerfile', 'utf8');
    assert.match(text, /^ARG NODE_IMAGE=node:[a-z0-9.-]+@sha256:[0-9a-f]{64}$/m);
    const bases = text.match(/^FROM .*$/gm) ?? [];
    assert.equal(bases.length, 2);
    for (const base of bases) assert.match(base, /^FROM \$\{NODE_IMAGE\}( AS build)?$/);
  });

  test('one file of the sources loads the native server; others take types of it', () => {
    const loads = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .filter((path) =>
        /^import (?!type ).*'uWebSockets\.js'|(?:import|\))\('uWebSockets\.js'\)(?!;\n\/\*\*)/m.test(
          readFileSync(join('src', path), 'utf8'),
        ),
      );
    assert.deepEqual(loads.sort(), ['cli/doctor-command.ts', 'http/uws.ts']);
  });
});
