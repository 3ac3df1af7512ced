// tier: full, 12 s
/**
 * The package `ringbook-client` as its users get it: packed, installed by npm into an empty folder without a network,
 * compiled against in new projects, and trading with a real node.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { examplesOf } from '../support/doc-runner.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PACKAGE = 'packages/client';
const README = `${PACKAGE}/README.md`;
const TSC = resolve('node_modules/typescript/bin/tsc');
const INSTALLED_BYTES_MAX = 3_400_000;
/** A file takes whole blocks of a disk. */
const BLOCK_BYTES = 4_096;
const run = promisify(execFile);

/** What each program of the page prints. */
const PRINTED = ['Pending 0.5 2900\nConfirmed 0.5 2900\n', '2\n', 'INVALID_ARGUMENT quantity\nclosed 1000 false\n'];

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** npm as a user starts it: without the settings of an `npm test` that this may be part of, and with an empty cache. */
function npm(args: readonly string[], cwd: string, cache: string): Promise<{ readonly stdout: string }> {
  const own = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  const env = {
    ...Object.fromEntries(own),
    npm_config_cache: join(cache, 'cache'),
    npm_config_update_notifier: 'false',
  };
  return run('npm', args, { cwd, env, timeout: PATIENCE_MS });
}

/** `npm pack` of a folder or a workspace. @returns the one entry of its report. */
async function pack(to: string, ...options: string[]): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', to, ...options], {
    timeout: PATIENCE_MS,
  });
  const [entry] = JSON.parse(stdout) as Packed[];
  assert.ok(entry !== undefined, stdout);
  return entry;
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
}

/** The settings of `tsc --init`, and those of a bundler; declarations of packages are checked in both. */
const PROJECTS: Readonly<Record<string, object>> = {
  'of tsc --init': {
    module: 'nodenext',
    target: 'esnext',
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    noUncheckedSideEffectImports: true,
    moduleDetection: 'force',
  },
  'of node16': { module: 'node16', target: 'es2022' },
  'of a bundler': { module: 'esnext', moduleResolution: 'bundler', target: 'es2022' },
};

suite('the package of the client', () => {
  const home = temporaryDirectory();
  let packed: Packed;
  let node: NodeProcess;

  before(async () => {
    packed = await pack(home, '--workspace', 'ringbook-client');
    const { dependencies } = manifestOf(PACKAGE);
    const archives = [packed];
    // What the registry would send, packed from the files that it sent to this checkout.
    for (const name of Object.keys(dependencies)) {
      archives.push(await pack(home, '--ignore-scripts', resolve('node_modules', name)));
    }
    writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}');
    const names = archives.map(({ filename }) => `./${filename}`);
    const options = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...names];
    await npm(options, home, home);
    node = await startNode({ profile: 'dev' });
  });

  after(async () => {
    if (node !== undefined) {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
    removeDirectory(home);
  });

  test('it has the compiled client with its types, and nothing of the server', () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      'LICENSE',
      'README.md',
      'package.json',
      'dist/client/sdk.js',
      'dist/client/sdk.d.ts',
      'dist/client/browser/sdk.js',
    ]) {
      assert.ok(paths.includes(path), path);
    }
    const others = paths.filter((path) => !/^dist\/(?:client|codec|core)\/[\w/-]+\.(?:js|d\.ts)$/.test(path));
    assert.deepEqual(others.toSorted(), ['LICENSE', 'README.md', 'package.json']);
    assert.ok(!paths.some((path) => path.includes('/page/')), 'pages of the node are no part of a client');
  });

  test('its dependencies are the packages that it imports, in the versions of the node', () => {
    const { dependencies, version } = manifestOf(PACKAGE);
    const root = manifestOf('.');
    assert.equal(version, root.version);
    for (const [name, wanted] of Object.entries(dependencies)) assert.equal(wanted, root.dependencies[name], name);
    const imported = filesUnder(join(home, 'node_modules/ringbook-client/dist'))
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)[^;]*?\sfrom '([^'.][^']*)'/gm)])
      .map(([, target = '']) => target)
      .filter((target) => !target.startsWith('node:'))
      .map((target) =>
        target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    assert.deepEqual([...new Set(imported)].toSorted(), Object.keys(dependencies).toSorted());
  });

  test('every module that a page of the documentation imports is in the table of its page', () => {
    const listed = [...readFileSync(README, 'utf8').matchAll(/^\| `(ringbook-client[\w/-]*)` \|/gm)].map(
      ([, name]) => name,
    );
    const pages = ['README.md', README, ...readdirSync('docs').map((name) => join('docs', name))];
    const imported = pages
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/(?:from '|`)(ringbook-client\/[\w/-]+)['`]/g)])
      .map(([, name]) => name);
    assert.ok(listed.includes('ringbook-client') && imported.length > 0, `${listed} ${imported}`);
    assert.deepEqual(
      imported.filter((name) => !listed.includes(name)),
      [],
    );
  });

  test('installed with everything that it needs it takes less than 3.4 MB', () => {
    const taken = filesUnder(join(home, 'node_modules'))
      .map((path) => Math.ceil(statSync(path).size / BLOCK_BYTES) * BLOCK_BYTES)
      .reduce((sum, bytes) => sum + bytes, 0);
    assert.ok(taken < INSTALLED_BYTES_MAX, `${taken} bytes`);
    assert.ok(taken > 500_000, `${taken} bytes are no installation`);
  });

  for (const [name, settings] of Object.entries(PROJECTS)) {
    test(`the programs of its page compile in a new project ${name}, declarations of packages checked`, async () => {
      const folder = join(home, name.replaceAll(/\W/g, '-'));
      mkdirSync(folder);
      const options = { ...settings, strict: true, types: [], skipLibCheck: false };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }));
      programs().forEach((text, index) => {
        writeFileSync(join(folder, `program-${index}.ts`), text);
      });
      await run(process.execPath, [TSC, '--project', folder]).catch((error: { stdout?: string }) =>
        assert.fail(error.stdout),
      );
    });
  }

  test('a mistake in the use of its types is an error', async () => {
    const folder = join(home, 'mistake');
    mkdirSync(folder);
    const text = `import { RingbookClient } from 'ringbook-client';\nnew RingbookClient({ oms: 3032 });\n`;
    writeFileSync(join(folder, 'mistake.ts'), text);
    const options = { ...PROJECTS['of tsc --init'], strict: true, types: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    await assert.rejects(run(process.execPath, [TSC, '--project', folder]), { stdout: /error TS2322/ });
  });

  test('the programs of its page trade with a node, and print a confirmed fill, an error, the end of a connection', async () => {
    const printed: string[] = [];
    for (const [index] of programs().entries()) {
      const program = join(home, `of-tsc---init/program-${index}.js`);
      printed.push((await run(process.execPath, [program], { timeout: PATIENCE_MS })).stdout);
    }
    assert.deepEqual(printed, PRINTED);
  });

  test('plain JavaScript uses it, as a module and, where Node has it, by require', async () => {
    const program = `new RingbookClient({ oms: '${node.oms}' }).markets().then((markets) => console.log(markets.length));`;
    writeFileSync(join(home, 'plain.mjs'), `import { RingbookClient } from 'ringbook-client';\n${program}`);
    writeFileSync(join(home, 'plain.cjs'), `const { RingbookClient } = require('ringbook-client');\n${program}`);
    const hasRequire = Reflect.get(process.features, 'require_module') === true;
    for (const file of hasRequire ? ['plain.mjs', 'plain.cjs'] : ['plain.mjs']) {
      const { stdout } = await run(process.execPath, [join(home, file)], { timeout: PATIENCE_MS });
      assert.equal(stdout, '3\n', file);
    }
  });

  /** The programs of the page, with the addresses of the node under test. */
  function programs(): readonly string[] {
    return examplesOf(README)
      .filter(({ words }) => words[0] === 'ts')
      .map(({ text }) => text.replace('http://127.0.0.1:3032', node.oms).replace('http://127.0.0.1:8011', node.mds));
  }
});

suite('the package of the node', () => {
  const root = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
    readonly exports: Readonly<Record<string, string>>;
    readonly scripts: Readonly<Record<string, string>>;
  };

  test('`npm pack` builds first, and packs the command and the client', async () => {
    assert.equal(root.scripts['prepack'], 'npm run -s build');
    const to = temporaryDirectory();
    const { files } = await pack(to, '--dry-run', '--ignore-scripts');
    const paths = files.map(({ path }) => `./${path}`);
    for (const path of [`./${root.bin['ringbook']}`, root.exports['./client'] ?? '', './config/production.json']) {
      assert.ok(paths.includes(path), path);
    }
  });

  test('`ringbook/client` is an alias: the same modules under the same names', () => {
    const own = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
      readonly exports: { readonly '.': { readonly default: string }; readonly './*': string };
    };
    assert.equal(root.exports['./client'], own.exports['.'].default.replace('./dist/', './dist/src/'));
    assert.equal(root.exports['./client/*'], own.exports['./*'].replace('./dist/', './dist/src/'));
  });
});
