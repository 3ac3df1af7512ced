/** Service status, and a user's limits and sessions. */
import { JsonFraction, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { readObject, stringOrNull } from './read-members.ts';

export interface Limits {
  readonly tier: string;
  /** Current units; a decimal. */
  readonly units: string;
  readonly capacity: number;
  readonly unitsPerSecond: number;
  /** Units by the names of `GET /limits/{user_id}`, as decimals. */
  readonly costs: Readonly<Record<string, string>>;
  readonly openStreams: number;
  readonly streamCap: number;
}

export interface SystemStatus {
  readonly version: string;
  /** False once the service is stopping. */
  readonly takesOrders: boolean;
  /** `Active`, `CancelOnly` or `Halted`, by asset id. */
  readonly markets: Readonly<Record<string, string>>;
}

/** A session of the user. */
export interface SessionInfo {
  /** For `endSession`; it opens nothing. */
  readonly id: string;
  /** `full`, or `read`: it changes nothing. */
  readonly scope: string;
  readonly createdNs: bigint;
  readonly lastUsedNs: bigint;
  /** Of the client that logged in; null where the service does not limit addresses. */
  readonly address: string | null;
}

const COUNT_MAX = Number.MAX_SAFE_INTEGER;

export function readLimits(value: JsonValue): Limits {
  return readObject(value, 'limits', (reader) => {
    const streams = readObject(reader.object('streams'), 'streams', (inner) => ({
      openStreams: inner.integer('open', 0, COUNT_MAX),
      streamCap: inner.integer('cap', 0, COUNT_MAX),
    }));
    return {
      tier: reader.string('tier'),
      units: reader.string('units'),
      capacity: reader.integer('capacity', 0, COUNT_MAX),
      unitsPerSecond: reader.integer('units_per_second', 0, COUNT_MAX),
      costs: textsOf(reader.object('costs')),
      ...streams,
    };
  });
}

export function readSession(value: JsonValue): SessionInfo {
  return readObject(value, 'session', (reader) => ({
    id: reader.string('id'),
    scope: reader.string('scope'),
    createdNs: reader.u64('created_ns'),
    lastUsedNs: reader.u64('last_used_ns'),
    address: stringOrNull(reader, 'address'),
  }));
}

export function readSystemTime(value: JsonValue): bigint {
  return readObject(value, 'system time', (reader) => reader.u64('now_ns'));
}

export function readSystemStatus(value: JsonValue): SystemStatus {
  return readObject(value, 'system status', (reader) => ({
    version: reader.string('version'),
    takesOrders: reader.boolean('takes_orders'),
    markets: textsOf(reader.object('markets')),
  }));
}

function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  const texts = [...object].map(([name, value]): [string, string] => [
    name,
    value instanceof JsonFraction ? value.text : String(value),
  ]);
  return Object.fromEntries(texts);
}
