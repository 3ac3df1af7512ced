/** `ringbook evidence watch`: a watcher of a log, which keeps the heads that it has seen (EVD-12). */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readBase64 } from '../evidence/base64.ts';
import { readVkey, type VerifierKey, vkeyText } from '../evidence/notes.ts';
import { readSignedHead } from '../evidence/venue-notes.ts';
import { BadLog, checkedHead, ForkSeen, type KeptHead, lookAt, type WatchedLog } from '../evidence/watch.ts';
import { CliError, checkAddress, EXIT, type ExitCode, parseOptions, positiveInteger, usageError } from './command.ts';
import { smallFile, vkeyOf } from './evidence-files.ts';

const OPTIONS = {
  'venue-key': { type: 'string' },
  state: { type: 'string' },
  peer: { type: 'string', multiple: true },
  every: { type: 'string', default: '10' },
  once: { type: 'boolean', default: false },
} as const;

const LATE_MS = 60_000;
const ANSWER_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 1_048_576;
const ALONE = 'alone, it sees the view that it is shown: compare with --peer, which others keep\n';

async function read(url: string): Promise<string> {
  const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  const text = await reply.text();
  if (text.length > ANSWER_BYTES_MAX) throw new BadLog(`${url} answers more than 1 MiB`);
  if (reply.status !== 200) throw new BadLog(`${url} answers ${reply.status}`);
  return text;
}

function logAt(base: string): WatchedLog & { notes(): Promise<readonly string[]> } {
  return {
    checkpoint: () => read(`${base}/evidence/checkpoint`),
    consistency: async (from, to) => {
      const { proof } = JSON.parse(await read(`${base}/evidence/consistency?from=${from}&to=${to}`)) as {
        readonly proof: readonly string[];
      };
      const hashes = proof.map(readBase64);
      if (!hashes.every((hash) => hash !== null)) throw new BadLog('the proof is no list of hashes');
      return hashes;
    },
    notes: async () => (JSON.parse(await read(`${base}/system/key`)) as { readonly notes: readonly string[] }).notes,
  };
}

interface State {
  readonly venue_key: string;
  /** Notes of heads, rising by size. */
  readonly heads: readonly string[];
}

function headOf(note: string, path: string): KeptHead {
  const signed = readSignedHead(note);
  if (signed === null) throw new CliError(EXIT.unreadable, `${path} has a head that cannot be read`);
  return { ...signed.head, note };
}

function loadState(path: string, venueKey: VerifierKey): readonly KeptHead[] {
  if (!existsSync(path)) return [];
  const state = JSON.parse(readFileSync(path, 'utf8')) as State;
  const known = readVkey(state.venue_key);
  if (known === null || known.id !== venueKey.id || known.name !== venueKey.name)
    throw new CliError(EXIT.usage, `${path} is of another venue key, ${state.venue_key}`);
  return state.heads.map((note) => headOf(note, path));
}

function saveState(path: string, venueKey: VerifierKey, heads: readonly KeptHead[]): void {
  const state: State = { venue_key: vkeyText(venueKey), heads: heads.map(({ note }) => note) };
  writeFileSync(`${path}.new`, JSON.stringify(state));
  renameSync(`${path}.new`, path);
}

/** Heads of others: of a node or a mirror, of a note in a file, or of another watcher's state. */
async function headsOfPeer(peer: string, checked: (text: string) => KeptHead): Promise<readonly KeptHead[]> {
  if (/^https?:/.test(peer)) return [checked(await read(`${peer.replace(/\/$/, '')}/evidence/checkpoint`))];
  const text = smallFile(peer);
  if (!text.startsWith('{')) return [checked(text)];
  return (JSON.parse(text) as State).heads.slice(-1).map(checked);
}

export async function watch(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) throw usageError('watch takes the address of an order service');
  if (values['venue-key'] === undefined || values.state === undefined)
    throw usageError('--venue-key VKEY and --state FILE are needed');
  const venueKey = vkeyOf(values['venue-key'], '--venue-key');
  const everyMs = positiveInteger(values.every, '--every') * 1_000;
  const log = logAt(checkAddress(url.replace(/\/$/, ''), 'URL'));
  const [path, peers] = [values.state, values.peer ?? []];
  if (peers.length === 0) process.stdout.write(ALONE);
  let kept = loadState(path, venueKey);
  let newMs = Date.now();
  for (;;) {
    const beganMs = Date.now();
    try {
      const notes = await log.notes();
      const checked = (text: string): KeptHead => checkedHead(text, { venueKey, notes, nowMs: Date.now() });
      const others: KeptHead[] = [];
      for (const peer of peers) others.push(...(await headsOfPeer(peer, checked)));
      const after = await lookAt(log, kept, others, checked);
      if (after !== kept) {
        kept = after;
        newMs = Date.now();
        saveState(path, venueKey, kept);
        process.stdout.write(
          `${new Date().toISOString()} ${kept.at(-1)?.size} records, consistent with ${kept.length - 1} kept\n`,
        );
      }
    } catch (error) {
      if (error instanceof ForkSeen) return forked(error, `${path}.fork`);
      if (error instanceof CliError) throw error;
      process.stderr.write(`${new Date().toISOString()} ${(error as Error).message}\n`);
      if (values.once) return EXIT.fault;
    }
    if (values.once) return EXIT.done;
    if (Date.now() - newMs > LATE_MS) {
      process.stderr.write(`no new head came for ${LATE_MS / 1_000} s\n`);
      return EXIT.late;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, everyMs - (Date.now() - beganMs))));
  }
}

function forked({ message, notes }: ForkSeen, path: string): ExitCode {
  writeFileSync(path, `${notes[0]}\n${notes[1]}`);
  process.stdout.write(`FORK: ${message}; both heads are in ${path}\n`);
  return EXIT.fork;
}
