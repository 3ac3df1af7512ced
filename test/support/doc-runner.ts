/**
 * Runs the examples of the documentation against a node: commands through the built CLI, programs compiled against the
 * package as an installed one, requests and frames as user `a` of the dev profile.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { verify } from '@noble/ed25519';
import { WebSocket } from 'ws';
import { devKey } from '../../src/client/keys.ts';
import { must } from '../../src/core/assert.ts';
import { loadConfig } from '../../src/node/config.ts';
import { parseTokens } from '../../src/operator/operator-tokens.ts';
import { bareEnvironment } from './bare-environment.ts';
import type { NodeProcess } from './node-process.ts';
import { PATIENCE_MS, seenAtLast } from './patience.ts';

// The examples of the documentation, as they stand in its fenced blocks. The words behind the fence define what a block is;
// renderers show only the first as the language.
//   sh                          `npx ringbook …` commands, one a line
//   sh script                   a script for bash, with curl and openssl; `json answer` behind it is what it prints
//   ts                          a whole program
//   python                      a whole program, run where the package of packages/python is installed
//   json config                 a configuration file
//   json tokens                 a file of operator tokens
//   text vector                 a signed text and, on its second line, the signature in hex
//   http [mds|ops]              a request; `json answer [status]` behind it has the shape of the answer
//   json control v0|v1          a frame for `/control`; `json answer` behind it has the shape of the answer
//   json frame PATH             the shape of a frame that the stream at PATH has sent
// A block below an HTML comment `<!-- not run: reason -->` is not run.

interface Example {
  readonly file: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** The words behind the fence. */
  readonly words: readonly string[];
  readonly text: string;
  /** Why it is not run; null when it is. */
  readonly notRun: string | null;
}

const NOT_RUN_FORM = /^<!-- not run: (.+) -->$/;

/** @returns every fenced block of a file, in order. @throws Error for a fence that is not closed. */
export function examplesOf(file: string): readonly Example[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const examples: Example[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = lines[at] ?? '';
    if (!fence.startsWith('```')) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`${file}:${at + 1}: the fence is not closed`);
    examples.push({
      file,
      line: at + 1,
      words: fence.slice(3).split(' '),
      text: lines.slice(at + 1, end).join('\n'),
      notRun: NOT_RUN_FORM.exec(lines[at - 1] ?? '')?.[1] ?? null,
    });
    at = end;
  }
  return examples;
}

/**
 * The shape of a JSON value: member names and the kinds of the values, nothing else. Numbers that a double cannot hold
 * are of the same kind as those it can. A text that begins like a decimal number is a decimal. Arrays have the shape of
 * their first element; an empty one has none and fits any.
 */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (value === null) return 'null';
  if (typeof value === 'string') return /^-?\d+(?:\.\d+)?$/.test(value) ? 'decimal' : 'string';
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

/** What the signer of a documented request puts in place of the values on the page. */
interface Refresh {
  readonly nowNs: bigint;
  readonly sign: (text: string) => Uint8Array;
}

const TIMES = /("(?:creation_timestamp_ns|timestamp_ns|post_sign_timestamp)": ?)\d+/g;
const SIGNATURE = /("signature": ?)\[[^\]]*\]/g;
const SIGNED_MEMBER = /"(?:order|request|cancel|inner)": ?\{/g;

/**
 * A documented request with times of now and true signatures: each over the `order`, `request`, `cancel` or `inner`
 * object before it, with the members in the order in which the page has them. A page with a wrong order of members is
 * refused by the node.
 */
function refreshed(body: string, { nowNs, sign }: Refresh): string {
  const current = body.replace(TIMES, (_whole, name: string) => `${name}${nowNs}`);
  const texts = [...current.matchAll(SIGNED_MEMBER)].map((start) => {
    const from = start.index + start[0].length - 1;
    return current.slice(from, closingBrace(current, from) + 1).replaceAll(' ', '');
  });
  if (texts.length === 0) return current;
  return current.replace(SIGNATURE, (_whole, name: string) => `${name}[${sign(texts.shift() ?? '').join(',')}]`);
}

/** None of the signed strings holds a brace. */
function closingBrace(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`no end of the object: ${text.slice(from, from + 60)}`);
}

const run = promisify(execFile);
/** The interpreter that has the package of packages/python. */
export const PYTHON: string = process.env['RINGBOOK_PYTHON'] ?? 'python3';
const BUILD = fileURLToPath(new URL('../../', import.meta.url));
const CLI = join(BUILD, 'src', 'cli', 'main.js');
/** The name of each package, its folder, and its compiled files; the client's are the same as the node's. */
const PACKAGES = [
  ['ringbook', '.', BUILD],
  ['ringbook-client', 'packages/client', join(BUILD, 'src')],
] as const;
const TSC = join('node_modules', 'typescript', 'bin', 'tsc');

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Told {
  readonly socket: WebSocket;
  readonly frames: unknown[];
}

export class DocRunner {
  readonly #node: NodeProcess;
  /** A directory of a user's own, with the packages installed. */
  readonly #home: string;
  readonly #key = devKey('a');
  readonly #streams = new Map<string, Told>();
  #nonce = '';
  #token = '';
  #answer: Answer | null = null;

  constructor(node: NodeProcess, home: string) {
    this.#node = node;
    this.#home = home;
    for (const [name, source, compiled] of PACKAGES) {
      const installed = join(home, 'node_modules', name);
      mkdirSync(installed, { recursive: true });
      copyFileSync(join(source, 'package.json'), join(installed, 'package.json'));
      symlinkSync(compiled, join(installed, 'dist'));
    }
    symlinkSync(join(process.cwd(), 'node_modules', '@types'), join(home, 'node_modules', '@types'));
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  }

  /** Logs in over the wire and listens to a stream from now on. */
  async listen(path: string): Promise<void> {
    if (this.#token === '') await this.#login();
    this.#streams.set(path, await this.#open(path, path.includes('sequence=') ? 'svc.ws.v1' : undefined));
  }

  close(): void {
    for (const { socket } of this.#streams.values()) socket.terminate();
  }

  /** @throws AssertionError when the example does not do what its page describes. */
  async execute(example: Example): Promise<void> {
    const [language, role, detail] = example.words;
    if (language === 'sh' && role === 'script') return this.#script(example.text);
    if (language === 'sh') return this.#shell(example.text);
    if (language === 'ts') return this.#program(example);
    if (language === 'python') return this.#python(example);
    if (language === 'http') return this.#request(example.text, this.#baseOf(role));
    if (language === 'text' && role === 'vector') return checkVector(example.text);
    assert.equal(language, 'json', `a block of no known kind: ${example.words.join(' ')}`);
    if (role === 'config') return this.#configuration(example.text);
    if (role === 'tokens') {
      const tokens = parseTokens(example.text);
      assert.ok(typeof tokens !== 'string', `the file ${String(tokens)}`);
      return;
    }
    if (role === 'control') return this.#control(example.text, detail ?? '');
    if (role === 'answer') return this.#compare(example.text, Number(detail ?? 200));
    assert.equal(role, 'frame', 'a json block says what it is');
    return this.#frame(example.text, detail ?? '');
  }

  async #shell(text: string): Promise<void> {
    for (const line of text.split('\n')) {
      const [npx, name, ...args] = line.split(' ');
      assert.deepEqual([npx, name], ['npx', 'ringbook'], line);
      await run(process.execPath, [CLI, ...args], { cwd: this.#home, env: this.#environment() });
    }
  }

  /** A whole script of a shell; what it prints last is an answer. */
  async #script(text: string): Promise<void> {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', this.#local(text)], { cwd: this.#home });
    this.#answer = { status: 200, body: JSON.parse(stdout) as unknown };
  }

  #environment(): NodeJS.ProcessEnv {
    const { oms, mds, ops } = this.#node;
    const port = (address: string): string => new URL(address).port;
    return {
      ...bareEnvironment(),
      RINGBOOK_OMS_PORT: port(oms),
      RINGBOOK_MDS_PORT: port(mds),
      RINGBOOK_OPS_PORT: port(ops),
    };
  }

  #baseOf(role: string | undefined): string {
    if (role === 'mds') return this.#node.mds;
    return role === 'ops' ? this.#node.ops : this.#node.oms;
  }

  /** The addresses of `npm start` are those of the node under test. */
  #local(text: string): string {
    return text.replaceAll('http://127.0.0.1:3032', this.#node.oms).replaceAll('http://127.0.0.1:8011', this.#node.mds);
  }

  /** Compiles all programs at once, strictly: what compiles here compiles for a user. */
  async compile(examples: readonly Example[]): Promise<void> {
    for (const example of examples) writeFileSync(join(this.#home, `${nameOf(example)}.ts`), this.#local(example.text));
    const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--skipLibCheck'];
    const files = examples.map((example) => `${nameOf(example)}.ts`);
    const tsc = join(process.cwd(), TSC);
    await run(process.execPath, [tsc, ...options, '--ignoreConfig', ...files], { cwd: this.#home }).catch(
      (error: { stdout?: string }) => assert.fail(`the programs do not compile:\n${error.stdout}`),
    );
  }

  async #program(example: Example): Promise<void> {
    await run(process.execPath, [`${nameOf(example)}.js`], { cwd: this.#home, timeout: PATIENCE_MS });
  }

  async #python(example: Example): Promise<void> {
    const path = join(this.#home, `${nameOf(example)}.py`);
    writeFileSync(path, this.#local(example.text));
    await run(PYTHON, [path], { cwd: this.#home, timeout: PATIENCE_MS });
  }

  #configuration(text: string): void {
    const path = join(this.#home, 'config.json');
    writeFileSync(path, text);
    const given = JSON.parse(text) as Record<string, unknown>;
    const config: object = loadConfig({ RINGBOOK_CONFIG: path, RINGBOOK_OPERATOR_TOKEN: 'd'.repeat(32) });
    const { extends: base, ...own } = given;
    assert.equal(typeof base, 'string');
    assertHolds(config, own);
  }

  #sign(text: string): Uint8Array {
    return this.#key.sign(Buffer.from(text));
  }

  #fresh(body: string): string {
    return refreshed(body, { nowNs: BigInt(Date.now()) * 1_000_000n, sign: (text) => this.#sign(text) });
  }

  async #request(text: string, base: string): Promise<void> {
    const [head = '', body] = text.split('\n\n');
    const [first = '', ...given] = head.split('\n').map((line) => this.#filled(line));
    const [method = '', path = ''] = first.split(' ');
    const headers = new Headers({ 'content-type': 'application/json', ...this.#credentials(path) });
    for (const line of given) headers.set(...(line.split(': ') as [string, string]));
    const payload = path === '/auth' ? this.#loginBody(body ?? '') : body === undefined ? null : this.#fresh(body);
    const response = await fetch(base + path, { method, headers, body: payload });
    this.#answer = { status: response.status, body: await response.json() };
    const reply = this.#answer.body as { value?: string; token?: string };
    if (path.startsWith('/nonce/')) this.#nonce = reply.value ?? '';
    if (path === '/auth') this.#token = reply.token ?? '';
  }

  #credentials(path: string): Readonly<Record<string, string>> {
    if (path === '/auth' || path.startsWith('/nonce/') || path.startsWith('/market')) return {};
    return { authorization: `Bearer ${this.#token}`, 'user-id': this.#key.userId };
  }

  #filled(line: string): string {
    return line.replaceAll('{user_id}', this.#key.userId).replaceAll('{token}', this.#token);
  }

  /** The documented login with the nonce of now, signed as its own bytes. */
  #loginBody(body: string): string {
    return body
      .replace(/"nonce":"[^"]*"/, `"nonce":"${this.#nonce}"`)
      .replace(/\[[^\]]*\]/, `[${this.#sign(this.#nonce).join(',')}]`);
  }

  async #login(): Promise<void> {
    await this.#request('GET /nonce/{user_id}', this.#node.oms);
    await this.#request(`POST /auth\n\n{"user_id":"${this.#key.userId}","nonce":"","signature":[]}`, this.#node.oms);
  }

  #open(path: string, protocol?: string): Promise<Told> {
    const isMarketData = path.startsWith('/marketdepth') || path === '/trades/events';
    const base = (isMarketData ? this.#node.mds : this.#node.oms).replace('http', 'ws');
    const headers = isMarketData ? {} : this.#credentials(path);
    const socket = new WebSocket(base + this.#filled(path), protocol === undefined ? [] : [protocol], { headers });
    const frames: unknown[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())));
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve({ socket, frames }));
      socket.once('error', reject);
    });
  }

  async #control(text: string, version: string): Promise<void> {
    assert.ok(version === 'v0' || version === 'v1', 'a control frame says its version');
    const { socket, frames } = await this.#open('/control', version === 'v1' ? 'svc.ws.v1' : undefined);
    socket.send(this.#fresh(text));
    const body = await seenAtLast(() => frames[0]);
    assert.ok(body !== null, 'a frame is answered');
    this.#answer = { status: 200, body };
    socket.close();
  }

  #compare(text: string, status: number): void {
    const answer = must(this.#answer, 'an answer stands behind its request');
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    const said = JSON.parse(text) as unknown;
    assert.deepEqual(shapeOf(answer.body), shapeOf(said), JSON.stringify(answer.body));
    assert.deepEqual(wordsOf(answer.body), wordsOf(said));
  }

  async #frame(text: string, path: string): Promise<void> {
    const told = must(this.#streams.get(path), `the test listens to ${path}`);
    const said = JSON.parse(text) as unknown;
    const fits = (frame: unknown): boolean =>
      JSON.stringify([shapeOf(frame), wordsOf(frame)]) === JSON.stringify([shapeOf(said), wordsOf(said)]);
    const frame = await seenAtLast(() => told.frames.find(fits));
    if (frame !== null) return;
    assert.fail(`${path} told no such frame:\n${told.frames.map((other) => JSON.stringify(other)).join('\n')}`);
  }
}

/** The members that must agree in value, not only in type: what the page describes. */
const COMPARED = new Set(
  (
    'order_id asset_id user_id status reason code message limit_price price quantity trading_fee filled_quantity ' +
    'filled_amount new_price new_quantity is_maker is_buyer tick_size min_order_size maker_fee_rate taker_fee_rate ' +
    'self_trade_prevention book_price_decimals book_quantity_decimals max_leverage isolated_only request_id ' +
    'price_collar trigger_price trigger_above_price trigger_below_price trigger_enabled_quantity parent_id'
  ).split(' '),
);

function wordsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'object' && member !== null) return wordsOf(member);
    return COMPARED.has(name) ? [[name, member as unknown]] : [];
  });
}

function nameOf(example: Example): string {
  return `${example.file.replace(/\W/g, '-')}-${example.line}`;
}

/** Every member of `part`, at any depth, stands in `whole` with the same value. */
function assertHolds(whole: unknown, part: unknown): void {
  if (typeof part !== 'object' || part === null) {
    assert.equal(whole, part);
    return;
  }
  assert.ok(typeof whole === 'object' && whole !== null);
  for (const [name, member] of Object.entries(part)) assertHolds(Reflect.get(whole, name), member);
}

/** The signature belongs to the text, by a verifier that is not the node's. */
function checkVector(text: string): void {
  const [signed = '', signature = ''] = text.split('\n');
  const { signer } = JSON.parse(signed) as { signer: string };
  assert.ok(verify(Buffer.from(signature, 'hex'), Buffer.from(signed), Buffer.from(signer, 'hex')));
}
