// tier: full, 120 s
/**
 * The Python package as a newcomer gets it: installed into a virtual environment, linted, type-checked strictly, its tests
 * against a real node, its bot, the programs of its page. Skipped where Python or its package index cannot be had.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/bare-environment.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PACKAGE = resolve('packages/python');
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const CONFIG = resolve('test/fixtures/dev-without-bound.json');
const RUN_MS_MAX = 540_000;
const home = temporaryDirectory();
const venv = join(home, 'venv');

interface Ran {
  readonly status: number | null;
  readonly text: string;
}

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Ran {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...bareEnvironment(), ...env },
    encoding: 'utf8',
    timeout: RUN_MS_MAX,
  });
  return { status, text: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` };
}

/** A program of the environment. */
const inside = (name: string, args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): Ran =>
  run(join(venv, 'bin', name), args, cwd, env);

/** @returns why there is no environment with the pinned tools; false where there is one. */
function lacks(): string | false {
  const asked = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  if (run('python3', ['-c', asked], home).status !== 0) return 'there is no Python 3.10 or later with venv';
  const made = run('python3', ['-m', 'venv', venv], home);
  if (made.status !== 0) return `no virtual environment can be made: ${made.text}`;
  const pins = join(PACKAGE, 'requirements-dev.txt');
  const got = inside('pip', ['install', '--quiet', '--disable-pip-version-check', '-r', pins], home);
  return got.status === 0 ? false : `the package index cannot be had: ${got.text.split('\n').slice(-3).join(' ')}`;
}

suite('the Python package', { skip: lacks() }, () => {
  after(() => removeDirectory(home));

  test('is installed by the command of its page, from an empty folder', () => {
    const folder = join(home, 'empty');
    mkdirSync(folder);
    symlinkSync(process.cwd(), join(folder, 'ringbook'));
    const [, block = ''] = /```sh\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
    const ran = run('bash', ['-euo', 'pipefail', '-c', block], folder);
    assert.equal(ran.status, 0, ran.text);
    const program = 'import ringbook, sys; print(ringbook.__version__, len(ringbook.contract.signed_shapes()))';
    const shown = run(join(folder, 'venv/bin/python'), ['-c', program], folder);
    assert.match(shown.text, /^0\.1\.0 \d+\n$/);
  });

  test('is installed beside its tools, and depends on nothing that they do not have', () => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-build-isolation', '--no-index'];
    const ran = inside('pip', ['install', ...options, PACKAGE], home);
    assert.equal(ran.status, 0, ran.text);
  });

  test('is linted and formatted', () => {
    for (const args of [['check'], ['format', '--check']]) {
      const ran = inside('ruff', [...args, '--no-cache', PACKAGE], home);
      assert.equal(ran.status, 0, ran.text);
    }
  });

  test('is typed strictly, its examples and tests too', () => {
    const ran = inside('mypy', ['--cache-dir', join(home, 'mypy')], PACKAGE);
    assert.equal(ran.status, 0, ran.text);
  });

  test('passes its tests against a node: vectors, every call, a kill, the bot, the programs of its page', () => {
    const start = JSON.stringify([process.execPath, CLI, 'start']);
    const ran = inside('python', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', PACKAGE], home, {
      RINGBOOK_START: start,
      RINGBOOK_CONFIG: CONFIG,
      PYTHONDONTWRITEBYTECODE: '1',
    });
    assert.equal(ran.status, 0, ran.text);
    assert.doesNotMatch(ran.text, /skipped/);
  });
});
