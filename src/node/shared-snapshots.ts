/**
 * Puts a snapshot of a node into the bucket of its cluster, in the process that made it (journal-keeper.ts): every node makes snapshots for
 * its own journal; which of them goes into the bucket is decided here, by what the others answer and what the bucket has.
 */
import { ClusterAdmin } from '../cluster/cluster-admin.ts';
import { dueAfterMs, SnapshotBucket } from '../cluster/snapshot-bucket.ts';
import { assert } from '../core/assert.ts';
import type { SnapshotPlace } from '../storage/data-files.ts';
import { DATA_VERSION } from '../storage/environment.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import type { SharingSettings } from './cluster-config.ts';

/**
 * Puts a snapshot into the bucket, if that is for this node to do and due.
 *
 * @returns whether it did. @throws Error when the servers do not answer, or do not store it.
 */
export async function shareSnapshot(text: string, { sequence, path }: SnapshotPlace): Promise<boolean> {
  const { name, node, servers, credentialsFile, tls, snapshots } = JSON.parse(text) as SharingSettings;
  const admin = await ClusterAdmin.connect({
    ...{ cluster: name, node: `${node}-snapshots`, servers, credentialsFile, tls },
    dataVersion: String(DATA_VERSION),
  });
  try {
    const { members, stream } = await admin.status();
    assert(stream === null || sequence <= stream.end, 'a snapshot is of a record that the stream has');
    const bucket = new SnapshotBucket(admin.log, DATA_VERSION);
    const stored = await bucket.list();
    if (stored.some((other) => other.sequence >= sequence)) return false;
    const ageMs = Date.now() - Math.max(0, ...stored.map(({ storedMs }) => storedMs));
    if (ageMs < dueAfterMs(members, node, snapshots.everyMs)) return false;
    await bucket.put(sequence, `${path}/${MAP_FILE_NAME}`);
    await bucket.removeOlder(snapshots.keep);
    return true;
  } finally {
    await admin.close();
  }
}
