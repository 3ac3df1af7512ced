/**
 * Nodes and commands of a cluster over real servers, for tests that begin without streams: each node has a data directory of its own
 * choice, and `ringbook cluster …` runs as a process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './bare-environment.ts';
import type { NatsServers } from './nats-servers.ts';
import { eventually } from './patience.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Long enough for production. */
const OPERATOR_TOKEN_OF_TESTS = 'f'.repeat(32);
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export interface Ran {
  readonly code: number | string;
  /** Standard output. */
  readonly text: string;
  /** Its lines of JSON. */
  readonly lines: readonly Record<string, unknown>[];
  readonly stderr: string;
}

export class ClusterCommands {
  readonly #servers: NatsServers;
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #chainsDirectory = temporaryDirectory();
  readonly #nodes = new Set<LaunchedNode>();

  /** @param members of `cluster` of every configuration. @param config other members of it. */
  constructor(
    servers: NatsServers,
    members: Readonly<Record<string, unknown>> = {},
    config: Readonly<Record<string, unknown>> = {},
  ) {
    this.#servers = servers;
    this.#members = members;
    this.#config = config;
  }

  /** `ringbook …` with the configuration of node `name`. */
  async run(name: string, ...argv: readonly string[]): Promise<Ran> {
    const child = spawn(process.execPath, ['--enable-source-maps', CLI, ...argv], {
      env: this.#environment(name, temporaryDirectory(), {}),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = endOf(child);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    const code = await ended;
    const text = await stdout;
    const lines = text.split('\n').filter((line) => line.startsWith('{'));
    return {
      code,
      text,
      lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
      stderr: await stderr,
    };
  }

  /** `ringbook start`. Does not wait. */
  launch(name: string, dataDirectory: string, members: Readonly<Record<string, unknown>> = {}): LaunchedNode {
    const child = spawn(process.execPath, ['--enable-source-maps', CLI, 'start'], {
      env: this.#environment(name, dataDirectory, members),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const node = new LaunchedNode(name, child);
    this.#nodes.add(node);
    void node.ended.then(() => this.#nodes.delete(node));
    return node;
  }

  close(): void {
    for (const node of this.#nodes) node.signal('SIGKILL');
  }

  #environment(
    name: string,
    dataDirectory: string,
    members: Readonly<Record<string, unknown>>,
  ): Record<string, string | undefined> {
    const file = join(temporaryDirectory(), 'config.json');
    const cluster = {
      name: this.#servers.cluster,
      node: name,
      servers: this.#servers.addresses,
      credentialsFile: this.#servers.credentialsOf('node'),
      chainsDirectory: this.#chainsDirectory,
      ...this.#members,
      ...members,
    };
    writeFileSync(file, JSON.stringify({ extends: 'dev', orderWaitMsMax: 0, ...this.#config, cluster }));
    return {
      ...bareEnvironment(),
      RINGBOOK_CONFIG: file,
      RINGBOOK_OMS_PORT: '0',
      RINGBOOK_MDS_PORT: '0',
      RINGBOOK_OPS_PORT: '0',
      RINGBOOK_OPERATOR_TOKEN: OPERATOR_TOKEN_OF_TESTS,
      RINGBOOK_DATA_DIR: dataDirectory,
    };
  }
}

export class LaunchedNode {
  readonly name: string;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly #child: ChildProcess;
  #how: number | string | null = null;
  #stdout = '';
  #stderr = '';

  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.ended = endOf(child).then((how) => {
      this.#how = how;
      return how;
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Whether the line of a start has come. */
  get isReady(): boolean {
    return this.#stdout.includes('"event":"ready"') || this.#stdout.includes('ringbook is ready');
  }

  /** Until it has printed this state. */
  async until(state: string): Promise<void> {
    const isThere = (): boolean => this.#stdout.includes(`"state":"${state}"`);
    await eventually(
      () => {
        if (this.#how !== null && !isThere())
          throw new Error(`${this.name} ended with ${this.#how}, never ${state}: ${this.#stderr}`);
        return isThere();
      },
      () => `${this.name} is never ${state}: ${this.#stdout}${this.#stderr}`,
    );
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** SIGTERM. @returns how it ended. */
  stop(): Promise<number | string> {
    this.signal('SIGTERM');
    return this.ended;
  }
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  if (stream !== null) for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
  return text;
}
