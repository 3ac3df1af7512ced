/**
 * Logs: JSON lines on standard error, one per event, from any thread, through its lane of the log buffer (log-buffer.ts): no
 * logger waits for a reader. Standard output carries only the ready line (operator-api.md §1). Tokens, keys and
 * signatures are never logged.
 *
 * Hot paths do not log; they count (metrics.ts).
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';

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

interface LoggingOptions {
  /** The thread or module that logs. */
  readonly name: string;
  readonly level: Level;
  /** Destination: a lane of the thread. */
  readonly stream: DestinationStream;
}

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
    stream,
  );
}
