/** A file that grows at its end and is cut at a start. One owner. */
import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { flush } from '../../storage/data-files.ts';
import { storageError } from '../../storage/storage-error.ts';

export class AppendFile {
  readonly path: string;
  readonly #descriptor: number;
  #length: number;
  #isChanged = false;

  /** Opens it, or makes it; its name is durable then. @throws StorageError */
  constructor(path: string) {
    this.path = path;
    this.#descriptor = this.#guarded(() => openSync(path, 'a+', 0o600));
    this.#length = this.#guarded(() => fstatSync(this.#descriptor).size);
    if (this.#length === 0) this.#guarded(() => flush(dirname(path)));
  }

  /** In bytes, with what was appended and is not durable yet. */
  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#guarded(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    });
    this.#length += bytes.length;
    this.#isChanged = true;
  }

  /** What was appended is durable afterwards. */
  flush(): void {
    if (!this.#isChanged) return;
    this.#guarded(() => fdatasyncSync(this.#descriptor));
    this.#isChanged = false;
  }

  /** Cuts what is behind the first `length` bytes, durably. @param length at most that of the file. */
  truncate(length: number): void {
    if (length === this.#length) return;
    this.#guarded(() => {
      ftruncateSync(this.#descriptor, length);
      fsyncSync(this.#descriptor);
    });
    this.#length = length;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw storageError('writing the evidence', error, dirname(this.path));
    }
  }
}
