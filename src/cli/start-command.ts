/** `ringbook start`: starts the node, which reads its configuration from the environment. */
import { fileURLToPath } from 'node:url';
import { Signals } from '../node/signals.ts';
import { BUNDLED_NODE, isBundleCurrent } from '../runtime/bundle.ts';
import { enableCompileCache } from '../runtime/compile-cache.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';

type NodeProgram = typeof import('../node/main.ts');

/** The bundle when it is what the modules are; its threads are then bundles as well, which it finds beside itself. */
async function nodeProgram(): Promise<NodeProgram> {
  const dist = new URL('../../', import.meta.url);
  if (!isBundleCurrent(fileURLToPath(dist))) return import('../node/main.ts');
  return (await import(new URL(BUNDLED_NODE, dist).href)) as NodeProgram;
}

export const startCommand: Command = {
  name: 'start',
  summary: 'run a node',
  help: `usage: ringbook start [--demo]

Runs a node until SIGTERM. When it serves, it prints one JSON line with its addresses.

  --demo                   in the dev profile two makers and a taker trade gently in markets 1 and 3, so that the book and
                           the charts move; npm start has it. Without effect in other profiles

environment:
  RINGBOOK_CONFIG          dev (default), test, production, or the path of a JSON file
  RINGBOOK_HOST            address of all listeners        (default 127.0.0.1)
  RINGBOOK_OMS_PORT        orders                          (default 3032, 0 takes a free port)
  RINGBOOK_MDS_PORT        market data                     (default 8011)
  RINGBOOK_OPS_PORT        operator API and /metrics       (default 9464)
  RINGBOOK_DATA_DIR        everything durable              (default ./data/<profile>)
  RINGBOOK_OPERATOR_TOKEN  bearer token of the operator API; RINGBOOK_OPERATOR_TOKEN_FILE names a file with it
  RINGBOOK_OPERATOR_TOKENS_FILE
                           a file with named tokens and their roles (ringbook keygen FILE --operator NAME --role ROLE)
  RINGBOOK_LOG_LEVEL       trace, debug, info, warn or error (default: of the profile)
  RINGBOOK_ACCEPT_ESCAPE   chains, with commas, whose vault in escape mode this start accepts
  RINGBOOK_ACCEPT_CLOCK    seconds by which the recorded times may be ahead of the system clock
  RINGBOOK_TRACE           1 records the hops of every order action, for ringbook trace
  RINGBOOK_COMMIT          what GET /version names as the commit
  RINGBOOK_DEMO            1 or 0: with or without the demo traders, whatever the option says
  RINGBOOK_CLUSTER, RINGBOOK_NODE, RINGBOOK_ROLE
                           name of a cluster, of this node in it, and node or replica
  RINGBOOK_NATS            addresses of its servers, with commas; RINGBOOK_NATS_CREDENTIALS_FILE names a file
  RINGBOOK_CLUSTER_HOME    server_name of the server on this machine
  RINGBOOK_LEASE_MS        milliseconds of the leader's lease
  RINGBOOK_REPLICATION     sync, or off for one machine

Any other variable that begins with RINGBOOK_ is refused, as is an unknown member of a configuration file.

example:
  RINGBOOK_DATA_DIR=/var/lib/ringbook ringbook start
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, { demo: { type: 'boolean', default: false } });
    if (positionals.length > 0) throw usageError('start takes no argument: its configuration is the environment');
    const signals = new Signals();
    enableCompileCache();
    const { main } = await nodeProgram();
    await main(values, signals);
    return EXIT.done;
  },
};
