/**
 * A client of the public services written from wire.md alone (sections 2 to 4, 7 and 10), so that a test of the
 * contract does not lean on the code under test. Texts (wire-texts.ts) are sent letter by letter; answers come back as bytes.
 *
 * Not here: what an answer ought to be (the tests), how the node is operated (test-node.ts).
 */
import { randomUUID } from 'node:crypto';
import { ask, askUpgrade, type HttpAnswer, type HttpAsk, SocketReader } from './edge-client.ts';
import {
  cancelBody,
  cancelText,
  closePositionText,
  createBody,
  innerBody,
  type OrderWords,
  orderText,
  type PlainKey,
  type ReplaceWords,
  replaceBody,
  replaceText,
  type SettlementWords,
  settlementText,
  type TransferWords,
  transferText,
  type WithdrawalWords,
  withdrawalCancelText,
  withdrawalText,
} from './wire-texts.ts';

// ---- answers

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>> | null;
  readonly trace_id: string;
  readonly span_id: string;
}

/** The error of an answer. @throws when there is none. */
export function errorOf(answer: HttpAnswer): ErrorBody {
  const { error } = JSON.parse(answer.text) as { error?: ErrorBody };
  if (typeof error !== 'object') throw new Error(`no error envelope: ${answer.status} ${answer.text}`);
  return error;
}

/** `400 INVALID_REQUEST`, or the status and the text where it is no refusal. */
export function toldBy(answer: HttpAnswer): string {
  return answer.status < 400 ? `${answer.status} ${answer.text}` : `${answer.status} ${errorOf(answer).code}`;
}

// ---- one user on the wire

export interface Ports {
  readonly oms: number;
  readonly mds: number;
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

export class PlainClient {
  readonly key: PlainKey;
  token = '';
  readonly #ports: () => Ports;
  readonly #nowNs: () => bigint;
  #ids = 0;
  /** Readers that this client has open. */
  readonly #readers = new Set<SocketReader>();

  /** @param nowNs a different time at each call, none of them ahead of the node's clock by 5 s. */
  constructor(key: PlainKey, ports: () => Ports, nowNs: () => bigint) {
    this.key = key;
    this.#ports = ports;
    this.#nowNs = nowNs;
  }

  get id(): string {
    return this.key.id;
  }

  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.token}`, 'user-id': this.id };
  }

  newId(): string {
    this.#ids += 1;
    return `${this.id.slice(0, 4)}-${this.#ids}`;
  }

  nowNs(): bigint {
    return this.#nowNs();
  }

  async nonce(): Promise<string> {
    const answer = await ask(this.#ports().oms, `/nonce/${this.id}`);
    return (JSON.parse(answer.text) as { value: string }).value;
  }

  auth(nonce: string, signature: Uint8Array = this.key.sign(nonce)): Promise<HttpAnswer> {
    return this.post('/auth', `{"user_id":"${this.id}","nonce":"${nonce}","signature":[${signature.join(',')}]}`, {});
  }

  async login(): Promise<this> {
    const answer = await this.auth(await this.nonce());
    if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`);
    this.token = (JSON.parse(answer.text) as { token: string }).token;
    return this;
  }

  // ---- HTTP, as bytes

  get(path: string, headers: HttpAsk['headers'] = this.headers): Promise<HttpAnswer> {
    return ask(this.#ports().oms, path, { headers: { ...JSON_HEADERS, ...headers } });
  }

  send(
    method: string,
    path: string,
    body: string | Uint8Array = '',
    headers: HttpAsk['headers'] = this.headers,
  ): Promise<HttpAnswer> {
    const hasBody = body.length > 0;
    return ask(this.#ports().oms, path, {
      method,
      headers: { ...JSON_HEADERS, ...headers },
      ...(hasBody ? { body: typeof body === 'string' ? Buffer.from(body) : body } : {}),
    });
  }

  post(path: string, body: string, headers: HttpAsk['headers'] = this.headers): Promise<HttpAnswer> {
    return this.send('POST', path, body, headers);
  }

  /** A read that must succeed, parsed; figures that exceed 2^53 are read from the text instead. */
  async read(path: string): Promise<unknown> {
    const answer = await this.get(path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }

  market(path: string): Promise<HttpAnswer> {
    return ask(this.#ports().mds, path, { headers: JSON_HEADERS });
  }

  // ---- signed actions

  order(words: Partial<OrderWords> = {}): string {
    return orderText(this.id, { id: this.newId(), createdNs: this.nowNs(), ...words });
  }

  createBody(words: Partial<OrderWords> = {}): string {
    return createBody(this.key, this.order(words), this.nowNs());
  }

  create(words: Partial<OrderWords> = {}): Promise<HttpAnswer> {
    return this.post('/orders/create', this.createBody(words));
  }

  replaceBody(words: Omit<ReplaceWords, 'timestampNs'> & Partial<ReplaceWords>): string {
    const text = replaceText({ timestampNs: this.nowNs(), ...words });
    return replaceBody(this.key, text, this.nowNs(), words.asset);
  }

  replace(words: Omit<ReplaceWords, 'timestampNs'> & Partial<ReplaceWords>): Promise<HttpAnswer> {
    return this.send('PATCH', '/orders/replace', this.replaceBody(words));
  }

  cancelBody(id: string, asset?: string): string {
    return cancelBody(this.key, cancelText(this.id, id, asset), this.nowNs());
  }

  cancel(id: string, asset?: string): Promise<HttpAnswer> {
    return this.send('DELETE', '/orders/cancel', this.cancelBody(id, asset));
  }

  transferBody(words: TransferWords): string {
    return innerBody(this.key, transferText(this.id, words));
  }

  transfer(words: TransferWords): Promise<HttpAnswer> {
    return this.post('/account/transfer/sub-account', this.transferBody(words));
  }

  closePosition(account: number, asset: string, nonce: number): Promise<HttpAnswer> {
    const text = closePositionText(this.id, account, asset, nonce);
    return this.post('/account/transfer/close-position', innerBody(this.key, text));
  }

  withdrawalBody(words: WithdrawalWords): string {
    return innerBody(this.key, withdrawalText(this.id, words));
  }

  /** A text of its own each time, unless the words have a request id. */
  withdraw(words: WithdrawalWords): Promise<HttpAnswer> {
    return this.post('/withdrawal/init', this.withdrawalBody({ requestId: randomUUID(), ...words }));
  }

  /** @param requestedNs names the row. */
  cancelWithdrawal(asset: string, nonce: number, requestedNs?: bigint): Promise<HttpAnswer> {
    const text = withdrawalCancelText(this.id, asset, nonce, requestedNs);
    return this.post('/withdrawal/cancel', innerBody(this.key, text));
  }

  settlementBody(words: SettlementWords): string {
    return innerBody(this.key, settlementText(this.id, words));
  }

  /** A text of its own each time, unless the words have a request id. */
  settle(words: SettlementWords): Promise<HttpAnswer> {
    return this.post('/settlement/init', this.settlementBody({ requestId: randomUUID(), ...words }));
  }

  // ---- sockets

  /** A stream of the order service, authenticated by headers unless protocols are given. */
  stream(path: string, protocols: string[] = []): Promise<SocketReader> {
    const isByHeader = !protocols.some((protocol) => protocol.startsWith('Bearer-'));
    return this.#kept(SocketReader.open(this.#ports().oms, path, protocols, isByHeader ? this.headers : {}));
  }

  marketStream(path: string, protocols: string[] = []): Promise<SocketReader> {
    return this.#kept(SocketReader.open(this.#ports().mds, path, protocols));
  }

  /** What was sent to any reader that keeps up has arrived. */
  async caughtUp(): Promise<void> {
    await Promise.all([...this.#readers].map((reader) => reader.caughtUp()));
  }

  /** An upgrade that is refused: its HTTP answer. */
  upgrade(path: string, headers: HttpAsk['headers'] = this.headers): Promise<HttpAnswer> {
    return askUpgrade(this.#ports().oms, path, headers);
  }

  async #kept(opening: Promise<SocketReader>): Promise<SocketReader> {
    const reader = await opening;
    this.#readers.add(reader);
    void reader.closed.then(() => this.#readers.delete(reader));
    return reader;
  }
}
