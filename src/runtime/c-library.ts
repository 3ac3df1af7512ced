/**
 * Checks the C library before a native module is loaded: a binary that was built for a newer glibc fails with a message of
 * the dynamic linker, after threads have begun, and with advice that is wrong. One sentence says what runs here instead.
 *
 * The versions are those that the binaries of package-lock.json name; `runtime/c-library` holds them against the files.
 */

/** The lowest glibc that the native server loads with, by the number of Node's binary interface. */
export const SERVER_GLIBC: Readonly<Record<string, string>> = {
  '115': '2.27',
  '120': '2.27',
  '127': '2.38',
  '137': '2.38',
  '141': '2.38',
};

/** The lowest glibc of the other native modules: lmdb's is the highest. */
export const MODULES_GLIBC = '2.34';

/** A Node and the C library below it. */
export interface NativeHost {
  readonly platform: string;
  /** The same as `process.versions.modules`. */
  readonly abi: string;
  readonly nodeMajor: number;
  /** The version of glibc; null with another C library. */
  readonly glibc: string | null;
}

interface ReportHeader {
  readonly glibcVersionRuntime?: string;
}

/** The host of this process. Costs some 3 ms: Node has no cheaper way to the version. */
export function nativeHost(): NativeHost {
  const host = {
    platform: process.platform,
    abi: process.versions.modules,
    nodeMajor: Number(process.versions.node.split('.')[0]),
  };
  return { ...host, glibc: host.platform === 'linux' ? glibcVersion() : null };
}

/** @returns one sentence why no node starts on this host, with what to use instead; null when its binaries load. */
export function libraryFault({ platform, abi, nodeMajor, glibc }: NativeHost): string | null {
  if (platform !== 'linux') return null;
  const server = SERVER_GLIBC[abi] ?? MODULES_GLIBC;
  const needed = isOlder(server, MODULES_GLIBC) ? MODULES_GLIBC : server;
  if (glibc !== null && !isOlder(glibc, needed)) return null;
  const found = glibc === null ? 'has another C library' : `has ${glibc}`;
  // Node 20 helps where only the server's binary is too new.
  const advice =
    glibc === null || isOlder(glibc, MODULES_GLIBC) ? 'Debian 13 or the image' : 'Node 20, Debian 13 or the image';
  return `Node ${nodeMajor} needs glibc ${needed} or later, this system ${found}: use ${advice}`;
}

function glibcVersion(): string | null {
  const { report } = process;
  // Names of open sockets and the environment are not needed, and take time.
  const quick = { excludeNetwork: true, excludeEnv: true };
  const before = Object.fromEntries(Object.keys(quick).map((name) => [name, Reflect.get(report, name)]));
  Object.assign(report, quick);
  try {
    const { header } = report.getReport() as unknown as { readonly header: ReportHeader };
    return header.glibcVersionRuntime ?? null;
  } finally {
    Object.assign(report, before);
  }
}

/** Whether one version like `2.36` is older than another, compared number by number. */
function isOlder(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}
