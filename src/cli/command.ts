/**
 * Common parts of the subcommands: type, exit codes, options and the node's addresses.
 *
 * Exit codes: 0 done, 1 the command ran and found a fault, 64 wrong usage, 69 the node cannot be reached; of "ringbook evidence" also
 * 2 the file cannot be read, 65 two heads are of different logs, 75 no new head came.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { RingbookError } from '../client/errors.ts';
import { devKey, loadKey, type SigningKey } from '../client/keys.ts';
import { DEV_OPERATOR_TOKEN } from '../client/operator.ts';
import { ConfigError } from '../core/config-error.ts';
import { reachableHost } from '../node/addresses.ts';
import { readConfigFile } from '../node/config-file.ts';
import { secretVariable } from '../node/environment.ts';

export const EXIT = { done: 0, fault: 1, unreadable: 2, usage: 64, fork: 65, unreachable: 69, late: 75 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Command {
  readonly name: string;
  /** One line for `ringbook --help`. */
  readonly summary: string;
  /** The output of `ringbook <name> --help`, with an example. */
  readonly help: string;
  run(argv: readonly string[]): Promise<ExitCode>;
}

/** One line of `ringbook doctor`. */
export interface Finding {
  readonly what: string;
  readonly isGood: boolean;
  /** The finding; if it is a fault, also how to fix it. */
  readonly detail: string;
}

/** An error that the user can fix; the message explains how. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>>;

/** Strict parsing: an unknown or malformed option is a usage error. */
export function parseOptions<const T extends Options>(argv: readonly string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    // For an ambiguous option Node's message has several lines.
    throw usageError((error instanceof Error ? error.message : String(error)).replaceAll('\n', ' '));
  }
}

/** A positive whole number. @throws CliError 64. */
export function positiveInteger(text: string, name: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw usageError(`${name} takes a whole number above zero, not "${text}"`);
  return Number(text);
}

const UNIT_NS: Readonly<Record<string, bigint>> = {
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};

/** `90s`, `15m`, `12h`, `30d`; left out: for ever. @throws CliError 64. */
export function durationNs(text: string | undefined): bigint | null {
  if (text === undefined) return null;
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? [];
  const unitNs = UNIT_NS[unit];
  if (unitNs === undefined) throw usageError(`--for takes a duration like 90s, 15m, 12h or 30d, not "${text}"`);
  return BigInt(count) * unitNs;
}

interface AddressOption {
  readonly type: 'string';
  readonly default: string;
}

/** Variables of the ports of the listeners, and what they are without them. */
const LISTENERS = {
  oms: ['RINGBOOK_OMS_PORT', 3_032],
  mds: ['RINGBOOK_MDS_PORT', 8_011],
  ops: ['RINGBOOK_OPS_PORT', 9_464],
} as const;
export type ListenerName = keyof typeof LISTENERS;

export function portVariableOf(listener: ListenerName): string {
  return LISTENERS[listener][0];
}

/** Where the node of this environment has a listener, seen from its machine. */
function addressOf(listener: ListenerName): string {
  const [variable, port] = LISTENERS[listener];
  const { hosts, publicListeners } = configured();
  const host = reachableHost(textOf(hosts, listener) ?? (process.env['RINGBOOK_HOST'] || '127.0.0.1'));
  const isTls = listener !== 'ops' && isObject(publicListeners);
  return `${isTls ? 'https' : 'http'}://${host}:${process.env[variable] || port}`;
}

/** The node's configuration file, not checked: what is wrong with it is for `start` and `doctor`. */
function configured(): { readonly hosts?: unknown; readonly publicListeners?: unknown } {
  try {
    return readConfigFile(process.env['RINGBOOK_CONFIG'] ?? 'dev');
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}

function textOf(members: unknown, name: string): string | null {
  const value = isObject(members) ? members[name] : undefined;
  return typeof value === 'string' ? value : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Options for the node's addresses; the defaults follow the node's own environment and file (operator-api.md 1). */
export const ADDRESS_OPTIONS: Readonly<Record<ListenerName, AddressOption>> = {
  oms: { type: 'string', default: addressOf('oms') },
  mds: { type: 'string', default: addressOf('mds') },
  ops: { type: 'string', default: addressOf('ops') },
};

export const ADDRESS_HELP = `  --oms URL          order service          (default http://127.0.0.1:3032)
  --mds URL          market-data service    (default http://127.0.0.1:8011)
  --ops URL          operator API           (default http://127.0.0.1:9464)
                     of a cluster: --oms URL,URL and --mds URL,URL
                     RINGBOOK_HOST, RINGBOOK_OMS_PORT, _MDS_PORT, _OPS_PORT, and "hosts" and TLS of RINGBOOK_CONFIG change the defaults`;

export const TOKEN_HELP = `  RINGBOOK_OPERATOR_TOKEN, or the file that RINGBOOK_OPERATOR_TOKEN_FILE names, is the token of the operator API
                     (default: that of the dev profile)`;

/** The token of the operator API. @throws ConfigError when its file cannot be read. */
export function operatorToken(): string {
  return secretVariable(process.env, 'RINGBOOK_OPERATOR_TOKEN') ?? DEV_OPERATOR_TOKEN;
}

/** @throws CliError 64 when `text` is not an http(s) address. */
export function checkAddress(text: string, name: string): string {
  if (!/^https?:\/\/[^/]+$/.test(text) || !URL.canParse(text)) {
    throw usageError(`--${name} takes an address like http://127.0.0.1:3032, not "${text}"`);
  }
  return text;
}

/** One address, or those of a cluster with commas. @throws CliError 64. */
export function checkAddresses(text: string, name: string): readonly string[] {
  return text.split(',').map((address) => checkAddress(address, name));
}

// The user of a command: one of the dev profile, or the owner of a key file.

/** The user of a command. @throws CliError 64 unless exactly one of the two options is given. */
export function callerKey(values: { readonly as?: string | undefined; readonly key?: string | undefined }): SigningKey {
  if ((values.as === undefined) === (values.key === undefined)) {
    throw usageError('the user is missing: --as a, --as b, or --key FILE (make one with "ringbook keygen")');
  }
  if (values.key !== undefined) return loadKey(values.key);
  if (values.as !== 'a' && values.as !== 'b') throw usageError('--as takes a or b, the users of the dev profile');
  return devKey(values.as);
}

/** The exit code and the line on standard error for any error of a command. */
export function explain(error: unknown): { readonly exitCode: ExitCode; readonly message: string } {
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof ConfigError) return { exitCode: EXIT.usage, message: error.message };
  if (error instanceof RingbookError && error.code === 'UNREACHABLE') {
    return {
      exitCode: EXIT.unreachable,
      message: `${error.message}\nIs the node running? Start it with "ringbook start", or look with "ringbook doctor".`,
    };
  }
  return { exitCode: EXIT.fault, message: error instanceof Error ? error.message : String(error) };
}
