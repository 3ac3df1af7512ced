// tier: quick
/** Where compiled code may be kept: in a folder of the user that nobody else can touch, bounded, and never in the data. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { CACHE_BYTES_MAX, type CacheHost, cacheFolder } from '../../src/runtime/compile-cache.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

suite('the folder of the compile cache', () => {
  const root = temporaryDirectory();
  after(() => removeDirectory(root));
  let homes = 0;
  const user = process.getuid?.() ?? null;
  const host = (environment: CacheHost['environment'] = {}): CacheHost & { readonly at: string } => {
    homes += 1;
    const home = join(root, `home-${homes}`);
    mkdirSync(home);
    return { environment, home, user, at: join(home, '.cache/ringbook') };
  };

  test('is below the home, or below XDG_CACHE_HOME, and of its owner alone', () => {
    const one = host();
    assert.equal(cacheFolder(one), one.at);
    assert.equal(statSync(one.at).mode & 0o777, 0o700);
    assert.equal(cacheFolder(one), one.at, 'again');
    const base = join(root, 'xdg');
    assert.equal(cacheFolder(host({ XDG_CACHE_HOME: base })), join(base, 'ringbook'));
    const relative = host({ XDG_CACHE_HOME: 'xdg' });
    assert.equal(cacheFolder(relative), relative.at, 'a relative one is ignored, as its specification demands');
  });

  test("is none where Node's variables say so", () => {
    for (const name of ['NODE_DISABLE_COMPILE_CACHE', 'NODE_COMPILE_CACHE']) {
      const one = host({ [name]: '1' });
      assert.equal(cacheFolder(one), null);
      assert.equal(existsSync(one.at), false);
    }
  });

  test('is none that others can write or read, of another user, behind a link, or that cannot be made', () => {
    for (const mode of [0o770, 0o707, 0o755]) {
      const open = host();
      mkdirSync(open.at, { recursive: true });
      chmodSync(open.at, mode);
      assert.equal(cacheFolder(open), null, mode.toString(8));
    }
    const foreign = host();
    assert.equal(cacheFolder({ ...foreign, user: (user ?? 0) + 1 }), null);
    const linked = host();
    mkdirSync(join(linked.home, '.cache'));
    mkdirSync(join(linked.home, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(linked.home, 'elsewhere'), linked.at);
    assert.equal(cacheFolder(linked), null);
    const file = host();
    writeFileSync(join(file.home, '.cache'), '');
    assert.equal(cacheFolder(file), null);
    assert.equal(cacheFolder({ ...host(), home: '' }), null);
  });

  test('is never in the data directory', () => {
    const one = host();
    for (const data of [one.home, join(one.home, '.cache'), one.at])
      assert.equal(cacheFolder({ ...one, environment: { RINGBOOK_DATA_DIR: data } }), null, data);
    assert.equal(cacheFolder({ ...one, environment: { RINGBOOK_DATA_DIR: join(root, 'data') } }), one.at);
  });

  test('is emptied when it has grown too large', () => {
    const one = host();
    cacheFolder(one);
    mkdirSync(join(one.at, 'v24'));
    const file = join(one.at, 'v24/code');
    writeFileSync(file, '');
    truncateSync(file, CACHE_BYTES_MAX);
    cacheFolder(one);
    assert.ok(existsSync(file));
    writeFileSync(join(one.at, 'one-more'), 'x');
    assert.equal(cacheFolder(one), one.at);
    assert.deepEqual(readdirSync(one.at), []);
  });
});
