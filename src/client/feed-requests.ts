/**
 * Requests of a feed on the multiplexed market-data socket: combined into frames, sent no faster than the service reads
 * them, each answered once (wire-additions.md 10.1, 10.5).
 *
 *   add ─▶ waiting ── the next ones of one type, ITEMS_MAX ──▶ frame ─▶ pending ── answer or error ─▶ resolved, rejected
 *             │ connection lost                                            │ connection lost
 *             └────────────────────────────────────────────────────────────┴─────────────────────▶ rejected
 *
 * Frames are answered in their order. An error frame without an id is about the oldest: the service did not read it.
 */
import type { RingbookError } from './errors.ts';

/** A subscription, as its frames name it. */
export interface JsonItem {
  readonly name: string;
  readonly asset_ids: readonly [string];
  readonly interval?: string;
  readonly checksum_every?: number;
}

/** What one subscription was refused for. */
export interface FeedItemError {
  readonly channel: string;
  readonly assetId: string;
  readonly code: string;
  readonly message: string;
}

type RequestType = 'subscribe' | 'unsubscribe';

interface Request {
  readonly type: RequestType;
  readonly item: JsonItem;
  readonly resolve: (refusal: FeedItemError | null) => void;
  readonly reject: (error: RingbookError) => void;
}

/** Subscriptions in one frame. */
const ITEMS_MAX = 20;
/** Below what the service reads of a socket: 10 frames a second, 50 at once. */
const FRAMES_PER_SECOND = 8;
const FRAMES_BURST = 40;
const SECOND_MS = 1_000;

export class FeedRequests {
  #send: ((text: string) => void) | null = null;
  #waiting: Request[] = [];
  readonly #pending = new Map<string, readonly Request[]>();
  #lastId = 0;
  #framesLeft = FRAMES_BURST;
  #refilledAtMs = 0;
  #isPlanned = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** A connection is open. */
  open(send: (text: string) => void): void {
    this.#send = send;
    this.#framesLeft = FRAMES_BURST;
    this.#refilledAtMs = performance.now();
  }

  /** Without a connection it has no effect. @returns what the item was refused for. */
  add(type: RequestType, item: JsonItem): Promise<FeedItemError | null> {
    if (this.#send === null) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ type, item, resolve, reject });
      this.#plan();
    });
  }

  /** Called with the answer to a frame. */
  answered(id: string, errors: readonly FeedItemError[]): void {
    for (const { item, resolve } of this.#pending.get(id) ?? []) resolve(refusalOf(item, errors));
    this.#pending.delete(id);
  }

  /** Called with an error frame. @param id null: of the oldest frame. */
  failed(id: string | null, error: RingbookError): void {
    const [oldest] = this.#pending.keys();
    const key = id ?? oldest ?? '';
    for (const { reject } of this.#pending.get(key) ?? []) reject(error);
    this.#pending.delete(key);
  }

  /** The connection is lost. */
  lost(error: RingbookError): void {
    this.#send = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const requests = [...[...this.#pending.values()].flat(), ...this.#waiting];
    this.#pending.clear();
    this.#waiting = [];
    for (const { reject } of requests) reject(error);
  }

  /** What is requested in one pass of the event loop is combined. */
  #plan(): void {
    if (this.#isPlanned || this.#timer !== null) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      this.#sendWaiting();
    }, 0);
  }

  #sendWaiting(): void {
    const send = this.#send;
    if (send === null) return;
    this.#refill();
    while (this.#waiting.length > 0) {
      if (this.#framesLeft < 1) {
        const waitMs = Math.ceil(((1 - this.#framesLeft) / FRAMES_PER_SECOND) * SECOND_MS);
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.#sendWaiting();
        }, waitMs);
        return;
      }
      this.#framesLeft -= 1;
      this.#sendFrame(send);
    }
  }

  #refill(): void {
    const nowMs = performance.now();
    const supplied = ((nowMs - this.#refilledAtMs) / SECOND_MS) * FRAMES_PER_SECOND;
    this.#framesLeft = Math.min(FRAMES_BURST, this.#framesLeft + supplied);
    this.#refilledAtMs = nowMs;
  }

  #sendFrame(send: (text: string) => void): void {
    const type = this.#waiting[0]?.type ?? 'subscribe';
    const requests: Request[] = [];
    // An error of an item names its channel and asset: so a frame has one of each, and not klines of two intervals.
    const named = new Set<string>();
    for (const request of this.#waiting) {
      if (request.type !== type || requests.length === ITEMS_MAX) break;
      const name = nameOf(request.item);
      if (!named.has(name)) requests.push(request);
      named.add(name);
    }
    const sent = new Set(requests);
    this.#waiting = this.#waiting.filter((request) => !sent.has(request));
    this.#lastId += 1;
    const id = String(this.#lastId);
    this.#pending.set(id, requests);
    const items = requests.map(({ item }) => item);
    const channels = type === 'subscribe' ? items : items.map(({ checksum_every: _, ...item }) => item);
    send(JSON.stringify({ type, id, channels }));
  }
}

function nameOf({ name, asset_ids: [assetId] }: JsonItem): string {
  return `${name} ${assetId}`;
}

function refusalOf({ name, asset_ids: [assetId] }: JsonItem, errors: readonly FeedItemError[]): FeedItemError | null {
  return errors.find((error) => error.channel === name && error.assetId === assetId) ?? null;
}
