// @ts-check
/**
 * A WebSocket that is opened again after every close, until it is ended. What was missed in between is read again by its
 * owner: `opened` is called after each opening, the first included.
 *
 *   connecting ──open──▶ live ──close, or silence──▶ waiting ──delay──▶ connecting
 *
 * A connection can be lost without a close, such as when a computer sleeps or changes its network. So after CHECK_MS to
 * 2 CHECK_MS without a frame a text ping is sent (wire.md 9.1), and CHECK_MS later, still without a frame, the socket is
 * given up.
 */
import { readJson } from './service.js';

const DELAY_MS_MIN = 250;
const DELAY_MS_MAX = 8_000;
/** A connection that lasted so long resets the delay. */
const STEADY_MS = 5_000;
const CHECK_MS = 15_000;
const PING = '{"type":"ping"}';

/** @typedef {'connecting' | 'live' | 'waiting'} StreamState */

/**
 * @typedef {object} StreamParts
 * @property {() => WebSocket} connect
 * @property {(frame: import('./service.js').Plain) => void} frame called for every frame that is an object or array
 * @property {() => void} [opened]
 * @property {(state: StreamState) => void} [changed]
 */

export class Stream {
  /** @type {StreamParts} */
  #parts;
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #delayMs = DELAY_MS_MIN;
  #openedAt = 0;
  #isEnded = false;
  /** @type {'heard' | 'silent' | 'pinged'} */
  #silence = 'heard';
  #check;

  /** @param {StreamParts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#connect();
    this.#check = setInterval(() => this.#checkSilence(), CHECK_MS);
  }

  end() {
    this.#isEnded = true;
    clearInterval(this.#check);
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
    this.#socket = null;
  }

  #connect() {
    const { frame, opened, changed } = this.#parts;
    changed?.('connecting');
    const socket = this.#parts.connect();
    this.#socket = socket;
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return;
      this.#openedAt = performance.now();
      this.#silence = 'heard';
      changed?.('live');
      opened?.();
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket) return;
      this.#silence = 'heard';
      frame(readJson(String(data)));
    });
    socket.addEventListener('close', () => {
      if (this.#socket === socket && !this.#isEnded) this.#wait();
    });
  }

  #wait() {
    this.#socket = null;
    if (this.#openedAt > 0 && performance.now() - this.#openedAt > STEADY_MS) this.#delayMs = DELAY_MS_MIN;
    this.#openedAt = 0;
    this.#parts.changed?.('waiting');
    // A part of the delay is random: after a restart of the node not every page returns in the same instant.
    this.#timer = setTimeout(() => this.#connect(), this.#delayMs * (0.75 + Math.random() / 2));
    this.#delayMs = Math.min(DELAY_MS_MAX, this.#delayMs * 2);
  }

  #checkSilence() {
    const socket = this.#socket;
    if (socket === null || socket.readyState !== WebSocket.OPEN) return;
    if (this.#silence === 'heard') this.#silence = 'silent';
    else if (this.#silence === 'silent') {
      this.#silence = 'pinged';
      socket.send(PING);
    } else {
      socket.close(1000);
      this.#wait();
    }
  }
}
