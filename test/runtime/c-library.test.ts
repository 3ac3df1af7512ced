// tier: full
/** Which glibc the native binaries need, and what a start and `doctor` say where it is older. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageFolder } from '../../src/http/uws-integrity.ts';
import { libraryFault, MODULES_GLIBC, type NativeHost, nativeHost, SERVER_GLIBC } from '../../src/runtime/c-library.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { NODE_PACKAGE, reasonToSkip } from '../support/with-node-24.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** Of Node 20, the oldest that runs a node. */
const ABI_MIN = 115;

const byNumbers = new Intl.Collator('en', { numeric: true }).compare;

/** The highest version of glibc that a binary names among the versions of its symbols. */
function glibcOf(path: string): string {
  const text = readFileSync(path, 'latin1');
  const versions = [...text.matchAll(/\0GLIBC_(\d+\.\d+)(?=[.\0])/g)].map(([, version = '']) => version);
  return versions.sort(byNumbers).at(-1) ?? '0.0';
}

/** Native modules besides the server's that a node loads on Linux with glibc. */
function otherBinaries(): readonly string[] {
  const cpu = `linux-${process.arch}`;
  const lmdb = join('node_modules/@lmdb', `lmdb-${cpu}`);
  const built = readdirSync(lmdb).filter((name) => name.endsWith('.glibc.node'));
  const sodium = join('node_modules/sodium-native/prebuilds', cpu, 'sodium-native.node');
  return [...built.map((name) => join(lmdb, name)), ...(existsSync(sodium) ? [sodium] : [])];
}

suite('the C library', () => {
  const root = temporaryDirectory();
  after(() => removeDirectory(root));
  const isLinux = process.platform === 'linux' ? false : 'glibc is of Linux';

  test('the table has what the binaries of the native server need, on both processors', { skip: isLinux }, () => {
    let compared = 0;
    for (const name of readdirSync(packageFolder())) {
      const [, abi = ''] = /^uws_linux_(?:x64|arm64)_(\d+)\.node$/.exec(name) ?? [];
      if (abi === '' || Number(abi) < ABI_MIN) continue;
      assert.equal(SERVER_GLIBC[abi], glibcOf(join(packageFolder(), name)), name);
      compared += 1;
    }
    assert.ok(compared > 0);
    assert.ok(SERVER_GLIBC[process.versions.modules] !== undefined, 'the Node that runs this');
  });

  test('no other native module needs a later one than the table has', { skip: isLinux }, () => {
    const needed = otherBinaries().map(glibcOf).sort(byNumbers);
    assert.equal(needed.at(-1), MODULES_GLIBC);
  });

  test('the sentence names what is needed, what is there, and what runs', () => {
    const host = (nodeMajor: number, abi: number, glibc: string | null, platform = 'linux'): NativeHost => {
      return { platform, abi: String(abi), nodeMajor, glibc };
    };
    const cases: readonly (readonly [NativeHost, string | null])[] = [
      [
        host(24, 137, '2.36'),
        'Node 24 needs glibc 2.38 or later, this system has 2.36: use Node 20, Debian 13 or the image',
      ],
      [
        host(22, 127, '2.37'),
        'Node 22 needs glibc 2.38 or later, this system has 2.37: use Node 20, Debian 13 or the image',
      ],
      [host(24, 137, '2.31'), 'Node 24 needs glibc 2.38 or later, this system has 2.31: use Debian 13 or the image'],
      [host(20, 115, '2.31'), 'Node 20 needs glibc 2.34 or later, this system has 2.31: use Debian 13 or the image'],
      [
        host(20, 115, null),
        'Node 20 needs glibc 2.34 or later, this system has another C library: use Debian 13 or the image',
      ],
      [
        host(24, 137, null),
        'Node 24 needs glibc 2.38 or later, this system has another C library: use Debian 13 or the image',
      ],
      [host(20, 115, '2.4'), 'Node 20 needs glibc 2.34 or later, this system has 2.4: use Debian 13 or the image'],
      [host(24, 137, '2.38'), null],
      [host(24, 137, '2.41'), null],
      [host(24, 137, '3.0'), null],
      [host(20, 115, '2.34'), null],
      [host(24, 137, null, 'darwin'), null],
    ];
    for (const [each, expected] of cases) assert.equal(libraryFault(each), expected, JSON.stringify(each));
  });

  test('the version is that of this process, and reading it leaves reports as they were', { skip: isLinux }, () => {
    const before = JSON.stringify(process.report);
    assert.match(nativeHost().glibc ?? '', /^2\.\d+$/);
    assert.equal(libraryFault(nativeHost()), null);
    assert.equal(JSON.stringify(process.report), before);
  });

  test('tests run on Node 24 where its binaries load, and one line says why not', () => {
    const host = { platform: 'linux', abi: '115', nodeMajor: 20 };
    assert.match(
      reasonToSkip({ ...host, glibc: '2.36' }) ?? '',
      /^Node 24 needs glibc 2\.38 or later, this system has 2\.36/,
    );
    assert.equal(reasonToSkip({ ...host, glibc: '2.41' }), null);
    assert.match(reasonToSkip({ ...host, nodeMajor: 24, abi: '137', glibc: '2.41' }) ?? '', /already/);
    const { packages } = JSON.parse(readFileSync(join(NODE_PACKAGE, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { readonly version: string; readonly integrity?: string }>;
    };
    const locked = Object.entries(packages).filter(([path]) => path !== '');
    assert.equal(locked.length, 2);
    for (const [path, { version, integrity }] of locked) {
      assert.match(`${path} ${version}`, /^node_modules\/node-linux-(?:arm64|x64) 24\.\d+\.\d+$/);
      assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    }
  });

  test('a start and doctor say it in one line before anything native is loaded', { skip: isLinux }, () => {
    const older = join(root, 'older.cjs');
    writeFileSync(
      older,
      `process.report.getReport = () => ({ header: { glibcVersionRuntime: '2.31' } });
      process.dlopen = () => { throw new Error('a native module was loaded'); };`,
    );
    const run = (command: string): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, ['--require', older, CLI, command], {
        env: {
          ...bareEnvironment(),
          RINGBOOK_CONFIG: 'dev',
          RINGBOOK_DATA_DIR: join(root, 'data'),
          RINGBOOK_OPS_PORT: '0',
        },
        encoding: 'utf8',
      });
    const sentence = / needs glibc 2\.3\d or later, this system has 2\.31: use Debian 13 or the image$/m;
    const start = run('start');
    assert.equal(start.status, 78, String(start.stderr));
    assert.equal(String(start.stderr).trimEnd().split('\n').length, 1, String(start.stderr));
    assert.match(String(start.stderr), /^ringbook does not start: Node \d+ /);
    assert.match(String(start.stderr), sentence);
    assert.equal(existsSync(join(root, 'data')), false);
    const doctor = run('doctor');
    assert.equal(doctor.status, 1);
    assert.match(String(doctor.stdout), /^FAIL +C library +Node \d+ needs glibc/m);
    assert.match(String(doctor.stdout), sentence);
    assert.match(String(doctor.stdout), /^FAIL +uWebSockets\.js +Node \d+ needs glibc/m);
  });
});
