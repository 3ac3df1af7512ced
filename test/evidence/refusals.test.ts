// tier: full
/** Requests that are refused before the journal, in files of their own. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { evidenceFolder } from '../../src/evidence/evidence-files.ts';
import { RefusalLog } from '../../src/evidence/refusal-log.ts';
import { ETH } from '../support/names.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

function linesIn(folder: string): readonly Readonly<Record<string, unknown>>[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

suite('refused requests', () => {
  test('EXP-01: with the switch a node writes what it refuses, with its code and what was signed, and no row', async () => {
    const home = temporaryDirectory();
    const config = join(home, 'config.json');
    writeFileSync(
      config,
      JSON.stringify({ extends: 'dev', orderWaitMsMax: 0, evidence: { keepDays: 1, refusals: true } }),
    );
    const dataDirectory = join(home, 'data');
    const node = await startNode({ profile: 'dev', dataDirectory, env: { RINGBOOK_CONFIG: config } });
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    await client.login();
    const control = await client.control();
    const target = { account: 1, isSpot: true };
    const order = await client.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '100000', target });
    const { status, reason } = await control.send(client.signCreate(order));
    assert.equal(status, 'Rejected', `${reason}`);
    control.close();
    client.close();
    assert.equal(await stopNode(node), 0, node.stderr());
    const found = linesIn(join(evidenceFolder(dataDirectory), 'refusals')).filter(({ text }) =>
      `${text}`.includes(order.orderId),
    );
    assert.equal(found.length, 1);
    assert.equal(found[0]?.['action'], 'create');
    assert.equal(found[0]?.['user'], client.userId);
    assert.match(`${found[0]?.['code']}`, /^[A-Z_]+$/);
    assert.match(`${found[0]?.['time_ns']}`, /^[0-9]{19}$/);
  });

  test('EXP-01: files of refusals are bounded: what is too much in a second is counted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ringbook-refusals-'));
    const failures: string[] = [];
    const log = new RefusalLog(folder, (reason) => failures.push(reason));
    const refusal = {
      timeNs: 1n,
      user: 'a'.repeat(64),
      action: 'create',
      code: 'INVALID',
      message: 'x',
      text: 'y'.repeat(1_000),
    };
    for (let at = 0; at < 10_000; at += 1) log.write(refusal);
    await log.close();
    const lines = linesIn(join(folder, 'refusals'));
    const dropped = Number(lines.at(-1)?.['dropped']);
    assert.ok(lines.length < 5_000 && lines.length > 3_000, `${lines.length}`);
    assert.equal(lines.length - 1 + dropped, 10_000);
    assert.equal(failures.length, 0);
    const blocked = new RefusalLog('/proc/nothing', (reason) => failures.push(reason));
    blocked.write(refusal);
    await blocked.close();
    assert.equal(failures.length, 1);
  });
});
