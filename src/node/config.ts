/**
 * Configuration: a profile file, the environment over it, and every refusal of operator-api.md §1 in one place.
 *
 * A refused start is a `ConfigError`: the caller prints its one line on standard error and exits with 78. No other
 * file reads `process.env`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

import { PUBLIC_APPROVAL_ADDRESS, readKeyFile } from '../chain/key-file.ts';
import { ConfigError } from '../core/config-error.ts';
import { SESSIONS_MAX } from '../core/limits.ts';
import { addressOfKey } from '../crypto/secp256k1.ts';
import type { WebAuthnPolicy } from '../crypto/webauthn.ts';
import { type AddressConfig, type PublicListeners, tlsFault, tlsOf } from '../http/public-listeners.ts';
import { PUBLIC_KEYS } from '../operator/seed-data.ts';

/**
 * The longest batch takes below 1,200,000 bytes of a command ring: a FlatBuffers frame of BODY_BYTES_MAX, which has a byte for
 * each byte of a signature, and the texts and records of its orders. The rest is for other commands.
 */
const BATCH_RING_BYTES = 1_310_720;
/** Twice the longest order, with its co-signers: a record takes at most half of the open part of a ring (runtime/spsc-ring.ts). */
const ORDER_RING_BYTES = 53_248;

const Strict = { additionalProperties: false } as const;
const Count = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const Path = Type.String({ minLength: 1 });
/** `<token>@<chain id>`, as outputs have it. */
const TOKEN_FORM = '^[0-9a-f]{64}@[0-9a-f]{18}$';
const BASE_UNITS_FORM = '^(0|[1-9][0-9]{0,77})$';
/** A host name, as browsers compare it: lower case, no port. */
const RP_ID_FORM = '^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';
/** An Android application as an origin: the hash of the certificate that signed it. */
const ANDROID_ORIGIN = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/;
const Account = Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]);
const RingBytes = Type.Union(
  [
    65_536, 131_072, 262_144, 524_288, 1_048_576, 2_097_152, 4_194_304, 8_388_608, 16_777_216, 33_554_432, 67_108_864,
  ].map((bytes) => Type.Literal(bytes)),
);

const ProfileShape: TSchema = Type.Object(
  {
    profile: Type.Union([Type.Literal('dev'), Type.Literal('test'), Type.Literal('production')]),
    clock: Type.Union([Type.Literal('system'), Type.Literal('manual')]),
    hooks: Type.Boolean(),
    chains: Type.Union([Type.Literal('simulated'), Type.Literal('none')]),
    chainsMine: Type.Union([Type.Literal('by-themselves'), Type.Literal('on-request')]),
    seed: Type.Union([Type.Literal('dev'), Type.Literal('test'), Type.Literal('none')]),
    oracleFeedMs: Count(0, 3_600_000),
    operatorToken: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    publicListeners: Type.Union([
      Type.Literal('plain-on-loopback'),
      Type.Literal('plain-behind-terminator'),
      Type.Literal('undeclared'),
      Type.Object({ tls: Type.Object({ certFile: Path, keyFile: Path }, Strict) }, Strict),
    ]),
    addresses: Type.Union([
      Type.Null(),
      Type.Object(
        {
          unitsPerSecond: Count(1, 1_000_000),
          capacity: Count(1, 1_000_000_000),
          sockets: Count(1, 16_384),
          sessions: Type.Optional(Count(1, SESSIONS_MAX)),
          from: Type.Union([Type.Literal('peer'), Type.Literal('x-forwarded-for')]),
        },
        Strict,
      ),
    ]),
    rateLimits: Type.Union([Type.Literal('standard'), Type.Literal('lifted')]),
    selfServiceMarkets: Type.Boolean(),
    approval_keys: Type.Optional(Type.Array(Path, { maxItems: 64 })),
    approval_limits: Type.Optional(
      Type.Record(Type.String({ pattern: TOKEN_FORM }), Type.String({ pattern: BASE_UNITS_FORM }), {
        ...Strict,
        maxProperties: 1_024,
      }),
    ),
    webauthn: Type.Optional(
      Type.Union([
        Type.Null(),
        Type.Object(
          {
            rp_id: Type.String({ pattern: RP_ID_FORM }),
            origins: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 16 }),
          },
          Strict,
        ),
      ]),
    ),
    feeAccount: Account,
    backstopAccount: Account,
    acks: Type.Union([Type.Literal('optimistic'), Type.Literal('durable')]),
    orderWaitMsMax: Count(0, 60_000),
    logLevel: Type.Union(['trace', 'debug', 'info', 'warn', 'error'].map((level) => Type.Literal(level))),
    threads: Type.Object(
      {
        marketShards: Count(1, 64),
        marketsOn: Type.Union([Type.Literal('workers'), Type.Literal('main')]),
        verifyThreads: Count(0, 32),
        spinTurns: Count(0, 100_000_000),
      },
      Strict,
    ),
    rings: Type.Object(
      {
        commandBytes: RingBytes,
        commandReservedBytes: Count(4_096, 8_388_608),
        eventBytes: RingBytes,
        depthBytes: RingBytes,
      },
      Strict,
    ),
    journal: Type.Object(
      {
        batchRecordsMax: Count(1, 65_536),
        checkpointMs: Count(10, 600_000),
        checkpointRecords: Count(1, 1_000_000),
        checkpointRows: Count(100, 1_000_000),
      },
      Strict,
    ),
    snapshots: Type.Object({ everyMs: Count(0, 604_800_000), keep: Count(1, 100) }, Strict),
    storage: Type.Object({ mapSizeMiB: Count(16, 4_194_304) }, Strict),
  },
  Strict,
);

/** What a profile file holds after `extends` is resolved. */
export interface Profile {
  readonly profile: 'dev' | 'test' | 'production';
  readonly clock: 'system' | 'manual';
  /** Test hooks of operator-api.md 7 and 8. */
  readonly hooks: boolean;
  readonly chains: 'simulated' | 'none';
  readonly chainsMine: 'by-themselves' | 'on-request';
  readonly seed: 'dev' | 'test' | 'none';
  /** 0: no feeder. */
  readonly oracleFeedMs: number;
  readonly operatorToken: string | null;
  readonly publicListeners: PublicListeners;
  /** Limits per address of a public listener; null: none. */
  readonly addresses: AddressConfig | null;
  /** What budgets start with: the numbers of G23, or as good as none (operator-api.md 1). */
  readonly rateLimits: 'standard' | 'lifted';
  readonly selfServiceMarkets: boolean;
  /** Files of the keys that sign approvals (operator-api.md 1): 64 hex digits, mode 600. Left out: in dev and test the public one. */
  readonly approval_keys?: readonly string[];
  /** At most so many base units of a token are approved in an hour, by `<token>@<chain id>`; without an entry any number. */
  readonly approval_limits?: Readonly<Record<string, string>>;
  /** The relying party and origins of WebAuthn co-signers (operator-api.md 1). Left out or null: every assertion is refused. */
  readonly webauthn?: { readonly rp_id: string; readonly origins: readonly string[] } | null;
  /** The accounts of fees and of the backstop until an operator sets others; null: those of the seed. */
  readonly feeAccount: string | null;
  readonly backstopAccount: string | null;
  readonly acks: 'optimistic' | 'durable';
  /** Milliseconds from the readiness of its socket after which an order that was not read is refused; 0: never. */
  readonly orderWaitMsMax: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly threads: {
    readonly marketShards: number;
    /** `main`: on the gateway's thread. Two hops shorter, for machines with two or three cores and small books. */
    readonly marketsOn: 'workers' | 'main';
    readonly verifyThreads: number;
    readonly spinTurns: number;
  };
  readonly rings: {
    readonly commandBytes: number;
    readonly commandReservedBytes: number;
    readonly eventBytes: number;
    readonly depthBytes: number;
  };
  readonly journal: {
    readonly batchRecordsMax: number;
    readonly checkpointMs: number;
    readonly checkpointRecords: number;
    readonly checkpointRows: number;
  };
  readonly snapshots: {
    /** How often one is made and the journal below the oldest that stays is removed; 0: never. */
    readonly everyMs: number;
    readonly keep: number;
  };
  readonly storage: { readonly mapSizeMiB: number };
}

export interface NodeConfig extends Profile {
  /** Of `approval_keys`, in their order: 40 hex digits each. */
  readonly approvalAddresses: readonly string[];
  readonly host: string;
  readonly omsPort: number;
  readonly mdsPort: number;
  readonly opsPort: number;
  readonly dataDirectory: string;
  readonly token: string;
  /** Chains on whose vault in escape mode this start is accepted (RINGBOOK_ACCEPT_ESCAPE, with commas between them). */
  readonly acceptsEscape: readonly string[];
  /** Whether threads record the hops of actions and their own pauses (RINGBOOK_TRACE). */
  readonly isTraced: boolean;
  /** Whether the demo traders trade (RINGBOOK_DEMO, `ringbook start --demo`): in the seeded dev profile only. */
  readonly isDemo: boolean;
}

const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|::1)$/;
/** The `test` profile's clock starts here and stands still (operator-api.md 1). */
export const MANUAL_CLOCK_START_NS = 1_800_000_000_000_000_000n;
const PRODUCTION_TOKEN_LENGTH_MIN = 32;

type Environment = Readonly<Record<string, string | undefined>>;

/** What the command line may wish beside the environment. */
export interface StartWishes {
  /** Demo traders where the configuration allows them; RINGBOOK_DEMO decides where it is set. */
  readonly demo?: boolean;
}

/** @throws ConfigError */
export function loadConfig(environment: Environment, wishes: StartWishes = {}): NodeConfig {
  const name = environment['RINGBOOK_CONFIG'] ?? 'dev';
  const profile = readProfile(name);
  const config: NodeConfig = {
    ...profile,
    approvalAddresses: approvalAddresses(profile),
    host: environment['RINGBOOK_HOST'] ?? '127.0.0.1',
    omsPort: port(environment, 'RINGBOOK_OMS_PORT', 3032),
    mdsPort: port(environment, 'RINGBOOK_MDS_PORT', 8011),
    opsPort: port(environment, 'RINGBOOK_OPS_PORT', 9464),
    dataDirectory: resolve(environment['RINGBOOK_DATA_DIR'] ?? join('data', profile.profile)),
    token: environment['RINGBOOK_OPERATOR_TOKEN'] ?? profile.operatorToken ?? '',
    acceptsEscape: (environment['RINGBOOK_ACCEPT_ESCAPE'] ?? '').split(',').filter((chain) => chain !== ''),
    isTraced: flag(environment, 'RINGBOOK_TRACE'),
    isDemo: demoWish(environment, profile, wishes),
  };
  refuseUnsafe(config);
  return config;
}

/** The keys themselves are not kept on this thread. */
function approvalAddresses({ approval_keys: paths, profile }: Profile): readonly string[] {
  if (paths === undefined) return profile === 'production' ? [] : [PUBLIC_APPROVAL_ADDRESS];
  return paths.map((path) => {
    try {
      return addressOfKey(Buffer.from(readKeyFile(path), 'hex'));
    } catch (error) {
      throw new ConfigError(`"approval_keys": ${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
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

function port(environment: Environment, name: string, fallback: number): number {
  const text = environment[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || value > 65_535)
    throw new ConfigError(`${name} is "${text}": give a port from 0 to 65535`);
  return value;
}

function flag(environment: Environment, name: string): boolean {
  const text = environment[name] ?? '';
  if (text !== '' && text !== '0' && text !== '1') throw new ConfigError(`${name} is "${text}": give 1 or 0`);
  return text === '1';
}

/** The demo traders need the markets of the dev seed and its faucet. @throws ConfigError for RINGBOOK_DEMO=1 without them. */
function demoWish(environment: Environment, { profile, seed, hooks }: Profile, { demo = false }: StartWishes): boolean {
  const isPossible = profile === 'dev' && seed === 'dev' && hooks;
  if ((environment['RINGBOOK_DEMO'] ?? '') === '') return demo && isPossible;
  const isWished = flag(environment, 'RINGBOOK_DEMO');
  if (isWished && !isPossible)
    throw new ConfigError('RINGBOOK_DEMO is 1: demo traders trade in the dev profile with its seed and hooks only');
  return isWished;
}

/** Reads a profile by name or a file by path, follows `extends`, and checks the result against the one shape. */
function readProfile(name: string): Profile {
  const merged = mergeExtends(name, 0);
  const error = [...Value.Errors(ProfileShape, merged)][0];
  if (error !== undefined) throw new ConfigError(`configuration "${name}": ${error.path || '/'}: ${error.message}`);
  return merged as unknown as Static<typeof ProfileShape> as Profile;
}

const EXTENDS_DEPTH_MAX = 4;

function mergeExtends(name: string, depth: number): Record<string, unknown> {
  if (depth > EXTENDS_DEPTH_MAX) throw new ConfigError(`configuration "${name}": too many extends`);
  const path = isProfileName(name) ? join(configDirectory(), `${name}.json`) : resolve(name);
  const own = parseObject(path);
  const base = own['extends'];
  if (base === undefined) return own;
  if (typeof base !== 'string') throw new ConfigError(`${path}: "extends" names a profile or a file`);
  const target = isProfileName(base) || isAbsolute(base) ? base : join(dirname(path), base);
  const { extends: _resolved, ...members } = own;
  return deepMerge(mergeExtends(target, depth + 1), members);
}

function isProfileName(name: string): boolean {
  return name === 'dev' || name === 'test' || name === 'production';
}

function parseObject(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(`cannot read ${path}: RINGBOOK_CONFIG is dev, test, production or the path of a JSON file`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    throw new ConfigError(`${path} is not valid JSON`);
  }
  throw new ConfigError(`${path} does not hold a JSON object`);
}

function deepMerge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    const bothObjects = isObject(below) && isObject(value);
    merged[key] = bothObjects ? deepMerge(below, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The profiles' folder: the nearest `config` above this file, so that sources and build find the same one. */
function configDirectory(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'config', 'dev.json'))) {
    if (folder === dirname(folder)) throw new ConfigError('cannot find the config folder beside package.json');
    folder = dirname(folder);
  }
  return join(folder, 'config');
}

/** Exactly as a browser writes it into an assertion. */
function isOrigin(text: string): boolean {
  if (ANDROID_ORIGIN.test(text)) return true;
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

function refuseUnsafe(config: NodeConfig): void {
  const tls = tlsOf(config.publicListeners);
  const fault = tls === null ? null : tlsFault(tls);
  if (fault !== null) throw new ConfigError(`TLS: ${fault}`);
  if (config.addresses?.from === 'x-forwarded-for' && config.publicListeners !== 'plain-behind-terminator')
    throw new ConfigError(
      '"addresses.from" is "x-forwarded-for", which anybody can invent unless "publicListeners" is "plain-behind-terminator"',
    );
  if (config.rings.commandBytes - config.rings.commandReservedBytes < ORDER_RING_BYTES)
    throw new ConfigError(
      `a ring holds the longest order twice: "rings.commandBytes" less "rings.commandReservedBytes" is at least ${ORDER_RING_BYTES}`,
    );
  for (const origin of config.webauthn?.origins ?? []) {
    if (!isOrigin(origin))
      throw new ConfigError(
        `"webauthn.origins": "${origin}" is no origin: write it as https://host or https://host:port`,
      );
  }
  if (config.feeAccount !== null && config.feeAccount === config.backstopAccount)
    throw new ConfigError('"feeAccount" and "backstopAccount" differ');
  if (config.profile !== 'production') {
    if (!LOOPBACK.test(config.host))
      throw new ConfigError(
        `profile ${config.profile} listens on loopback only: RINGBOOK_HOST is "${config.host}", unset it or use 127.0.0.1`,
      );
    if (config.token === '') throw new ConfigError('RINGBOOK_OPERATOR_TOKEN is empty');
    return;
  }
  if (config.token.length < PRODUCTION_TOKEN_LENGTH_MIN)
    throw new ConfigError(
      `production needs RINGBOOK_OPERATOR_TOKEN with at least ${PRODUCTION_TOKEN_LENGTH_MIN} characters`,
    );
  if (config.rings.commandBytes - config.rings.commandReservedBytes < BATCH_RING_BYTES)
    throw new ConfigError(
      `production needs rings that hold a batch: "rings.commandBytes" less "rings.commandReservedBytes" is at least ${BATCH_RING_BYTES}`,
    );
  if (config.hooks || config.chains === 'simulated' || config.seed !== 'none' || config.clock === 'manual')
    throw new ConfigError(
      'production does not start with test hooks, simulated chains, a seed or a manual clock in its configuration',
    );
  for (const name of ['feeAccount', 'backstopAccount'] as const) {
    if (PUBLIC_KEYS.has(config[name] ?? ''))
      throw new ConfigError(`"${name}" is a key of the dev seed, which everybody has: name an account of your own`);
  }
  if (config.publicListeners === 'plain-on-loopback' || config.publicListeners === 'undeclared')
    throw new ConfigError(
      'production serves TLS, or plain text behind a TLS terminator: set "publicListeners" to {"tls":{"certFile":…,"keyFile":…}}, or to "plain-behind-terminator" where one stands in front',
    );
}
