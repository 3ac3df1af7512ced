/**
 * `ringbook doctor`: checks the requirements of starting a node here, and the state of a running node. Every failing
 * line explains how to fix it.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { OperatorClient } from '../client/operator.ts';
import { ConfigError } from '../core/config-error.ts';
import { hostOfUrl, reachableHost } from '../node/addresses.ts';
import type { ClusterConfig } from '../node/cluster-config.ts';
import type { NodeConfig } from '../node/config.ts';
import { serverFault } from '../node/native-server.ts';
import { libraryFault, type NativeHost, nativeHost } from '../runtime/c-library.ts';
import { type Command, EXIT, type Finding, type ListenerName, parseOptions, portVariableOf } from './command.ts';

const NODE_MAJOR_MIN = 20;
const CORES_WANTED = 2;

function nodeVersion(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  const isGood = major >= NODE_MAJOR_MIN;
  const detail = isGood ? process.version : `${process.version} is too old: install Node.js ${NODE_MAJOR_MIN} or newer`;
  return { what: 'Node.js', isGood, detail };
}

function cLibrary(host: NativeHost): Finding {
  const fault = libraryFault(host);
  return {
    what: 'C library',
    isGood: fault === null,
    detail: fault ?? (host.glibc === null ? 'of the system' : `glibc ${host.glibc}`),
  };
}

const NATIVE_MODULES: readonly { readonly name: string; load(): Promise<unknown> }[] = [
  { name: 'uWebSockets.js', load: () => import('uWebSockets.js') },
  { name: 'lmdb', load: () => import('lmdb') },
  { name: 'sodium-native', load: () => import('sodium-native') },
  { name: 'tiny-secp256k1', load: () => import('tiny-secp256k1') },
];

async function nativeModule(module: (typeof NATIVE_MODULES)[number], host: NativeHost): Promise<Finding> {
  try {
    // What a start refuses to load is not loaded here either.
    const fault = module.name === 'uWebSockets.js' ? serverFault(host) : null;
    if (fault !== null) return { what: module.name, isGood: false, detail: fault };
    await module.load();
    return { what: module.name, isGood: true, detail: 'loads' };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { what: module.name, isGood: false, detail: `does not load (${reason}): run "npm ci" on this machine` };
  }
}

/** The code of the error with which a server cannot listen there now; null if it can. */
function listenError(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => done(code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => done(null)));
  });
}

/** The state of the node at the operator address; null when none responds. */
async function runningNode(ops: string): Promise<Finding | null> {
  const operator = new OperatorClient(ops);
  try {
    const { ready, waitingFor } = await operator.readiness();
    const detail = ready ? `ready at ${ops}` : `at ${ops} waits for ${waitingFor.join(', ')}: read its log`;
    return { what: 'running node', isGood: ready, detail };
  } catch {
    return null;
  } finally {
    operator.close();
  }
}

/** The running node, or whether its three listeners could be opened. */
async function listeners(config: NodeConfig): Promise<readonly Finding[]> {
  const { omsHost, omsPort, mdsHost, mdsPort, opsHost, opsPort } = config;
  const node = opsPort === 0 ? null : await runningNode(`http://${reachableHost(opsHost)}:${opsPort}`);
  if (node !== null) return [node];
  return Promise.all([
    listener('oms', omsHost, omsPort),
    listener('mds', mdsHost, mdsPort),
    listener('ops', opsHost, opsPort),
  ]);
}

async function listener(name: ListenerName, host: string, port: number): Promise<Finding> {
  const what = `${hostOfUrl(host)}:${port}`;
  const error = await listenError(host, port);
  if (error === null) return { what, isGood: true, detail: port === 0 ? `a free port (${name})` : `free (${name})` };
  const variable = portVariableOf(name);
  const details: Readonly<Record<string, string>> = {
    EADDRINUSE: `taken by another program: stop it or set ${variable} (0 takes a free port)`,
    EACCES: `needs a privilege that this user lacks: set ${variable} to 1024 or more`,
  };
  const noAddress = `${host} is no address of this machine (${error}): set RINGBOOK_HOST, or "hosts.${name}" of the configuration`;
  return { what, isGood: false, detail: details[error] ?? noAddress };
}

/** What a start would refuse of the environment and of its configuration file. */
async function configuration(): Promise<{ readonly finding: Finding; readonly config: NodeConfig | null }> {
  const what = 'configuration';
  try {
    const { loadConfig } = await import('../node/config.ts');
    const config = loadConfig(process.env);
    return { finding: { what, isGood: true, detail: `profile ${config.profile}` }, config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { finding: { what, isGood: false, detail: error.message }, config: null };
  }
}

function dataDirectory({ dataDirectory: path }: NodeConfig): Finding {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    return { what: 'data directory', isGood: true, detail: path };
  } catch {
    const detail = `${existing} cannot be written: change its owner or set RINGBOOK_DATA_DIR`;
    return { what: 'data directory', isGood: false, detail };
  }
}

/** The client of the servers is loaded where a cluster is configured. */
async function servers(cluster: ClusterConfig): Promise<readonly Finding[]> {
  return (await import('./cluster-doctor.ts')).clusterFindings(cluster);
}

function cores(): Finding {
  const count = availableParallelism();
  const isGood = count >= CORES_WANTED;
  const detail = isGood
    ? String(count)
    : `${count}: it will run, but threads share it; give it ${CORES_WANTED} or more`;
  return { what: 'cores', isGood, detail };
}

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check this machine, and the node that runs on it',
  help: `usage: ringbook doctor

Checks the Node.js version, the C library, the native modules, the configuration in the environment, the ports (or the running node), the
data directory and the cores, in a cluster also its servers, their clocks and the journal's stream; of a configuration that a start would refuse it prints why, and checks neither ports nor directory.
Exits with 1 when something needs attention; each line says what to do.

example:
  RINGBOOK_DATA_DIR=/var/lib/ringbook ringbook doctor
`,
  async run(argv) {
    parseOptions(argv, {});
    const { finding, config } = await configuration();
    const host = nativeHost();
    const findings = [
      nodeVersion(),
      cLibrary(host),
      ...(await Promise.all(NATIVE_MODULES.map((module) => nativeModule(module, host)))),
      finding,
      // Where they are is unknown while the configuration is refused.
      ...(config === null ? [] : [...(await listeners(config)), dataDirectory(config)]),
      ...(config === null || config.cluster === null ? [] : await servers(config.cluster)),
      cores(),
    ];
    for (const { what, isGood, detail } of findings) {
      process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'}  ${what.padEnd(24)}  ${detail}\n`);
    }
    return findings.every((finding) => finding.isGood) ? EXIT.done : EXIT.fault;
  },
};
