/**
 * Configuration: a profile file, the environment over it, and every refusal of operator-api.md §1 in one place.
 *
 * A refused start is a `ConfigError`: the caller prints its one line on standard error and exits with 78. No other
 * file reads `process.env`.
 */
import { join, resolve } from 'node:path';

import { PUBLIC_APPROVAL_ADDRESS, readKeyFile } from '../chain/key-file.ts';
import { ConfigError } from '../core/config-error.ts';
import { parseChainId } from '../core/ids.ts';
import { addressOfKey } from '../crypto/secp256k1.ts';
import type { WebAuthnPolicy } from '../crypto/webauthn.ts';
import { tlsFault, tlsOf } from '../http/public-listeners.ts';
import { firstToken, hashOfToken, type OperatorToken, parseTokens } from '../operator/operator-tokens.ts';
import { PUBLIC_KEYS } from '../operator/seed-data.ts';
import { type ClusterConfig, clusterOf } from './cluster-config.ts';
import { faultsOf } from './config-faults.ts';
import { readConfigFile } from './config-file.ts';
import { HOST_FORM, HOST_WORDS, LOG_LEVELS, type Profile, ProfileShape } from './config-shape.ts';
import {
  type Environment,
  fileText,
  flagVariable,
  portVariable,
  refuseUnknownVariables,
  secretVariable,
  variable,
} from './environment.ts';

/**
 * The longest batch takes below 1,200,000 bytes of a command ring: a FlatBuffers frame of BODY_BYTES_MAX, which has a byte for
 * each byte of a signature, and the texts and records of its orders. The rest is for other commands.
 */
const BATCH_RING_BYTES = 1_310_720;
/** Twice the longest order, with its co-signers: a record takes at most half of the open part of a ring (runtime/spsc-ring.ts). */
const ORDER_RING_BYTES = 53_248;

/** An Android application as an origin: the hash of the certificate that signed it. */
const ANDROID_ORIGIN = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/;

export interface NodeConfig extends Omit<Profile, 'cluster'> {
  /** Null: one machine (cluster.md 3). */
  readonly cluster: ClusterConfig | null;
  /** The addresses of `approval_keys`, in their order: 40 hex digits each. */
  readonly approvalAddresses: readonly string[];
  readonly omsHost: string;
  readonly mdsHost: string;
  readonly opsHost: string;
  readonly omsPort: number;
  readonly mdsPort: number;
  readonly opsPort: number;
  readonly dataDirectory: string;
  /** Empty where RINGBOOK_OPERATOR_TOKENS_FILE alone names tokens. */
  readonly token: string;
  /** All tokens of the operator API: `token` first, then those of RINGBOOK_OPERATOR_TOKENS_FILE (LDG-03). */
  readonly operatorTokens: readonly OperatorToken[];
  /** Chains on whose vault in escape mode this start is accepted (RINGBOOK_ACCEPT_ESCAPE, with commas between them). */
  readonly acceptsEscape: readonly string[];
  /** Seconds by which recorded times may be ahead of the system clock at this start. */
  readonly acceptedAheadS: number;
  /** Whether threads record the hops of actions and their own pauses (RINGBOOK_TRACE). */
  readonly isTraced: boolean;
  /** Whether the demo traders trade (RINGBOOK_DEMO, `ringbook start --demo`): in the seeded dev profile only. */
  readonly isDemo: boolean;
}

const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|::1)$/;
/** The `test` profile's clock starts here and stands still (operator-api.md 1). */
export const MANUAL_CLOCK_START_NS = 1_800_000_000_000_000_000n;
const PRODUCTION_TOKEN_LENGTH_MIN = 32;
const TOKEN_FORM = /^[!-~](?:[ -~]*[!-~])?$/;
/** What only tests and simulations have, by the member of a configuration, with the one value that production starts with. */
const PRODUCTION_VALUES = { hooks: false, chains: 'none', seed: 'none', clock: 'system', oracleFeedMs: 0 } as const;

/** What the command line may wish beside the environment. */
export interface StartWishes {
  /** Demo traders where the configuration allows them; RINGBOOK_DEMO decides where it is set. */
  readonly demo?: boolean;
}

/** @throws ConfigError */
export function loadConfig(environment: Environment, wishes: StartWishes = {}): NodeConfig {
  // mutant: unknown-variable
  refuseUnknownVariables(environment);
  const profile = readProfile(variable(environment, 'RINGBOOK_CONFIG') ?? 'dev');
  const host = hostVariable(environment);
  const tokens = readTokens(environment, profile);
  const config: NodeConfig = {
    ...profile,
    cluster: clusterOf(environment, profile.cluster),
    logLevel: logLevel(environment) ?? profile.logLevel,
    approvalAddresses: approvalAddresses(profile),
    omsHost: profile.hosts?.oms ?? host,
    mdsHost: profile.hosts?.mds ?? host,
    opsHost: profile.hosts?.ops ?? host,
    omsPort: portVariable(environment, 'RINGBOOK_OMS_PORT', 3032),
    mdsPort: portVariable(environment, 'RINGBOOK_MDS_PORT', 8011),
    opsPort: portVariable(environment, 'RINGBOOK_OPS_PORT', 9464),
    dataDirectory: resolve(variable(environment, 'RINGBOOK_DATA_DIR') ?? join('data', profile.profile)),
    ...tokens,
    acceptsEscape: acceptedEscapes(environment),
    acceptedAheadS: acceptedAhead(environment),
    isTraced: flagVariable(environment, 'RINGBOOK_TRACE'),
    isDemo: demoWish(environment, profile, wishes),
  };
  refuseUnsafe(config);
  return config;
}

/**
 * The tokens of the operator API, as their variables and files are now: at a start, and on SIGHUP.
 *
 * @throws ConfigError
 */
export function readTokens(
  environment: Environment,
  { operatorToken }: Pick<Profile, 'operatorToken'>,
): Pick<NodeConfig, 'token' | 'operatorTokens'> {
  const token = secretVariable(environment, 'RINGBOOK_OPERATOR_TOKEN') ?? operatorToken ?? '';
  const file = fileText(environment, 'RINGBOOK_OPERATOR_TOKENS_FILE');
  const named = file === null ? [] : parseTokens(file.text);
  if (typeof named === 'string')
    throw new ConfigError(`RINGBOOK_OPERATOR_TOKENS_FILE is "${file?.path}", which ${named}`);
  refuseTokenForm(token);
  const first = token === '' ? [] : [firstToken(token)];
  const again = first.length > 0 ? named.find(({ hash }) => hash.equals(hashOfToken(token))) : undefined;
  if (again !== undefined)
    throw new ConfigError(
      `the token "${again.name}" of RINGBOOK_OPERATOR_TOKENS_FILE is RINGBOOK_OPERATOR_TOKEN: give it one name`,
    );
  return { token, operatorTokens: [...first, ...named] };
}

function hostVariable(environment: Environment): string {
  const host = variable(environment, 'RINGBOOK_HOST') ?? '127.0.0.1';
  if (new RegExp(HOST_FORM).test(host)) return host;
  throw new ConfigError(`RINGBOOK_HOST is "${host}": give ${HOST_WORDS}`);
}

/** @throws ConfigError for what is no chain id: a misspelt one would accept nothing, and the start be refused for its vault. */
function acceptedEscapes(environment: Environment): readonly string[] {
  const given = (environment['RINGBOOK_ACCEPT_ESCAPE'] ?? '').split(',').filter((chain) => chain !== '');
  return given.map((text) => {
    const chainId = parseChainId(text);
    if (chainId !== null) return chainId;
    throw new ConfigError(`RINGBOOK_ACCEPT_ESCAPE has "${text}": give chain ids of 18 hex digits, with commas`);
  });
}

/** Seconds by which recorded times may be ahead of the system clock. @throws ConfigError */
function acceptedAhead(environment: Environment): number {
  const text = variable(environment, 'RINGBOOK_ACCEPT_CLOCK') ?? '0';
  if (/^(?:0|[1-9][0-9]{0,9})$/.test(text)) return Number(text);
  throw new ConfigError(`RINGBOOK_ACCEPT_CLOCK is "${text}": give whole seconds`);
}

/** Null where the file decides. */
function logLevel(environment: Environment): Profile['logLevel'] | null {
  const text = environment['RINGBOOK_LOG_LEVEL'] ?? '';
  if (text === '') return null;
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw new ConfigError(`RINGBOOK_LOG_LEVEL is "${text}": give ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** The keys themselves are not kept on this thread. */
function approvalAddresses({ approval_keys: paths, profile }: Profile): readonly string[] {
  if (paths === undefined) return profile === 'production' ? [] : [PUBLIC_APPROVAL_ADDRESS];
  return paths.map((path, index) => {
    try {
      return addressOfKey(Buffer.from(readKeyFile(path), 'hex'));
    } catch (error) {
      throw new ConfigError(approvalKeyFault(path, index, error));
    }
  });
}

/** A key that was written in place of the path of its file is not repeated: messages go into logs. */
function approvalKeyFault(path: string, index: number, error: unknown): string {
  if (/^(0x)?[0-9a-f]{60,}$/i.test(path)) {
    return `"approval_keys": number ${index + 1} looks like a key: write it into a file of mode 600 and give the path of that file`;
  }
  return `"approval_keys": ${path}: ${error instanceof Error ? error.message : String(error)}`;
}

/** The limits of the approval signer. */
export function approvalLimits({
  approval_limits: limits,
}: Pick<Profile, 'approval_limits'>): ReadonlyMap<string, bigint> {
  return new Map(Object.entries(limits ?? {}).map(([token, baseUnits]) => [token, BigInt(baseUnits)]));
}

/** What assertions of co-signers are judged by; null: none is valid. */
export function webauthnPolicy({ webauthn }: Pick<Profile, 'webauthn'>): WebAuthnPolicy | null {
  return webauthn === undefined || webauthn === null ? null : { rpId: webauthn.rp_id, origins: webauthn.origins };
}

/** The demo traders need the markets of the dev seed and its faucet. @throws ConfigError for RINGBOOK_DEMO=1 without them. */
function demoWish(environment: Environment, { profile, seed, hooks }: Profile, { demo = false }: StartWishes): boolean {
  const isPossible = profile === 'dev' && seed === 'dev' && hooks;
  if ((environment['RINGBOOK_DEMO'] ?? '') === '') return demo && isPossible;
  const isWished = flagVariable(environment, 'RINGBOOK_DEMO');
  if (isWished && !isPossible)
    throw new ConfigError('RINGBOOK_DEMO is 1: demo traders trade in the dev profile with its seed and hooks only');
  return isWished;
}

/** Checks a profile or a file against the one shape. */
function readProfile(name: string): Profile {
  const merged = readConfigFile(name);
  const faults = faultsOf(ProfileShape, merged);
  if (faults.length === 0) return merged as unknown as Profile;
  const shown = faults.slice(0, FAULTS_SHOWN_MAX).join('; ');
  const more = faults.length - FAULTS_SHOWN_MAX;
  const base = Object.hasOwn(merged, 'profile') ? '' : ' (a file of your own begins with "extends": "production")';
  throw new ConfigError(`configuration "${name}": ${shown}${more > 0 ? `; and ${more} more` : ''}${base}`);
}

/** Faults shown on one line of standard error. */
const FAULTS_SHOWN_MAX = 8;

/** Exactly as a browser writes it into an assertion. */
function isOrigin(text: string): boolean {
  if (ANDROID_ORIGIN.test(text)) return true;
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

/** What no profile starts with: members that contradict each other, and files that do not serve. */
function refuseUnsafe(config: NodeConfig): void {
  const tls = tlsOf(config.publicListeners);
  const fault = tls === null ? null : tlsFault(tls);
  if (fault !== null) throw new ConfigError(fault);
  refuseSharedPorts(config);
  if (config.addresses?.from === 'x-forwarded-for' && config.publicListeners !== 'plain-behind-terminator')
    throw new ConfigError(
      '"addresses.from" is "x-forwarded-for", which anybody can invent unless "publicListeners" is "plain-behind-terminator"',
    );
  if (config.cluster?.role === 'node' && config.evidence !== null && config.evidence.secret === undefined)
    throw new ConfigError(
      'every node of a cluster makes the same leaves, with the same secret: make one with "ringbook keygen FILE --evidence-secret", copy it to all of them, and name the file in "evidence.secret"; or set "evidence" to null',
    );
  refuseSmallRings(config, ORDER_RING_BYTES, 'a ring holds the longest order twice');
  for (const origin of config.webauthn?.origins ?? []) {
    if (!isOrigin(origin))
      throw new ConfigError(
        `"webauthn.origins": "${origin}" is no origin: write it as https://host or https://host:port`,
      );
  }
  if (config.feeAccount !== null && config.feeAccount === config.backstopAccount)
    throw new ConfigError(`"feeAccount" and "backstopAccount" are both ${config.feeAccount}: they differ`);
  if (config.profile === 'production') refuseInProduction(config);
  else refuseOutsideLoopback(config);
}

/** A client sends it behind `Bearer `, and a header has neither spaces at its end nor other characters than these. */
function refuseTokenForm(token: string): void {
  if (token !== '' && !TOKEN_FORM.test(token))
    throw new ConfigError(
      'the operator token (RINGBOOK_OPERATOR_TOKEN, its _FILE or "operatorToken") begins or ends with a space, or has a character that no header holds: give letters, digits and signs of ASCII',
    );
}

/** Found out here, before the data directory is opened. Port 0 takes a free one for each. */
function refuseSharedPorts({ omsHost, mdsHost, opsHost, omsPort, mdsPort, opsPort }: NodeConfig): void {
  const listeners = [
    { name: 'RINGBOOK_OMS_PORT', host: omsHost, port: omsPort },
    { name: 'RINGBOOK_MDS_PORT', host: mdsHost, port: mdsPort },
    { name: 'RINGBOOK_OPS_PORT', host: opsHost, port: opsPort },
  ].filter(({ port }) => port > 0);
  for (const [index, { name, host, port }] of listeners.entries()) {
    const other = listeners.slice(index + 1).find((later) => later.port === port && later.host === host);
    if (other === undefined) continue;
    throw new ConfigError(`${name} and ${other.name} are both ${port}: give each listener a port of its own, or 0`);
  }
}

function refuseSmallRings({ rings }: NodeConfig, bytesMin: number, why: string): void {
  const bytes = rings.commandBytes - rings.commandReservedBytes;
  if (bytes < bytesMin)
    throw new ConfigError(
      `${why}: "rings.commandBytes" less "rings.commandReservedBytes" is ${bytes}: give at least ${bytesMin}`,
    );
}

/** The keys and the operator's token of dev and test are public, so what they listen on is reachable for this machine alone. */
function refuseOutsideLoopback(config: NodeConfig): void {
  if (config.operatorTokens.length === 0) throw new ConfigError('RINGBOOK_OPERATOR_TOKEN is empty');
  if (config.publicListeners === 'plain-in-container') return;
  const outside = [config.omsHost, config.mdsHost, config.opsHost].find((host) => !LOOPBACK.test(host));
  if (outside === undefined) return;
  throw new ConfigError(
    `profile ${config.profile} listens on loopback only, and RINGBOOK_HOST or "hosts" is "${outside}": use 127.0.0.1, or declare with "publicListeners": "plain-in-container" that its network is a container's own (RINGBOOK_CONFIG=config/dev-in-container.json in the image)`,
  );
}

/** Hooks, simulated chains, a seed, a manual clock, and a feeder that repeats old prices as if they were new. */
function refuseSimulation(config: NodeConfig): void {
  const names = Object.keys(PRODUCTION_VALUES) as (keyof typeof PRODUCTION_VALUES)[];
  const faults = names
    .filter((name) => config[name] !== PRODUCTION_VALUES[name])
    .map((name) => `"${name}" is ${JSON.stringify(config[name])}: give ${JSON.stringify(PRODUCTION_VALUES[name])}`);
  if (faults.length > 0)
    throw new ConfigError(`production does not start with what only tests and simulations have: ${faults.join('; ')}`);
}

/** A token of a file is there as its hash, so nothing is known of its length. @throws ConfigError */
export function refuseProductionToken({ token, operatorTokens }: Pick<NodeConfig, 'token' | 'operatorTokens'>): void {
  if (token === '' && operatorTokens.length > 0) return;
  if (token.length < PRODUCTION_TOKEN_LENGTH_MIN)
    throw new ConfigError(
      `production needs RINGBOOK_OPERATOR_TOKEN, or RINGBOOK_OPERATOR_TOKEN_FILE with the path of a file, with at least ${PRODUCTION_TOKEN_LENGTH_MIN} characters: ${token.length} are given; or RINGBOOK_OPERATOR_TOKENS_FILE with named tokens`,
    );
}

function refuseInProduction(config: NodeConfig): void {
  refuseProductionToken(config);
  refuseSmallRings(config, BATCH_RING_BYTES, 'production needs rings that hold a batch');
  refuseSimulation(config);
  for (const name of ['feeAccount', 'backstopAccount'] as const) {
    if (PUBLIC_KEYS.has(config[name] ?? ''))
      throw new ConfigError(`"${name}" is a key of the dev seed, which everybody has: name an account of your own`);
  }
  // mutant: production-public-approval-key
  if (config.approvalAddresses.includes(PUBLIC_APPROVAL_ADDRESS))
    throw new ConfigError(
      '"approval_keys" has the approval key of dev and test, which everybody has: name a key of your own (ringbook keygen FILE --approval)',
    );
  if (config.cluster?.role === 'node' && config.cluster.monitoring.length === 0)
    throw new ConfigError(
      'production verifies sync_interval, version and max_payload of the servers, which only their monitoring shows: give "cluster.monitoring"',
    );
  const { publicListeners } = config;
  if (typeof publicListeners === 'string' && publicListeners !== 'plain-behind-terminator')
    throw new ConfigError(
      `production serves TLS, or plain text behind a TLS terminator, and "publicListeners" is "${publicListeners}": set it to {"tls":{"certFile":…,"keyFile":…}}, or to "plain-behind-terminator" where one stands in front`,
    );
}
