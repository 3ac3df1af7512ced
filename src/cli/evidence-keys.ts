/** Key files of the evidence: the line is the one of Go's sumdb/note, and of a secret 64 hex digits (EVD-01, EVD-02). */
import { generateSeed } from '../client/keys.ts';
import { readSecretFile, writeSecretFile } from '../client/platform.ts';
import { toHex } from '../core/hex.ts';
import { isKeyName, type NoteSigner, noteSigner, readSigner, signerText, vkeyText } from '../evidence/notes.ts';
import { KEY_USES, keyRequestText } from '../evidence/venue-notes.ts';
import { usageError } from './command.ts';

function checkOrigin(origin: string): string {
  if (isKeyName(origin)) return origin;
  throw usageError(`--origin takes a name without spaces and "+", like ringbook.example/log/1, not "${origin}"`);
}

/** @returns the verifier key, which users pin. */
export function createVenueKey(path: string, origin: string): string {
  const signer = noteSigner(checkOrigin(origin), generateSeed());
  writeSecretFile(path, signerText(signer));
  return vkeyText(signer.key);
}

/** @returns the request that "ringbook evidence certify" takes. */
export function createLogKey(path: string, origin: string, useText: string): string {
  const use = KEY_USES.find((known) => known === useText);
  if (use === undefined) throw usageError(`--use takes ${KEY_USES.join(' or ')}, not "${useText}"`);
  const signer = noteSigner(checkOrigin(origin), generateSeed());
  writeSecretFile(path, signerText(signer));
  return keyRequestText({ origin, key: signer.key, use });
}

/** @returns what to do with it. */
export function createEvidenceSecret(path: string): string {
  writeSecretFile(path, toHex(generateSeed()));
  return `${path} has the evidence secret: the same file belongs to every node of the log, and is never changed`;
}

/** @throws RingbookError INVALID_ARGUMENT when others may read it, CliError 64 when it has no key. */
export function loadSigner(path: string): NoteSigner {
  const signer = readSigner(readSecretFile(path));
  if (signer === null) throw usageError(`${path} is no key of the evidence: "ringbook keygen FILE --venue" makes one`);
  return signer;
}
