/** Addresses of listeners as URLs, for people and for the commands that reach a node on this machine. */

/** What a listener on all addresses of a machine is reached by on it. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

export interface Listening {
  readonly oms: string;
  readonly mds: string;
  readonly ops: string;
}

/** @param host as a listener has it. @returns the host part of a URL that is not the address of a listener on all addresses. */
export function reachableHost(host: string): string {
  return LOOPBACK_OF[host] ?? hostOfUrl(host);
}

/** An IPv6 address stands in brackets. */
export function hostOfUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** @param address of a listener. @returns an address that reaches it on its machine, also where it listens on all addresses. */
export function reachableUrl(address: string): string {
  const url = new URL(address);
  url.hostname = reachableHost(url.hostname.replace(/^\[|\]$/g, ''));
  return url.origin;
}
