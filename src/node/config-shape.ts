/**
 * The members of a configuration file: which there are, what each may be, and how its values are described where one is
 * refused (config-faults.ts).
 *
 * `description` of a shape is the end of the sentence "give …". A member that is `writeOnly` is a secret: its value is never printed.
 */
import type { TSchema } from '@sinclair/typebox';
import { Type } from '../codec/shapes/type-builder.ts';
import { SESSIONS_MAX } from '../core/limits.ts';
import type { LogSettings } from '../evidence/heads/log-keys.ts';
import type { AddressConfig, PublicListeners } from '../http/public-listeners.ts';
import { type ClusterSettings, ClusterShape } from './cluster-config.ts';
import { PROFILES } from './config-file.ts';

const Strict = { additionalProperties: false } as const;
const Count = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const Path = Type.String({ minLength: 1, description: 'the path of a file' });
/** `<token>@<chain id>`, as outputs have it. */
const TOKEN_FORM = '^[0-9a-f]{64}@[0-9a-f]{18}$';
const BASE_UNITS_FORM = '^(0|[1-9][0-9]{0,77})$';
/** A host name, as browsers compare it: lower case, no port. */
const RP_ID_FORM = '^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';
/** An IPv4 address or a host name, or an IPv6 address, which has two colons or more; no port. */
export const HOST_FORM = '^(?:[0-9A-Za-z._-]{1,253}|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$';
/** How a value of that form is described. */
export const HOST_WORDS = 'an address or a host name, without a port';
const Account = Type.Union([
  Type.String({ pattern: '^[0-9a-f]{64}$', description: 'a user id of 64 hex digits in lower case' }),
  Type.Null(),
]);
/** An address, or a name that the system resolves. */
const Host = Type.String({ pattern: HOST_FORM, description: HOST_WORDS });
/** A name of DNS: labels of letters, digits, hyphens and underscores. */
const HostName = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,63}(?:\\.[A-Za-z0-9_-]{1,63})*$',
  description: 'a host name without a port',
});
const RingBytes = Type.Union(
  [
    65_536, 131_072, 262_144, 524_288, 1_048_576, 2_097_152, 4_194_304, 8_388_608, 16_777_216, 33_554_432, 67_108_864,
  ].map((bytes) => Type.Literal(bytes)),
);

const Line = Type.String({ pattern: '^[!-~]{1,255}$', description: 'a text without spaces' });
/** The log of the evidence whose heads this node signs (heads/log-keys.ts reads the files). */
const LogShape = Type.Object(
  {
    origin: Type.String({ pattern: '^[!-*,-~]{1,255}$', description: 'a name without spaces and "+"' }),
    venueKey: Line,
    keys: Type.Array(Path, { maxItems: 8 }),
    certificates: Type.Array(Path, { maxItems: 64 }),
    witnesses: Type.Array(
      Type.Object(
        {
          name: Line,
          vkey: Line,
          url: Type.String({ pattern: '^https?://[!-~]{1,1000}$', description: 'an http or https address' }),
        },
        Strict,
      ),
      { maxItems: 16 },
    ),
    quorum: Count(0, 16),
  },
  Strict,
);

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export const ProfileShape: TSchema = Type.Object(
  {
    profile: Type.Union(PROFILES.map((profile) => Type.Literal(profile))),
    clock: Type.Union([Type.Literal('system'), Type.Literal('manual')]),
    hooks: Type.Boolean(),
    chains: Type.Union([Type.Literal('simulated'), Type.Literal('none')]),
    chainsMine: Type.Union([Type.Literal('by-themselves'), Type.Literal('on-request')]),
    seed: Type.Union([Type.Literal('dev'), Type.Literal('test'), Type.Literal('none')]),
    oracleFeedMs: Count(0, 3_600_000),
    operatorToken: Type.Union([Type.String({ minLength: 1, description: 'a text' }), Type.Null()], { writeOnly: true }),
    hosts: Type.Optional(
      Type.Object({ oms: Type.Optional(Host), mds: Type.Optional(Host), ops: Type.Optional(Host) }, Strict),
    ),
    opsNames: Type.Optional(Type.Array(HostName, { maxItems: 32 })),
    publicListeners: Type.Union([
      Type.Literal('plain-on-loopback'),
      Type.Literal('plain-in-container'),
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
      Type.Record(
        Type.String({ pattern: TOKEN_FORM }),
        Type.String({ pattern: BASE_UNITS_FORM, description: 'a whole number of base units as a text' }),
        { ...Strict, maxProperties: 1_024, description: '"<token, 64 hex digits>@<chain id, 18 hex digits>"' },
      ),
    ),
    webauthn: Type.Optional(
      Type.Union([
        Type.Null(),
        Type.Object(
          {
            rp_id: Type.String({ pattern: RP_ID_FORM, description: 'a host name in lower case, without a port' }),
            origins: Type.Array(Type.String({ minLength: 1, maxLength: 255, description: 'an origin' }), {
              minItems: 1,
              maxItems: 16,
            }),
          },
          Strict,
        ),
      ]),
    ),
    feeAccount: Account,
    backstopAccount: Account,
    acks: Type.Union([Type.Literal('optimistic'), Type.Literal('durable')]),
    orderWaitMsMax: Count(0, 60_000),
    logLevel: Type.Union(LOG_LEVELS.map((level) => Type.Literal(level))),
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
    evidence: Type.Union([
      Type.Null(),
      Type.Object(
        {
          keepDays: Count(1, 36_500),
          refusals: Type.Boolean(),
          secret: Type.Optional(Path),
          log: Type.Optional(LogShape),
          liabilities: Type.Optional(Type.Object({ everyMs: Count(3_600_000, 604_800_000) }, Strict)),
        },
        Strict,
      ),
    ]),
    cluster: Type.Optional(ClusterShape),
  },
  Strict,
);

/** What a profile file holds after `extends` is resolved. */
export interface Profile {
  readonly profile: (typeof PROFILES)[number];
  readonly clock: 'system' | 'manual';
  /** Test hooks of operator-api.md 7 and 8. */
  readonly hooks: boolean;
  readonly chains: 'simulated' | 'none';
  readonly chainsMine: 'by-themselves' | 'on-request';
  readonly seed: 'dev' | 'test' | 'none';
  /** 0: no feeder. */
  readonly oracleFeedMs: number;
  readonly operatorToken: string | null;
  /** Where a listener has another address than RINGBOOK_HOST. */
  readonly hosts?: { readonly oms?: string; readonly mds?: string; readonly ops?: string };
  /** Host names under which the operations listener is reached, beside loopback names and addresses. */
  readonly opsNames?: readonly string[];
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
  readonly logLevel: (typeof LOG_LEVELS)[number];
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
  /** What clearing decided, kept as rows and under a tree (EXP-00, EVD). Null: nothing of it. */
  readonly evidence: {
    /** Rows are kept so many days. */
    readonly keepDays: number;
    /** Whether requests that are refused before the journal are written to files of their own. */
    readonly refusals: boolean;
    /** The file of the secret from which salts are made, 64 hex digits. Left out: one in the data directory, which the node makes. */
    readonly secret?: string;
    /** The log whose heads this node signs (EVD-01). Left out: none is signed, but for a dev node, which makes keys by itself. */
    readonly log?: LogSettings;
    /** How often it is stated what the venue owes, with the next snapshot (LIA-01). Left out: by `ringbook proof make` alone. */
    readonly liabilities?: { readonly everyMs: number };
  } | null;
  /** Several machines (cluster.md 3). Left out: one. */
  readonly cluster?: ClusterSettings;
}
