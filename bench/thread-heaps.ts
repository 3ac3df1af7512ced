/**
 * Bytes that each thread of a running node allocates in its JavaScript heap, counted from outside through the inspector
 * of a node started with `--inspect=127.0.0.1:0`. Nothing of the node is changed.
 *
 *   begin: heap in use of each thread ── collections, each with the heap before and after ── end: heap in use
 *
 * What was allocated is the sum of the growth between two collections, so it is exact, whatever was freed. It does not
 * contain memory outside of the heap, such as that of a Uint8Array of more than 64 bytes; `externalBytes` is its growth.
 * Collections, with their times, come from V8's trace events; a thread without an event loop has them too.
 */
import { WebSocket } from 'ws';
import { must } from '../src/core/assert.ts';
import type { NodeProcess } from '../test/support/node-process.ts';

export interface ThreadHeap {
  /** `main`, or the name of the worker's entry file; verify threads are `worker`, the entry of their pool. */
  readonly thread: string;
  readonly allocatedBytes: number;
  /** Live after the last collection of the young generation, less those after the first: kept, or garbage that was promoted. */
  readonly keptBytes: number;
  readonly externalBytes: number;
  /** Collections of the young generation: their longest and total time on the thread's CPU, in milliseconds. */
  readonly scavenges: number;
  readonly scavengeMsMax: number;
  readonly scavengeMs: number;
  /** Collections of the old generation. */
  readonly majors: number;
}

/** A place in the code and the bytes that it allocated. */
export interface AllocationSite {
  readonly thread: string;
  readonly site: string;
  readonly bytes: number;
}

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** A trace event of V8; times in microseconds, `tdur` and `tts` of the thread's CPU. */
interface TraceEvent {
  readonly tid: number;
  readonly ph: string;
  readonly name: string;
  readonly tdur: number;
  readonly args: { readonly usedHeapSizeBefore?: number; readonly usedHeapSizeAfter?: number };
}

interface SampledNode {
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly selfSize: number;
  readonly children: readonly SampledNode[];
}

interface Heap {
  readonly heapUsed: number;
  readonly external: number;
}

/** The kernel's id of a thread, and the memory it uses. */
const TID = `Number(process.getBuiltinModule('fs').readlinkSync('/proc/thread-self').split('/').at(-1))`;
const HEAP = `(() => { const { heapUsed, external } = process.memoryUsage(); return { heapUsed, external }; })()`;
const REPLY_MS_MAX = 20_000;
/** Mean distance of samples of the allocation profile. */
const SAMPLED_BYTES = 1_024;

/** One thread: requests to it go over the connection of the main thread. */
class ThreadSession {
  readonly thread: string;
  readonly #send: (message: string) => void;
  readonly #pending = new Map<number, { resolve: (value: Reply) => void; reject: (error: Error) => void }>();
  #lastId = 0;
  tid = 0;
  begun: Heap = { heapUsed: 0, external: 0 };

  constructor(thread: string, send: (message: string) => void) {
    this.thread = thread;
    this.#send = send;
  }

  async request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = await new Promise<Reply>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.thread}: no reply to ${method}`)), REPLY_MS_MAX);
      this.#pending.set(id, {
        resolve: (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        reject,
      });
      this.#send(JSON.stringify({ id, method, params }));
    });
    if (reply.error !== undefined) throw new Error(`${this.thread}: ${method}: ${reply.error.message}`);
    return reply.result ?? {};
  }

  async evaluate<Value>(expression: string): Promise<Value> {
    const { result } = await this.request('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { readonly value: Value }).value;
  }

  /** A message of the thread; events are of no interest. */
  received(message: Reply): void {
    if (message.id === undefined) return;
    this.#pending.get(message.id)?.resolve(message);
    this.#pending.delete(message.id);
  }
}

export class ThreadHeaps {
  readonly #socket: WebSocket;
  readonly #main: ThreadSession;
  /** Workers by the inspector's session. */
  readonly #workers = new Map<string, ThreadSession>();
  #events: TraceEvent[] = [];
  #traced: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#main = new ThreadSession('main', (message) => socket.send(message));
    socket.on('message', (data: Buffer) => this.#received(JSON.parse(data.toString()) as Reply));
  }

  /** @throws Error when the node was started without its inspector. */
  static async connect(node: Pick<NodeProcess, 'stderr'>): Promise<ThreadHeaps> {
    const url = must(/ws:\/\/\S+/.exec(node.stderr())?.[0], 'the node was started with --inspect=127.0.0.1:0');
    const socket = new WebSocket(url, { maxPayload: 1 << 30 });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const heaps = new ThreadHeaps(socket);
    await heaps.#main.request('NodeWorker.enable', { waitForDebuggerOnStart: false });
    for (const session of heaps.#sessions()) session.tid = await session.evaluate(TID);
    return heaps;
  }

  close(): void {
    this.#socket.close();
  }

  /** Counts from now on. */
  async begin(): Promise<void> {
    this.#events = [];
    await this.#main.request('NodeTracing.start', { traceConfig: { includedCategories: ['v8'] } });
    for (const session of this.#sessions()) session.begun = await session.evaluate(HEAP);
  }

  async end(): Promise<readonly ThreadHeap[]> {
    const ended = new Map<ThreadSession, Heap>();
    for (const session of this.#sessions()) ended.set(session, await session.evaluate(HEAP));
    const traced = new Promise<void>((resolve) => {
      this.#traced = resolve;
    });
    await this.#main.request('NodeTracing.stop');
    await traced;
    return [...ended].map(([session, heap]) => heapOf(session, heap, this.#events));
  }

  /** Begins an allocation profile of every thread; allocating is slower until it ends. */
  async beginSampling(): Promise<void> {
    for (const session of this.#sessions()) {
      await session.request('HeapProfiler.startSampling', {
        samplingInterval: SAMPLED_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
    }
  }

  /** @returns every place that allocated, the largest first. */
  async endSampling(): Promise<readonly AllocationSite[]> {
    const sites: AllocationSite[] = [];
    for (const session of this.#sessions()) {
      const { profile } = (await session.request('HeapProfiler.stopSampling')) as { profile: { head: SampledNode } };
      for (const [site, bytes] of sitesOf(profile.head)) sites.push({ thread: session.thread, site, bytes });
    }
    return sites.sort((a, b) => b.bytes - a.bytes);
  }

  #sessions(): readonly ThreadSession[] {
    return [this.#main, ...this.#workers.values()];
  }

  #received(message: Reply): void {
    const { method, params } = message;
    if (method === 'NodeWorker.attachedToWorker') this.#attached(params as unknown as Attached);
    else if (method === 'NodeWorker.receivedMessageFromWorker') {
      const { sessionId, message: inner } = params as { sessionId: string; message: string };
      this.#workers.get(sessionId)?.received(JSON.parse(inner) as Reply);
    } else if (method === 'NodeTracing.dataCollected') this.#trace(params);
    else if (method === 'NodeTracing.tracingComplete') this.#traced();
    else this.#main.received(message);
  }

  #trace(params: Record<string, unknown> = {}): void {
    for (const event of params['value'] as TraceEvent[]) this.#events.push(event);
  }

  #attached({ sessionId, workerInfo }: Attached): void {
    const thread = workerInfo.url.replace(/^.*\//, '').replace(/\.js$/, '');
    const send = (message: string): void => {
      void this.#main.request('NodeWorker.sendMessageToWorker', { sessionId, message });
    };
    this.#workers.set(sessionId, new ThreadSession(thread, send));
  }
}

interface Attached {
  readonly sessionId: string;
  readonly workerInfo: { readonly url: string };
}

function heapOf(session: ThreadSession, end: Heap, events: readonly TraceEvent[]): ThreadHeap {
  const own = events.filter(({ tid }) => tid === session.tid);
  let allocatedBytes = 0;
  let last = session.begun.heapUsed;
  let keptFirst = -1;
  let keptLast = -1;
  let majors = 0;
  for (const { ph, name, args } of own) {
    if (name !== 'MinorGC' && name !== 'MajorGC') continue;
    if (ph === 'B') allocatedBytes += (args.usedHeapSizeBefore ?? last) - last;
    else if (ph === 'E') {
      last = args.usedHeapSizeAfter ?? last;
      if (name === 'MajorGC') majors += 1;
      else {
        if (keptFirst < 0) keptFirst = last;
        keptLast = last;
      }
    }
  }
  const times = own.filter(({ name, ph }) => name === 'V8.GCScavenger' && ph === 'X').map(({ tdur }) => tdur / 1_000);
  return {
    thread: session.thread,
    allocatedBytes: allocatedBytes + end.heapUsed - last,
    keptBytes: keptLast - keptFirst,
    externalBytes: end.external - session.begun.external,
    scavenges: times.length,
    scavengeMsMax: Math.max(0, ...times),
    scavengeMs: times.reduce((sum, ms) => sum + ms, 0),
    majors,
  };
}

function sitesOf(head: SampledNode): Map<string, number> {
  const bytes = new Map<string, number>();
  const walk = (node: SampledNode, caller: string): void => {
    const { functionName, url, lineNumber } = node.callFrame;
    const file = url.replace(/^.*\/(dist\/src|node_modules)\//, '');
    const own = `${functionName === '' ? '(anonymous)' : functionName} ${file}:${lineNumber + 1}`;
    const site = file.includes('/') ? own : `${own} < ${caller}`;
    if (node.selfSize > 0) bytes.set(site, (bytes.get(site) ?? 0) + node.selfSize);
    for (const child of node.children) walk(child, file.includes('/') ? own : caller);
  };
  walk(head, '');
  return bytes;
}
