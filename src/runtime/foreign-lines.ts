/**
 * What is printed to standard error by other means than a logger, line by line, so that it can be logged as JSON (MCH-07):
 * JavaScript of any thread that writes to `process.stderr`, warnings of Node, and the stack of a child process that died. Not
 * what native code prints, as the last words of an engine without memory.
 */
import { type Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** The rest of a longer line is dropped. */
export const FOREIGN_LINE_MAX = 4_096;

/** Cuts text into lines. @param printed called with each, without its end; empty ones are left out. */
class Lines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #printed: (line: string) => void;
  #rest = '';

  constructor(printed: (line: string) => void) {
    this.#printed = printed;
  }

  take(bytes: Buffer): void {
    const lines = `${this.#rest}${this.#decoder.write(bytes)}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, FOREIGN_LINE_MAX);
    for (const line of lines) this.#line(line);
  }

  end(): void {
    this.#line(this.#rest);
    this.#rest = '';
  }

  #line(line: string): void {
    if (line !== '') this.#printed(line.slice(0, FOREIGN_LINE_MAX));
  }
}

/** Reads lines of the standard error of a child process. */
export function foreignLines(stream: Readable, printed: (line: string) => void): void {
  const lines = new Lines(printed);
  stream.on('data', (bytes: Buffer) => lines.take(bytes));
  stream.on('end', () => lines.end());
}

/**
 * From now on `process.stderr` of the main thread, into which those of workers flow, and the warnings of Node go to `printed`.
 * Call before there are workers: they and child processes print no warnings.
 */
export function takeStandardError(printed: (line: string) => void): void {
  const lines = new Lines(printed);
  const stream = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      lines.take(bytes);
      done();
    },
  });
  Object.defineProperty(process, 'stderr', { value: stream, configurable: true, enumerable: true });
  // By default Node prints them natively.
  process.env['NODE_NO_WARNINGS'] = '1';
  process.removeAllListeners('warning');
  process.on('warning', (warning) => printed((warning.stack ?? warning.message).replaceAll('\n', ' ')));
}
