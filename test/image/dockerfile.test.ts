// tier: full, 9 s
/**
 * The Dockerfile without a builder: a linter reads it, the rules of docs/docker.md hold, and its own instructions, carried out in an
 * empty folder, give a tree that builds, and one that runs without development packages as a user who can write nothing but the data.
 *
 * `npm run image` builds and runs the image itself, where Docker, Podman or Buildah is.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { type Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { NODE_VARIABLES } from '../../src/node/environment.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const TEXT = readFileSync('Dockerfile', 'utf8');
const INSTRUCTIONS: readonly Instruction[] = DockerfileParser.parse(TEXT).getInstructions();
/** The user that owns nothing, on every Linux. */
const OTHER_USER = 65_534;
/** Where the image has the repository. */
const HOME = '/ringbook/';

function argumentsOf(instruction: Instruction): readonly string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

/** The instructions of each stage, from 0; those before the first `FROM` are of none. */
function stages(): readonly (readonly Instruction[])[] {
  const found: Instruction[][] = [];
  for (const instruction of INSTRUCTIONS) {
    if (instruction.getKeyword() === 'FROM') found.push([]);
    found.at(-1)?.push(instruction);
  }
  return found;
}

function only(stage: readonly Instruction[], keyword: string): Instruction {
  const [first, ...more] = stage.filter((instruction) => instruction.getKeyword() === keyword);
  assert.ok(first !== undefined && more.length === 0, `one ${keyword}`);
  return first;
}

/** What the context of a build leaves out. */
const IGNORED = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((pattern) => {
    const form = pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '@')
      .replaceAll('*', '[^/]*')
      .replaceAll('@', '(?:.*/)?');
    return new RegExp(`^${form}(?:/.*)?$`);
  });

function isIgnored(path: string): boolean {
  return IGNORED.some((form) => form.test(path));
}

/** Carries out `COPY` of a stage: from the context, without what it leaves out, or from the folder of the stage before. */
function copyInto(folder: string, stage: readonly Instruction[], before: string): void {
  for (const instruction of stage.filter((each) => each.getKeyword() === 'COPY')) {
    const from = (instruction as Copy).getFromFlag()?.getValue() ?? null;
    const sources = argumentsOf(instruction).slice(0, -1);
    const target = argumentsOf(instruction).at(-1) ?? '';
    for (const source of sources) {
      const origin = from === null ? source : join(before, source.slice(HOME.length));
      assert.ok(existsSync(origin), `${source} exists`);
      if (from === null) assert.ok(!isIgnored(source), `${source} is in the context`);
      if (source.endsWith('/node_modules')) linkPackages(join(folder, target));
      else {
        const to = target.endsWith('/')
          ? join(folder, target, source.slice(source.lastIndexOf('/') + 1))
          : join(folder, target);
        cpSync(origin, to, { recursive: true, filter: (path) => from !== null || !isIgnored(path) });
      }
    }
  }
}

/** The packages that `npm prune --omit=dev` and the line behind it leave, as links to those that are installed here. */
function linkPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  for (const [path, { dev, devOptional, link }] of Object.entries(packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || dev === true || devOptional === true || link === true || !existsSync(path)) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(resolve(path), join(folder, name));
  }
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

suite('the Dockerfile', () => {
  const [build = [], image = []] = stages();

  test('has no fault or warning of a linter', () => {
    assert.deepEqual(
      validate(TEXT).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
      [],
    );
  });

  test('has two stages of one image, and the second compiles and downloads nothing', () => {
    assert.equal(stages().length, 2);
    for (const [from] of stages()) assert.equal(argumentsOf(from as Instruction)[0], `\${NODE_IMAGE}`);
    for (const run of image.filter((each) => each.getKeyword() === 'RUN')) {
      assert.doesNotMatch(run.getArgumentsContent() ?? '', /\b(?:npm|npx|apt|curl|wget|tsc)\b/);
    }
    assert.equal(INSTRUCTIONS.filter((each) => each.getKeyword() === 'ADD').length, 0);
  });

  test('runs no script of a package while it installs', () => {
    const installs = build
      .map((each) => each.getArgumentsContent() ?? '')
      .filter((text) => /^npm (?:ci|prune)\b/.test(text));
    assert.equal(installs.length, 2);
    for (const text of installs) assert.match(text, /--ignore-scripts/);
  });

  test('starts the command as a user that is not root, with a health check', () => {
    const [user = ''] = argumentsOf(only(image, 'USER'));
    assert.match(user, /^[1-9]\d*:[1-9]\d*$/);
    const at = (keyword: string): number => image.indexOf(only(image, keyword));
    assert.ok(at('USER') < at('ENTRYPOINT'));
    assert.ok(
      image.findLastIndex((each) => each.getKeyword() === 'RUN') < at('USER'),
      'what needs root is done before',
    );
    assert.equal(only(image, 'ENTRYPOINT').getArgumentsContent(), '["ringbook"]');
    assert.equal(only(image, 'CMD').getArgumentsContent(), '["start"]');
    assert.match(only(image, 'HEALTHCHECK').getArgumentsContent() ?? '', /CMD \["ringbook", "ready"\]$/);
    assert.deepEqual(argumentsOf(only(image, 'EXPOSE')), ['3032', '8011', '9464']);
    assert.deepEqual(argumentsOf(only(image, 'STOPSIGNAL')), ['SIGTERM']);
  });

  test('sets variables that a node knows, and no secret', () => {
    const names = image
      .filter((each) => each.getKeyword() === 'ENV')
      .flatMap(argumentsOf)
      .map((text) => text.split('=')[0] ?? '');
    for (const name of names.filter((each) => each.startsWith('RINGBOOK_'))) {
      assert.ok((NODE_VARIABLES as readonly string[]).includes(name), name);
      assert.doesNotMatch(name, /TOKEN|KEY|SECRET/);
    }
    assert.ok(names.includes('RINGBOOK_COMMIT'));
    // Buildah 1.28 reuses a layer of ENV after its argument has changed, but none of RUN.
    const at = (keyword: string): number => image.findLastIndex((each) => each.getKeyword() === keyword);
    assert.ok(at('ARG') < at('RUN') && at('RUN') < at('ENV'));
  });

  test('neither keys nor what is built here are in the context', () => {
    for (const path of [
      'node_modules',
      'dist/src/cli/main.js',
      'data/dev',
      '.git',
      'me.key',
      'a/b/tls.pem',
      '.env',
      'packages/client/dist/x.js',
    ]) {
      assert.ok(isIgnored(path), path);
    }
  });
});

suite('the instructions of the Dockerfile in an empty folder', () => {
  const root = temporaryDirectory();
  const building = join(root, 'build');
  const image = join(root, 'image');
  const data = join(root, 'data');
  let node: ChildProcess | null = null;

  after(() => {
    node?.kill('SIGKILL');
    // Not root: what was made read-only has to be removed.
    spawnSync('chmod', ['-R', 'u+w', root]);
    removeDirectory(root);
  });

  test('what the first stage copies is enough to build', () => {
    const [first = []] = stages();
    mkdirSync(building);
    copyInto(building, first, '');
    symlinkSync(resolve('node_modules'), join(building, 'node_modules'));
    const build = first.find((each) => each.getArgumentsContent() === 'npm run build');
    assert.ok(build !== undefined);
    const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', 'build'], { cwd: building, encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  test('what the second stage copies runs the dev profile, as another user, and nothing but the data is written', async () => {
    const [, second = []] = stages();
    mkdirSync(image);
    mkdirSync(data);
    copyInto(image, second, building);
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? { uid: OTHER_USER, gid: OTHER_USER } : {};
    if (isRoot) chownSync(data, OTHER_USER, OTHER_USER);
    spawnSync('chmod', ['-R', 'a-w,a+rX', image]);
    chmodSync(root, 0o755);
    const env = {
      ...bareEnvironment(),
      HOME: '/nowhere',
      TMPDIR: '/nowhere',
      RINGBOOK_CONFIG: 'config/dev-in-container.json',
      RINGBOOK_HOST: '0.0.0.0',
      RINGBOOK_DATA_DIR: data,
      RINGBOOK_COMMIT: 'of-the-test',
      RINGBOOK_OMS_PORT: '0',
      RINGBOOK_MDS_PORT: '0',
      RINGBOOK_OPS_PORT: '0',
    };
    const before = treeOf(image);
    // As the link in the image does: the file itself is executed.
    node = spawn(join(image, 'dist/src/cli/main.js'), ['start'], {
      cwd: image,
      env,
      ...user,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const open = await readyLine(node);
    const port = new URL(open.ops).port;
    const version = (await (await fetch(`http://127.0.0.1:${port}/version`)).json()) as { commit: string };
    assert.equal(version.commit, 'of-the-test');
    const health = spawnSync(join(image, 'dist/src/cli/main.js'), ['ready'], {
      env: { ...env, RINGBOOK_OPS_PORT: port },
      ...user,
    });
    assert.equal(health.status, 0);
    const page = await fetch(`http://127.0.0.1:${new URL(open.oms).port}/api-reference`);
    assert.equal(page.status, 200);
    const ended = new Promise((done) => node?.once('exit', (code, signal) => done(code ?? signal)));
    node.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.deepEqual(treeOf(image), before);
    assert.ok(readdirSync(data).includes('ledger.mdb'));
  });
});

function treeOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

interface Open {
  readonly oms: string;
  readonly ops: string;
}

/** @throws Error with what it printed when it ends before it is ready. */
function readyLine(child: ChildProcess): Promise<Open> {
  let output = '';
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`not ready: ${errors}`)), PATIENCE_MS);
    child.once('exit', (code, signal) => fail(new Error(`it ended with ${code ?? signal}: ${errors}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (!output.includes('\n')) return;
      clearTimeout(timer);
      done(JSON.parse(output.slice(0, output.indexOf('\n'))) as Open);
    });
  });
}
