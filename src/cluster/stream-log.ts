/**
 * The journal stream and what goes with it on the NATS servers of a cluster (cluster.md 4): the only module that loads
 * `@nats-io/*`, and only where a cluster is configured. It decides nothing; protocol.ts does.
 *
 * Every call has an end: an answer, or none within its time. Rules, each against something that was seen of JetStream:
 *
 *   - exclusive is an append by the expected last sequence of the stream, not of a subject; no message ids, whose memory grows
 *   - no consumer for the journal: its log is republished, what is missed is read by direct gets, and a gap is the reader's to see
 *   - a direct get may be answered by a server that is behind: an empty answer is no end
 *   - `no responders`, also shown as JetStream not being enabled, is an election: the outcome is not known
 *   - health is what was acknowledged; what a server reports of itself is only shown
 *   - a silent peer is found by a ping each 400 ms; all servers are in the list
 *   - records have 1,000,000 bytes at most; a full stream refuses (`discard: new`) and never drops
 *   - the stream is made by `cluster init` alone: one that is gone is lost, not new
 *   - three fixed servers: no peer is removed, no leaf node, mirror or source is used
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { jetstream } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import {
  type ConnectionOptions,
  connect,
  createInbox,
  credsAuthenticator,
  headers,
  type Msg,
  type NatsConnection,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { assert } from '../core/assert.ts';
import { REPLICATED_RECORD_BYTES_MAX } from '../storage/journal-record.ts';
import type { AppendAnswer, StreamMessage } from './events.ts';
import { type StreamNames, streamNames } from './stream-names.ts';

/** An append, and each question to the stream. */
const ANSWER_MS = 400;
/** Changes of streams, which go through the servers' own election. */
const CHANGE_MS = 5_000;
/** A server that is silent is tried for so long, also the one whose connection was lost, which the client tries first. */
const CONNECT_MS = 1_000;
const RECONNECT_MS = 50;
const PING_MS = 400;
const PINGS_OUT = 2;
/** Messages of one direct get, and their bytes. */
const BATCH = 256;
const BATCH_BYTES = 8 << 20;
/** A longer answer about the state of a process is none. */
const STATUS_BYTES_MAX = 4_096;
/** Between two messages of an answer. */
const BATCH_SILENCE_MS = 1_000;
/** What a listing of the bucket gives at most: far above what is kept. */
const SNAPSHOTS_MAX = 10_000;
const TAPE_AGE_NS: number = 8 * 86_400 * 1e9;
const DUPLICATE_WINDOW_NS: number = 100 * 1e6;

const WRONG_LAST_SEQUENCE = 10_071;
const NOT_FOUND = 10_059;
const NAME_IN_USE = 10_058;
const NO_MESSAGE = 10_037;

export interface StreamLogOptions {
  readonly cluster: string;
  /** Of this process: shown by the servers. */
  readonly node: string;
  readonly servers: readonly string[];
  /** A `.creds` file of NATS, or a file with one line `user:password`; null for none. */
  readonly credentialsFile: string | null;
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string } | null;
  readonly dataVersion: string;
  /** `server_name` of the server on this machine: while it answers, the death of another machine does not end this connection. */
  readonly home?: string | null;
}

export interface JournalInfo {
  /** Sequence of the first record, or of the one that comes first. */
  readonly first: number;
  readonly end: number;
  readonly bytes: number;
  /** 0 for no limit. */
  readonly bytesMax: number;
  /** Name of its server. */
  readonly leader: string;
  readonly others: readonly { readonly name: string; readonly isCurrent: boolean }[];
}

export interface StoredSnapshot {
  /** As it was put. */
  readonly name: string;
  readonly bytes: number;
  /** By the clock of the servers. */
  readonly storedMs: number;
}

/** A message of the tape. */
export interface TapeLines {
  /** Of the stream. */
  readonly sequence: number;
  readonly marketIndex: number;
  readonly lines: Uint8Array;
}

interface JournalStreamOptions {
  /** Sequence of its first record. */
  readonly firstSequence: number;
  /** 1 for tests on one server, else 3. */
  readonly replicas: number;
  readonly bytesMax: number;
}

interface ApiAnswer {
  readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
  readonly seq?: number;
  readonly stream?: string;
  readonly purged?: number;
  readonly message?: { readonly data?: string };
  readonly success?: boolean;
  readonly state?: { readonly first_seq: number; readonly last_seq: number; readonly bytes: number };
  readonly config?: { readonly max_bytes: number };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly name: string; readonly current: boolean; readonly offline?: boolean }[];
  };
}

/** A change of a stream that the servers refused, or did not answer. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /** Of JetStream's errors; 0 for no answer. */
  readonly code: number;

  constructor(what: string, code: number) {
    super(what);
    this.code = code;
  }
}

export class StreamLog {
  readonly names: StreamNames;
  readonly #connection: NatsConnection;
  readonly #dataVersion: string;

  private constructor(connection: NatsConnection, { cluster, dataVersion }: StreamLogOptions) {
    this.#connection = connection;
    this.names = streamNames(cluster);
    this.#dataVersion = dataVersion;
  }

  /** To the server at home, else to any one. @throws Error when no server answers within 1 s, or none takes the credentials. */
  static async connect(options: StreamLogOptions): Promise<StreamLog> {
    const { servers, credentialsFile, tls, cluster, node } = options;
    const secured = { ...tls, checkServerIdentity: identityOf(servers) };
    const settings: ConnectionOptions = {
      servers: [...servers],
      name: `ringbook ${cluster} ${node}`,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: PINGS_OUT,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      ignoreClusterUpdates: true,
      ...(credentialsFile === null ? {} : { authenticator: authenticatorOf(readFileSync(credentialsFile)) }),
      ...(tls === null ? {} : { tls: secured }),
    };
    const any = await connect(settings);
    const home = await atHome(any, settings, servers, options.home ?? null);
    if (home !== any) await any.close();
    return new StreamLog(home, options);
  }

  /** Name of the server that this process is connected to; null while there is none. */
  get server(): string | null {
    return this.#connection.info?.server_name ?? null;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  // ---- the journal

  /**
   * Appends one record. @param expectedEnd the end that the stream must have, its last sequence.
   *
   * @returns `unknown` for no answer within 400 ms, an election, a full stream: it may be there or come to be there.
   */
  async append(bytes: Uint8Array, expectedEnd: number): Promise<AppendAnswer> {
    assert(bytes.length <= REPLICATED_RECORD_BYTES_MAX, 'a record of a cluster has 1,000,000 bytes at most');
    const head = headers();
    // mutant: expected-end-is-sent
    head.set('Nats-Expected-Last-Sequence', `${expectedEnd}`);
    head.set('Nats-Expected-Stream', this.names.journal);
    head.set('Rb-Data', this.#dataVersion);
    const answer = await this.#ask(this.names.journalSubject, bytes, ANSWER_MS, head);
    if (answer === null) return { kind: 'unknown' };
    if (answer.error === undefined) {
      const { seq, stream } = answer;
      return seq === undefined || stream !== this.names.journal
        ? { kind: 'unknown' }
        : { kind: 'stored', sequence: seq };
    }
    const end = /wrong last sequence: (\d+)/.exec(answer.error.description)?.[1];
    if (answer.error.err_code !== WRONG_LAST_SEQUENCE || end === undefined) return { kind: 'unknown' };
    return { kind: 'refused', end: Number(end) };
  }

  /** Up to 256 messages from a sequence on, without a gap; none proves nothing. */
  async get(from: number): Promise<readonly StreamMessage[]> {
    const messages: StreamMessage[] = [];
    let next = from;
    const request = Buffer.from(JSON.stringify({ seq: from, batch: BATCH, max_bytes: BATCH_BYTES }));
    await this.#askMany(`$JS.API.DIRECT.GET.${this.names.journal}`, request, (message) => {
      const found = this.#messageOf(message);
      // mutant: batch-without-a-gap
      if (found === null || found.sequence !== next) return false;
      messages.push(found);
      next += 1;
      return messages.length < BATCH;
    });
    return messages;
  }

  /** The first record that the stream has from a sequence on; null when none was found, which proves nothing. */
  async firstFrom(sequence: number): Promise<number | null> {
    let first: number | null = null;
    const request = Buffer.from(JSON.stringify({ seq: sequence, batch: 1 }));
    await this.#askMany(`$JS.API.DIRECT.GET.${this.names.journal}`, request, (message) => {
      first ??= this.#messageOf(message)?.sequence ?? null;
      return false;
    });
    return first;
  }

  /** By the stream's leader; null for no answer, or no leader. */
  async info(): Promise<JournalInfo | null> {
    const answer = await this.#ask(`$JS.API.STREAM.INFO.${this.names.journal}`, new Uint8Array(), ANSWER_MS);
    const { state, config, cluster } = answer ?? {};
    if (answer === null || answer.error !== undefined || state === undefined) return null;
    const leader = cluster?.leader ?? '';
    if (cluster !== undefined && leader === '') return null;
    return {
      first: state.first_seq,
      end: state.last_seq,
      bytes: state.bytes,
      bytesMax: Math.max(config?.max_bytes ?? 0, 0),
      leader,
      others: (cluster?.replicas ?? []).map(({ name, current, offline }) => ({
        name,
        isCurrent: current && offline !== true,
      })),
    };
  }

  /** Each record as soon as it is stored; some may never come. */
  follow(heard: (message: StreamMessage) => void): void {
    this.#connection.subscribe(this.names.log, {
      callback: (error, message) => {
        const found = error === null ? this.#messageOf(message) : null;
        if (found !== null) heard(found);
      },
    });
  }

  /** Whether the servers have the stream. @throws StreamError when none answers. */
  isMade(): Promise<boolean> {
    return this.#isThere(this.names.journal);
  }

  /** Moves the stream's leader to another server. @returns whether the servers took it. */
  async stepDown(preferred: string): Promise<boolean> {
    const request = Buffer.from(JSON.stringify({ placement: { preferred } }));
    const answer = await this.#ask(`$JS.API.STREAM.LEADER.STEPDOWN.${this.names.journal}`, request, CHANGE_MS);
    return answer?.success === true;
  }

  /** Removes the records below a sequence; the numbering goes on. @throws StreamError. */
  async purgeBelow(sequence: number): Promise<void> {
    await this.#change(`$JS.API.STREAM.PURGE.${this.names.journal}`, { seq: sequence });
  }

  /** Makes the journal stream: `cluster init` alone does. @throws StreamError when it is there, or cannot be made. */
  async createJournal({ firstSequence, replicas, bytesMax }: JournalStreamOptions): Promise<void> {
    const { journal, journalSubject, log } = this.names;
    if (await this.#isThere(journal)) throw new StreamError(`the stream ${journal} is there`, NAME_IN_USE);
    await this.#change(`$JS.API.STREAM.CREATE.${journal}`, {
      name: journal,
      subjects: [journalSubject],
      retention: 'limits',
      storage: 'file',
      num_replicas: replicas,
      discard: 'new',
      max_bytes: bytesMax,
      max_msg_size: REPLICATED_RECORD_BYTES_MAX + 1_024,
      max_msgs: -1,
      max_age: 0,
      max_consumers: -1,
      first_seq: firstSequence,
      deny_delete: true,
      allow_direct: true,
      duplicate_window: DUPLICATE_WINDOW_NS,
      republish: { src: journalSubject, dest: log },
    });
  }

  /** Sets the largest size of the journal's stream: of a full one records are taken again. @throws StreamError. */
  async resizeJournal(bytesMax: number): Promise<void> {
    const { journal } = this.names;
    const found = await this.#ask(`$JS.API.STREAM.INFO.${journal}`, new Uint8Array(), CHANGE_MS);
    if (found?.config === undefined) throw new StreamError(`no answer about the stream ${journal}`, 0);
    await this.#change(`$JS.API.STREAM.UPDATE.${journal}`, { ...found.config, max_bytes: bytesMax });
  }

  // ---- tape, snapshots, the other nodes

  /** Makes the stream of confirmed trades and the bucket of snapshots. @throws StreamError when one cannot be made. */
  async createTapeAndSnapshots(replicas: number, tapeBytesMax: number): Promise<void> {
    const { tape, tapeSubjects } = this.names;
    await this.#change(`$JS.API.STREAM.CREATE.${tape}`, {
      name: tape,
      subjects: [`${tapeSubjects}.*`],
      retention: 'limits',
      storage: 'file',
      num_replicas: replicas,
      discard: 'old',
      max_bytes: tapeBytesMax,
      max_age: TAPE_AGE_NS,
      allow_direct: true,
      duplicate_window: DUPLICATE_WINDOW_NS,
    });
    await this.#objects().create(this.names.snapshots, { replicas });
  }

  /** @param lines JSON, one trade each. @returns whether the tape has them; put twice they are there twice: readers go by the id. */
  async putTrades(marketIndex: number, lines: Uint8Array): Promise<boolean> {
    const answer = await this.#ask(`${this.names.tapeSubjects}.${marketIndex}`, lines, ANSWER_MS);
    return answer !== null && answer.error === undefined;
  }

  /** The last message of a market on the tape, by the stream's leader; empty for none, null for no answer. */
  async lastTrades(marketIndex: number): Promise<Uint8Array | null> {
    const request = Buffer.from(JSON.stringify({ last_by_subj: `${this.names.tapeSubjects}.${marketIndex}` }));
    const answer = await this.#ask(`$JS.API.STREAM.MSG.GET.${this.names.tape}`, request, ANSWER_MS);
    if (answer?.error?.err_code === NO_MESSAGE) return new Uint8Array();
    const data = answer?.message?.data;
    return data === undefined ? null : new Uint8Array(Buffer.from(data, 'base64'));
  }

  /** Messages of the tape from a sequence of its stream on, of all markets; none proves nothing. */
  async getTape(from: number): Promise<readonly TapeLines[]> {
    const messages: TapeLines[] = [];
    const request = Buffer.from(JSON.stringify({ seq: from, batch: BATCH, max_bytes: BATCH_BYTES }));
    await this.#askMany(`$JS.API.DIRECT.GET.${this.names.tape}`, request, ({ headers: head, data }) => {
      const sequence = Number(head?.get('Nats-Sequence') ?? '');
      const marketIndex = Number((head?.get('Nats-Subject') ?? '').split('.').at(-1));
      if (!Number.isSafeInteger(sequence) || sequence <= 0 || !Number.isSafeInteger(marketIndex)) return false;
      messages.push({ sequence, marketIndex, lines: new Uint8Array(data) });
      return messages.length < BATCH;
    });
    return messages;
  }

  // ---- market data for replicas

  /** @param channel a number, or `alive`. Nothing is acknowledged. */
  publishMarketData(epoch: number, channel: string, bytes: Uint8Array): void {
    this.#connection.publish(`${this.names.marketData}.${epoch}.${channel}`, bytes);
  }

  /** What the leader publishes; a replica's questions are not given. */
  onMarketData(heard: (epoch: number, channel: string, bytes: Uint8Array) => void): void {
    this.#connection.subscribe(`${this.names.marketData}.>`, {
      callback: (error, { subject, data }) => {
        const [epoch, channel] = subject.slice(this.names.marketData.length + 1).split('.');
        if (error === null && channel !== undefined && epoch !== undefined) heard(Number(epoch), channel, data);
      },
    });
  }

  /** Questions of replicas, each answered by messages. */
  onBookAsked(asked: (market: number | null, respond: (part: Uint8Array) => void) => void): void {
    this.#connection.subscribe(this.names.bookQuestions, {
      callback: (error, message) => {
        if (error !== null) return;
        const market = Number(Buffer.from(message.data).toString('utf8') || 'NaN');
        asked(Number.isSafeInteger(market) && market >= 0 ? market : null, (part) => message.respond(part));
      },
    });
  }

  /**
   * Requests the book of a market from the leader, or the registry (null). Gives each part to `take` until it returns false, or
   * nothing comes for a second.
   */
  askBook(market: number | null, take: (part: Uint8Array) => boolean): Promise<void> {
    const question = Buffer.from(market === null ? '' : `${market}`);
    return this.#askMany(this.names.bookQuestions, question, ({ data }) => take(data));
  }

  /** @param name `<data version>/<sequence>`. @throws Error when it is not stored. */
  async putSnapshot(name: string, bytes: ReadableStream<Uint8Array>): Promise<void> {
    const bucket = await this.#objects().open(this.names.snapshots);
    await bucket.put({ name }, bytes);
  }

  /** Null when there is none. The SHA-256 is checked at the end of the stream, which fails where it is another. */
  async snapshot(name: string): Promise<ReadableStream<Uint8Array> | null> {
    const bucket = await this.#objects().open(this.names.snapshots);
    return (await bucket.get(name))?.data ?? null;
  }

  /**
   * What the bucket holds, by a direct get of the last message about each object: listing them by the client makes a consumer each time.
   * A server that is behind may answer: what was put or deleted just now may be missing or still there.
   */
  async snapshots(): Promise<readonly StoredSnapshot[]> {
    const found: StoredSnapshot[] = [];
    const { snapshots } = this.names;
    const request = Buffer.from(JSON.stringify({ multi_last: [`$O.${snapshots}.M.>`] }));
    await this.#askMany(`$JS.API.DIRECT.GET.OBJ_${snapshots}`, request, ({ headers: head, data }) => {
      const { name, size, deleted } = objectOf(data);
      const storedMs = Date.parse(head?.get('Nats-Time-Stamp') ?? '');
      if (typeof name === 'string' && typeof size === 'number' && deleted !== true && !Number.isNaN(storedMs))
        found.push({ name, bytes: size, storedMs });
      return found.length < SNAPSHOTS_MAX;
    });
    return found;
  }

  async deleteSnapshot(name: string): Promise<void> {
    const bucket = await this.#objects().open(this.names.snapshots);
    await bucket.delete(name);
  }

  /** Without an answer: what is not received is reported again. */
  publishApplied(report: Uint8Array): void {
    this.#tell(this.names.applied, report);
  }

  onApplied(heard: (report: Uint8Array) => void): void {
    this.#connection.subscribe(this.names.applied, {
      callback: (error, { data }) => {
        if (error === null) heard(data);
      },
    });
  }

  /** Requests that the leader hands over to this node; without an answer, silence decides. */
  askHandover(node: string): void {
    this.#tell(this.names.handover, node);
  }

  onHandover(asked: (node: string) => void): void {
    this.#connection.subscribe(this.names.handover, {
      callback: (error, message) => {
        if (error === null) asked(message.string());
      },
    });
  }

  /** Answers requests to all nodes and to this one. `respond` may be called later. */
  answer(node: string, requested: (request: Uint8Array, respond: (reply: Uint8Array) => void) => void): void {
    for (const subject of [this.names.status, `${this.names.status}.${node}`]) this.#answer(subject, requested);
  }

  /** Answers the question to all replicas. */
  answerAsReplica(status: () => Uint8Array): void {
    this.#answer(this.names.replicas, (_question, respond) => respond(status()));
  }

  /** Asks one node. @returns null for no answer within the time. */
  async request(node: string, request: Uint8Array, timeout: number = CHANGE_MS): Promise<Uint8Array | null> {
    try {
      return (await this.#connection.request(`${this.names.status}.${node}`, request, { timeout })).data;
    } catch {
      return null;
    }
  }

  /** What all nodes answer within the time. */
  askStatus(withinMs: number): Promise<readonly Uint8Array[]> {
    return this.#askAll(this.names.status, withinMs);
  }

  /** What all replicas answer within the time. Their account answers nothing else, so none of it is a node's. */
  askReplicas(withinMs: number): Promise<readonly Uint8Array[]> {
    return this.#askAll(this.names.replicas, withinMs);
  }

  // ---- questions

  #answer(subject: string, requested: (request: Uint8Array, respond: (reply: Uint8Array) => void) => void): void {
    this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) requested(message.data, (reply) => void message.respond(reply));
      },
    });
  }

  /** Bounded in number and bytes: a program that answers without end is cut off. */
  async #askAll(subject: string, withinMs: number): Promise<readonly Uint8Array[]> {
    const answers: Uint8Array[] = [];
    const take = ({ data }: Msg): boolean => (data.length > STATUS_BYTES_MAX ? true : answers.push(data) < BATCH);
    await this.#askMany(subject, new Uint8Array(), take, withinMs);
    return answers;
  }

  #objects(): Objm {
    return new Objm(jetstream(this.#connection, { timeout: CHANGE_MS }));
  }

  async #isThere(stream: string): Promise<boolean> {
    const answer = await this.#ask(`$JS.API.STREAM.INFO.${stream}`, new Uint8Array(), CHANGE_MS);
    if (answer === null) throw new StreamError(`no answer about the stream ${stream}`, 0);
    return answer.error?.err_code !== NOT_FOUND;
  }

  async #change(subject: string, change: object): Promise<void> {
    const answer = await this.#ask(subject, Buffer.from(JSON.stringify(change)), CHANGE_MS);
    if (answer === null) throw new StreamError(`no answer to ${subject}`, 0);
    if (answer.error !== undefined)
      throw new StreamError(`${subject}: ${answer.error.description}`, answer.error.err_code);
  }

  /** Null for no answer in time, no responders, a lost connection, or an answer that cannot be read. */
  async #ask(
    subject: string,
    data: Uint8Array,
    timeout: number,
    head?: ReturnType<typeof headers>,
  ): Promise<ApiAnswer | null> {
    try {
      const options = head === undefined ? { timeout } : { timeout, headers: head };
      const { data: answer } = await this.#connection.request(subject, data, options);
      return JSON.parse(Buffer.from(answer).toString('utf8')) as ApiAnswer;
    } catch {
      return null;
    }
  }

  /** Gives answers to `take` until it returns false, the answer ends, or nothing comes for a second. */
  #askMany(
    subject: string,
    data: Uint8Array,
    take: (message: Msg) => boolean,
    withinMs: number = BATCH_SILENCE_MS,
  ): Promise<void> {
    if (this.#connection.isClosed()) return Promise.resolve();
    return new Promise((resolve) => {
      const inbox = createInbox();
      const subscription = this.#connection.subscribe(inbox, {
        callback: (error, message) => {
          // A status without a payload ends the answer: end of batch, not found, no responders.
          if (error !== null || (message.headers?.code ?? 0) !== 0 || !take(message)) {
            end();
            return;
          }
          if (withinMs !== BATCH_SILENCE_MS) return;
          clearTimeout(timer);
          timer = setTimeout(end, BATCH_SILENCE_MS);
        },
      });
      const end = (): void => {
        clearTimeout(timer);
        subscription.unsubscribe();
        resolve();
      };
      let timer = setTimeout(end, withinMs);
      this.#connection.publish(subject, data, { reply: inbox });
    });
  }

  /** Without an answer; nothing after `close`. */
  #tell(subject: string, data: Uint8Array | string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject, data);
  }

  #messageOf({ headers: head, data }: Msg): StreamMessage | null {
    const sequence = Number(head?.get('Nats-Sequence') ?? '');
    if (!Number.isSafeInteger(sequence) || sequence <= 0) return null;
    return { sequence, bytes: new Uint8Array(data), dataVersion: head?.get('Rb-Data') ?? '' };
  }
}

/**
 * A server that is named by its address has to have a certificate for an address of the list: the client of NATS gives Node the names
 * of servers only, and for an address Node would look for `localhost`.
 */
function identityOf(servers: readonly string[]): typeof checkServerIdentity {
  const addresses = servers
    .map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''))
    .filter((host) => isIP(host) > 0);
  return (host, certificate) => {
    const wrong = checkServerIdentity(host, certificate);
    if (wrong === undefined || host !== 'localhost') return wrong;
    return addresses.some((address) => checkServerIdentity(address, certificate) === undefined) ? undefined : wrong;
  };
}

/** A connection to the server of this name; `any` when that is it, or it does not answer. An address does not contain the name. */
async function atHome(
  any: NatsConnection,
  settings: ConnectionOptions,
  servers: readonly string[],
  home: string | null,
): Promise<NatsConnection> {
  if (home === null || any.info?.server_name === home) return any;
  for (const server of servers) {
    const others = servers.filter((other) => other !== server);
    // The first in the list is tried first, and the others only when it is lost.
    const first = await connect({ ...settings, servers: [server, ...others], noRandomize: true }).catch(() => null);
    if (first?.info?.server_name === home) return first;
    await first?.close();
  }
  return any;
}

/** The members of an answer; none for what cannot be read. */
function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function authenticatorOf(file: Uint8Array): ReturnType<typeof credsAuthenticator> {
  const text = Buffer.from(file).toString('utf8').trim();
  if (text.includes('-----BEGIN')) return credsAuthenticator(file);
  const colon = text.indexOf(':');
  assert(colon > 0 && !text.includes('\n'), 'a credentials file is a .creds file of NATS, or one line user:password');
  return usernamePasswordAuthenticator(text.slice(0, colon), text.slice(colon + 1));
}
