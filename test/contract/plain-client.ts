/**
 * A client of the public services written from wire.md alone (sections 2 to 4, 7 and 10), so that a test of the
 * contract does not lean on the code under test. Texts are made and sent letter by letter; answers come back as bytes.
 *
 * Not here: what an answer ought to be (the tests), how the node is operated (contract-node.ts).
 */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { getPublicKey, hashes } from '@noble/ed25519';
import { ask, askUpgrade, type HttpAnswer, type HttpAsk, SocketReader } from '../support/edge-client.ts';

hashes.sha512 = (bytes) => new Uint8Array(createHash('sha512').update(bytes).digest());

// ---- keys and canonical texts (wire.md 4)

/** What stands before the seed in a private key of this kind (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An Ed25519 key from a seed of 32 equal bytes, as the vectors have them. */
export class PlainKey {
  /** 64 lower-case hex digits. */
  readonly id: string;
  readonly #key: KeyObject;

  constructor(seedByte: number) {
    const seed = Buffer.alloc(32, seedByte);
    this.id = Buffer.from(getPublicKey(seed)).toString('hex');
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  }

  /** Over the bytes as they are; a text is its UTF-8 bytes. */
  sign(message: string | Uint8Array): Uint8Array {
    return sign(null, typeof message === 'string' ? Buffer.from(message, 'utf8') : message, this.#key);
  }

  /** Over the canonical bytes of a signable text; the wire form is 64 integers. */
  signature(text: string): string {
    return `[${this.sign(canonical(text)).join(',')}]`;
  }
}

/** Bytes 0x20, 0x0D and 0x0A are deleted, also inside strings; a tab stays. */
export function canonical(text: string): string {
  return text.replace(/[ \r\n]/g, '');
}

/** Price and quantity decimals of the seeded markets. */
const DECIMALS: Readonly<Record<string, readonly [price: number, quantity: number]>> = {
  '1': [1, 5],
  '2': [2, 4],
  '3': [4, 1],
};

export type Side = 'Buy' | 'Sell';

/** Raw integers; everything else has the default a plain spot order has. */
export interface OrderWords {
  readonly id: string;
  readonly side?: Side;
  readonly price?: number;
  readonly quantity?: number;
  readonly tif?: string;
  /** In place of the limit details. */
  readonly details?: string;
  readonly asset?: string;
  readonly account?: number;
  readonly isSpot?: boolean;
  readonly reduceOnly?: boolean;
  readonly trigger?: string;
  readonly createdNs: bigint;
}

export const GTC = '{"GTC":{"post_only":false}}';
export const POST_ONLY = '{"GTC":{"post_only":true}}';
export const IOC = '{"IOC":{"fill_or_kill":false}}';
export const FOK = '{"IOC":{"fill_or_kill":true}}';

export function orderText(signer: string, words: OrderWords): string {
  const { asset = '2', side = 'Sell', price = 300_000, quantity = 1_000, tif = GTC } = words;
  const limit = `{"Limit":{"limit_price":${price},"quantity":${quantity},"time_in_force":${tif}}}`;
  const [priceDecimals, quantityDecimals] = DECIMALS[asset] ?? [2, 4];
  return (
    `{"signer":"${signer}","order_id":"${words.id}","base_asset":"${asset}","book_price_decimals":${priceDecimals},` +
    `"book_quantity_decimals":${quantityDecimals},"details":${words.details ?? limit},"side":"${side}",` +
    `"trigger":${words.trigger ?? 'null'},"creation_timestamp_ns":${words.createdNs},` +
    `"target":{"account":${words.account ?? 0},"is_spot":${words.isSpot ?? true}},` +
    `"reduce_only":${words.reduceOnly ?? false},"max_trading_fees_rate":50000,"protocol_version":1}`
  );
}

export interface ReplaceWords {
  readonly id: string;
  readonly asset?: string;
  readonly price?: number | null;
  readonly quantity?: number | null;
  readonly timestampNs: bigint;
}

/** Quantity decimals stand before price decimals here, the reverse of a create. */
export function replaceText(words: ReplaceWords): string {
  const [priceDecimals, quantityDecimals] = DECIMALS[words.asset ?? '2'] ?? [2, 4];
  return (
    `{"order_id":"${words.id}","timestamp_ns":${words.timestampNs},"new_price_limit":${words.price ?? null},` +
    `"new_quantity":${words.quantity ?? null},"new_trigger":null,"book_quantity_decimals":${quantityDecimals},` +
    `"book_price_decimals":${priceDecimals},"protocol_version":1}`
  );
}

export function cancelText(signer: string, id: string, asset = '2'): string {
  return `{"order_id":"${id}","asset_id":"${asset}","signer":"${signer}","protocol_version":1}`;
}

export interface TransferWords {
  readonly source: number;
  readonly target: number;
  readonly asset?: string;
  readonly amount: string;
  /** As JSON: `null`, `"CrossMargin"`, `{"Isolated":{"asset":"3"}}`. */
  readonly type?: string;
  readonly nonce: number | bigint;
}

export function transferText(user: string, words: TransferWords): string {
  return (
    `{"user":"${user}","source_index":${words.source},"target_index":${words.target},` +
    `"transfer_asset":"${words.asset ?? '0'}","transfer_amount":"${words.amount}",` +
    `"target_account_type":${words.type ?? 'null'},"nonce":${words.nonce}}`
  );
}

export function closePositionText(user: string, account: number, asset: string, nonce: number): string {
  return `{"user":"${user}","account":${account},"asset_identifier":"${asset}","nonce":${nonce}}`;
}

// ---- wrappers (wire.md 7.4 to 7.6, 7.17)

export function createBody(
  key: PlainKey,
  text: string,
  nowNs: bigint,
  signature: string = key.signature(text),
): string {
  return `{"order":${text},"signature":${signature},"post_sign_timestamp":${nowNs}}`;
}

export function replaceBody(key: PlainKey, text: string, nowNs: bigint, asset = '2'): string {
  const outer = `"signer":"${key.id}","asset_id":"${asset}"`;
  return `{"request":${text},${outer},"signature":${key.signature(text)},"post_sign_timestamp":${nowNs}}`;
}

export function cancelBody(key: PlainKey, text: string, nowNs: bigint): string {
  return `{"cancel":${text},"signature":${key.signature(text)},"post_sign_timestamp":${nowNs}}`;
}

export function innerBody(key: PlainKey, text: string): string {
  return `{"inner":${text},"signature":${key.signature(text)},"additional_signers":[]}`;
}

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
