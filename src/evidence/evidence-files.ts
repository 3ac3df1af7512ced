/**
 * The evidence in a data directory:
 *
 *   evidence/                 the row log and the tree (row-log/evidence-paths.ts)
 *   evidence/secret-check     SHA-256 over the secret: another secret would give other salts, so other leaves
 *   evidence-begun            that there is a log, and its first record: a folder that is gone is no new log
 *   evidence-secret           the secret, where the configuration names no file
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseHex } from '../core/hex.ts';
import { flush, makeDirectory } from '../storage/data-files.ts';
import { StorageError, storageError } from '../storage/storage-error.ts';

const EVIDENCE = 'evidence';
export const EVIDENCE_BEGUN = 'evidence-begun';
const SECRET = 'evidence-secret';
const NEW_ORIGIN = 'evidence-new-origin';
const SECRET_CHECK = 'secret-check';
/** What lies beside the folder. */
export const EVIDENCE_BESIDE: readonly string[] = [EVIDENCE_BEGUN, SECRET, NEW_ORIGIN];
/** The keys of a dev node (heads/log-keys.ts). */
export const EVIDENCE_KEYS = 'evidence-keys';
const SECRET_BYTES = 32;
const BEGUN_FORM = /^ringbook evidence 1 first ([0-9]{1,16})\n$/;

/** The folder of a data directory. */
export function evidenceFolder(dataDirectory: string): string {
  return join(dataDirectory, EVIDENCE);
}

/** What "ringbook evidence new-origin" puts aside: the log, the mark that it begun, and the keys of a dev node. The secret stays. */
export function putAsideNames(): readonly string[] {
  return [EVIDENCE, EVIDENCE_BEGUN, EVIDENCE_KEYS];
}

/** What a new log states of the one before it; there is none unless an operator has begun one. */
export function newOriginFile(dataDirectory: string): string {
  return join(dataDirectory, NEW_ORIGIN);
}

/** The first record of the log that was begun in this directory; null where none was. */
export function begunAt(dataDirectory: string): number | null {
  const path = join(dataDirectory, EVIDENCE_BEGUN);
  if (!existsSync(path)) return null;
  const [, first] = BEGUN_FORM.exec(readFileSync(path, 'latin1')) ?? [];
  if (first === undefined) throw new StorageError(`${path} does not say where the evidence begins: restore a backup`);
  return Number(first);
}

/** Durable when it returns. @throws StorageError */
export function markBegun(dataDirectory: string, first: number): void {
  writeDurably(join(dataDirectory, EVIDENCE_BEGUN), `ringbook evidence 1 first ${first}\n`);
}

/**
 * The secret of which salts are made: 32 bytes.
 *
 * @param path of its file; null for the one in the data directory, which is made where there is none.
 * @throws StorageError when it is none, others may read it, or it is not that of the log.
 */
export function evidenceSecret(dataDirectory: string, path: string | null): Uint8Array {
  const file = path ?? join(dataDirectory, SECRET);
  if (path === null && !existsSync(file)) writeDurably(file, `${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  const secret = storedSecret(dataDirectory, path);
  const checkPath = join(evidenceFolder(dataDirectory), SECRET_CHECK);
  if (!existsSync(checkPath)) {
    makeDirectory(evidenceFolder(dataDirectory));
    writeDurably(checkPath, checkText(secret));
  }
  return secret;
}

/** The same, and nothing is made. */
export function storedSecret(dataDirectory: string, path: string | null): Uint8Array {
  const file = path ?? join(dataDirectory, SECRET);
  const secret = readSecret(file);
  const checkPath = join(evidenceFolder(dataDirectory), SECRET_CHECK);
  if (existsSync(checkPath) && readFileSync(checkPath, 'latin1') !== checkText(secret))
    throw new StorageError(`${file} is not the secret with which the evidence was begun: give that one`);
  return secret;
}

function checkText(secret: Uint8Array): string {
  return `${createHash('sha256').update('ringbook/secret-check/v1\n').update(secret).digest('hex')}\n`;
}

function readSecret(file: string): Uint8Array {
  try {
    if ((statSync(file).mode & 0o077) !== 0) throw new Error('others than its owner may read it: chmod 600');
    const secret = parseHex(readFileSync(file, 'latin1').trim(), SECRET_BYTES);
    if (secret === null) throw new Error('it holds 64 hex digits and nothing else');
    return secret;
  } catch (error) {
    throw new StorageError(`the evidence secret ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function writeDurably(path: string, text: string): void {
  try {
    const fresh = `${path}.new`;
    const descriptor = openSync(fresh, 'w', 0o600);
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, path);
    flush(join(path, '..'));
  } catch (error) {
    throw storageError('writing the evidence', error, path);
  }
}
