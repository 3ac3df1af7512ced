/**
 * The variables that a node reads (operator-api.md 1): their names, which of them may name a file instead, and the refusal of
 * those that do not exist: a misspelt variable is never ignored.
 *
 * A variable with `_FILE` behind its name holds the path of a file, and the content of the file is the value: secrets that a container or a
 * supervisor mounts. The line end behind the value is not part of it.
 *
 * Not here: what the values mean (config.ts), and the variables of tests and benchmarks.
 */
import { readFileSync } from 'node:fs';
import { withoutByteOrderMark } from '../core/byte-order-mark.ts';
import { ConfigError } from '../core/config-error.ts';
import { nearestName } from '../core/nearest-name.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every variable of a node. */
export const NODE_VARIABLES = [
  'RINGBOOK_CONFIG',
  'RINGBOOK_HOST',
  'RINGBOOK_OMS_PORT',
  'RINGBOOK_MDS_PORT',
  'RINGBOOK_OPS_PORT',
  'RINGBOOK_DATA_DIR',
  'RINGBOOK_OPERATOR_TOKEN',
  'RINGBOOK_OPERATOR_TOKEN_FILE',
  'RINGBOOK_OPERATOR_TOKENS_FILE',
  'RINGBOOK_LOG_LEVEL',
  'RINGBOOK_ACCEPT_ESCAPE',
  'RINGBOOK_ACCEPT_CLOCK',
  'RINGBOOK_TRACE',
  'RINGBOOK_DEMO',
  'RINGBOOK_COMMIT',
  'RINGBOOK_CLUSTER',
  'RINGBOOK_NODE',
  'RINGBOOK_ROLE',
  'RINGBOOK_NATS',
  'RINGBOOK_NATS_CREDENTIALS_FILE',
  'RINGBOOK_REPLICATION',
  'RINGBOOK_CLUSTER_HOME',
  'RINGBOOK_LEASE_MS',
] as const;

type NodeVariable = (typeof NODE_VARIABLES)[number];
type FileVariable = 'RINGBOOK_OPERATOR_TOKEN';

const PREFIX = 'RINGBOOK_';
/** Read by `ringbook demo failover` and by tests; a shell that has it also starts nodes. */
const OF_COMMANDS = ['RINGBOOK_NATS_SERVER'];
const KNOWN: ReadonlySet<string> = new Set([...NODE_VARIABLES, ...OF_COMMANDS]);
/**
 * What Kubernetes sets for every service of a namespace, in the manner of Docker's links: for one named `ringbook` or
 * `ringbook-…` such a variable begins like ours.
 */
const SERVICE_NAME =
  /^RINGBOOK_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;
/** A secret is a line, not a disk image named by mistake. */
const SECRET_FILE_LENGTH_MAX = 65_536;

/** @throws ConfigError naming every variable that begins with `RINGBOOK_` and is none of a node, with the nearest one that is. */
export function refuseUnknownVariables(environment: Environment): void {
  const faults = Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN.has(name) && environment[name] !== undefined)
    .filter((name) => !SERVICE_NAME.test(name) && !SERVICE_ADDRESS.test(environment[name] ?? ''))
    .map(unknownVariable);
  if (faults.length > 0) throw new ConfigError(faults.join('; '));
}

function unknownVariable(name: string): string {
  const known = NODE_VARIABLES.map((variableName) => variableName.slice(PREFIX.length));
  const nearest = nearestName(name.slice(PREFIX.length), known);
  const hint = nearest === null ? `there are ${NODE_VARIABLES.join(', ')}` : `did you mean ${PREFIX}${nearest}?`;
  return `there is no variable ${name}: ${hint}`;
}

/**
 * A variable that has to hold something where it is set.
 *
 * @returns null where it is not set. @throws ConfigError where it is set and empty, as after a substitution that failed.
 */
export function variable(environment: Environment, name: NodeVariable): string | null {
  const text = environment[name];
  if (text === undefined) return null;
  if (text === '') throw new ConfigError(`${name} is empty: give it a value or do not set it`);
  return text;
}

/** As `variable`, or the content of the file that `<name>_FILE` names. @throws ConfigError also where both are set. */
export function secretVariable(environment: Environment, name: FileVariable): string | null {
  const fileVariable = `${name}_FILE` as const;
  const path = variable(environment, fileVariable);
  const own = variable(environment, name);
  if (path === null) return own;
  if (own !== null) throw new ConfigError(`${name} and ${fileVariable} are both set: give one of them`);
  return secretOf(fileVariable, path);
}

function secretOf(name: string, path: string): string {
  const secret = textOf(name, path).replace(/\r?\n$/, '');
  const fault = secretFault(secret);
  if (fault !== null)
    throw new ConfigError(`${name} is "${path}", which ${fault}: write one line into it, the secret, and nothing else`);
  return secret;
}

function textOf(name: string, path: string): string {
  try {
    return Buffer.from(withoutByteOrderMark(readFileSync(path))).toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name} is "${path}", which cannot be read (${code ?? 'unknown'}): give the path of a file`);
  }
}

/** The whole text of the file that a variable names; null where it is not set. @throws ConfigError */
export function fileText(
  environment: Environment,
  name: NodeVariable,
): { readonly path: string; readonly text: string } | null {
  const path = variable(environment, name);
  return path === null ? null : { path, text: textOf(name, path) };
}

/** Null for one line. The text is not repeated. */
function secretFault(secret: string): string | null {
  if (secret === '') return 'is empty';
  if (secret.length > SECRET_FILE_LENGTH_MAX) return `has more than ${SECRET_FILE_LENGTH_MAX} characters`;
  return /[\r\n]/.test(secret) ? 'has more than one line' : null;
}

/** @returns `fallback` where it is not set or empty. @throws ConfigError */
export function portVariable(environment: Environment, name: NodeVariable, fallback: number): number {
  const text = environment[name];
  if (text === undefined || text === '') return fallback;
  if (SERVICE_ADDRESS.test(text))
    throw new ConfigError(
      `${name} is "${text}", which Kubernetes sets for a service: give the service another name, or set enableServiceLinks to false`,
    );
  const value = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || value > 65_535)
    throw new ConfigError(`${name} is "${text}": give a port from 0 to 65535`);
  return value;
}

/** @returns whether it is 1. @throws ConfigError */
export function flagVariable(environment: Environment, name: NodeVariable): boolean {
  const text = environment[name] ?? '';
  if (text !== '' && text !== '0' && text !== '1') throw new ConfigError(`${name} is "${text}": give 1 or 0`);
  return text === '1';
}
