/**
 * Addresses of listeners as URLs, for people and for the commands that reach a node on this machine; and what a node of the dev and
 * test profiles prints when it is ready: its addresses, and commands to try that reach this node, also where it has other ports
 * than the default ones.
 */

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

/** The addresses that commands take without an option. */
const DEFAULTS: Listening = {
  oms: 'http://127.0.0.1:3032',
  mds: 'http://127.0.0.1:8011',
  ops: 'http://127.0.0.1:9464',
};

/** @param open as in the ready line. @param isDemo whether the demo traders trade. */
export function welcomeOf(open: Listening, isDemo: boolean): string {
  const oms = reachableUrl(open.oms);
  const mds = reachableUrl(open.mds);
  const ops = reachableUrl(open.ops);
  const orders = `${option('oms', oms)}${option('mds', mds)}`;
  return [
    '',
    '  ringbook is ready.',
    `    orders       ${oms}   REST, ws /control, /orders`,
    `    market data  ${mds}   REST and streams`,
    `    operations   ${ops}   a page of latency and queues, /readyz /metrics /operator`,
    ...(isDemo ? ['    demo traders trade in markets 1 and 3 (RINGBOOK_DEMO=0: none)'] : []),
    '',
    '  Try, in another terminal:',
    `    npx ringbook order sell 0.5 2 --price 3000 --as a${orders}`,
    `    npx ringbook order buy 0.5 2 --price 3000 --as b --control${orders}`,
    `    npx ringbook book 2${orders}`,
    `  or in a browser: ${oms}/ (to watch and to trade), ${oms}/api-reference`,
    '',
    '',
  ].join('\n');
}

function option(name: keyof Listening, address: string): string {
  return address === DEFAULTS[name] ? '' : ` --${name} ${address}`;
}
