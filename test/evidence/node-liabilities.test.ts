// tier: full, 60 s
/** What a whole node owes: stated from a snapshot, journaled, served, and verified by its users (LIA-01, LIA-04, LIA-05, LIA-06). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { must as mustBe } from '../../src/core/assert.ts';
import { toHex } from '../../src/core/hex.ts';
import { readLiabilities } from '../../src/evidence/liabilities/liability-file.ts';
import { parseStatement } from '../../src/evidence/liabilities/statement.ts';
import { type LiabilityVerdict, verifyLiabilities } from '../../src/evidence/liabilities/verify-liabilities.ts';
import { readNote, readVkey } from '../../src/evidence/notes.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { entryHash, Salts } from '../../src/evidence/tree/record-leaf.ts';
import { runKeeper } from '../../src/tools/keeper-child.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const run = promisify(execFile);
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const WITH_EVIDENCE = fileURLToPath(new URL('../../../test/fixtures/dev-with-evidence.json', import.meta.url));
const HOUR_MS = 3_600_000;
const home = temporaryDirectory();
const dataDirectory = join(home, 'data');
const statements = join(dataDirectory, 'evidence', 'liabilities');

suite('what a node owes', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  async function start(): Promise<void> {
    a?.close();
    b?.close();
    node = await startNode({ profile: 'dev', dataDirectory, env: { RINGBOOK_CONFIG: WITH_EVIDENCE } });
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
  }

  async function cli(...argv: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [CLI, ...argv], { env: bareEnvironment() });
    return stdout;
  }

  async function venueKey(): Promise<string> {
    const keys = (await (await fetch(`${node.oms}/system/key`)).json()) as { readonly venue_key: string };
    return keys.venue_key;
  }

  async function verdictOf(text: string, user: string): Promise<LiabilityVerdict> {
    return verifyLiabilities(new TextEncoder().encode(text), {
      venueKey: must(readVkey(await venueKey())),
      ...{ user, witnesses: [], quorum: 0, ends: [], units: new Map() },
    });
  }

  function fileOf(text: string): Exclude<ReturnType<typeof readLiabilities>, string> {
    const file = readLiabilities(new TextEncoder().encode(text));
    if (typeof file === 'string') assert.fail(file);
    return file;
  }

  /** The sequence of a statement whose row is found, and which is served. */
  async function served(sequence: number): Promise<void> {
    await eventually(async () => {
      const reply = await fetch(`${node.oms}/proof/liabilities`);
      if (reply.status !== 200) return false;
      const { note } = (await reply.json()) as { readonly note: string };
      const statement = parseStatement(must(readNote(note)).text);
      return typeof statement !== 'string' && statement.sequence === sequence;
    });
  }

  async function trade(orderId: string): Promise<void> {
    await a.create(
      await a.order({ assetId: '1', side: 'Sell', price: '64000', quantity: '0.01', orderId: `${orderId}-maker` }),
    );
    await b.create(await b.order({ assetId: '1', side: 'Buy', price: '64000', quantity: '0.01', orderId }));
    await eventually(async () => (await a.orderRecord('1', `${orderId}-maker`)).confirmedFilledQuantity === '0.01');
  }

  /** Of the newest head there is one, so that the origin is known. */
  async function headOf(): Promise<void> {
    await eventually(async () => (await fetch(`${node.oms}/evidence/checkpoint`)).status === 200);
  }

  before(start);
  after(async () => {
    a?.close();
    b?.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(home);
  });

  test('LIA-04, LIA-05: before a statement both reads are a 404 with a sentence', async () => {
    await headOf();
    const reply = await fetch(`${node.oms}/proof/liabilities`);
    assert.equal(reply.status, 404);
    assert.match(await reply.text(), /has stated nothing yet of what it owes/);
    await assert.rejects(a.liabilities(), /has stated nothing yet of what it owes/);
  });

  test('LIA-01, LIA-05, LIA-06: proof make states what a running node owes, proof get fetches it, proof verify says true with the sums', async () => {
    await trade('owed-1');
    // The next checkpoint has them.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const made = JSON.parse(await cli('proof', 'make', dataDirectory)) as {
      readonly sequence: number;
      readonly leaves: number;
    };
    assert.ok(made.leaves > 0);
    await served(made.sequence);
    const path = join(home, 'mine.json');
    await cli('proof', 'get', '--as', 'a', '--oms', node.oms, '--out', path);
    const text = readFileSync(path, 'utf8');
    const said = await cli('proof', 'verify', path, '--venue-key', await venueKey(), '--user', must(a.userId));
    assert.match(said, new RegExp(`stated at record ${made.sequence},`));
    const verdict = await verdictOf(text, must(a.userId));
    if (verdict.kind !== 'true') assert.fail(JSON.stringify(verdict));
    const sums = must(verdict.sums);
    assert.ok(
      sums.some(({ assetId, amount }) => assetId === '0' && amount > 0n),
      JSON.stringify(sums.map(String)),
    );
    const { assets } = fileOf(text);
    assert.ok(assets.every(({ chunks }) => chunks.length >= 2));
    // Another user has another part, and none of this one's.
    const other = await verdictOf(await b.liabilities(), must(b.userId));
    assert.equal(other.kind, 'true', JSON.stringify(other.kind === 'true' ? '' : other));
    assert.equal((await verdictOf(text, must(b.userId))).kind, 'wrong');
    const foreign = await fetch(`${node.oms}/proof/liabilities/${a.userId}`);
    assert.equal(foreign.status, 401);
  });

  test('LIA-03: n and last of every chunk are the last row of the user at the record of the statement, not one behind it', async () => {
    const { assets, note } = fileOf(await a.liabilities());
    const statement = parseStatement(must(readNote(note)).text);
    if (typeof statement === 'string') assert.fail(statement);
    const secret = Buffer.from(readFileSync(join(dataDirectory, 'evidence-secret'), 'latin1').trim(), 'hex');
    const salts = new Salts(secret);
    const user = must(a.userId);
    await trade('owed-2');
    const log = must(RowLogReader.open(join(dataDirectory, 'evidence')));
    try {
      await eventually(() => log.lastOf(user) > must(must(assets[0]).chunks[0]).n);
      const rows = [...log.userRows(user, 1, Number.MAX_SAFE_INTEGER)];
      // The row of every place of the log, found the plain way.
      for (const sequence of [...new Set(rows.map((row) => row.sequence)), statement.sequence]) {
        const last = rows.filter((row) => row.sequence <= sequence).at(-1);
        const hashOf = ({
          sequence: of,
          index,
          bytes,
        }: {
          sequence: number;
          index: number;
          bytes: Uint8Array;
        }): Uint8Array => entryHash({ sequence: of, index, salt: salts.salt(of, index) }, bytes);
        const found = log.lastRowsAt([user], sequence, hashOf).get(user);
        assert.equal(found?.n, last?.link.n);
        assert.equal(toHex(must(found).hash), toHex(hashOf(must(last))));
        if (sequence !== statement.sequence) continue;
        for (const { chunks } of assets) {
          for (const chunk of chunks)
            assert.deepEqual([chunk.n, toHex(chunk.last)], [found?.n, toHex(must(found).hash)]);
        }
      }
    } finally {
      await log.close();
    }
  });

  test('LIA-01: the process of a snapshot states it when the newest statement is old enough, and only once a place', async () => {
    await trade('owed-3');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const keeper = async (everyMs: number): Promise<readonly string[]> => {
      const lines: string[] = [];
      const liabilities = { everyMs, secret: null };
      const code = await runKeeper({
        directory: dataDirectory,
        keep: 2,
        share: null,
        liabilities,
        say: (line) => lines.push(line),
      });
      assert.equal(code, 0, lines.join('\n'));
      return lines;
    };
    const before = readdirSync(statements).length;
    assert.match(must((await keeper(HOUR_MS))[0]), /^stated nothing: the newest statement is not old enough/);
    assert.equal(readdirSync(statements).length, before);
    const [line] = await keeper(0);
    const [, sequence] = must(/^stated record ([0-9]+): [0-9]+ assets, [0-9]+ leaves$/.exec(must(line)));
    await served(Number(sequence));
    // A record that came meanwhile may have one of its own, which has to be in the log before the next.
    const [again = ''] = await keeper(0);
    assert.match(again, /^stated (?:record|nothing: there is a statement of record)/);
    await served(Number(/^stated record ([0-9]+):/.exec(again)?.[1] ?? sequence));
    assert.equal((await verdictOf(await a.liabilities(), must(a.userId))).kind, 'true');
  });

  test('LIA-04: a statement that was made while the node was stopped is signed, journaled and served after its start, and over a kill', async () => {
    await trade('owed-4');
    await stopNode(node);
    const made = JSON.parse(await cli('proof', 'make', dataDirectory)) as { readonly sequence: number };
    await assert.rejects(cli('proof', 'make', dataDirectory), /there is a statement of record/);
    await start();
    await served(made.sequence);
    await stopNode(node, 'SIGKILL');
    await start();
    await served(made.sequence);
    const text = await a.liabilities();
    assert.equal((await verdictOf(text, must(a.userId))).kind, 'true');
    assert.ok(existsSync(join(statements, String(made.sequence).padStart(20, '0'), 'note')));
    assert.ok(readdirSync(statements).length <= 3, 'older statements are removed');
    // A word of the note changed: the hash in the log is another one.
    const path = join(home, 'false.json');
    writeFileSync(
      path,
      text.replace(/owed ([0-9])/, (_, digit: string) => `owed ${(Number(digit) + 1) % 10}`),
    );
    await assert.rejects(
      cli('proof', 'verify', path, '--venue-key', await venueKey(), '--user', must(a.userId)),
      /false, by check|Command failed/,
    );
  });
});
