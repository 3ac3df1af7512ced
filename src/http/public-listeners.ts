/**
 * Configuration of the public listeners: TLS or plain, and limits per address (AMB-91, AMB-114). The order service's
 * and the market-data listener are set up alike, each on its own thread with its own table of addresses.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AddressLimits } from '../gateway/sessions/address-limits.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { AddressGate, type AddressSource } from './address-gate.ts';
import type { TlsFiles } from './uws.ts';

/** Per address and listener. The members come from the profile. */
export interface AddressConfig {
  readonly unitsPerSecond: number;
  readonly capacity: number;
  /** Open sockets. */
  readonly sockets: number;
  /** Sessions of users without a balance or a position; by default SESSIONS_PER_ADDRESS. */
  readonly sessions?: number;
  readonly from: AddressSource;
}

/**
 * `plain-in-container`: of dev and test alone, which otherwise listen on loopback only: the network is the container's own, and
 * what of it is published is decided outside.
 */
export type PublicListeners =
  | 'plain-on-loopback'
  | 'plain-in-container'
  | 'plain-behind-terminator'
  | 'undeclared'
  | { readonly tls: TlsFiles };

/** Structured-cloneable; passed to the market-data thread. */
export interface ListenerSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  /** Null: addresses are not limited. */
  readonly addresses: AddressConfig | null;
}

export function tlsOf(listeners: PublicListeners): TlsFiles | null {
  return typeof listeners === 'string' ? null : listeners.tls;
}

const SESSIONS_PER_ADDRESS = 1_024;

/** The limit per address for sessions of users without funds. */
export function sessionsPerAddress(addresses: AddressConfig | null): number {
  return addresses === null ? Number.POSITIVE_INFINITY : (addresses.sessions ?? SESSIONS_PER_ADDRESS);
}

/** @param budget counts rejected requests. */
export function gateOf(addresses: AddressConfig | null, budget: SharedBudget): AddressGate | null {
  if (addresses === null) return null;
  const { unitsPerSecond, capacity, sockets, from } = addresses;
  const size = { unitsPerSecond: BigInt(unitsPerSecond), capacity: BigInt(capacity) };
  return new AddressGate({
    limits: new AddressLimits({ size, socketsMax: sockets }),
    source: from,
    nowNs: () => process.hrtime.bigint(),
    refused: () => budget.countRefusal('address'),
  });
}

/** The reason why these files cannot serve TLS; null if they can. */
export function tlsFault({ certFile, keyFile }: TlsFiles): string | null {
  const certificate = fileOf(certFile);
  if (certificate.text === null) return `${CERT_MEMBER} is "${certFile}", which cannot be read (${certificate.code})`;
  const key = fileOf(keyFile);
  if (key.text === null) return `${KEY_MEMBER} is "${keyFile}", which cannot be read (${key.code})`;
  const leaf = attempt(() => new X509Certificate(certificate.text));
  if (leaf === null) return `${CERT_MEMBER} is "${certFile}", which is no certificate in PEM`;
  const secret = attempt(() => createPrivateKey(key.text));
  if (secret === null) return `${KEY_MEMBER} is "${keyFile}", which is no private key in PEM without a passphrase`;
  if (leaf.checkPrivateKey(secret)) return null;
  return `${KEY_MEMBER} is "${keyFile}", which is not the key of the certificate ${certFile}`;
}

/** When the certificate ends, in seconds of Unix time. The files have passed `tlsFault`. */
export function certificateEndS({ certFile }: TlsFiles): number {
  return Math.floor(Date.parse(new X509Certificate(readFileSync(certFile, 'utf8')).validTo) / 1_000);
}

const CERT_MEMBER = 'publicListeners.tls.certFile';
const KEY_MEMBER = 'publicListeners.tls.keyFile';

/** The text of a file, or the code of the error if it cannot be read. */
function fileOf(path: string): { readonly text: string } | { readonly text: null; readonly code: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { text: null, code: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
