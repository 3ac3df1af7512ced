/** LMDB's own speed, without the journal. */
import { open } from 'lmdb';

/** The same options as the journal's environment, with only a `put`. */
export function bareLoop(path: string, value: Buffer): { commit(): void; close(): Promise<void> } {
  const map = open<Uint8Array, Uint8Array>({
    path,
    noSubdir: true,
    mapSize: 64 * 2 ** 30,
    keyEncoding: 'binary',
    encoding: 'binary',
    overlappingSync: false,
  });
  const key = Buffer.alloc(9);
  let sequence = 0;
  return {
    commit: () => {
      sequence += 1;
      key.writeBigUInt64BE(BigInt(sequence), 1);
      map.transactionSync(() => map.putSync(key, value));
    },
    close: () => map.close(),
  };
}
