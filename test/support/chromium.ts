/** A headless Chromium, driven over its own protocol: one page, its requests and its errors. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { WebSocket } from 'ws';
import { must } from '../../src/core/assert.ts';
import { PATIENCE_MS } from './patience.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Without these Chromium tries to reach hosts of its maker at every start. */
const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser of this machine: `RINGBOOK_CHROMIUM`, or where distributions put it; null for none. */
export function findChromium(): string | null {
  const wanted = process.env['RINGBOOK_CHROMIUM'];
  return (wanted === undefined ? CANDIDATES : [wanted]).find((path) => existsSync(path)) ?? null;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export class ChromiumPage {
  readonly requested: string[] = [];
  readonly complaints: string[] = [];
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #lastId = 0;
  #session = '';

  private constructor(process: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#heard(JSON.parse(data.toString('utf8')) as Message));
  }

  static async start(executable: string): Promise<ChromiumPage> {
    const profile = temporaryDirectory();
    const child = spawn(executable, [...QUIET, '--remote-debugging-port=0', `--user-data-dir=${profile}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const address = await addressOf(child);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const page = new ChromiumPage(child, profile, socket);
    const { targetId } = await page.#ask('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.#ask('Target.attachToTarget', { targetId, flatten: true });
    page.#session = String(sessionId);
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.#ask(`${domain}.enable`, {});
    return page;
  }

  async open(url: string): Promise<void> {
    await this.#ask('Page.navigate', { url });
  }

  /** The value of an expression in the page; a promise is awaited. @throws what the page threw. */
  async evaluate(expression: string): Promise<unknown> {
    const parameters = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#ask('Runtime.evaluate', parameters);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value?: unknown }).value;
  }

  /** Waits until an expression is truthy. */
  async until(expression: string): Promise<unknown> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
      const value = await this.evaluate(`(() => { try { return ${expression} } catch { return null } })()`);
      if (value !== null && value !== undefined && value !== false && value !== '') return value;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const text = String(await this.evaluate('document.body.innerText'));
    throw new Error(`never true: ${expression}\n${this.complaints.join('\n')}\n${text.slice(0, 2_000)}`);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    // On close it ends with its child processes; killed, it leaves them behind.
    this.#session = '';
    void this.#ask('Browser.close', {});
    await ended;
    this.#socket.terminate();
    removeDirectory(this.#profile);
  }

  #ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    this.#lastId += 1;
    const id = this.#lastId;
    const session = this.#session === '' ? {} : { sessionId: this.#session };
    this.#socket.send(JSON.stringify({ id, method, params, ...session }));
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
    });
  }

  #heard(message: Message): void {
    const { id, method, params = {} } = message;
    if (id !== undefined) {
      const waiting = must(this.#waiting.get(id), 'an answer to a question');
      this.#waiting.delete(id);
      waiting(message);
    } else if (method === 'Network.requestWillBeSent') {
      this.requested.push((params['request'] as { readonly url: string }).url);
    } else if (method === 'Network.webSocketCreated') this.requested.push(String(params['url']));
    else if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(params));
    else if (method === 'Log.entryAdded') this.complaints.push(JSON.stringify(params['entry']));
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`Chromium did not start:\n${text}`)), PATIENCE_MS);
    child.once('exit', () => reject(new Error(`Chromium ended:\n${text}`)));
    must(child.stderr, 'a pipe')
      .setEncoding('utf8')
      .on('data', (part: string) => {
        text += part;
        const address = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
        if (address === undefined) return;
        clearTimeout(timer);
        resolve(address);
      });
  });
}
