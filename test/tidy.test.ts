/**
 * The house keeps its own rules: who may import whom, which words are banned where. These are
 * ordinary tests, so a broken rule is a red build and not a matter of taste.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { suite, test } from 'node:test';

/** A room may import from these rooms and packages, and from itself. */
interface Room {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

const CORE = ['core'];
const TABLE: Readonly<Record<string, Room>> = {
  core: { rooms: [], packages: [] },
  runtime: { rooms: CORE, packages: ['node:', 'pino'] },
  messages: { rooms: CORE, packages: [] },
  crypto: { rooms: [...CORE, 'runtime', 'messages'], packages: ['node:', 'sodium-native', 'piscina'] },
  wire: { rooms: CORE, packages: ['@sinclair/typebox'] },
  matching: { rooms: CORE, packages: [] },
  risk: { rooms: CORE, packages: [] },
  clearing: { rooms: [...CORE, 'risk'], packages: ['@noble/hashes'] },
  orders: { rooms: [...CORE, 'wire', 'clearing', 'risk'], packages: [] },
  sessions: { rooms: CORE, packages: [] },
  'market-data': { rooms: CORE, packages: [] },
  storage: { rooms: [...CORE, 'clearing', 'orders'], packages: ['node:', 'lmdb'] },
  chain: { rooms: CORE, packages: ['node:', '@noble/hashes'] },
  edge: {
    rooms: [...CORE, 'runtime', 'wire', 'orders', 'sessions', 'market-data', 'crypto'],
    packages: ['node:', 'uWebSockets.js', '@sinclair/typebox'],
  },
  node: {
    rooms: [
      ...CORE,
      'runtime',
      'messages',
      'crypto',
      'wire',
      'matching',
      'orders',
      'sessions',
      'clearing',
      'risk',
      'market-data',
      'storage',
      'chain',
      'edge',
      'client',
    ],
    packages: ['node:', 'pino', 'prom-client', '@sinclair/typebox'],
  },
  client: { rooms: [...CORE, 'wire'], packages: ['node:', '@noble/ed25519', '@noble/hashes', 'ws'] },
  cli: {
    rooms: [...CORE, 'wire', 'client', 'node'],
    packages: ['node:', 'cli-progress', 'hdr-histogram-js', 'lmdb', 'sodium-native', 'uWebSockets.js'],
  },
};

/** Rooms that decide: no clock, no I/O, no chance. */
const PURE = ['core', 'messages', 'wire', 'matching', 'orders', 'sessions', 'clearing', 'risk', 'market-data'];
/** Where a room imports only types from another domain room. */
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = { orders: ['clearing'] };
const IMPURE_WORDS =
  /\bDate\.now\b|\bnew Date\b|\bMath\.random\b|\bperformance\.now\b|\bsetTimeout\b|\bsetInterval\b|\bprocess\.|\bconsole\./;
const JSON_PARSE_ALLOWED = /^src\/(messages\/plain-values|client\/|cli\/|node\/|clearing\/|chain\/)/;

interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
}

function sources(): readonly SourceFile[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => ({
      path: `src/${path}`,
      room: path.split('/')[0] ?? '',
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

/** The room that a relative import leads to, or null for a package. */
function roomOf(file: SourceFile, target: string): string | null {
  if (!target.startsWith('.')) return null;
  return normalize(join(dirname(file.path), target)).split('/')[1] ?? '';
}

suite('tidy', () => {
  const files = sources();

  test('there are files to look at, in every room of the table', () => {
    for (const room of Object.keys(TABLE))
      assert.ok(
        files.some((file) => file.room === room),
        room,
      );
  });

  test('imports go downwards only, and packages stay in their rooms', () => {
    const wrong: string[] = [];
    for (const file of files) {
      const allowed = TABLE[file.room];
      assert.ok(allowed !== undefined, `${file.path} is in a room that the table does not know`);
      for (const { target, typeOnly } of importsOf(file)) {
        const room = roomOf(file, target);
        if (room === null) {
          if (
            !allowed.packages.some(
              (name) => target === name || target.startsWith(name.endsWith(':') ? name : `${name}/`),
            )
          )
            wrong.push(`${file.path} imports the package ${target}`);
        } else if (room !== file.room && !allowed.rooms.includes(room)) {
          wrong.push(`${file.path} imports from ${room}`);
        } else if (room !== file.room && TYPES_ONLY[file.room]?.includes(room) === true && !typeOnly) {
          wrong.push(`${file.path} may import only types from ${room}`);
        }
      }
    }
    assert.deepEqual(wrong, []);
  });

  test('rooms that decide never touch a clock, chance, a timer or the process', () => {
    const wrong = files
      .filter((file) => PURE.includes(file.room))
      .filter((file) => IMPURE_WORDS.test(file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')));
    assert.deepEqual(
      wrong.map((file) => file.path),
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

  test('every reject code is documented in the wire contract or the operator API', () => {
    const documents = ['wire.md', 'requirements.md', 'operator-api.md']
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
