/**
 * Does with a running node what its own documents describe: reads `/api-doc.json` and `/async-api.json`, sends every
 * example signed, and holds every reply and every frame against the schema beside it. Nothing of the node but its
 * addresses is used.
 */
import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import type { SigningKey } from '../../src/client/keys.ts';
import { type Operation, readOperations, readStreams, type Stream } from '../../src/client/page/api-reader.ts';
import { refreshed, signedBody, withUser } from '../../src/client/page/attempt.ts';
import { parseJsonText } from '../../src/client/page/json-text.ts';
import { isJsonObject, type JsonValue } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import { must } from '../../src/core/assert.ts';
import { ask, type HttpAnswer, type HttpAsk } from './edge-client.ts';
import { eventually } from './patience.ts';

export interface Told {
  readonly stream: Stream;
  readonly isV1: boolean;
  readonly frames: JsonValue[];
  readonly socket: WebSocket;
}

/** One user of one service. */
export class ApiRunner {
  readonly operations: readonly Operation[];
  readonly streams: readonly Stream[];
  readonly key: SigningKey;
  readonly #base: string;
  #nonce = '';
  #token = '';
  /** Of the session before this one, once they were listed. */
  #sessionId: string | null = null;

  private constructor(base: string, key: SigningKey, openApi: JsonValue, asyncApi: JsonValue) {
    this.#base = base;
    this.key = key;
    this.operations = readOperations(openApi);
    this.streams = readStreams(asyncApi);
  }

  static async of(base: string, key: SigningKey): Promise<ApiRunner> {
    const load = async (path: string): Promise<JsonValue> => parseJsonText(await (await fetch(base + path)).text());
    return new ApiRunner(base, key, await load('/api-doc.json'), await load('/async-api.json'));
  }

  operation(id: string): Operation {
    return must(
      this.operations.find((one) => one.id === id),
      `the document has ${id}`,
    );
  }

  async logIn(): Promise<void> {
    await this.send(this.operation('get_nonce_user_id'));
    await this.send(this.operation('post_auth'));
  }

  /** Sends the example and checks its answer. @param edit changes the body before it is signed. */
  async send(operation: Operation, edit: (text: string) => string = (text) => text): Promise<JsonValue> {
    const body = this.#bodyOf(operation, edit);
    const response = await this.#ask(this.#pathOf(operation), {
      method: operation.method,
      headers: { 'content-type': 'application/json', ...this.#headers(operation.needsSession) },
      ...bodyPart(body),
    });
    const { text } = response;
    const what = `${operation.id}: ${response.status} ${text.slice(0, 400)}`;
    const [good] = operation.replies;
    assert.equal(String(response.status), good?.status, what);
    assert.equal(response.headers['deprecation'], operation.isDeprecated ? 'true' : undefined, what);
    const type = response.headers['content-type'] ?? '';
    if (!type.startsWith('application/json')) return null;
    const reply = parseJsonText(text);
    if (good?.schema != null) assertFits(good.schema, reply, what);
    this.#remember(operation, reply);
    return reply;
  }

  /** A request that must be refused: with a code that the route documents, in the envelope that it documents. */
  async refused(operation: Operation, how: 'without session' | 'half a body' | 'unknown market'): Promise<string> {
    const isHalf = how === 'half a body';
    const response = await this.#ask(this.#pathOf(operation, how === 'unknown market' ? '999' : null), {
      method: operation.method,
      headers: this.#headers(operation.needsSession && how !== 'without session'),
      ...bodyPart(isHalf ? '{"half":' : this.#bodyOf(operation, (text) => text)),
    });
    const { text } = response;
    const what = `${operation.id} ${how}: ${response.status} ${text}`;
    const documented = operation.replies.find(({ status }) => status === String(response.status));
    const envelope = parseJsonText(text);
    assertFits(must(documented?.schema, what), envelope, what);
    const error = isJsonObject(envelope) ? envelope.get('error') : undefined;
    const code = String(isJsonObject(error) ? error.get('code') : '');
    assert.ok(documented?.description.includes(`\`${code}\``), what);
    return code;
  }

  /** Not `fetch`, which sends no body with a GET. */
  #ask(path: string, request: HttpAsk): Promise<HttpAnswer> {
    return ask(Number(new URL(this.#base).port), path, request);
  }

  /** Listens to a stream; `{asset_id}` is market 1. */
  listen(stream: Stream, isV1: boolean): Promise<Told> {
    const path = stream.path.replace('{user_id}', this.key.userId).replace('{asset_id}', '1');
    const protocols = isV1 ? ['svc.ws.v1'] : [];
    const socket = new WebSocket(this.#base.replace('http', 'ws') + path, protocols, {
      headers: this.#headers(stream.needsSession),
    });
    const frames: JsonValue[] = [];
    socket.on('message', (data: Buffer) => frames.push(parseJsonText(data.toString('utf8'))));
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve({ stream, isV1, frames, socket }));
      socket.once('error', reject);
    });
  }

  /** A signed frame of `/control`, from the example of its document. */
  controlFrame(message: Stream['receives'][number]): string {
    const example = withUser(must(message.example, 'an example'), this.key.userId, '{user_id}');
    const frame = refreshed(example, nowNs());
    assert.ok(isJsonObject(frame));
    const data = frame.get('data');
    const [tagged] = isJsonObject(data) ? [...data] : [...frame];
    const [tag, wrapper] = must(tagged, 'a tag');
    const operation = { ...this.operation('delete_orders_cancel') };
    const signed = `{"${tag}":${signedBody(operation, wrapper, this.key).body}}`;
    if (!isJsonObject(data)) return signed;
    return writeJson(frame).replace(writeJson(data), signed);
  }

  #bodyOf(operation: Operation, edit: (text: string) => string): string | null {
    if (operation.body === null) return null;
    if (operation.id === 'post_auth') {
      const signature = [...this.key.sign(Buffer.from(this.#nonce))];
      return JSON.stringify({ user_id: this.key.userId, nonce: this.#nonce, signature });
    }
    const example = withUser(operation.body.example, this.key.userId, '{user_id}');
    return signedBody(operation, parseJsonText(edit(writeJson(refreshed(example, nowNs())))), this.key).body;
  }

  #pathOf({ path, parameters }: Operation, assetId: string | null = null): string {
    let filled = path.replace('{user_id}', this.key.userId);
    const query = new URLSearchParams();
    for (const { name, place, example } of parameters) {
      const known = name === 'session_id' ? this.#sessionId : null;
      const value = known ?? (name === 'asset_id' && assetId !== null ? assetId : example);
      if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      else if (example !== '') query.append(name, example);
    }
    return query.size === 0 ? filled : `${filled}?${query}`;
  }

  #headers(needsSession: boolean): Readonly<Record<string, string>> {
    return needsSession ? { authorization: `Bearer ${this.#token}`, 'user-id': this.key.userId } : {};
  }

  #remember(operation: Operation, reply: JsonValue): void {
    if (operation.id === 'get_sessions' && Array.isArray(reply)) {
      const before: unknown = reply.at(-2);
      this.#sessionId = before instanceof Map ? String(before.get('id')) : null;
    }
    if (!isJsonObject(reply)) return;
    if (operation.id === 'get_nonce_user_id') this.#nonce = String(reply.get('value'));
    if (operation.id === 'post_auth') this.#token = String(reply.get('token'));
  }
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

export function assertFits(schema: Shape, value: JsonValue, what: string): void {
  const fit = checkShape(schema, value, { strangers: 'refuse' });
  assert.ok(fit.ok, fit.ok ? '' : `${what}\n${fit.reject.field}: ${fit.reject.message}`);
}

/** Every received frame is one of those in its document. */
export function assertTold({ stream, isV1, frames }: Told): void {
  const schemas = stream.sends.filter(({ name }) => (name === 'Envelope') === isV1).map(({ schema }) => schema);
  for (const frame of frames) {
    const what = `${stream.path} told ${writeJson(frame)}`;
    const fits = schemas.some((schema) => checkShape(schema, frame, { strangers: 'refuse' }).ok);
    if (!fits) assertFits(must(schemas[0], what), frame, what);
  }
}

/** Waits for a frame that holds all of some texts. */
export async function soonTold({ stream, frames }: Told, ...texts: readonly string[]): Promise<void> {
  await eventually(
    () => frames.some((frame) => texts.every((text) => writeJson(frame).includes(text))),
    () => `${stream.path} did not tell ${texts.join(' ')}:\n${frames.map(writeJson).join('\n')}`,
  );
}

function bodyPart(text: string | null): Pick<HttpAsk, 'body'> {
  return text === null ? {} : { body: Buffer.from(text) };
}
