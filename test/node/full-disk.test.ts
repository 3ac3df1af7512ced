// tier: full, 7 s
/** Whole nodes on a disk that becomes full (MCH-04): a file system of some MiB in memory, where the tests may mount one. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';

import { ETH } from '../support/names.ts';
import { barrier, metricOf, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const MIB = 1_048_576;
const SIZE_MIB = 160;

/** A disk of its own. Null where this process may not mount. */
class Disk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static mounted(): Disk | null {
    const path = temporaryDirectory();
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', path], {
      stdio: 'ignore',
    });
    return status === 0 ? new Disk(path) : null;
  }

  get freeMib(): number {
    const { bsize, bavail } = statfsSync(this.path);
    return (bsize * bavail) / MIB;
  }

  /** So much is left. */
  leave(mib: number): void {
    rmSync(join(this.path, 'ballast'), { force: true });
    const bytes = Math.floor((this.freeMib - mib) * MIB);
    if (bytes <= 0) return;
    const { status } = spawnSync(
      'dd',
      ['if=/dev/zero', `of=${join(this.path, 'ballast')}`, 'bs=64k', `count=${Math.ceil(bytes / 65_536)}`],
      { stdio: 'ignore' },
    );
    assert.ok(status === 0 || mib === 0);
  }

  unmount(): void {
    spawnSync('umount', [this.path], { stdio: 'ignore' });
    removeDirectory(this.path);
  }
}

const disk = Disk.mounted();

suite('a node on a disk that becomes full', { skip: disk === null ? 'this user may not mount' : false }, () => {
  const at = disk as Disk;
  const dataDirectory = join(at?.path ?? '', 'data');
  let node: NodeProcess | null = null;
  after(() => {
    node?.child.kill('SIGKILL');
    disk?.unmount();
  });

  async function started(): Promise<{ readonly node: NodeProcess; readonly client: RingbookClient }> {
    node = await startNode({ profile: 'dev', dataDirectory });
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    await client.login();
    return { node, client };
  }

  const order = async (client: RingbookClient): Promise<string> => {
    const wanted = await client.order({ assetId: ETH, side: 'Buy', price: '1000', quantity: '0.01' });
    await client.create(wanted);
    return wanted.orderId;
  };
  const isRefused = (error: unknown): boolean =>
    error instanceof RingbookError && error.status === 503 && /disk of the node is nearly full/.test(error.message);

  test('below disk_reserve_mib new orders are 503 and cancels go on; below an eighth it ends in order with 78, and so does the next start', async () => {
    const { node, client } = await started();
    // The disk is smaller than the default.
    await eventually(async () => (await metricOf(node, 'ringbook_data_disk_low')) === 1);
    await assert.rejects(order(client), isRefused);
    assert.equal((await operator(node, 'PATCH', '/operator/settings', { disk_reserve_mib: 64 })).status, 200);
    await eventually(async () => (await metricOf(node, 'ringbook_data_disk_low')) === 0);
    const resting = [await order(client), await order(client)];
    at.leave(40);
    await eventually(async () => (await metricOf(node, 'ringbook_data_disk_low')) === 1);
    await assert.rejects(order(client), isRefused);
    await client.cancel(ETH, resting[0] ?? '');
    await barrier(node);
    at.leave(5);
    assert.equal(await node.ended, 78, node.stderr());
    client.close();
    assert.match(
      node.stderr(),
      /"event":"stopped","why":"\d+ MiB are free under .*, less than an eighth of disk_reserve_mib, 64/,
    );
    await assert.rejects(started(), /ended with 78(?:.|\n)*MiB are free/);
    at.leave(100);
    const again = await started();
    assert.equal((await again.client.orders({ openOnly: true })).items.length, 1);
    again.client.close();
    assert.equal(await stopNode(again.node), 0);
  });

  test('a commit that finds no space ends the node with 78, named as such, and nothing that was confirmed is lost', async () => {
    const { node, client } = await started();
    assert.equal((await operator(node, 'PATCH', '/operator/settings', { disk_reserve_mib: 0 })).status, 200);
    const before = (await client.orders({ openOnly: true })).items.length;
    let taken = 0;
    at.leave(0);
    const load = async (): Promise<void> => {
      for (;;) {
        await order(client);
        await barrier(node);
        taken += 1;
      }
    };
    await Promise.race([node.ended, load().catch(() => undefined)]);
    assert.equal(await node.ended, 78, node.stderr());
    client.close();
    assert.match(
      node.stderr(),
      /"event":"fail-stop".*(?:no space is left on the disk under|ENOSPC: no space left on device).*"cause":"disk full"/,
    );
    at.leave(100);
    const again = await started();
    assert.ok((await again.client.orders({ openOnly: true })).items.length >= before + taken);
    again.client.close();
    assert.equal(await stopNode(again.node), 0);
  });

  test('files of the ledger are 0600 and directories 0700, those that were wider too', async () => {
    mkdirSync(join(at.path, 'wide'), { mode: 0o777 });
    writeFileSync(join(at.path, 'wide', 'ledger.mdb'), '', { mode: 0o666 });
    rmSync(join(at.path, 'wide', 'ledger.mdb'));
    const wide = await startNode({ dataDirectory: join(at.path, 'wide') });
    assert.equal(await stopNode(wide), 0);
    for (const home of [dataDirectory, join(at.path, 'wide')]) {
      assert.equal(statSync(home).mode & 0o777, 0o700, home);
      for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
        const { mode } = statSync(join(entry.parentPath, entry.name));
        assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
      }
    }
  });
});
