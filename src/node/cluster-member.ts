/**
 * A node's place in its cluster, on the main thread (cluster.md 7): waits until the node leads, drains it for a handover, and ends the
 * process when the node is over. The protocol runs on the stream's thread; between them are the messages of cluster/link.ts.
 *
 *   following ─▶ restoring: clearing sends all that lives ─▶ main opens what a leader has ─▶ `ready` ─▶ leading
 *   leading ─▶ `drain` ─▶ order entry stops, what is pending is answered ─▶ `drained` ─▶ `end`
 */
import type { ToMain, ToStream } from '../cluster/link.ts';
import type { PeerChannel } from '../http/passed-requests.ts';
import type { Leadership, NodeState } from '../runtime/leadership.ts';

const LOOK_MS = 2;
/** What a stop waits for the stream's thread to end the leadership: a record on its way has 5 s (cluster.md 7.1). */
const TERMINATE_MS_MAX = 7_000;
/** Orders are taken, or their fate is about to be known. */
const SERVING: ReadonlySet<NodeState> = new Set(['leading', 'stalled']);

interface ClusterMemberParts {
  readonly channel: PeerChannel<ToMain | ToStream>;
  readonly leadership: Leadership;
  /** A line on standard output. */
  readonly print: (line: string) => void;
  /** Refuses new work and answers what is pending. */
  readonly drain: () => Promise<void>;
  /**
   * The node is over, or was stopped by an operator: the process ends with this code.
   *
   * @param isOrderly the leadership was handed over: everything that was announced is stored, so the tables may be kept as a stop does.
   */
  readonly ended: (code: number, reason: string, isOrderly: boolean) => void;
}

export class ClusterMember {
  readonly #parts: ClusterMemberParts;
  #hasEnded = false;
  #isTerminating = false;

  constructor(parts: ClusterMemberParts) {
    this.#parts = parts;
    parts.channel.receive((message) => this.#receive(message as ToMain));
  }

  /** All that lives was sent, the listeners answer. Resolves when the node leads. */
  async lead(): Promise<void> {
    this.#parts.channel.post({ kind: 'ready' });
    while (!SERVING.has(this.#parts.leadership.state()) && !this.#hasEnded) await pause();
  }

  /** For a stop: a standby takes over at once, where one follows. Call when the node is drained. Waits a bounded time. */
  async leave(): Promise<void> {
    this.#isTerminating = true;
    const { channel } = this.#parts;
    channel.post({ kind: 'terminate' });
    channel.post({ kind: 'drained', to: null });
    const untilMs = performance.now() + TERMINATE_MS_MAX;
    while (!this.#hasEnded && performance.now() < untilMs) await pause();
  }

  close(): void {
    this.#parts.channel.close();
  }

  #receive(message: ToMain): void {
    const { channel, drain, print, ended } = this.#parts;
    if (message.kind === 'state') {
      const { state, epoch, sequence } = message;
      print(JSON.stringify({ event: 'state', state, epoch, sequence }));
    } else if (message.kind === 'drain') {
      void drain().then(() => channel.post({ kind: 'drained', to: message.to }));
    } else {
      this.#hasEnded = true;
      if (this.#isTerminating) return;
      ended(message.code, `${message.reason}: ${message.text}`, message.reason === 'HANDED_OVER');
    }
  }
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, LOOK_MS));
}
