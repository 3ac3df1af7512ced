/** `ringbook follow`: what a cluster decides, as JSON lines, read from the stream of its journal. */
import { once } from 'node:events';
import { ConfigError } from '../core/config-error.ts';
import { clusterOf } from '../node/cluster-config.ts';
import { readConfigFile } from '../node/config-file.ts';
import { CliError, type Command, EXIT, parseOptions, positiveInteger, usageError } from './command.ts';

/** Of a program that has no name of its own. */
const FOLLOWER = 'follow';

export const followCommand: Command = {
  name: 'follow',
  summary: 'print what a cluster decides, from its journal stream',
  help: `usage: ringbook follow [--from N] [--to N] [--snapshot DIR] trades|fills|events

Reads the journal of a cluster from its stream, verifies the chain, applies every record with clearing's own code and prints
JSON lines, each with the sequence of its record and its index within it: "trades" as "ringbook export DIR trades" does,
"fills" one line for each side of a trade, "events" everything that was decided, with order ids. Only what is stored is
read. It appends nothing and asks no node.

The state is made from the first record of the stream. If the stream was truncated, --snapshot names a snapshot or a
backup of a node that is not older than the stream's first record less one; "ringbook cluster join DIR" makes one.

  --from N           print from record N on                 (default: the first one that is applied)
                     a reader goes on behind its last pair: --from with that sequence, and skip its index
  --to N             end after record N                     (default: wait for more)
  --snapshot DIR     begin with the state of DIR
                     RINGBOOK_CLUSTER, RINGBOOK_NATS and RINGBOOK_NATS_CREDENTIALS_FILE, or "cluster" of RINGBOOK_CONFIG,
                     name the cluster and its servers

Exits with 1 at a record that does not follow the one before, with 69 when no server answers.

example:
  RINGBOOK_CLUSTER=main RINGBOOK_NATS=nats://10.0.0.1:4222 ringbook follow --from 120000 fills
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      from: { type: 'string', default: '1' },
      to: { type: 'string' },
      snapshot: { type: 'string' },
    });
    const { FOLLOWED, JournalFollower } = await import('../tools/follow-journal.ts');
    const what = FOLLOWED.find((name) => name === positionals[0]);
    if (what === undefined || positionals.length !== 1) throw usageError('ringbook follow trades, fills or events');
    const to = values.to === undefined ? Number.POSITIVE_INFINITY : positiveInteger(values.to, '--to');
    const from = positiveInteger(values.from, '--from');
    const follower = await JournalFollower.begin(what, values.snapshot ?? null);
    const reader = await openReader(JournalFollower.dataVersion);
    try {
      const first = await reader.first();
      if (first !== null && first > follower.sequence + 1) throw truncated(first, follower.sequence);
      for await (const { sequence, bytes, dataVersion } of reader.read(follower.sequence + 1)) {
        const lines = follower.apply(bytes, dataVersion);
        if (sequence >= from && lines.length > 0 && !process.stdout.write(`${lines.join('\n')}\n`))
          await once(process.stdout, 'drain');
        if (sequence >= to) break;
      }
    } finally {
      await reader.close();
    }
    return EXIT.done;
  },
};

async function openReader(dataVersion: string): Promise<import('../cluster/journal-reader.ts').JournalReader> {
  const file = readConfigFile(process.env['RINGBOOK_CONFIG'] ?? 'dev') as { readonly cluster?: object };
  const environment = { ...process.env, RINGBOOK_NODE: process.env['RINGBOOK_NODE'] || FOLLOWER };
  const cluster = clusterOf(environment, file.cluster);
  if (cluster === null) throw new ConfigError('no cluster is configured: give RINGBOOK_CLUSTER and RINGBOOK_NATS');
  const { JournalReader } = await import('../cluster/journal-reader.ts');
  const { name, node, servers, credentialsFile, tls } = cluster;
  const options = { cluster: name, node, servers, credentialsFile, tls, dataVersion };
  try {
    return await JournalReader.open(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.unreachable, `no server of ${servers.join(', ')} can be used: ${reason}`);
  }
}

function truncated(first: number, sequence: number): CliError {
  const has = sequence === 0 ? 'there is no state before it' : `--snapshot is of record ${sequence}`;
  return new CliError(
    EXIT.fault,
    `the stream was truncated: its first record is ${first} and ${has}. Give --snapshot DIR with a snapshot of record ${first - 1} or later`,
  );
}
