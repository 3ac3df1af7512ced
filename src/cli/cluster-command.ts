/** `ringbook cluster …`: what operators do with several machines (cluster.md 12). */
import { CliError, type Command, EXIT, type ExitCode, parseOptions, usageError } from './command.ts';

const VERBS = ['init', 'status', 'promote', 'step-down', 'check'] as const;
type Verb = (typeof VERBS)[number];

const GIB = 1_073_741_824;
/** The servers elect the leader of their own metadata after a start, before streams are made. */
const CREATE_MS_MAX = 30_000;
const PAUSE_MS = 500;

type Admin = Awaited<ReturnType<typeof import('../cluster/cluster-admin.ts')['ClusterAdmin']['connect']>>;

export const clusterCommand: Command = {
  name: 'cluster',
  summary: 'several machines: make the streams, show them, hand over',
  help: `usage: ringbook cluster init [DIR]
       ringbook cluster status [--json]
       ringbook cluster promote NODE
       ringbook cluster step-down [--to NODE]
       ringbook cluster check

The configuration is that of a node: RINGBOOK_CONFIG, or RINGBOOK_CLUSTER, RINGBOOK_NODE and RINGBOOK_NATS.

  init       makes the streams of a new cluster; of DIR, the data of one machine that was stopped in order, the journal
             goes on behind its last record
  status     nodes and replicas with state, epoch, record and lag; the stream with its servers. Exit 0: a leader, and a
             standby without lag; 1: not; 69: no server answers
  promote    hands the leadership to NODE; without a leader NODE takes over after the silence
  step-down  hands the leadership to the best standby, or to NODE
  check      compares the hashes of the records that the nodes have. Exit 1 where two differ

options:
  --json          status as one line of JSON
  --replicas N    servers that hold a stream (default 3)
  --max-gib N     of the journal's stream, in GiB (default 8): when it is full, nothing is confirmed

example:
  RINGBOOK_CLUSTER=venue RINGBOOK_NODE=a RINGBOOK_NATS=nats://n1:4222,nats://n2:4222 ringbook cluster status
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      json: { type: 'boolean', default: false },
      to: { type: 'string' },
      replicas: { type: 'string', default: '3' },
      'max-gib': { type: 'string', default: '8' },
    });
    const [word, ...names] = positionals;
    const verb = VERBS.find((known) => known === word);
    if (verb === undefined) throw usageError(`ringbook cluster ${VERBS.join(' | ')}`);
    const admin = await connected();
    try {
      return await perform(admin, verb, names, {
        isJson: values.json,
        to: values.to ?? null,
        replicas: numberOf(values.replicas, '--replicas', 5),
        bytesMax: numberOf(values['max-gib'], '--max-gib', 65_536) * GIB,
      });
    } finally {
      await admin.close();
    }
  },
};

interface Wishes {
  readonly isJson: boolean;
  readonly to: string | null;
  readonly replicas: number;
  readonly bytesMax: number;
}

async function connected(): Promise<Admin> {
  const { loadConfig } = await import('../node/config.ts');
  const { cluster } = loadConfig(process.env);
  if (cluster === null)
    throw usageError('no cluster is configured: set RINGBOOK_CLUSTER, RINGBOOK_NODE and RINGBOOK_NATS, or "cluster"');
  const { ClusterAdmin } = await import('../cluster/cluster-admin.ts');
  const { DATA_VERSION } = await import('../storage/environment.ts');
  const { name, servers, credentialsFile, tls } = cluster;
  try {
    const node = `${cluster.node}-command`;
    return await ClusterAdmin.connect({
      ...{ cluster: name, node, servers, credentialsFile, tls },
      dataVersion: String(DATA_VERSION),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.unreachable, `no server of the cluster answers (${reason}): ${servers.join(', ')}`);
  }
}

function perform(admin: Admin, verb: Verb, names: readonly string[], wishes: Wishes): Promise<ExitCode> {
  const [name] = names;
  if (names.length > (verb === 'init' || verb === 'promote' ? 1 : 0))
    throw usageError(`ringbook cluster ${verb} takes no "${names.at(-1)}"`);
  switch (verb) {
    case 'init':
      return init(admin, name ?? null, wishes);
    case 'status':
      return status(admin, wishes);
    case 'promote':
      if (name === undefined) throw usageError('ringbook cluster promote NODE');
      return promote(admin, name);
    case 'step-down':
      return stepDown(admin, wishes.to);
    case 'check':
      return check(admin);
  }
}

async function init(admin: Admin, directory: string | null, { replicas, bytesMax }: Wishes): Promise<ExitCode> {
  const last = directory === null ? 0 : await lastRecordOf(directory);
  await untilTaken(() => admin.log.createJournal({ firstSequence: last + 1, replicas, bytesMax }));
  await untilTaken(() => admin.log.createTapeAndSnapshots(replicas, GIB));
  process.stdout.write(`${JSON.stringify({ initialised: true, first_sequence: last + 1, replicas })}\n`);
  return EXIT.done;
}

/** @throws CliError when DIR is held by a node, or was not stopped in order. */
async function lastRecordOf(directory: string): Promise<number> {
  const { auditUnheld } = await import('../tools/audit-data.ts');
  const { sequence, clean } = await auditUnheld(directory, () => undefined);
  if (!clean) throw new CliError(EXIT.fault, `${directory} was not stopped in order: start and stop its node first`);
  return sequence;
}

/** Again while the servers have no answer: they may still elect. Other refusals are final. */
async function untilTaken(change: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + CREATE_MS_MAX;
  for (;;) {
    try {
      await change();
      return;
    } catch (error) {
      const isUnanswered = error instanceof Error && /no answer|no responders|timeout/i.test(error.message);
      if (!isUnanswered || performance.now() > untilMs)
        throw new CliError(EXIT.fault, error instanceof Error ? error.message : String(error));
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}

async function status(admin: Admin, { isJson }: Wishes): Promise<ExitCode> {
  const found = await admin.status();
  if (isJson) process.stdout.write(`${JSON.stringify(found)}\n`);
  else {
    const rows = found.members.map(({ node, role, state, epoch, sequence, lag, version }) =>
      [
        node.padEnd(16),
        role.padEnd(8),
        state.padEnd(13),
        `epoch ${epoch}`.padEnd(10),
        `record ${sequence}`,
        `lag ${lag}`,
        version,
      ].join('  '),
    );
    const stream = found.stream;
    const streamLine =
      stream === null
        ? 'stream: no answer, or no leader'
        : `stream: records ${stream.first} to ${stream.end}, ${stream.bytes} bytes of ${stream.bytes_max}, led by ${stream.leader}, servers ${stream.servers.map(({ name, current }) => (current ? name : `${name} (not current)`)).join(', ')}`;
    process.stdout.write(
      `${[`cluster ${found.cluster}: ${found.leader === null ? 'no leader' : `${found.leader} leads`}`, ...rows, streamLine].join('\n')}\n`,
    );
  }
  return found.isSound ? EXIT.done : EXIT.fault;
}

async function promote(admin: Admin, node: string): Promise<ExitCode> {
  const { leader } = await admin.status();
  const refusal =
    leader === null || leader === node
      ? await admin.command(node, 'promote', null)
      : await admin.command(leader, 'stepDown', node);
  return printed({ promoted: node }, refusal);
}

async function stepDown(admin: Admin, to: string | null): Promise<ExitCode> {
  const { leader } = await admin.status();
  if (leader === null) throw new CliError(EXIT.fault, 'no node leads');
  return printed({ stepped_down: leader }, await admin.command(leader, 'stepDown', to));
}

/** A record that two nodes have is the same, or one of them has diverged. */
async function check(admin: Admin): Promise<ExitCode> {
  const { members } = await admin.status();
  const nodes = members.filter(({ role }) => role === 'node');
  const groups = new Map<number, Set<string>>();
  for (const { sequence, hash } of nodes) groups.set(sequence, (groups.get(sequence) ?? new Set()).add(hash));
  const differing = [...groups].filter(([, hashes]) => hashes.size > 1).map(([sequence]) => sequence);
  process.stdout.write(
    `${JSON.stringify({ nodes: nodes.map(({ node, sequence, hash }) => ({ node, sequence, hash })), differing })}\n`,
  );
  return differing.length === 0 ? EXIT.done : EXIT.fault;
}

function printed(done: object, refusal: string | null): ExitCode {
  if (refusal !== null) throw new CliError(EXIT.fault, refusal);
  process.stdout.write(`${JSON.stringify(done)}\n`);
  return EXIT.done;
}

function numberOf(text: string, option: string, most: number): number {
  const value = Number(text);
  if (!/^[1-9][0-9]{0,5}$/.test(text) || value > most) throw usageError(`${option} takes 1 to ${most}, not "${text}"`);
  return value;
}
