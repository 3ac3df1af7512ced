/**
 * Whether the servers are fit to carry a journal (cluster.md 2): by their monitoring, as clients cannot see it otherwise.
 *
 *   sync_interval: always   what they acknowledge is on the disk
 *   2.15.2 or later of 2.15
 *   max_payload             1 MiB or more
 */
import { get } from 'node:http';

const TIMEOUT_MS = 1_000;
const ANSWER_BYTES_MAX = 1 << 20;
const PAYLOAD_BYTES_MIN = 1 << 20;
const [MAJOR, MINOR, PATCH_MIN] = [2, 15, 2] as const;

interface ServerFitness {
  /** Its address of `monitoring`. */
  readonly address: string;
  /** Null when it did not answer. */
  readonly name: string | null;
  readonly version: string | null;
  /** How far its clock is ahead of that of this machine, within the time of its answer; null where it did not show it. */
  readonly clockMs: number | null;
  /** What is wrong; empty for a server that is fit. */
  readonly faults: readonly string[];
}

interface Varz {
  readonly server_name?: unknown;
  readonly version?: unknown;
  readonly max_payload?: unknown;
  readonly now?: unknown;
  readonly jetstream?: { readonly config?: { readonly sync_always?: unknown } };
}

/** @param address `http://host:port`. Answers within a second. */
export async function fitnessOf(address: string): Promise<ServerFitness> {
  const askedMs = Date.now();
  const varz = await varzOf(address);
  if (varz === null)
    return { address, name: null, version: null, clockMs: null, faults: ['its monitoring does not answer'] };
  const { server_name: name, version, max_payload: payload, now, jetstream } = varz;
  const faults: string[] = [];
  if (jetstream?.config?.sync_always !== true) faults.push('sync_interval is not always');
  if (typeof version !== 'string' || !isNewEnough(version))
    faults.push(`version ${String(version)} is not 2.15.2 or later of 2.15`);
  if (typeof payload !== 'number' || payload < PAYLOAD_BYTES_MIN) faults.push('max_payload is below 1 MiB');
  return {
    address,
    name: typeof name === 'string' ? name : null,
    version: typeof version === 'string' ? version : null,
    clockMs: clockDifference(typeof now === 'string' ? Date.parse(now) : Number.NaN, askedMs),
    faults,
  };
}

/** Zero for a time between question and answer. */
function clockDifference(shownMs: number, askedMs: number): number | null {
  if (Number.isNaN(shownMs)) return null;
  const answeredMs = Date.now();
  return shownMs < askedMs ? shownMs - askedMs : Math.max(0, shownMs - answeredMs);
}

function isNewEnough(version: string): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  return Number(major) === MAJOR && Number(minor) === MINOR && Number(patch) >= PATCH_MIN;
}

function varzOf(address: string): Promise<Varz | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => request.destroy(), TIMEOUT_MS);
    const end = (value: Varz | null): void => {
      clearTimeout(timer);
      resolve(value);
    };
    const request = get(`${address}/varz`, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > ANSWER_BYTES_MAX) request.destroy();
      });
      response.on('close', () => end(parsed(text)));
    });
    request.on('error', () => end(null));
  });
}

function parsed(text: string): Varz | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
