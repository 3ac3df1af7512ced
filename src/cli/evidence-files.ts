/** What the commands that verify have in common: files, keys that were pinned, and how a verdict is told (EVD-11, LIA-06). */
import { readFileSync, statSync } from 'node:fs';
import { NOTE_TYPE, readVkey, type VerifierKey } from '../evidence/notes.ts';
import { readSize } from '../evidence/venue-notes.ts';
import type { EvidenceVerdict, LogOptions } from '../evidence/verify-log.ts';
import { CliError, EXIT, type ExitCode, usageError } from './command.ts';

const SMALL_FILE_BYTES_MAX = 65_536;

/** The text of a small file. @throws CliError 2 when it cannot be read. */
export function smallFile(path: string): string {
  return new TextDecoder().decode(fileBytes(path, SMALL_FILE_BYTES_MAX));
}

/** @throws CliError 2 when it cannot be read, or has more bytes. */
export function fileBytes(path: string, bytesMax: number): Uint8Array {
  try {
    const { size } = statSync(path);
    // One byte above the bound is enough to be refused.
    if (size > bytesMax) throw new CliError(EXIT.unreadable, `${path} has ${size} bytes, more than ${bytesMax}`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.unreadable, `${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A verifier key, as it is or in a file. @throws CliError 64. */
export function vkeyOf(text: string, option: string): VerifierKey {
  const key = readVkey(text) ?? readVkey(fileTextOrEmpty(text));
  if (key === null)
    throw usageError(`${option} takes a verifier key, name+id+base64, or a file with one, not "${text}"`);
  return key;
}

function fileTextOrEmpty(path: string): string {
  try {
    return smallFile(path).trim();
  } catch {
    return '';
  }
}

export const PINNED_OPTIONS = {
  'venue-key': { type: 'string' },
  witness: { type: 'string', multiple: true },
  quorum: { type: 'string', default: '0' },
  end: { type: 'string', multiple: true },
} as const;

interface PinnedValues {
  readonly 'venue-key'?: string | undefined;
  readonly witness?: readonly string[] | undefined;
  readonly quorum: string;
  readonly end?: readonly string[] | undefined;
}

/** What the caller has pinned. @throws CliError 64. */
export function pinnedOf(values: PinnedValues): LogOptions {
  if (values['venue-key'] === undefined) throw usageError('--venue-key is missing: the verifier key that you pinned');
  const venueKey = vkeyOf(values['venue-key'], '--venue-key');
  if (venueKey.type !== NOTE_TYPE.ed25519) throw usageError('--venue-key is the key of a witness');
  const witnesses = (values.witness ?? []).map((text) => vkeyOf(text, '--witness'));
  if (witnesses.some(({ type }) => type !== NOTE_TYPE.cosignature)) {
    throw usageError('--witness takes the verifier key of a cosigner, of type 0x04');
  }
  const quorum = readSize(values.quorum);
  if (quorum === null) throw usageError(`--quorum takes a number, not "${values.quorum}"`);
  return { venueKey, witnesses, quorum, ends: (values.end ?? []).map(smallFile) };
}

/** One sentence on standard output. @returns 0, or 1 when it is false, or 2 when it cannot be read. */
export function sayVerdict(verdict: EvidenceVerdict): ExitCode {
  switch (verdict.kind) {
    case 'true':
      process.stdout.write(`${verdict.sentence}\n`);
      return EXIT.done;
    case 'wrong':
      process.stdout.write(`false, by check ${verdict.check}: ${verdict.reason}\n`);
      return EXIT.fault;
    case 'unreadable':
      process.stdout.write(`unreadable: ${verdict.reason}\n`);
      return EXIT.unreadable;
  }
}
