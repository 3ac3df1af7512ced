/**
 * Logs: JSON lines on standard error, one per event, written at once, from any thread. Standard output carries the
 * ready line and nothing else (operator-api.md §1). Tokens, keys and signatures never reach a log line.
 *
 * Hot paths do not log; they count (metrics.ts).
 */
import { type DestinationStream, destination, type Level, type Logger, pino } from 'pino';

/** Members that hide their value wherever they stand: at the top, or one or two levels down. */
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
  /** The thread or room that speaks. */
  readonly name: string;
  readonly level: Level;
  /** Where lines go; standard error when left out. A test passes its own. */
  readonly stream?: DestinationStream;
}

/** Writing is synchronous: the line that explains the end of a process must not wait for a loop that has ended. */
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
