/**
 * Snapshots in the bucket of a cluster, from which new nodes begin (cluster.md 9): `<data version>/<sequence>` is the map of a snapshot
 * of that record, as storage keeps it.
 *
 * A snapshot counts when it was read back with the bytes that were put. Older ones go only then, and those of an older data version
 * when this version has as many as are kept.
 *
 * Not here: how a snapshot is made and proven (src/tools/snapshot-data.ts), and who puts one (src/node/shared-snapshots.ts).
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { StoredSnapshot, StreamLog } from './stream-log.ts';

const NAME_FORM = /^([1-9][0-9]{0,5})\/([1-9][0-9]{0,15})$/;

/** A snapshot of the bucket. */
interface SharedSnapshot extends StoredSnapshot {
  readonly dataVersion: number;
  readonly sequence: number;
}

type Bucket = Pick<StreamLog, 'snapshots' | 'snapshot' | 'putSnapshot' | 'deleteSnapshot'>;

export class SnapshotBucket {
  readonly #bucket: Bucket;
  readonly #dataVersion: number;

  constructor(bucket: Bucket, dataVersion: number) {
    this.#bucket = bucket;
    this.#dataVersion = dataVersion;
  }

  /** Of this data version, the oldest first. */
  async list(): Promise<readonly SharedSnapshot[]> {
    const all = await this.#all();
    return all.filter(({ dataVersion }) => dataVersion === this.#dataVersion);
  }

  /** Puts a file and reads it back. @throws Error when it is not there as it was. */
  async put(sequence: number, file: string): Promise<void> {
    const name = this.#nameOf(sequence);
    const put = hashing();
    await this.#bucket.putSnapshot(name, webStreamOf(Readable.from(put.through(createReadStream(file)))));
    const read = hashing();
    const stored = await this.#bucket.snapshot(name);
    if (stored === null) throw new Error(`the snapshot ${name} was put and is not there`);
    for await (const _ of read.through(nodeStreamOf(stored)));
    if (put.digest() !== read.digest()) throw new Error(`the snapshot ${name} is not what was put`);
  }

  /** Writes a snapshot into a new file. @throws Error when it is gone, or does not arrive as it was put. */
  async fetch(sequence: number, file: string, progress: (bytes: number) => void): Promise<void> {
    const name = this.#nameOf(sequence);
    const stored = await this.#bucket.snapshot(name);
    if (stored === null) throw new Error(`the snapshot ${name} is not in the bucket any more: try again`);
    let bytes = 0;
    const counted = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        bytes += chunk.length;
        progress(bytes);
        yield chunk;
      }
    };
    await pipeline(nodeStreamOf(stored), counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  }

  /** The newest ones stay. @param keep how many, at least 1. */
  async removeOlder(keep: number): Promise<void> {
    const all = await this.#all();
    const own = all.filter(({ dataVersion }) => dataVersion === this.#dataVersion);
    const older = own.length < keep ? [] : all.filter(({ dataVersion }) => dataVersion < this.#dataVersion);
    for (const { name } of [...own.slice(0, -keep), ...older]) await this.#bucket.deleteSnapshot(name);
  }

  async #all(): Promise<readonly SharedSnapshot[]> {
    return (await this.#bucket.snapshots())
      .flatMap((stored) => {
        const [, dataVersion, sequence] = NAME_FORM.exec(stored.name) ?? [];
        if (dataVersion === undefined) return [];
        return [{ ...stored, dataVersion: Number(dataVersion), sequence: Number(sequence) }];
      })
      .sort((a, b) => a.sequence - b.sequence);
  }

  #nameOf(sequence: number): string {
    return `${this.#dataVersion}/${sequence}`;
  }
}

type Members = readonly { readonly node: string; readonly role: string; readonly state: string }[];

/**
 * How old the newest snapshot of the bucket is when a node puts another one:
 *
 *   it follows, or no other node does    half of the time between two
 *   it leads, and another node follows   twice that time: the standby does not get to it
 *
 * Two that put at once are both right: the newest ones stay.
 */
export function dueAfterMs(members: Members, node: string, everyMs: number): number {
  const follows = members.filter(({ role, state }) => role === 'node' && state === 'following');
  const isLeftToOthers = follows.length > 0 && follows.every((member) => member.node !== node);
  return isLeftToOthers ? 2 * everyMs : everyMs / 2;
}

/** The hash of what goes through. */
function hashing(): {
  readonly through: (source: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>;
  readonly digest: () => string;
} {
  const hash = createHash('sha256');
  return {
    through: async function* (source) {
      for await (const chunk of source) {
        hash.update(chunk);
        yield chunk;
      }
    },
    digest: () => hash.digest('hex'),
  };
}

function webStreamOf(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>;
}

function nodeStreamOf(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as unknown as WebStream<Uint8Array>);
}
