/** `/async-api.json`: an AsyncAPI 3.0 document of a service's sockets. */
import { type JsonWritable, writeJson } from '../../codec/json-writer.ts';
import { either } from '../../codec/shapes/shape-kit.ts';
import { envelopeOf } from '../../codec/shapes/stream-shapes.ts';
import { Components } from './json-schema.ts';
import { exampleOf, PATH_PARAMETER_FORM, type ServiceInfo } from './open-api.ts';
import type { MessageDoc, StreamDoc } from './route-doc.ts';

export function asyncApi(info: ServiceInfo, streams: readonly StreamDoc[]): string {
  const components = new Components();
  const channels = new Map<string, JsonWritable>();
  const operations = new Map<string, JsonWritable>();
  for (const stream of streams) {
    const name = channelName(stream);
    channels.set(name, channel(stream, components));
    operations.set(`send_${name}`, operation(name, 'send', stream.sends));
    if (stream.receives !== undefined) operations.set(`receive_${name}`, operation(name, 'receive', stream.receives));
  }
  return writeJson({
    asyncapi: '3.0.0',
    info: { title: info.title, version: info.version, description: info.description },
    defaultContentType: 'application/json',
    channels,
    operations,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'the token of `POST /auth`' },
        user: { type: 'httpApiKey', in: 'header', name: 'User-Id' },
      },
      schemas: components.all(),
    },
  });
}

/** `/orders` → `orders`, `/trades/user/{user_id}` → `trades_user_user_id`. */
function channelName({ path }: Pick<StreamDoc, 'path'>): string {
  return path.replace(/\W+/g, '_').replace(/^_|_$/g, '');
}

function channel(stream: StreamDoc, components: Components): JsonWritable {
  const parameters = [...stream.path.matchAll(PATH_PARAMETER_FORM)].map(([, name = '']) => [name, {}] as const);
  const messages = new Map<string, JsonWritable>();
  for (const message of [...stream.sends, ...(stream.receives ?? [])]) {
    messages.set(message.name, {
      name: message.name,
      summary: message.summary,
      payload: components.refer(message.shape),
      examples: [{ payload: exampleOf(message.example) }],
    });
  }
  if (stream.channel !== null) messages.set('Envelope', envelope(stream, components));
  return {
    address: stream.path,
    title: stream.summary,
    description: description(stream),
    ...(parameters.length === 0 ? {} : { parameters: Object.fromEntries(parameters) }),
    messages,
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0', ...queryBinding(stream, components) } },
  };
}

/** Payloads of one channel, each once: on v1 they are the `data` of this envelope. */
function envelope(stream: StreamDoc, components: Components): JsonWritable {
  const payloads = [...new Set(stream.sends.map(({ shape }) => shape))].filter(({ title }) => title !== 'Pong');
  const title = `Envelope_${channelName(stream)}`;
  return {
    name: 'Envelope',
    summary: 'On v1: every payload in this envelope',
    payload: components.refer(envelopeOf(title, either(...payloads))),
  };
}

function queryBinding({ query }: StreamDoc, components: Components): { readonly [name: string]: JsonWritable } {
  if (query === undefined) return {};
  const properties = query.map(({ name, shape, summary }) => [
    name,
    { allOf: [components.refer(shape)], description: summary } as JsonWritable,
  ]);
  return { query: { type: 'object', properties: new Map(properties as [string, JsonWritable][]) } };
}

function description(stream: StreamDoc): string {
  const auth =
    stream.auth === 'public'
      ? 'Public. '
      : 'Needs a session: the headers `Authorization` and `User-Id`, or, in a browser, the subprotocols `Bearer-<token>` and `User-<user id>`; `svc.ws.v1` before them, or another name that ends in `.ws.v1`, selects v1. ';
  return `${stream.description ?? ''} ${auth}After a gap or a close 1013 read again: ${stream.resync}.`.trim();
}

function operation(name: string, action: 'send' | 'receive', messages: readonly MessageDoc[]): JsonWritable {
  return {
    action,
    channel: { $ref: `#/channels/${name}` },
    messages: messages.map((message) => ({ $ref: `#/channels/${name}/messages/${message.name}` })),
  };
}
