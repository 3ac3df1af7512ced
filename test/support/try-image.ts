/**
 * `npm run image`: builds the image of this checkout, starts it with a read-only root file system and no capability, trades in it,
 * and stops it, with Docker, Podman or Buildah, whichever is here. Ends with 69 where none is, and with 1 where the image fails.
 *
 * `NODE_IMAGE` names another base image, where registries are out of reach; it has Node 24, npm and glibc 2.38 or later.
 *
 *   build ─▶ refused without a token (78) ─▶ dev, read-only ─▶ ready ─▶ /version ─▶ one trade ─▶ SIGTERM (0)
 */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TAG = 'localhost/ringbook:trial';
const NAME = `ringbook-trial-${process.pid}`;
const UNAVAILABLE = 69;
const READY_SECONDS = 60;
const DEV = 'RINGBOOK_CONFIG=config/dev-in-container.json';

type Engine = 'docker' | 'podman' | 'buildah';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function run(program: string, args: readonly string[], input?: string): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
}

/** @returns standard output. @throws AssertionError with what was printed when it fails. */
function must(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = run(program, args);
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`);
  return stdout;
}

/** Docker without its daemon cannot build. */
function engineHere(): Engine | null {
  if (run('docker', ['version', '--format', '{{.Server.Version}}']).status === 0) return 'docker';
  if (run('podman', ['version']).status === 0) return 'podman';
  return run('buildah', ['version']).status === 0 ? 'buildah' : null;
}

function build(engine: Engine, commit: string): void {
  const base = process.env['NODE_IMAGE'];
  // The format of OCI has no health check.
  const format = engine === 'docker' ? [] : ['--format', 'docker', '--layers'];
  const given = base === undefined ? [] : ['--build-arg', `NODE_IMAGE=${base}`];
  const args = ['build', ...format, ...given, '--build-arg', `COMMIT=${commit}`, '-t', TAG, '.'];
  const { status, stdout, stderr } = run(engine, args);
  if (status === 0) return;
  process.stderr.write(
    `${stdout.slice(-4_000)}${stderr.slice(-4_000)}\nthe image is not built: "${engine} build" ended with ${status}. Where its base image ` +
      'cannot be fetched, NODE_IMAGE names another one, with Node 24, npm and glibc 2.38 or later\n',
  );
  process.exit(1);
}

/** A node that runs in the image. */
interface Running {
  readonly oms: string;
  readonly ops: string;
  /** Runs a command beside it, in the same file system. */
  exec(command: readonly string[]): SpawnSyncReturns<string>;
  /** SIGTERM. @returns the exit code. */
  stop(): number;
  remove(): void;
}

const CONFINED = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

/** Docker and Podman have the same options, but for a /tmp that Podman makes beside a read-only file system. */
function startWithEngine(engine: Engine): Running {
  const confined = engine === 'podman' ? [...CONFINED, '--read-only-tmpfs=false'] : CONFINED;
  const published = [3032, 8011, 9464].flatMap((port) => ['-p', `127.0.0.1::${port}`]);
  must(engine, ['run', '-d', ...confined, ...published, '-e', DEV, '--name', NAME, TAG]);
  const addressOf = (port: number): string => `http://${must(engine, ['port', NAME, `${port}/tcp`]).split('\n')[0]}`;
  return {
    oms: addressOf(3032),
    ops: addressOf(9464),
    exec: (command) => run(engine, ['exec', NAME, ...command]),
    stop: () => {
      must(engine, ['stop', '-t', '60', NAME]);
      return Number(must(engine, ['inspect', '--format', '{{.State.ExitCode}}', NAME]));
    },
    remove: () => void run(engine, ['rm', '-f', NAME]),
  };
}

/**
 * Buildah alone runs nothing read-only: its file system is mounted so here, and the node is a process of the user 1000 below it. Needs root.
 * The data are in a directory of their own; ports are the default ones, because the network is the machine's.
 */
function startWithBuildah(): Running {
  const container = must('buildah', ['from', TAG]).trim();
  const root = must('buildah', ['mount', container]).trim();
  const folder = mkdtempSync(join(tmpdir(), 'ringbook-image-'));
  const environment = must('buildah', [
    'inspect',
    '--format',
    '{{range .OCIv1.Config.Env}}{{println .}}{{end}}',
    container,
  ]);
  const variables = [...environment.split('\n').filter((line) => line !== ''), DEV]
    .map((line) => `'${line}'`)
    .join(' ');
  const script = `set -e
mkdir -p ${folder}/data && chown 1000:1000 ${folder}/data
mount --bind ${root} ${root} && mount -o remount,ro,bind ${root}
mount --bind ${folder}/data ${root}/data && mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev
(exec chroot --userspec=1000:1000 ${root} /usr/bin/env -i ${variables} sh -c 'cd /ringbook && exec ringbook start') > ${folder}/out 2> ${folder}/err &
echo $! > ${folder}/pid
wait $! || echo $? > ${folder}/code
test -e ${folder}/code || echo 0 > ${folder}/code`;
  const begun = `for i in $(seq 100); do test -e ${folder}/pid && exit 0; sleep 0.1; done; cat ${folder}/log; exit 1`;
  must('bash', ['-c', `unshare -m bash -c "$0" > ${folder}/log 2>&1 & ${begun}`, script]);
  const pid = (): string => readFileSync(join(folder, 'pid'), 'utf8').trim();
  return {
    oms: 'http://127.0.0.1:3032',
    ops: 'http://127.0.0.1:9464',
    exec: (command) =>
      run('nsenter', [
        '-t',
        pid(),
        '-m',
        'chroot',
        '--userspec=1000:1000',
        root,
        '/usr/bin/env',
        '-i',
        ...variables.replaceAll("'", '').split(' '),
        ...command,
      ]),
    stop: () => {
      must('bash', [
        '-c',
        `kill -TERM ${pid()}; for i in $(seq 600); do test -e ${folder}/code && exit 0; sleep 0.1; done; exit 1`,
      ]);
      return Number(readFileSync(join(folder, 'code'), 'utf8'));
    },
    remove: () => {
      run('bash', ['-c', `kill -KILL ${pid()}`]);
      run('buildah', ['rm', container]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function refusal(engine: Engine): void {
  if (engine === 'buildah') return;
  const { status, stderr, stdout } = run(engine, ['run', '--rm', ...CONFINED, TAG]);
  assert.equal(status, 78, stdout + stderr);
  assert.match(stdout + stderr, /production needs RINGBOOK_OPERATOR_TOKEN/);
  say('production without a token is refused with 78');
}

async function awaitReady(node: Running): Promise<void> {
  const deadlineMs = performance.now() + READY_SECONDS * 1_000;
  while (node.exec(['ringbook', 'ready']).status !== 0) {
    assert.ok(performance.now() < deadlineMs, 'the node in the image is not ready');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function tryNode(node: Running, commit: string): Promise<void> {
  await awaitReady(node);
  say(`ready, and so is its health check: ringbook ready`);
  const version = (await (await fetch(`${node.ops}/version`)).json()) as { commit: string; version: string };
  assert.equal(version.commit, commit);
  say(`/version through the published port: ${version.version}, commit ${version.commit}`);
  assert.equal(node.exec(['id', '-u']).stdout.trim(), '1000');
  for (const path of ['/x', '/tmp/x', '/ringbook/x']) assert.notEqual(node.exec(['touch', path]).status, 0, path);
  say('it is the user 1000, and writes nowhere but into /data');
  const ticket = (side: string, user: string): readonly string[] => [
    'ringbook',
    'order',
    side,
    '0.5',
    '2',
    '--price',
    '3000',
    '--as',
    user,
  ];
  assert.equal(node.exec(ticket('sell', 'a')).status, 0);
  const { stdout, stderr } = node.exec([...ticket('buy', 'b'), '--control']);
  assert.match(stdout, /^Confirmed +0\.5 at 3000/m, stderr);
  assert.equal((await fetch(`${node.oms}/`)).status, 200);
  say('one trade is confirmed, and the page is served');
}

const engine = engineHere();
if (engine === null) {
  process.stderr.write('nothing here builds images: neither Docker with its daemon, nor Podman, nor Buildah\n');
  process.exit(UNAVAILABLE);
}
const commit = must('git', ['rev-parse', 'HEAD']).trim();
say(`building with ${engine}`);
build(engine, commit);
refusal(engine);
const node = engine === 'buildah' ? startWithBuildah() : startWithEngine(engine);
try {
  await tryNode(node, commit);
  assert.equal(node.stop(), 0);
  say('SIGTERM: drained, exit code 0');
} finally {
  node.remove();
}
