// tier: full, 14 s
/** The documentation is correct: its examples run against a real node, its links lead somewhere, its codes exist. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { hashes } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { REJECT_CODE, type RejectName } from '../../src/core/reject.ts';
import { DocRunner, examplesOf, PYTHON } from '../support/doc-runner.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** In the order in which they run: the pages of the guide go on where the one before has stopped. */
const PAGES = [
  ...['README.md', 'docs/trading.md', 'docs/orders.md', 'docs/safety.md', 'docs/market-data.md', 'docs/accounts.md'],
  ...['docs/operating.md', 'docs/api.md', 'docs/margin.md', 'docs/signers.md', 'docs/makers.md'],
];
const STREAMS = [
  '/orders',
  '/orders?sequence=true',
  '/trades/user/events/{user_id}',
  '/account/events/{user_id}',
  '/marketdepth/diff/1',
  '/trades/events',
];
/** What cannot run inside a test, and nothing else: the two commands that install, build, start and test, and what has a test of its own. */
const NOT_RUN = [
  'README.md: npm ci && npm start',
  'README.md: npm ci && npm test',
  'docs/margin.md: npx ringbook demo crash',
];

/** Scripts are run where their tools are; elsewhere the test is skipped with a message. */
const lacksTools = ['bash', 'curl', 'openssl'].some((name) => spawnSync(name, ['--help']).error !== undefined);

/** Programs in Python are run where its package is installed; elsewhere each is skipped with this message. */
const hasPackage = spawnSync(PYTHON, ['-c', 'import ringbook']).status === 0;
const lacksPackage = hasPackage
  ? false
  : `${PYTHON} has no ringbook: pip install ./packages/python; RINGBOOK_PYTHON names another`;

suite('the examples of the documentation, on a dev node', () => {
  const examples = PAGES.flatMap(examplesOf);
  const running = examples.filter(({ notRun }) => notRun === null);
  const home = temporaryDirectory();
  let node: NodeProcess;
  let runner: DocRunner;

  before(async () => {
    hashes.sha512 = sha512;
    node = await startNode({ profile: 'dev' });
    runner = new DocRunner(node, home);
    for (const path of STREAMS) await runner.listen(path);
    await runner.compile(running.filter(({ words }) => words[0] === 'ts'));
  });

  after(async () => {
    runner?.close();
    if (node !== undefined) {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
    removeDirectory(home);
  });

  for (const example of running) {
    const what = example.words.join(' ');
    const skip = example.words[0] === 'python' ? lacksPackage : example.words[1] === 'script' && lacksTools;
    test(`${example.file}:${example.line} (${what}) does what the page describes`, { skip }, () =>
      runner.execute(example),
    );
  }

  test('the node outlives them all and has nothing to complain about', () => {
    assert.equal(node.child.exitCode ?? node.child.signalCode, null, node.stderr());
  });

  test('only what installs or tests the package itself is not run', () => {
    const left = examples.filter(({ notRun }) => notRun !== null);
    assert.deepEqual(
      left.map(({ file, text }) => `${file}: ${text}`),
      NOT_RUN,
    );
  });
});

suite('the documentation', () => {
  const pages = [...readdirSync('.'), ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
    (path) => path.endsWith('.md') || path === 'llms.txt',
  );
  /** The ids that headings have where Markdown is shown. */
  const anchorsOf = (page: string): ReadonlySet<string> =>
    new Set(
      [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      ),
    );

  test('every file that a page links or names as a page exists', () => {
    const missing = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
        .map(([, target = '']) => join(dirname(page), target))
        .filter((target) => !existsSync(target))
        .map((target) => `${page}: ${target}`),
    );
    assert.deepEqual(missing, []);
  });

  test('every part of a page that a link names is a heading of it', () => {
    const missing = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
        .map(([, target = '', part = '']) => ({ target: target === '' ? page : join(dirname(page), target), part }))
        .filter(({ target, part }) => !anchorsOf(target).has(part))
        .map(({ target, part }) => `${page}: ${target}#${part}`),
    );
    assert.deepEqual(missing, []);
  });

  test('every code of the operator API stands in its reference', () => {
    const reference = readFileSync('docs/reference/operator-api.md', 'utf8');
    const operator = (Object.keys(REJECT_CODE) as RejectName[]).filter((code) => REJECT_CODE[code] >= 500);
    assert.deepEqual(
      operator.filter((code) => !reference.includes(`\`${code}\``)),
      [],
    );
  });
});
