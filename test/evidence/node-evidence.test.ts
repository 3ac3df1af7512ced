// tier: full, 60 s
/** The log of a whole node: orders are proven over HTTP, heads go on over a kill, and an older log is refused at a start. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';
import { must as mustBe } from '../../src/core/assert.ts';
import { readBase64 } from '../../src/evidence/base64.ts';
import { readEvidence } from '../../src/evidence/evidence-file.ts';
import { newestHead } from '../../src/evidence/heads/head-store.ts';
import { noteSigner, readVkey, signedBy, vkeyText } from '../../src/evidence/notes.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { isConsistent, rootAt, TILE_WIDTH } from '../../src/evidence/tree/proofs.ts';
import { readSignedHead, readVenueNote } from '../../src/evidence/venue-notes.ts';
import { verifyEvidence } from '../../src/evidence/verify-evidence.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { ringbook } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const WITH_EVIDENCE = fileURLToPath(new URL('../../../test/fixtures/dev-with-evidence.json', import.meta.url));
const home = temporaryDirectory();
const dataDirectory = join(home, 'data');
const start = (): Promise<NodeProcess> =>
  startNode({ profile: 'dev', dataDirectory, env: { RINGBOOK_CONFIG: WITH_EVIDENCE } });

suite('the log of a node', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  function connect(): void {
    a?.close();
    b?.close();
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
  }

  async function get(
    path: string,
  ): Promise<{ readonly status: number; readonly body: Uint8Array; readonly text: string }> {
    const reply = await fetch(`${node.oms}${path}`);
    const body = new Uint8Array(await reply.arrayBuffer());
    return { status: reply.status, body, text: new TextDecoder().decode(body) };
  }

  async function head(): Promise<{ readonly size: number; readonly root: Uint8Array; readonly text: string }> {
    const { status, text } = await get('/evidence/checkpoint');
    assert.equal(status, 200, text);
    return { ...must(readSignedHead(text)).head, text };
  }

  /** The evidence once a head covers what `isThere` looks for. */
  async function evidenceOf(
    client: RingbookClient,
    orderId: string,
    isComplete: boolean,
    isThere: (rows: string) => boolean,
  ): Promise<string> {
    let text = '';
    await eventually(async () => {
      try {
        text = await client.evidence('1', orderId, isComplete);
      } catch (error) {
        if (error instanceof RingbookError && /SERVICE_UNAVAILABLE|ORDER_NOT_FOUND/.test(error.code)) return false;
        throw error;
      }
      return isThere(rowsOf(text).join('\n'));
    });
    return text;
  }

  function rowsOf(text: string): readonly string[] {
    const file = readEvidence(new TextEncoder().encode(text));
    if (typeof file === 'string') assert.fail(file);
    return file.records.flatMap(({ entries }) => entries.map(({ row }) => new TextDecoder().decode(row)));
  }

  async function verdictOf(text: string, isComplete = false): Promise<ReturnType<typeof verifyEvidence>> {
    const keys = JSON.parse((await get('/system/key')).text) as { readonly venue_key: string };
    return verifyEvidence(new TextEncoder().encode(text), {
      venueKey: must(readVkey(keys.venue_key)),
      ...{ witnesses: [], quorum: 0, heads: [], ends: [], isComplete, verifyCoSignature: null },
    });
  }

  async function placed(
    client: RingbookClient,
    side: 'Buy' | 'Sell',
    price: string,
    quantity: string,
    orderId: string,
  ): Promise<void> {
    const order = await client.order({ assetId: '1', side, price, quantity, orderId });
    assert.equal((await client.create(order)).status, 'Received');
  }

  before(async () => {
    node = await start();
    connect();
  });
  after(async () => {
    a?.close();
    b?.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(home);
  });

  test('EVD-10: an order that is filled in two parts and cancelled is proven, for its user alone', async () => {
    await placed(a, 'Sell', '64000', '0.03', 'ev-maker');
    await placed(b, 'Buy', '64000', '0.01', 'ev-taker-1');
    await placed(b, 'Buy', '64000', '0.01', 'ev-taker-2');
    await eventually(async () => (await a.orderRecord('1', 'ev-maker')).confirmedFilledQuantity === '0.02');
    await a.cancel('1', 'ev-maker');
    const text = await evidenceOf(a, 'ev-maker', false, (rows) => rows.includes('"event":"ended"'));
    const verdict = await verdictOf(text);
    assert.equal(verdict.kind, 'true', JSON.stringify(verdict));
    const rows = rowsOf(text);
    const count = (form: string): number => rows.filter((row) => row.includes(form)).length;
    assert.deepEqual(
      [count('"kind":"fill"'), count('"kind":"trade"'), count('"event":"accepted"')],
      [2, 2, 1],
      rows.join('\n'),
    );
    const other = must(b.userId);
    assert.ok(
      rows.every((row) => !row.includes(other)),
      'no row names another user',
    );
    const complete = await evidenceOf(a, 'ev-maker', true, (each) => each.includes('"event":"ended"'));
    const all = await verdictOf(complete, true);
    assert.equal(all.kind, 'true', JSON.stringify(all));
    assert.ok(rowsOf(complete).some((row) => row.includes('"kind":"ledger"')));
    await assert.rejects(b.evidence('1', 'ev-maker'), /ORDER_NOT_FOUND|no row of this order/);
    await assert.rejects(a.evidence('1', 'never'), /no row of this order/);
    const taker = await evidenceOf(b, 'ev-taker-1', false, (each) => each.includes('"kind":"fill"'));
    assert.equal((await verdictOf(taker)).kind, 'true');
  });

  test('EVD-01: the keys are those of a dev node, and the certificate is a row of the log', async () => {
    const keys = JSON.parse((await get('/system/key')).text) as Readonly<Record<'venue_key' | 'origin', string>> & {
      readonly notes: string[];
    };
    const venueKey = must(readVkey(keys.venue_key));
    const note = must(readVenueNote(must(keys.notes[0]), venueKey));
    assert.equal(note.kind, 'certificate');
    const newest = must(readSignedHead((await head()).text));
    assert.equal(signedBy(newest.note, note.key), 'valid');
    assert.equal(newest.head.origin, keys.origin);
  });

  test('EVD-09: the tree of the tiles has the root of the head, and grows consistently', async () => {
    const older = await head();
    await placed(a, 'Sell', '65000', '0.01', `ev-${older.size}`);
    await eventually(async () => (await head()).size > older.size);
    const newer = await head();
    const proof = JSON.parse((await get(`/evidence/consistency?from=${older.size}&to=${newer.size}`)).text) as {
      readonly proof: string[];
    };
    assert.ok(
      isConsistent(
        older,
        newer,
        proof.proof.map((hash) => must(readBase64(hash))),
      ),
    );
    const tiles = new Map<string, Uint8Array>();
    for (let level = 0; TILE_WIDTH ** level <= newer.size; level += 1) {
      const stored = Math.floor(newer.size / TILE_WIDTH ** level);
      for (let index = 0; index * TILE_WIDTH < stored; index += 1) {
        const width = Math.min(TILE_WIDTH, stored - index * TILE_WIDTH);
        const name = `${level}/${String(index).padStart(3, '0')}`;
        const reply = await get(`/evidence/tile/${name}${width === TILE_WIDTH ? '' : `.p/${width}`}`);
        assert.equal(reply.status, 200, reply.text);
        tiles.set(`${level}/${index}`, reply.body);
      }
    }
    const reader = {
      read(level: number, index: number, count: number): Uint8Array {
        const tile = must(tiles.get(`${level}/${Math.floor(index / TILE_WIDTH)}`));
        const from = (index % TILE_WIDTH) * 32;
        return tile.subarray(from, from + count * 32);
      },
    };
    assert.deepEqual(rootAt(reader, newer.size), newer.root);
    assert.equal((await get('/evidence/tile/0/999')).status, 404);
    assert.equal((await get('/evidence/tile/0/1')).status, 404);
    assert.equal((await get('/evidence/tile/entries/000')).status, 404);
    assert.equal((await get('/evidence/consistency?from=1')).status, 400);
  });

  test('EVD-10: an order that was replaced, and an entry of a quote set, with every text that was signed', async () => {
    await placed(a, 'Sell', '66000', '0.03', 'ev-changed');
    await a.replace({ assetId: '1', orderId: 'ev-changed', price: '66100', quantity: '0.03', isComplete: true });
    await eventually(async () => (await a.orderRecord('1', 'ev-changed')).limitPrice === '66100');
    const record = await a.orderRecord('1', 'ev-changed');
    assert.equal(record.quantity, '0.03');
    const text = await evidenceOf(a, 'ev-changed', false, (rows) => rows.includes('"event":"replaced"'));
    const changed = await verdictOf(text);
    assert.match(
      changed.kind === 'true' ? changed.sentence : JSON.stringify(changed),
      /1 signed text is the one of its rows.* 1 changes of the order are the venue's word/,
    );
    await a.cancel('1', 'ev-changed');
    const quotes = { assetId: '1', setId: 'ev-set', bids: [], asks: [['63900', '0.02']] as const };
    await a.setQuotes(quotes);
    await placed(b, 'Buy', '63900', '0.01', 'ev-hit');
    const orderId = 'ev-set:1';
    const ofEntry = await evidenceOf(a, orderId, false, (rows) => rows.includes('"kind":"fill"'));
    const entry = await verdictOf(ofEntry);
    assert.match(entry.kind === 'true' ? entry.sentence : JSON.stringify(entry), /rows of order ev-set:1 in market 1/);
    assert.ok(
      rowsOf(ofEntry).some((row) => row.includes('"kind":"quote_set"')),
      rowsOf(ofEntry).join('\n'),
    );
    assert.match(entry.kind === 'true' ? entry.sentence : '', /1 signed text is the one of its rows/);
  });

  test('EVD-10, EVD-12: the commands write the evidence of an order and verify it, and watch the log', async () => {
    await placed(a, 'Sell', '65200', '0.01', 'ev-command');
    await evidenceOf(a, 'ev-command', false, (rows) => rows.includes('"event":"accepted"'));
    const { venue_key: vkey } = JSON.parse((await get('/system/key')).text) as { readonly venue_key: string };
    const file = join(home, 'ev-command.ringbook-evidence.json');
    const got = await ringbook([
      'evidence',
      'ev-command',
      '--market',
      '1',
      '--as',
      'a',
      '--oms',
      node.oms,
      '--out',
      file,
    ]);
    assert.deepEqual([got.code, got.stderr], [0, '']);
    const verified = await ringbook(['evidence', 'verify', file, '--venue-key', vkey]);
    assert.equal(verified.code, 0, verified.stdout);
    assert.match(verified.stdout, /rows of order ev-command in market 1/);
    const state = join(home, 'watch.json');
    const watch = ['evidence', 'watch', node.oms, '--venue-key', vkey, '--state', state, '--once'];
    const first = await ringbook(watch);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /alone, it sees the view that it is shown[\s\S]*records, consistent with 0 kept/);
    const size = (await head()).size;
    await placed(a, 'Sell', '65300', '0.01', 'ev-watched');
    await eventually(async () => (await head()).size > size);
    const second = await ringbook([...watch, '--peer', state, '--peer', node.oms]);
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /consistent with 1 kept/);
    const other = noteSigner(must(readVkey(vkey)).name, new Uint8Array(32).fill(9));
    const wrong = await ringbook(watch.with(4, vkeyText(other.key)).with(6, join(home, 'other.json')));
    assert.equal(wrong.code, 1);
    assert.equal((await ringbook(watch.with(4, vkeyText(other.key)))).code, 64, 'the state is of another key');
  });

  test('EVD-06, EVD-07: after a kill the next head continues the last; a restore of older evidence is refused with EVIDENCE_FORK', async () => {
    const before = await head();
    await stopNode(node);
    const backup = join(home, 'backup');
    cpSync(dataDirectory, backup, { recursive: true });
    const byCommand = join(home, 'by-command');
    assert.equal((await ringbook(['backup', dataDirectory, byCommand])).code, 0);
    assert.equal(
      newestHead(join(byCommand, 'evidence', 'heads'))?.text,
      newestHead(join(backup, 'evidence', 'heads'))?.text,
    );
    assert.ok(existsSync(join(byCommand, 'evidence-keys', 'log.key')));
    node = await start();
    connect();
    await placed(a, 'Sell', '65100', '0.01', 'ev-after');
    await eventually(async () => (await head().catch(() => before)).size > before.size);
    const text = await evidenceOf(a, 'ev-after', false, (rows) => rows.includes('"event":"accepted"'));
    assert.equal((await verdictOf(text)).kind, 'true');
    const last = await head();
    await stopNode(node, 'SIGKILL');
    node = await start();
    await eventually(async () => (await head().catch(() => before)).size >= last.size);
    const again = await head();
    const proof = JSON.parse((await get(`/evidence/consistency?from=${last.size}&to=${again.size}`)).text) as {
      readonly proof: string[];
    };
    assert.ok(
      isConsistent(
        last,
        again,
        proof.proof.map((hash) => must(readBase64(hash))),
      ),
    );
    await stopNode(node, 'SIGKILL');
    // The backup of before, with the heads that were signed since.
    const heads = join(home, 'heads');
    cpSync(join(dataDirectory, 'evidence', 'heads'), heads, { recursive: true });
    rmSync(dataDirectory, { recursive: true });
    cpSync(backup, dataDirectory, { recursive: true });
    rmSync(join(dataDirectory, 'evidence', 'heads'), { recursive: true });
    cpSync(heads, join(dataDirectory, 'evidence', 'heads'), { recursive: true });
    await assert.rejects(start(), /ended with 78[\s\S]*EVIDENCE_FORK: the newest head of this node has \d+ records/);
    assert.ok(existsSync(dataDirectory));
    rmSync(join(dataDirectory, 'evidence', 'heads'), { recursive: true });
    cpSync(join(backup, 'evidence', 'heads'), join(dataDirectory, 'evidence', 'heads'), { recursive: true });
    node = await start();
    await stopNode(node);
    // What is left where no backup goes so far: a new log, which states the old one.
    const begun = await ringbook(['evidence', 'new-origin', dataDirectory, '--reason', 'the disk was lost']);
    assert.equal(begun.code, 0, begun.stderr);
    node = await start();
    connect();
    await eventually(async () => (await get('/evidence/checkpoint')).status === 200);
    const fresh = await head();
    assert.notEqual(fresh.text.split('\n')[0], again.text.split('\n')[0], 'another origin');
    await placed(a, 'Sell', '65100', '0.01', 'ev-fresh');
    const proven = await evidenceOf(a, 'ev-fresh', false, (rows) => rows.includes('"event":"accepted"'));
    assert.equal((await verdictOf(proven)).kind, 'true');
    const reader = must(RowLogReader.open(join(dataDirectory, 'evidence')));
    const all = [...reader.records(must(reader.bounds()).first)].flatMap(({ rows }) =>
      rows.map((row) => Buffer.from(row).toString()),
    );
    await reader.close();
    assert.ok(all.some((row) => row.includes('ringbook/new-origin/v1') && row.includes('the disk was lost')));
    assert.ok(all.some((row) => row.includes('"kind":"statement"') && row.includes('ringbook/log-key/v1')));
  });
});
