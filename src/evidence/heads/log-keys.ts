/**
 * The keys of a log on this node (EVD-01): files of log keys, the certificates of the venue key, and what is pinned. The `dev` profile
 * makes all of them by itself, in its data directory.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/config-error.ts';
import { toHex } from '../../core/hex.ts';
import { EVIDENCE_KEYS } from '../evidence-files.ts';
import {
  isKeyName,
  NOTE_TYPE,
  type NoteSigner,
  noteSigner,
  readSigner,
  readVkey,
  signerText,
  signNote,
  type VerifierKey,
  vkeyText,
} from '../notes.ts';
import { type Certificate, certificateText, type KeyEnd, readVenueNote } from '../venue-notes.ts';

/** As the configuration has it. */
export interface LogSettings {
  /** The name of the log. */
  readonly origin: string;
  /** The verifier key of the venue. */
  readonly venueKey: string;
  /** Files of log keys of this node. */
  readonly keys: readonly string[];
  /** Files of notes of the venue key: certificates, and ends of keys. */
  readonly certificates: readonly string[];
  readonly witnesses: readonly { readonly name: string; readonly vkey: string; readonly url: string }[];
  /** Witnesses that the venue promises; a missing one is an alert and stops nothing. */
  readonly quorum: number;
}

export interface Witness {
  readonly key: VerifierKey;
  readonly url: string;
}

export interface LogKeys {
  readonly origin: string;
  readonly venueKey: VerifierKey;
  readonly signers: readonly NoteSigner[];
  readonly certificates: readonly Certificate[];
  readonly ends: readonly KeyEnd[];
  /** Their notes, certificates and ends, as they are. */
  readonly notes: readonly string[];
  readonly witnesses: readonly Witness[];
  readonly quorum: number;
}

function text(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`evidence.log: ${what} ${path} cannot be read: ${(error as Error).message}`);
  }
}

function signerOf(path: string, origin: string): NoteSigner {
  const line = text(path, 'the key').trim();
  if ((statSync(path).mode & 0o077) !== 0) throw new ConfigError(`evidence.log: others may read ${path}: chmod 600`);
  const signer = readSigner(line);
  if (signer === null) throw new ConfigError(`evidence.log: ${path} is no key of "ringbook keygen --log"`);
  if (signer.key.name !== origin) throw new ConfigError(`evidence.log: ${path} is a key of ${signer.key.name}`);
  return signer;
}

/** @throws ConfigError for a file that is not what it should be, or a key that is not certified. */
export function loadLogKeys({
  origin,
  venueKey: vkey,
  keys,
  certificates: paths,
  witnesses,
  quorum,
}: LogSettings): LogKeys {
  if (!isKeyName(origin)) throw new ConfigError(`evidence.log: the origin "${origin}" has a space or "+"`);
  const venueKey = readVkey(vkey);
  if (venueKey === null || venueKey.type !== NOTE_TYPE.ed25519 || venueKey.name !== origin)
    throw new ConfigError(`evidence.log: venueKey is no verifier key of ${origin}`);
  const notes = paths.map((path) => text(path, 'the certificate'));
  const read = notes.map((note, at) => {
    const known = readVenueNote(note, venueKey);
    if (known === null) throw new ConfigError(`evidence.log: ${paths[at]} is not signed by the venue key of ${origin}`);
    return known;
  });
  const certificates = read.filter((note) => note.kind === 'certificate');
  const signers = keys.map((path) => signerOf(path, origin));
  for (const { key } of signers) {
    if (key.id === venueKey.id) throw new ConfigError('evidence.log: the venue key is kept offline and signs no heads');
    if (!certificates.some((certificate) => certificate.key.id === key.id))
      throw new ConfigError(`evidence.log: the key ${vkeyText(key)} has no certificate: "ringbook evidence certify"`);
  }
  return {
    ...{ origin, venueKey, signers, certificates, notes, quorum },
    ends: read.filter((note) => note.kind === 'end'),
    witnesses: witnesses.map((witness) => witnessOf(witness)),
  };
}

function witnessOf({ name, vkey, url }: LogSettings['witnesses'][number]): Witness {
  const key = readVkey(vkey);
  if (key === null || key.type !== NOTE_TYPE.cosignature || key.name !== name)
    throw new ConfigError(`evidence.log: the vkey of witness ${name} is none of type 0x04 with this name`);
  return { key, url: url.replace(/\/$/, '') };
}

/** The key that signs a head of this size whose newest record has this time; null when none is certified for it. */
export function headSigner(keys: LogKeys, size: number, timeNs: bigint): NoteSigner | null {
  const holds = ({ key }: NoteSigner): boolean =>
    keys.certificates.some(
      (certificate) =>
        certificate.key.id === key.id &&
        certificate.use === 'heads' &&
        certificate.fromNs <= timeNs &&
        timeNs < certificate.untilNs,
    ) && !keys.ends.some((end) => end.key.id === key.id && size > end.size);
  return keys.signers.find(holds) ?? null;
}

const CENTURIES_NS = 7_258_118_400_000_000_000n;

/** The keys of a dev node, made at its first start: an origin of its own, so that no two logs have one name. */
export function devLogSettings(dataDirectory: string): LogSettings {
  const folder = join(dataDirectory, EVIDENCE_KEYS);
  const [key, certificate, pinned] = ['log.key', 'log.certificate', 'venue.vkey'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  if (!existsSync(pinned)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const origin = `dev.ringbook.invalid/${toHex(randomBytes(8))}`;
    const [venue, log] = [noteSigner(origin, randomBytes(32)), noteSigner(origin, randomBytes(32))];
    const granted = { origin, key: log.key, use: 'heads', fromNs: 0n, untilNs: CENTURIES_NS } as const;
    writeFileSync(join(folder, 'venue.key'), `${signerText(venue)}\n`, { mode: 0o600 });
    writeFileSync(key, `${signerText(log)}\n`, { mode: 0o600 });
    writeFileSync(certificate, signNote(certificateText(granted), venue));
    writeFileSync(pinned, `${vkeyText(venue.key)}\n`);
  }
  const venueKey = readFileSync(pinned, 'utf8').trim();
  const origin = venueKey.split('+')[0] ?? '';
  return { origin, venueKey, keys: [key], certificates: [certificate], witnesses: [], quorum: 0 };
}
