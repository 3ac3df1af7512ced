// tier: quick
/**
 * The rules of the source tree: which module may import which, which words are banned where. They are ordinary tests, so
 * a broken rule is a red build.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { suite, test } from 'node:test';
import { circlesOf, codeOf, exportsOf, importedNames, namedImports, programFiles } from './support/source-files.ts';

/** A module may import from these modules and packages, and from itself. */
interface Module {
  readonly modules: readonly string[];
  readonly packages: readonly string[];
}

const CORE = ['core'];
const BASE = ['core', 'runtime', 'schema', 'crypto'];
const DOMAIN = [...BASE, 'codec', 'order', 'risk', 'matching', 'clearing', 'gateway', 'market-data'];
const TABLE: Readonly<Record<string, Module>> = {
  core: { modules: [], packages: [] },
  runtime: { modules: CORE, packages: ['node:', 'pino'] },
  schema: { modules: CORE, packages: [] },
  crypto: {
    modules: ['core', 'runtime', 'schema', 'codec'],
    packages: ['node:', '@noble/hashes', 'sodium-native', 'tiny-secp256k1', 'piscina'],
  },
  codec: { modules: CORE, packages: ['@sinclair/typebox', 'flatbuffers'] },
  order: { modules: ['core', 'runtime', 'schema'], packages: [] },
  risk: { modules: ['core', 'schema', 'order'], packages: [] },
  clearing: { modules: [...BASE, 'codec', 'order', 'risk'], packages: ['@noble/hashes', 'node:crypto'] },
  matching: { modules: ['core', 'runtime', 'schema', 'order', 'clearing'], packages: [] },
  gateway: { modules: [...BASE, 'codec', 'order', 'risk', 'clearing', 'matching'], packages: ['node:'] },
  'market-data': { modules: ['core', 'runtime', 'schema', 'risk', 'clearing', 'gateway'], packages: [] },
  client: {
    modules: ['core', 'codec'],
    packages: ['node:', '@noble/ed25519', '@noble/hashes', '@noble/secp256k1', 'flatbuffers', 'ws'],
  },
  evidence: {
    modules: ['core', 'runtime', 'schema', 'codec', 'crypto', 'gateway', 'storage'],
    packages: ['node:', 'lmdb'],
  },
  storage: { modules: ['core', 'runtime', 'schema', 'order', 'clearing', 'gateway'], packages: ['node:', 'lmdb'] },
  cluster: {
    modules: ['core', 'runtime', 'schema', 'clearing', 'storage', 'market-data'],
    packages: ['node:', '@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/obj'],
  },
  chain: { modules: [...BASE, 'codec', 'clearing'], packages: ['node:', '@noble/hashes', 'viem'] },
  http: { modules: DOMAIN, packages: ['node:', 'uWebSockets.js', '@sinclair/typebox'] },
  operator: {
    modules: [...DOMAIN, 'client', 'chain', 'http'],
    packages: ['node:', 'pino', '@sinclair/typebox'],
  },
  tools: { modules: [...DOMAIN, 'storage', 'evidence'], packages: ['node:', 'csv-stringify', 'hyparquet-writer'] },
  node: {
    modules: [...DOMAIN, 'storage', 'evidence', 'chain', 'client', 'cluster', 'http', 'load', 'operator', 'tools'],
    packages: ['node:', 'pino', '@sinclair/typebox'],
  },
  load: { modules: ['core', 'runtime', 'codec', 'client'], packages: ['node:', 'hdr-histogram-js', 'ws'] },
  cli: {
    modules: [...DOMAIN, 'client', 'cluster', 'evidence', 'load', 'operator', 'storage', 'tools', 'node'],
    packages: [
      'node:',
      'cli-progress',
      'hdr-histogram-js',
      'lmdb',
      'sodium-native',
      'tiny-secp256k1',
      'uWebSockets.js',
    ],
  },
};

/** Modules that decide: no clock, no I/O, no chance; rings and messages in their shells alone. */
const PURE = ['core', 'schema', 'codec', 'order', 'risk', 'matching', 'clearing', 'gateway', 'market-data'];
/** The shells of those modules: actors, codecs, and what the gateway runs on its thread. */
const SHELL = /-(?:actor|codec)\.ts$|^src\/gateway\/(?!orders\/|sessions\/)/;
/** Files of other modules that decide as well. */
const DECIDING = /^src\/cluster\/(?:protocol|transitions|lease|shortfall|standbys|events)\.ts$/;
/** Shells that have another name. */
const OTHER_SHELLS: readonly string[] = [
  'src/clearing/journal-batch.ts',
  'src/clearing/sha256.ts',
  'src/market-data/market-data-feed.ts',
  'src/matching/market-commands.ts',
  'src/matching/market-output.ts',
  'src/order/command-notes.ts',
  'src/order/fill-injection.ts',
  'src/order/order-store.ts',
];
const IMPURE_WORDS =
  /\bDate\.now\b|\bnew Date\b|\bMath\.random\b|\bperformance\.now\b|\bsetTimeout\b|\bsetInterval\b|\bprocess\.|\bconsole\./;
const JSON_PARSE_ALLOWED =
  /^src\/(schema\/plain-values|runtime\/(?:version|bundle|source-stack)|client\/|cli\/|load\/figures|node\/|operator\/operator-tokens|tools\/|cluster\/(?:replicator|replicator-actor|replica-feed|market-data-publisher|cluster-admin|stream-log|server-fitness|truncation)\.ts$|clearing\/registry\/|chain\/|evidence\/ledger-pages)/;

/** Half of them are the SDK's or those of FlatBuffers tables, which are public. Lower it with the number; never raise it. */
const NAMES_TWICE_MAX = 28;

/** Functions and classes that the program does not import: tests call them by name, for the reason that stands over them. */
const FOR_TESTS: Readonly<Record<string, readonly string[]>> = {
  'bytes of the trees of liabilities, compared in tests': ['owedNode', 'owedWidth'],
  'the error of the streams of a cluster, whose code a test reads': ['StreamError'],
  'one direction of a format of which the program uses the other, or both within the file': [
    ...[
      'writeBook',
      'writeFlow',
      'encodeChain',
      'decodeChain',
      'configText',
      'decodeConfig',
      'decodeCursor',
      'isProven',
    ],
    ...['rowOf', 'differenceOf', 'userTradeBody', 'klineJson', 'arrayFrames'],
  ],
  'one step of a calculation, compared with a plain implementation or with values by hand': [
    ...['depositFee', 'withdrawalFee', 'ratesOf', 'sumsAfter', 'isToBeLiquidated', 'riskTerms', 'figuresFault'],
    ...['filteredOrders', 'CostBasis', 'WordHeap', 'causesOf', 'quantile', 'portableSha256'],
  ],
  'a part with bounds that no test reaches through the whole': [
    ...[
      'PageQueue',
      'Backlog',
      'SocketPings',
      'LogWriter',
      'JsonTextError',
      'keptKeys',
      'payloadBytesMax',
      'noHeaders',
    ],
    ...['diskState', 'cacheFolder', 'bytesOf', 'readKindOf', 'signedShape'],
  ],
  'pages of the storage file, which tests damage one field at a time': [
    'readMetas',
    'safeAt',
    'treePageHeader',
    'damagedPage',
  ],
  'what documents state, compared with what the program does': [
    ...[
      'errorTable',
      'RESERVED_CODES',
      'infoOf',
      'bodyBytesMaxOf',
      'errorsOf',
      'operationId',
      'FIRST_HOP',
      'WEIGHT_MAX',
    ],
    ...['ROW_KIND_NAMES'],
  ],
  'the tree and the heads of the evidence, before its thread is there': [
    ...['tilePath'],
    ...['cosignature', 'verifierKey', 'readLogHead'],
  ],
  'the whole state as text, to show where two states differ': ['stateLines'],
};

interface SourceFile {
  readonly path: string;
  readonly module: string;
  readonly text: string;
}

function sources(): readonly SourceFile[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => ({
      path: `src/${path}`,
      module: path.split('/')[0] ?? '',
      text: readFileSync(join('src', path), 'utf8'),
    }));
}

interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
}

const IMPORT_FORM = /^(?:import|export)\s(type\s)?(?:[^'"`;]*?\sfrom\s)?'([^']+)'/gm;
const REQUIRE_FORM = /createRequire\(import\.meta\.url\)\('([^']+)'\)/g;

function importsOf(file: SourceFile): readonly Import[] {
  const imported = [...file.text.matchAll(IMPORT_FORM)].map(([, type, target = '']) => ({
    target,
    typeOnly: type !== undefined,
  }));
  const required = [...file.text.matchAll(REQUIRE_FORM)].map(([, target = '']) => ({ target, typeOnly: false }));
  return [...imported, ...required];
}

/** The module that a relative import leads to, or null for a package. */
function moduleOf(file: SourceFile, target: string): string | null {
  if (!target.startsWith('.')) return null;
  return normalize(join(dirname(file.path), target)).split('/')[1] ?? '';
}

function isPure(file: SourceFile): boolean {
  if (DECIDING.test(file.path)) return true;
  return PURE.includes(file.module) && !SHELL.test(file.path) && !OTHER_SHELLS.includes(file.path);
}

suite('tidy', () => {
  const files = sources();

  test('every module of the table has files', () => {
    for (const module of Object.keys(TABLE))
      assert.ok(
        files.some((file) => file.module === module),
        module,
      );
  });

  test('imports go one way, and packages stay in their modules', () => {
    const wrong = new Set<string>();
    for (const file of files) {
      const allowed = TABLE[file.module];
      assert.ok(allowed !== undefined, `${file.path} is in a module that the table does not have`);
      for (const { target } of importsOf(file)) {
        const module = moduleOf(file, target);
        if (module === null) {
          const isAllowed = allowed.packages.some(
            (name) => target === name || target.startsWith(name.endsWith(':') ? name : `${name}/`),
          );
          if (!isAllowed) wrong.add(`${file.path} imports the package ${target}`);
        } else if (module !== file.module && !allowed.modules.includes(module)) wrong.add(`${file.path} ${module}`);
      }
    }
    assert.deepEqual([...wrong], []);
  });

  test('modules that decide import rings and messages in their shells alone', () => {
    const wrong = files
      .filter((file) => ['order', 'risk', 'matching', 'clearing', 'gateway', 'market-data'].includes(file.module))
      .filter(isPure)
      .filter((file) =>
        importsOf(file).some(
          ({ target, typeOnly }) =>
            !typeOnly && ['runtime', 'node:'].includes(moduleOf(file, target) ?? target.slice(0, 5)),
        ),
      );
    assert.deepEqual(
      wrong.map((file) => file.path),
      [],
    );
  });

  test('modules that decide never touch a clock, chance, a timer or the process', () => {
    const wrong = files
      .filter(isPure)
      .filter((file) => IMPURE_WORDS.test(file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')));
    assert.deepEqual(
      wrong.map((file) => file.path),
      [],
    );
  });

  test('the client of NATS is imported by one module, which only a cluster loads', () => {
    const importers = files.filter((file) => importsOf(file).some(({ target }) => target.startsWith('@nats-io/')));
    assert.deepEqual(
      importers.map(({ path }) => path),
      ['src/cluster/stream-log.ts'],
    );
    const loaders = files.filter((file) => importsOf(file).some(({ target }) => target.endsWith('/stream-log.ts')));
    assert.deepEqual(
      loaders.map(({ path, module }) => `${module} ${path}`).filter((loader) => !loader.startsWith('cluster ')),
      [],
    );
  });

  test('client input never passes through JSON.parse', () => {
    const wrong = files.filter((file) => /\bJSON\.parse\(/.test(file.text) && !JSON_PARSE_ALLOWED.test(file.path));
    assert.deepEqual(
      wrong.map((file) => file.path),
      [],
    );
  });

  test('every file opens with what it is', () => {
    const silent = files.filter((file) => !/^(?:\/\*\*|#!)/.test(file.text) && !file.text.startsWith('import'));
    assert.deepEqual(
      silent.map((file) => file.path),
      [],
    );
    const headless = files.filter((file) => !file.text.includes('/**'));
    assert.deepEqual(
      headless.map((file) => file.path),
      [],
    );
  });

  test('no circle of files, but by types', () => {
    const graph = new Map(
      files.map(({ path, text }) => [
        path,
        namedImports(path, text).flatMap(({ target, typeOnly }) => (target === null || typeOnly ? [] : [target])),
      ]),
    );
    assert.deepEqual(circlesOf(graph), []);
    const looped = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', []],
    ]);
    assert.deepEqual(circlesOf(looped), [['a', 'b', 'c']]);
  });

  test('few exported names are declared in two files: a name is one thing', () => {
    const declaredIn = new Map<string, Set<string>>();
    // Two platforms have the same names, which the compiler compares (docs/decisions/0056).
    const isCounted = (path: string): boolean => path.startsWith('src/') && !path.endsWith('/platform-browser.ts');
    for (const { path, text } of files.filter(({ path }) => isCounted(path)))
      for (const { name } of exportsOf(path, text)) declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(path));
    const twice = [...declaredIn].filter(([, paths]) => paths.size > 1);
    const listed = twice.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
    assert.ok(declaredIn.size > 2_000);
    assert.ok(twice.length <= NAMES_TWICE_MAX, `${twice.length} names\n${listed.join('\n')}`);
  });

  test('what is exported has an importer outside of its file and of tests, but for what serves tests by name', () => {
    const program = ['workers', 'page', 'packages/client', 'packaging', 'bench', 'schemas', 'examples'];
    const imported = importedNames(programFiles(['src', ...program]));
    const byTests = importedNames(programFiles(['test']));
    // The SDK is public as a whole: `ringbook-client/*` (packages/client/package.json).
    const isPublic = (path: string): boolean => /^src\/client\/[^/]+$/.test(path) || path.includes('generated');
    const exported = files.filter(({ path }) => !isPublic(path)).flatMap(({ path, text }) => exportsOf(path, text));
    assert.ok(exported.length > 2_000);
    const isIn = (names: ReadonlySet<string> | undefined, name: string): boolean =>
      names !== undefined && (names.has(name) || names.has('*'));
    const without = exported.filter(({ path, name }) => !isIn(imported.get(path), name));
    assert.deepEqual(
      without.filter(({ path, name }) => !isIn(byTests.get(path), name)).map(({ path, name }) => `${path}: ${name}`),
      [],
      'used in its own file only: remove the `export`, or the code',
    );
    const isUsedIn = (path: string, name: string): boolean =>
      [...codeOf(readFileSync(path, 'utf8')).matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1;
    // Bounds and shapes that only tests name are better than the same number or shape written again in a test.
    const byName = without.filter(({ path, kind, name }) => /^(?:function|class)$/.test(kind) || !isUsedIn(path, name));
    const excepted = Object.values(FOR_TESTS).flat();
    assert.deepEqual(
      byName.map(({ name }) => name).filter((name) => !excepted.includes(name)),
      [],
      'used by tests only: remove it, test it through what the program calls, or name it in FOR_TESTS',
    );
    const all = without.map(({ name }) => name);
    assert.deepEqual(
      excepted.filter((name) => !all.includes(name)),
      [],
      'no exception any more: the program imports it, or it is gone',
    );
  });

  test('worker entries are a few lines each', () => {
    for (const name of readdirSync('workers')) {
      const lines = readFileSync(join('workers', name), 'utf8').split('\n').length;
      assert.ok(lines <= 40, `workers/${name} has ${lines} lines`);
    }
  });

  test('nothing in the sources is a note to finish later', () => {
    const marks = /\b(?:TODO|FIXME|XXX|HACK)\b|@ts-ignore|@ts-expect-error|\bas any\b/;
    assert.deepEqual(
      files.filter((file) => marks.test(file.text)).map((file) => file.path),
      [],
    );
  });

  test('every reject code is documented in the wire contract, its additions or the operator API', () => {
    const documents = ['wire.md', 'wire-additions.md', 'requirements.md', 'operator-api.md']
      .map((name) => readFileSync(`docs/reference/${name}`, 'utf8'))
      .join('\n');
    const codes = readFileSync('src/core/reject.ts', 'utf8').match(/^ {2}([A-Z_0-9]+): \d+,$/gm) ?? [];
    assert.ok(codes.length > 80);
    const undocumented = [...new Set(codes.map((line) => line.trim().split(':')[0] ?? ''))].filter(
      (code) => !documents.includes(`\`${code}\``),
    );
    assert.deepEqual(undocumented, []);
  });

  test('every property has the parameters that all share: a run in CI tries the same cases as the one before', () => {
    const properties = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path, text: readFileSync(join('test', path), 'utf8') }))
      .filter(({ path, text }) => path !== 'tidy.test.ts' && /\bfc\.(assert|check)\(/.test(text));
    assert.ok(properties.length > 20);
    const own = properties.filter(({ text }) => !text.includes("/property.ts'") || /\bnumRuns:/.test(text));
    assert.deepEqual(
      own.map(({ path }) => path),
      [],
    );
  });
});
