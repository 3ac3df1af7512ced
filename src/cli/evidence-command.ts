/**
 * `ringbook evidence`: certifies log keys with the venue key, and verifies the evidence of an order offline (EVD-01, EVD-11).
 */
import { writeFileSync } from 'node:fs';
import { readBase64 } from '../evidence/base64.ts';
import { EVIDENCE_BYTES_MAX } from '../evidence/evidence-file.ts';
import { type NoteSigner, signNote } from '../evidence/notes.ts';
import { certificateText, keyEndText, readKeyRequest, readSize } from '../evidence/venue-notes.ts';
import { type VerifyOptions, verifyEvidence } from '../evidence/verify-evidence.ts';
import { parseIsoTime } from '../tools/iso-time.ts';
import {
  ADDRESS_OPTIONS,
  CliError,
  type Command,
  checkAddresses,
  EXIT,
  type ExitCode,
  parseOptions,
  usageError,
} from './command.ts';
import { audit } from './evidence-audit.ts';
import { fileBytes, PINNED_OPTIONS, pinnedOf, sayVerdict, smallFile, vkeyOf } from './evidence-files.ts';
import { loadSigner } from './evidence-keys.ts';
import { watch } from './evidence-watch.ts';
import { SIGNER_OPTIONS, signersOf } from './signer-options.ts';

const NS_PER_MS = 1_000_000n;
const CERTIFIED_DAYS = 400;
const DAY_MS = 86_400_000;

function write(text: string, path: string | undefined): void {
  if (path === undefined) process.stdout.write(text);
  else writeFileSync(path, text, { flag: 'wx' });
}

// certify

const CERTIFY_OPTIONS = {
  key: { type: 'string' },
  from: { type: 'string' },
  until: { type: 'string' },
  end: { type: 'string' },
  size: { type: 'string' },
  out: { type: 'string' },
} as const;

function timeOption(text: string | undefined, option: string, otherwiseNs: bigint): bigint {
  if (text === undefined) return otherwiseNs;
  const timeNs = parseIsoTime(text);
  // A certificate has times of whole milliseconds.
  if (timeNs === null || timeNs % NS_PER_MS !== 0n)
    throw usageError(`${option} takes a time like 2026-11-27T00:00:00Z, not "${text}"`);
  return timeNs;
}

function certify(argv: readonly string[]): ExitCode {
  const { values, positionals } = parseOptions(argv, CERTIFY_OPTIONS);
  if (values.key === undefined) throw usageError('--key is missing: the file of the venue key');
  const venue = loadSigner(values.key);
  if (values.end !== undefined) {
    if (positionals.length > 0) throw usageError('--end takes the verifier key that ends, and no request');
    write(endNote(venue, values.end, values.size), values.out);
    return EXIT.done;
  }
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0)
    throw usageError('certify takes one request, which "keygen --log" printed');
  const request = readKeyRequest(smallFile(path));
  if (request === null) throw new CliError(EXIT.unreadable, `${path} is no request of "ringbook keygen --log"`);
  if (request.origin !== venue.key.name) {
    throw new CliError(EXIT.fault, `the request is for ${request.origin}, and the venue key is of ${venue.key.name}`);
  }
  if (request.key.id === venue.key.id) throw new CliError(EXIT.fault, 'the venue key certifies other keys, not itself');
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  const fromNs = timeOption(values.from, '--from', BigInt(now) * NS_PER_MS);
  const untilNs = timeOption(values.until, '--until', fromNs + BigInt(CERTIFIED_DAYS * DAY_MS) * NS_PER_MS);
  if (fromNs >= untilNs) throw usageError('--until is behind --from');
  write(signNote(certificateText({ ...request, fromNs, untilNs }), venue), values.out);
  return EXIT.done;
}

function endNote(venue: NoteSigner, vkey: string, sizeText: string | undefined): string {
  const key = vkeyOf(vkey, '--end');
  const size = readSize(sizeText ?? '');
  if (size === null) throw usageError('--size is missing: the size of the last head of the key that holds');
  if (key.name !== venue.key.name)
    throw usageError(`the key is of ${key.name}, and the venue key of ${venue.key.name}`);
  return signNote(keyEndText({ origin: venue.key.name, key, size }), venue);
}

// verify

const VERIFY_OPTIONS = {
  ...PINNED_OPTIONS,
  head: { type: 'string', multiple: true },
  consistency: { type: 'string', multiple: true },
  complete: { type: 'boolean', default: false },
  'rp-id': { type: 'string' },
  origin: { type: 'string', multiple: true },
} as const;

async function verify(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, VERIFY_OPTIONS);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw usageError('verify takes one file of evidence');
  const pinned = pinnedOf(values);
  const { verifyCoSignature } = await import('../crypto/co-signature.ts');
  const policy = policyOf(values['rp-id'], values.origin);
  const verdict = verifyEvidence(fileBytes(path, EVIDENCE_BYTES_MAX), {
    ...pinned,
    heads: headsOf(values.head ?? [], values.consistency ?? []),
    isComplete: values.complete,
    verifyCoSignature: (signer, text) => verifyCoSignature(signer, text, policy),
  });
  return sayVerdict(verdict);
}

function policyOf(
  rpId: string | undefined,
  origins: readonly string[] | undefined,
): { readonly rpId: string; readonly origins: readonly string[] } | null {
  if ((rpId === undefined) !== (origins === undefined)) throw usageError('--rp-id and --origin go together');
  return rpId === undefined || origins === undefined ? null : { rpId, origins };
}

/** The n-th file of --consistency is the proof between the file and the n-th head; "-" for none. */
function headsOf(heads: readonly string[], proofs: readonly string[]): VerifyOptions['heads'] {
  if (proofs.length > heads.length) throw usageError('--consistency is given once at most for each --head');
  return heads.map((path, at) => {
    const proof = proofs[at] ?? '-';
    return { note: smallFile(path), proof: proof === '-' ? null : proofOf(proof) };
  });
}

/** The reply of `GET /evidence/consistency`. */
function proofOf(path: string): readonly Uint8Array[] {
  try {
    const { proof } = JSON.parse(smallFile(path)) as { readonly proof: readonly string[] };
    const hashes = proof.map(readBase64);
    if (hashes.every((hash) => hash !== null)) return hashes;
  } catch (error) {
    if (error instanceof CliError) throw error;
  }
  throw new CliError(EXIT.unreadable, `${path} is no answer of GET /evidence/consistency`);
}

// the evidence of an order

const ORDER_OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  market: { type: 'string' },
  out: { type: 'string' },
  complete: { type: 'boolean', default: false },
} as const;

async function ofOrder(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, ORDER_OPTIONS);
  const [orderId, ...more] = positionals;
  if (orderId === undefined || more.length > 0) throw usageError('evidence takes one order');
  if (values.market === undefined) throw usageError('--market is missing: the market of the order');
  const { RingbookClient } = await import('../client/client.ts');
  const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
  try {
    write(await client.evidence(values.market, orderId, values.complete), values.out);
  } finally {
    client.close();
  }
  return EXIT.done;
}

// new-origin

async function newOrigin(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, { reason: { type: 'string' } });
  const [directory, ...more] = positionals;
  if (directory === undefined || more.length > 0)
    throw usageError('new-origin takes the data directory of a stopped node');
  const { reason } = values;
  if (reason === undefined || !/^[^\p{Cc}]{1,500}$/u.test(reason)) throw usageError('--reason takes a line of text');
  const { beginNewOrigin } = await import('../tools/new-origin.ts');
  const { aside, statement } = beginNewOrigin(directory, reason, new Date());
  process.stdout.write(`the old log is in ${aside}; the new one states:\n${statement}`);
  return EXIT.done;
}

export const evidenceCommand: Command = {
  name: 'evidence',
  summary: 'the evidence of an order: fetch and verify it; watch, audit and certify a log',
  help: `usage: ringbook evidence verify FILE --venue-key VKEY [--witness VKEY]… [--quorum N] [--head FILE]… [options]
       ringbook evidence certify REQUEST --key FILE [--from TIME] [--until TIME] [--out FILE]
       ringbook evidence certify --end VKEY --size N --key FILE [--out FILE]
       ringbook evidence audit DIR [--from SNAPSHOT] [--secret FILE] [--progress]
       ringbook evidence ORDER --market MARKET --out FILE [--complete] [--as a|--key FILE] [--oms URL]
       ringbook evidence watch URL --venue-key VKEY --state FILE [--peer FILE|URL]… [--every SECONDS] [--once]
       ringbook evidence new-origin DIR --reason TEXT

verify says, offline, what a file proves: exit code 0 and a sentence; 1 when it is false; 2 when it cannot be read.
  --venue-key VKEY     the verifier key of the venue that you pinned, or a file with it
  --witness VKEY       a witness whose cosignature counts; --quorum N of them must have signed
  --head FILE          a head of the same log that you have; of another size it is compared with
  --consistency FILE   the answer of GET /evidence/consistency for the head at the same place, "-" for none
  --end FILE           an end of a key that you know of
  --complete           no row of the user between the first and the last of the order may be missing
  --rp-id NAME --origin URL   those of the venue, for co-signers with WebAuthn

certify signs the request of a log key with the venue key; the certificate goes into the configuration of the node.
  --from, --until TIME   when its heads hold  (default: now, and 400 days later)
  --end VKEY --size N    the key ends: its heads above this size are void

audit replays the journal of a data directory, which a node may hold, and compares each row and leaf with what it gives.
  --from SNAPSHOT   where the replay begins  (default: as far back as the journal goes)
  --secret FILE     the evidence secret  (default: the one in the directory)

ORDER is the id of an order of yours, whose evidence is written to FILE; --complete adds all of your rows between its first and last.

watch fetches heads and checks that each continues every head that it kept in FILE, and those of peers: heads, files of other
watchers, or other addresses. Exit code 65 on a fork, with both heads in FILE.fork; 75 when no new head came for 60 s.

new-origin puts the log of a stopped node aside and begins a new one, which states the old origin, its last head and the reason.
A production node needs a venue key of the new origin then.

example:
  ringbook evidence certify log.request --key venue.key --out log.certificate
`,
  async run(argv) {
    const [verb, ...rest] = argv;
    if (verb === 'certify') return certify(rest);
    if (verb === 'verify') return verify(rest);
    if (verb === 'audit') return audit(rest);
    if (verb === 'watch') return watch(rest);
    if (verb === 'new-origin') return newOrigin(rest);
    if (verb === undefined || verb.startsWith('-'))
      throw usageError('evidence takes an order, or verify, certify, audit, watch, new-origin');
    return ofOrder(argv);
  },
};
