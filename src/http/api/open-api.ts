/**
 * `/api-doc.json`: an OpenAPI 3.1 document of a service's routes (DOC-01, DOC-02).
 *
 * Two extensions give programs the information of the prose. `x-signed-member`: the signed member of the body; its
 * canonical bytes are compact JSON with members in the order of the schema, unset ones null. `x-cost`: the cost of a
 * request to the budgets.
 *
 * Paths start at the root, without prefix or version (VER-01); there is no versioning policy (VER-02).
 */

import { parseJson } from '../../codec/json-tree.ts';
import { type JsonWritable, writeJson } from '../../codec/json-writer.ts';
import { CHAIN_GIVEN, SESSION_ID } from '../../codec/shapes/account-shapes.ts';
import { GROUP_NAME } from '../../codec/shapes/protection-shapes.ts';
import {
  ASSET_ID_GIVEN,
  COUNT,
  described,
  ORDER_ID,
  type Shape,
  SUB_ACCOUNT,
  TEXT,
  TOKEN_ID,
  USER_ID_GIVEN,
} from '../../codec/shapes/shape-kit.ts';
import { ERROR } from '../../codec/shapes/stream-shapes.ts';
import { must } from '../../core/assert.ts';
import { SMALL_BODY_BYTES_MAX } from '../../core/limits.ts';
import { isRetryable, pascalCase, REJECT_STATUS, type RejectName } from '../../core/reject.ts';
import { ERROR_MEANINGS, OPERATOR_MEANINGS, type OperatorCode, type PublicCode } from './error-table.ts';
import { Components } from './json-schema.ts';
import { COST_WORDS, isRefusedToReaders, type RouteDoc } from './route-doc.ts';

export interface ServiceInfo {
  readonly title: string;
  readonly version: string;
  /** Markdown. */
  readonly description: string;
}

/** A part of the path of a tile (C2SP tlog-tiles). */
const TILE_PART: Shape = described(TEXT, 'three digits, behind an `x` where more follow; the width behind `.p`');

const PATH_PARAMETERS: Readonly<Record<string, Shape>> = {
  user_id: USER_ID_GIVEN,
  asset_id: ASSET_ID_GIVEN,
  order_id: ORDER_ID,
  sub_account: SUB_ACCOUNT,
  account_index: SUB_ACCOUNT,
  chain_id: CHAIN_GIVEN,
  vault: TOKEN_ID,
  settler: USER_ID_GIVEN,
  counter: COUNT,
  session_id: SESSION_ID,
  group: GROUP_NAME,
  level: COUNT,
  index: TILE_PART,
  more: TILE_PART,
  further: TILE_PART,
  last: TILE_PART,
};

export const PATH_PARAMETER_FORM: RegExp = /\{([a-z_]+)\}/g;

/** The shape of a path parameter of any route. */
function pathShape(name: string): Shape {
  return must(PATH_PARAMETERS[name], `the path parameter ${name} is described`);
}

export function openApi(info: ServiceInfo, routes: readonly RouteDoc[]): string {
  const components = new Components();
  const paths = new Map<string, Map<string, JsonWritable>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, JsonWritable>();
    methods.set(route.method.toLowerCase(), operation(route, components));
    paths.set(route.path, methods);
  }
  return writeJson({
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, description: info.description },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ area }) => area))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: routes.some(({ auth }) => auth === 'operator') ? OPERATOR_SCHEMES : USER_SCHEMES,
      schemas: components.all(),
    },
  });
}

const USER_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'the token of `POST /auth`' },
  user: { type: 'apiKey', in: 'header', name: 'User-Id', description: 'your user id, 64 hex digits' },
};
const OPERATOR_SCHEMES = {
  operator: { type: 'http', scheme: 'bearer', description: 'the operator token, `RINGBOOK_OPERATOR_TOKEN`' },
};
/** What a request needs, by who may send it. */
const SECURITY: Readonly<Record<RouteDoc['auth'], readonly JsonWritable[]>> = {
  public: [],
  session: [{ token: [], user: [] }],
  signed: [{ token: [], user: [] }],
  operator: [{ operator: [] }],
};

function operation(route: RouteDoc, components: Components): JsonWritable {
  return {
    tags: [route.area],
    operationId: operationId(route),
    summary: route.summary,
    description: description(route),
    ...(route.isDeprecated === true ? { deprecated: true } : {}),
    security: SECURITY[route.auth],
    ...(route.cost === null ? {} : { 'x-cost': COST_WORDS[route.cost] }),
    ...(route.signs === undefined ? {} : { 'x-signed-member': route.signs }),
    parameters: parameters(route, components),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, components) }),
    responses: responses(route, components),
  };
}

/** `GET /orders/user/{user_id}` → `get_orders_user_user_id`. */
export function operationId({ method, path }: Pick<RouteDoc, 'method' | 'path'>): string {
  return `${method.toLowerCase()}${path.replace(/\W+/g, '_').replace(/_$/, '')}`;
}

function description(route: RouteDoc): string {
  const signed =
    route.signs === undefined
      ? ''
      : ` Signed: the canonical bytes of \`${route.signs}\`, Ed25519, 64 integers in \`signature\`.`;
  const bytes = route.body === undefined ? '' : ` The body has at most ${bodyBytesMaxOf(route)} bytes.`;
  const cost = route.cost === null ? '' : ` Costs ${COST_WORDS[route.cost]}.`;
  return `${route.description ?? ''}${signed}${bytes}${cost}`.trim();
}

/** Limit of a route's body. */
export function bodyBytesMaxOf({ bodyBytesMax = SMALL_BODY_BYTES_MAX }: RouteDoc): number {
  return bodyBytesMax;
}

function parameters(route: RouteDoc, components: Components): readonly JsonWritable[] {
  const inPath = [...route.path.matchAll(PATH_PARAMETER_FORM)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: components.refer(pathShape(name)),
    ...(route.example.path?.[name] === undefined ? {} : { example: route.example.path[name] }),
  }));
  const given = new URLSearchParams(route.example.query ?? '');
  const inQuery = (route.query ?? []).map(({ name, shape, summary, repeats }) => ({
    name,
    in: 'query',
    description: summary,
    ...(given.has(name) ? { example: given.get(name) } : {}),
    schema: repeats === true ? { type: 'array', items: components.refer(shape) } : components.refer(shape),
    ...(repeats === true ? { explode: true } : {}),
  }));
  return [...inPath, ...inQuery];
}

function requestBody(route: RouteDoc, body: Shape, components: Components): JsonWritable {
  const example = route.example.body === undefined ? {} : { example: exampleOf(route.example.body) };
  return { required: true, content: { 'application/json': { schema: components.refer(body), ...example } } };
}

/** The text of an example as a value; `{user_id}` stays and stands for the reader's id. */
export function exampleOf(text: string): JsonWritable {
  const tree = parseJson(Buffer.from(text), { fractions: 'text' });
  if (!tree.ok) throw new Error(`an example is not JSON: ${text}`);
  return tree.value;
}

function responses(route: RouteDoc, components: Components): JsonWritable {
  const media = route.media ?? 'application/json';
  const content =
    media === 'application/json'
      ? { schema: components.refer(route.reply), example: exampleOf(route.example.reply) }
      : { schema: { type: 'string' } };
  const all = new Map<string, JsonWritable>([
    [String(route.status ?? 200), { description: doneText(route), content: { [media]: content } }],
  ]);
  for (const [status, codes] of byStatus(errorsOf(route))) {
    all.set(String(status), {
      description: codes.map((code) => codeLine(code)).join('\n'),
      content: { 'application/json': { schema: components.refer(ERROR) } },
    });
  }
  return all;
}

/** What a reply of a request that was not refused can be: done, or rejected by clearing, or by item. */
function doneText({ status, cost, rejections = [] }: RouteDoc): string {
  if (status === 202) return 'Dispatched';
  if (rejections.length === 0) return 'Done';
  const isBatch = cost === 'bulk';
  const lines = rejections.map((code) => codeLine(code, isBatch ? pascalCase(code) : code));
  return [isBatch ? 'Done; the `reason` of an item can be' : 'Done, or rejected, `details.code`', ...lines].join('\n');
}

function codeLine(code: RejectName, word: string = code): string {
  const { means, remedy } = ERROR_MEANINGS[code as PublicCode] ?? OPERATOR_MEANINGS[code as OperatorCode];
  return `- \`${word}\`${isRetryable(code) ? ' (retryable)' : ''}: ${means}; ${remedy}`;
}

/** The codes that a route can reply with: those of its kind and its own. */
export function errorsOf(route: RouteDoc): readonly RejectName[] {
  const codes: RejectName[] = ['INVALID_REQUEST', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'INTERNAL_ERROR'];
  codes.push('URI_TOO_LONG', 'HEADERS_TOO_LARGE');
  if (route.body !== undefined) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (route.auth !== 'public') codes.push('UNAUTHORIZED');
  if (isRefusedToReaders(route)) codes.push('READ_ONLY_SESSION');
  if (route.cost === null) codes.push('HOST_NOT_SERVED');
  if (route.auth === 'operator') codes.push('ROLE_REQUIRED');
  return [...new Set([...codes, ...(route.errors ?? [])])];
}

function byStatus(codes: readonly RejectName[]): ReadonlyMap<number, readonly RejectName[]> {
  const groups = new Map<number, RejectName[]>();
  for (const code of codes) {
    const status = REJECT_STATUS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}
