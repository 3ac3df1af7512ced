/**
 * Runs the tests once more on Node 24, which production and the image have: `node dist/test/support/with-node-24.js`, with
 * the arguments of run-tests.js. The build is the one that is there.
 *
 * Where the C library is older than the native server's binary for Node 24 needs, nothing can run: one line says so, and the
 * exit code is 0. The binary of Node comes from a package of its own with its integrity (test/support/node-24), installed into
 * build/node-24 and nowhere else; `NODE_24` names another one that is here already.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraryFault, type NativeHost, nativeHost } from '../../src/runtime/c-library.ts';

const NODE_MAJOR = 24;
const NODE_ABI = '137';
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Its package.json and lock file. */
export const NODE_PACKAGE: string = join(ROOT, 'test/support/node-24');
const INSTALLED = join(ROOT, 'build/node-24');

/** @returns why the tests cannot run, or need not run again, on Node 24 here; null when they run. */
export function reasonToSkip(host: NativeHost): string | null {
  if (host.nodeMajor === NODE_MAJOR) return 'these tests ran on it already';
  return libraryFault({ ...host, nodeMajor: NODE_MAJOR, abi: NODE_ABI });
}

/** The binary for this machine; installed when it is not there yet. */
function node24(): string {
  const given = process.env['NODE_24'];
  if (given !== undefined) return given;
  const binary = join(INSTALLED, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  if (existsSync(binary)) return binary;
  cpSync(NODE_PACKAGE, INSTALLED, { recursive: true });
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: INSTALLED, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0 && existsSync(binary)) return binary;
  throw new Error(`Node ${NODE_MAJOR} is not installed: there is no ${binary}; NODE_24 names another one`);
}

function runTests(selections: readonly string[]): number {
  const reason = reasonToSkip(nativeHost());
  if (reason !== null) {
    process.stdout.write(`tests on Node ${NODE_MAJOR}: skipped, ${reason}\n`);
    return 0;
  }
  const binary = node24();
  const runner = fileURLToPath(new URL('run-tests.js', import.meta.url));
  // What a test starts by the name `node` is the same one.
  const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env['PATH'] ?? ''}` };
  process.stdout.write(`tests on Node ${NODE_MAJOR}:\n`);
  return spawnSync(binary, [runner, ...selections], { env, stdio: 'inherit' }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = runTests(process.argv.slice(2));
