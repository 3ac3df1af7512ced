/** `ringbook cluster …`: what operators do with several machines (cluster.md 12). */
import type { Progress } from '../tools/audit-data.ts';
import { CliError, type Command, EXIT, type ExitCode, parseOptions, usageError } from './command.ts';
import { PROGRESS_OPTION, withProgress, withProgressHelp } from './data-command.ts';

const VERBS = ['init', 'status', 'promote', 'step-down', 'join', 'check', 'acknowledge', 'restore-stream'] as const;
/** Verbs that take one name, and that take one or more. */
const NAMED: ReadonlySet<string> = new Set(['init', 'promote', 'join', 'acknowledge']);
const NAMED_OFTEN: ReadonlySet<string> = new Set(['restore-stream']);
type Verb = (typeof VERBS)[number];

const GIB = 1_073_741_824;
/** The servers elect the leader of their own metadata after a start, before streams are made. */
const CREATE_MS_MAX = 30_000;
const PAUSE_MS = 500;
/** Tries of a check, whose record a busy cluster may have passed. */
const CHECKS_MAX = 5;

type Admin = Awaited<ReturnType<typeof import('../cluster/cluster-admin.ts')['ClusterAdmin']['connect']>>;

export const clusterCommand: Command = {
  name: 'cluster',
  summary: 'several machines: make the streams, show them, hand over',
  help: withProgressHelp(`usage: ringbook cluster init [DIR]
       ringbook cluster init --next DIR
       ringbook cluster status [--json]
       ringbook cluster promote NODE
       ringbook cluster step-down [--to NODE]
       ringbook cluster join DIR
       ringbook cluster check
       ringbook cluster acknowledge NODE
       ringbook cluster restore-stream DIR OTHER… | --only

The configuration is that of a node: RINGBOOK_CONFIG, or RINGBOOK_CLUSTER, RINGBOOK_NODE and RINGBOOK_NATS.

  init       makes the streams of a new cluster; of DIR, the data of one machine that was stopped in order, the journal
             goes on behind its last record, and a snapshot is stored from which other nodes begin. With --next the stream
             of a cluster whose nodes are all stopped begins anew behind the last record of DIR, which was upgraded
  status     nodes and replicas with state, epoch, record and lag; the stream with its servers. Exit 0: a leader, and a
             standby without lag; 1: not, or a node has dropped a record; 69: no server answers
  promote    hands the leadership to NODE; without a leader NODE takes over after the silence
  step-down  hands the leadership to the best standby, or to NODE
  join       makes the new data directory DIR of the newest snapshot of the bucket, verified; its node reads what came
             behind it from the stream
  check      every node's hash of the same record, and of its state behind it, or "why" there is none: of a leader with more
             than 50,000 orders it would take longer than its lease. Exit 0: all have one and they are equal
  acknowledge
             an operator has looked at the records in "dropped" of the data directory of NODE, which the stream did not take
  restore-stream
             after STREAM_LOST_RECORDS, with all nodes stopped: appends what the stream has lost from the journal of DIR.
             OTHER are the data directories of all other nodes, here or copied here: none may have more. Prints a line of
             JSON for each record

options:
  --json          status as one line of JSON
  --replicas N    servers that hold a stream (default 3)
  --max-gib N     of the journal's stream, in GiB (default 8): when it is full, nothing is confirmed
  --next          see init
  --only          no other node has a data directory any more

example:
  RINGBOOK_CLUSTER=venue RINGBOOK_NODE=a RINGBOOK_NATS=nats://n1:4222,nats://n2:4222 ringbook cluster status
`),
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      json: { type: 'boolean', default: false },
      to: { type: 'string' },
      replicas: { type: 'string', default: '3' },
      'max-gib': { type: 'string', default: '8' },
      next: { type: 'boolean', default: false },
      only: { type: 'boolean', default: false },
      ...PROGRESS_OPTION,
    });
    // Copies of a ledger are for their owner, as the ledger is (MCH-04).
    process.umask(0o077);
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
        isNext: values.next,
        isOnly: values.only,
        withProgress: (work) => withProgress(values.progress, work),
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
  readonly isNext: boolean;
  readonly isOnly: boolean;
  readonly withProgress: (work: (progress: Progress) => Promise<void>) => Promise<void>;
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
  if (!NAMED_OFTEN.has(verb) && names.length > (NAMED.has(verb) ? 1 : 0))
    throw usageError(`ringbook cluster ${verb} takes no "${names.at(-1)}"`);
  switch (verb) {
    case 'init':
      if (wishes.isNext && name === undefined) throw usageError('ringbook cluster init --next DIR');
      return wishes.isNext ? initNext(admin, name ?? '', wishes) : init(admin, name ?? null, wishes);
    case 'status':
      return status(admin, wishes);
    case 'promote':
      if (name === undefined) throw usageError('ringbook cluster promote NODE');
      return promote(admin, name);
    case 'step-down':
      return stepDown(admin, wishes.to);
    case 'join':
      if (name === undefined) throw usageError('ringbook cluster join DIR');
      return join(admin, name, wishes);
    case 'check':
      return check(admin);
    case 'acknowledge':
      if (name === undefined) throw usageError('ringbook cluster acknowledge NODE');
      return acknowledge(admin, name);
    case 'restore-stream':
      if (name === undefined) throw usageError('ringbook cluster restore-stream DIR OTHER… | --only');
      return restore(admin, name, names.slice(1), wishes);
  }
}

async function init(admin: Admin, directory: string | null, wishes: Wishes): Promise<ExitCode> {
  const { replicas, bytesMax } = wishes;
  await untilTaken(() => admin.log.createTapeAndSnapshots(replicas, GIB));
  let last = 0;
  if (directory !== null) {
    const { shareLast } = await import('./cluster-data.ts');
    await wishes.withProgress(async (progress) => {
      last = await shareLast(admin, directory, progress);
    });
  }
  // Last: with it the cluster begins.
  await untilTaken(() => admin.log.createJournal({ firstSequence: last + 1, replicas, bytesMax }));
  print({ initialised: true, first_sequence: last + 1, replicas });
  return EXIT.done;
}

async function initNext(admin: Admin, directory: string, wishes: Wishes): Promise<ExitCode> {
  const { beginNext } = await import('./cluster-data.ts');
  await wishes.withProgress(async (progress) => {
    const last = await beginNext(admin, directory, progress);
    print({ initialised: true, first_sequence: last + 1 });
  });
  return EXIT.done;
}

async function join(admin: Admin, directory: string, wishes: Wishes): Promise<ExitCode> {
  const { joinFrom } = await import('./cluster-data.ts');
  await wishes.withProgress(async (progress) => print(await joinFrom(admin, directory, progress)));
  return EXIT.done;
}

async function restore(
  admin: Admin,
  directory: string,
  others: readonly string[],
  { isOnly }: Wishes,
): Promise<ExitCode> {
  const { restoreStream } = await import('./cluster-data.ts');
  await restoreStream(admin, { directory, others, isOnly, print });
  return EXIT.done;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
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
    const rows = found.members.map(({ node, role, state, epoch, sequence, lag, version, dropped }) =>
      [
        node.padEnd(16),
        role.padEnd(8),
        state.padEnd(13),
        `epoch ${epoch}`.padEnd(10),
        `record ${sequence}`,
        `lag ${lag}`,
        version,
        ...(dropped === 0 ? [] : [`${dropped} dropped records, see "ringbook cluster acknowledge"`]),
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

async function acknowledge(admin: Admin, node: string): Promise<ExitCode> {
  const acknowledged = await admin.acknowledge(node);
  if (acknowledged === null) throw new CliError(EXIT.fault, `${node} does not answer`);
  print({ node, acknowledged });
  return EXIT.done;
}

/**
 * Every node hashes its state behind the same record, one that comes after the question has arrived: with the rate of records between two
 * questions it is chosen, and further ahead when a node had passed it.
 */
async function check(admin: Admin): Promise<ExitCode> {
  const { comparedHashes } = await import('../cluster/cluster-admin.ts');
  const before = await admin.status();
  for (let tries = 1; ; tries += 1) {
    const { members } = await admin.status();
    const nodes = members.filter(({ role }) => role === 'node').map(({ node }) => node);
    if (nodes.length === 0) throw new CliError(EXIT.fault, 'no node answers');
    const highest = (found: typeof members): number => Math.max(0, ...found.map(({ sequence }) => sequence));
    const sequence = highest(members) + 2 + tries * Math.max(0, highest(members) - highest(before.members));
    const found = await admin.hashes(nodes, sequence);
    const { isEqual, isComplete, wasPassed } = comparedHashes(found, sequence);
    if (wasPassed && tries < CHECKS_MAX) continue;
    const none = { sequence: null, record: null, state: null, why: 'NO_ANSWER' };
    print({ equal: isEqual, complete: isComplete, nodes: nodes.map((node, at) => ({ node, ...(found[at] ?? none) })) });
    return isEqual && isComplete ? EXIT.done : EXIT.fault;
  }
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
