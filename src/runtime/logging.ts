/**
 * Logs: JSON lines on standard error, one per event, written synchronously, from any thread. Standard output carries
 * only the ready line (operator-api.md §1). Tokens, keys and signatures are never logged.
 *
 * Hot paths do not log; they count (metrics.ts).
 */
import { type DestinationStream, destination, type Level, type Logger, pino } from 'pino';

/** Members whose value is redacted, at the top level and one or two levels below. */
const SECRETS: readonly string[] = [
  'authorization',
  'cookie',
  'key',
  'nonce_signature',
  'operator_token',
  'password',
  'private_key',
  'secret',
  'seed',
  'signature',
  'signatures',
  'token',
];

export interface LoggingOptions {
  /** The thread or module that logs. */
  readonly name: string;
  readonly level: Level;
  /** Destination; by default standard error. Tests pass their own. */
  readonly stream?: DestinationStream;
}

/** Writes are synchronous: the line that explains the end of a process must not depend on a loop that has ended. */
export function createLogger({ name, level, stream }: LoggingOptions): Logger {
  const paths = SECRETS.flatMap((secret) => [secret, `*.${secret}`, `*.*.${secret}`]);
  return pino(
    {
      name,
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[hidden]' },
    },
    stream ?? destination({ fd: 2, sync: true }),
  );
}
