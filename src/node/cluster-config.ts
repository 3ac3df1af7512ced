/**
 * The member `cluster` of a configuration with the variables over it (cluster.md 3): what a node or a replica of a cluster is
 * called, and where the servers are.
 *
 * Without the member and its variables, and with `replication` `off`, a node is one machine: `clusterOf` is null then, and nothing
 * of a cluster is loaded.
 */
import { readFileSync } from 'node:fs';
import type { TSchema } from '@sinclair/typebox';
import { Type } from '../codec/shapes/type-builder.ts';
import { ConfigError } from '../core/config-error.ts';
import { type Environment, variable } from './environment.ts';

const Strict = { additionalProperties: false } as const;
const NAME_FORM = '^[a-z0-9-]{1,32}$';
const SERVER_FORM = '^(?:nats|tls)://[^\\s/@,]{1,253}:[0-9]{1,5}$';
const SERVERS_MAX = 15;
const ROLES = ['node', 'replica'] as const;
const REPLICATIONS = ['off', 'sync'] as const;
const LEASE_MS_MIN = 500;
const LEASE_MS_MAX = 30_000;

const Name = Type.String({ pattern: NAME_FORM, description: '1 to 32 of a-z, 0-9 and -' });
const Path = Type.String({ minLength: 1, description: 'the path of a file' });
const Address = Type.Union([
  Type.String({
    pattern: '^https?://[^\\s/]{1,253}$',
    description: 'an address http://host:port or https://host:port',
  }),
  Type.Null(),
]);
const Words = <const Word extends string>(words: readonly Word[]) =>
  Type.Union(words.map((word) => Type.Literal(word)));

/** Every member may be left out in a file: variables may give it. */
export const ClusterShape: TSchema = Type.Object(
  {
    name: Type.Optional(Name),
    node: Type.Optional(Name),
    role: Type.Optional(Words(ROLES)),
    servers: Type.Optional(
      Type.Array(Type.String({ pattern: SERVER_FORM, description: 'nats://host:port or tls://host:port' }), {
        minItems: 1,
        maxItems: SERVERS_MAX,
      }),
    ),
    credentialsFile: Type.Optional(Type.Union([Path, Type.Null()])),
    tls: Type.Optional(
      Type.Union([
        Type.Object(
          { caFile: Type.Optional(Path), certFile: Type.Optional(Path), keyFile: Type.Optional(Path) },
          Strict,
        ),
        Type.Null(),
      ]),
    ),
    home: Type.Optional(
      Type.Union([
        Type.String({ minLength: 1, maxLength: 128, description: 'the server_name of a server' }),
        Type.Null(),
      ]),
    ),
    replication: Type.Optional(Words(REPLICATIONS)),
    confirm: Type.Optional(Type.Array(Words(['stream', 'standby']), { minItems: 1, maxItems: 2 })),
    leaseMs: Type.Optional(Type.Integer({ minimum: LEASE_MS_MIN, maximum: LEASE_MS_MAX })),
    takeover: Type.Optional(Words(['automatic', 'by-operator'])),
    rank: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    advertise: Type.Optional(
      Type.Union([Type.Object({ oms: Type.Optional(Address), mds: Type.Optional(Address) }, Strict), Type.Null()]),
    ),
    monitoring: Type.Optional(
      Type.Array(Type.String({ pattern: '^http://[^\\s/]{1,253}:[0-9]{1,5}$', description: 'http://host:port' }), {
        maxItems: SERVERS_MAX,
      }),
    ),
    snapshots: Type.Optional(
      Type.Object(
        {
          everyMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800_000 })),
          keep: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
        },
        Strict,
      ),
    ),
    chainsDirectory: Type.Optional(Type.Union([Path, Type.Null()])),
  },
  Strict,
);

/** What a file may say of a cluster. */
export interface ClusterSettings {
  readonly name?: string;
  readonly node?: string;
  readonly role?: (typeof ROLES)[number];
  readonly servers?: readonly string[];
  readonly credentialsFile?: string | null;
  readonly tls?: ClusterTls | null;
  readonly home?: string | null;
  readonly replication?: (typeof REPLICATIONS)[number];
  readonly confirm?: readonly ('stream' | 'standby')[];
  readonly leaseMs?: number;
  readonly takeover?: 'automatic' | 'by-operator';
  readonly rank?: number;
  readonly advertise?: { readonly oms?: string | null; readonly mds?: string | null } | null;
  readonly monitoring?: readonly string[];
  readonly snapshots?: { readonly everyMs?: number; readonly keep?: number };
  readonly chainsDirectory?: string | null;
}

/** Paths of PEM files. `certFile` and `keyFile` go together. */
interface ClusterTls {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface ClusterConfig {
  readonly name: string;
  readonly node: string;
  readonly role: 'node' | 'replica';
  readonly servers: readonly string[];
  readonly credentialsFile: string | null;
  readonly tls: ClusterTls | null;
  /** `server_name` of the server on this machine. */
  readonly home: string | null;
  readonly confirm: readonly ('stream' | 'standby')[];
  /** 500 to 30000. */
  readonly leaseMs: number;
  readonly takeover: 'automatic' | 'by-operator';
  /** 0 to 100: the lowest takes over first. */
  readonly rank: number;
  /** Addresses for clients; null: those of the listeners. */
  readonly advertise: { readonly oms: string | null; readonly mds: string | null };
  readonly monitoring: readonly string[];
  readonly snapshots: { readonly everyMs: number; readonly keep: number };
  /** The directory of simulated chains; null: the data directory. */
  readonly chainsDirectory: string | null;
}

/** What the process that makes snapshots gets of a cluster. Secrets stay in their files. */
export type SharingSettings = Pick<
  ClusterConfig,
  'name' | 'node' | 'servers' | 'credentialsFile' | 'tls' | 'snapshots'
>;

/** JSON of `SharingSettings`, as it goes to another process. */
export function sharingText({ name, node, servers, credentialsFile, tls, snapshots }: ClusterConfig): string {
  const settings: SharingSettings = { name, node, servers, credentialsFile, tls, snapshots };
  return JSON.stringify(settings);
}

/** @returns null for a node of one machine. @throws ConfigError */
export function clusterOf(environment: Environment, file: ClusterSettings | undefined): ClusterConfig | null {
  const given: ClusterSettings = { ...file, ...ofVariables(environment) };
  if (Object.keys(given).length === 0 || given.replication === 'off') return null;
  const { name, node, servers } = given;
  if (name === undefined) throw missing('name', 'RINGBOOK_CLUSTER');
  if (node === undefined) throw missing('node', 'RINGBOOK_NODE');
  if (servers === undefined) throw missing('servers', 'RINGBOOK_NATS');
  const { confirm = ['stream'], tls = null, credentialsFile = null } = given;
  if (!confirm.includes('stream') || new Set(confirm).size < confirm.length)
    throw new ConfigError('"cluster.confirm" is ["stream"] or ["stream","standby"]');
  if (tls !== null && (tls.certFile === undefined) !== (tls.keyFile === undefined))
    throw new ConfigError('"cluster.tls" has one of "certFile" and "keyFile": give both or none');
  refuseUnreadable('cluster.credentialsFile', credentialsFile);
  for (const member of ['caFile', 'certFile', 'keyFile'] as const)
    refuseUnreadable(`cluster.tls.${member}`, tls?.[member] ?? null);
  return {
    name,
    node,
    role: given.role ?? 'node',
    servers,
    credentialsFile,
    tls,
    home: given.home ?? null,
    confirm,
    leaseMs: given.leaseMs ?? 1_500,
    takeover: given.takeover ?? 'automatic',
    rank: given.rank ?? 0,
    advertise: { oms: given.advertise?.oms ?? null, mds: given.advertise?.mds ?? null },
    monitoring: given.monitoring ?? [],
    snapshots: { everyMs: given.snapshots?.everyMs ?? 86_400_000, keep: given.snapshots?.keep ?? 2 },
    chainsDirectory: given.chainsDirectory ?? null,
  };
}

/** @throws ConfigError naming the variable. */
function ofVariables(environment: Environment): ClusterSettings {
  const name = formed(environment, 'RINGBOOK_CLUSTER', NAME_FORM, '1 to 32 of a-z, 0-9 and -');
  const node = formed(environment, 'RINGBOOK_NODE', NAME_FORM, '1 to 32 of a-z, 0-9 and -');
  const servers = variable(environment, 'RINGBOOK_NATS')?.split(',') ?? null;
  const wrong = servers?.find((server) => !new RegExp(SERVER_FORM).test(server));
  if (wrong !== undefined || (servers?.length ?? 0) > SERVERS_MAX)
    throw new ConfigError(
      `RINGBOOK_NATS has "${wrong ?? ''}": give 1 to ${SERVERS_MAX} addresses nats://host:port or tls://host:port, with commas`,
    );
  const leaseText = formed(environment, 'RINGBOOK_LEASE_MS', '^[0-9]{1,5}$', 'milliseconds from 500 to 30000');
  const leaseMs = leaseText === null ? null : Number(leaseText);
  if (leaseMs !== null && (leaseMs < LEASE_MS_MIN || leaseMs > LEASE_MS_MAX))
    throw new ConfigError(`RINGBOOK_LEASE_MS is "${leaseMs}": give milliseconds from 500 to 30000`);
  const role = wordOf(environment, 'RINGBOOK_ROLE', ROLES);
  const replication = wordOf(environment, 'RINGBOOK_REPLICATION', REPLICATIONS);
  const credentialsFile = variable(environment, 'RINGBOOK_NATS_CREDENTIALS_FILE');
  const home = variable(environment, 'RINGBOOK_CLUSTER_HOME');
  return {
    ...(name === null ? {} : { name }),
    ...(node === null ? {} : { node }),
    ...(role === null ? {} : { role }),
    ...(servers === null ? {} : { servers }),
    ...(credentialsFile === null ? {} : { credentialsFile }),
    ...(replication === null ? {} : { replication }),
    ...(home === null ? {} : { home }),
    ...(leaseMs === null ? {} : { leaseMs }),
  };
}

function formed(
  environment: Environment,
  name: 'RINGBOOK_CLUSTER' | 'RINGBOOK_NODE' | 'RINGBOOK_LEASE_MS',
  form: string,
  allowed: string,
): string | null {
  const text = variable(environment, name);
  if (text === null || new RegExp(form).test(text)) return text;
  throw new ConfigError(`${name} is "${text}": give ${allowed}`);
}

function wordOf<Word extends string>(
  environment: Environment,
  name: 'RINGBOOK_ROLE' | 'RINGBOOK_REPLICATION',
  words: readonly Word[],
): Word | null {
  const text = variable(environment, name);
  const word = words.find((known) => known === text) ?? null;
  if (text !== null && word === null) throw new ConfigError(`${name} is "${text}": give ${words.join(' or ')}`);
  return word;
}

function missing(member: string, name: string): ConfigError {
  return new ConfigError(`a node of a cluster has a "${member}": give "cluster.${member}" or ${name}`);
}

function refuseUnreadable(member: string, path: string | null): void {
  if (path === null) return;
  try {
    readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `"${member}" is "${path}", which cannot be read (${code ?? 'unknown'}): give the path of a file`,
    );
  }
}
