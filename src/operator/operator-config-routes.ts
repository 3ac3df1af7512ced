/**
 * Chains, vaults, settlers, withdrawal delays, settings and users (operator-api.md 4.4 to 4.7, 4.10). Clearing
 * validates the bodies.
 */

import type { ClearingQuery } from '../clearing/clearing-queries.ts';
import type { Reply } from '../clearing/inputs.ts';
import { configList, DEFAULT_WITHDRAWAL_DELAY } from '../clearing/registry/registry-config.ts';
import { DEFAULT_SETTINGS, withAliases } from '../clearing/registry/settings.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import { format18 } from '../core/decimal.ts';
import { type ChainId, parseAddress, parseChainId, parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { CHAIN_ID_WORDS } from './body-shapes.ts';
import type { OperatorRequest } from './commands.ts';
import { request } from './operator-change.ts';
import type { OpsCall, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { refusedChain, refusedVault } from './production-rules.ts';
import { PUBLIC_KEYS } from './seed-data.ts';

type View = Readonly<Record<string, unknown>>;
type Kind = Exclude<ConfigRow['kind'], 'start' | 'leadership'>;
type ConfigMethod = Extract<OperatorRequest, { kind: 'putConfig' }>['method'];

export function configRoutes(parts: OpsParts): readonly OpsRoute[] {
  return [
    ...chainRoutes(parts),
    ...vaultRoutes(parts),
    ...settlerRoutes(parts),
    ...singleRoutes(parts, {
      ...{ pattern: '/operator/withdrawal-delay-parameters', kind: 'withdrawal-delay', method: 'put' },
      ...{ defaults: { ...DEFAULT_WITHDRAWAL_DELAY }, readOnly: {} },
    }),
    ...singleRoutes(parts, {
      ...{ pattern: '/operator/settings', kind: 'settings', method: 'patch', defaults: { ...DEFAULT_SETTINGS } },
      readOnly: { webauthn: parts.config.webauthn ?? null, approval_keys: parts.config.approvalAddresses },
    }),
    ...userRoutes(parts),
  ];
}

function malformed(what: string, field: string): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('INVALID_REQUEST', `${what} is expected`, field));
}

/** In production a publicly known key is refused (operator-api.md 9). @returns null when the key is permitted. */
function refusedKey(parts: OpsParts, key: string, field: string): ReturnType<typeof malformed> | null {
  const isRefused = parts.config.profile === 'production' && PUBLIC_KEYS.has(key);
  return isRefused ? malformed('a key that is not public, as those of the dev seed are,', field) : null;
}

/** Checks the accounts in a body of settings; clearing validates their format. */
function refusedAccount(parts: OpsParts, body: unknown): ReturnType<typeof malformed> | null {
  const members = (body ?? {}) as View;
  for (const field of ['fee_account', 'backstop_account']) {
    const key = parseUserId(String(members[field]));
    const refused = key === null ? null : refusedKey(parts, key, field);
    if (refused !== null) return refused;
  }
  return null;
}

function list(parts: OpsParts, kind: Kind): readonly View[] {
  return configList(parts.gateway.registry.rows(), kind);
}

function put(parts: OpsParts, config: Kind, key: string, method: ConfigMethod, body: unknown): Promise<Reply> {
  return request(parts, { kind: 'putConfig', config, key, method, body });
}

/** The `{chain_id}` of a path, in its normal form. */
export function chainParam(call: OpsCall): Outcome<ChainId> {
  const id = parseChainId(call.param('chain_id'));
  return id === null ? malformed(CHAIN_ID_WORDS, 'chain_id') : accepted(id);
}

/** The configured chain; CHAIN_NOT_FOUND. */
export function chainOf(parts: OpsParts, id: ChainId): Outcome<View> {
  const chain = list(parts, 'chain').find((view) => view['chain_id'] === id);
  return chain === undefined ? rejected(reject('CHAIN_NOT_FOUND', `chain ${id} is unknown`)) : accepted(chain);
}

function chainRoutes(parts: OpsParts): readonly OpsRoute[] {
  const pattern = '/operator/chains/{chain_id}';
  return [
    { method: 'GET', pattern: '/operator/chains', handler: () => accepted({ chains: list(parts, 'chain') }) },
    {
      method: 'GET',
      pattern,
      handler: (call) => {
        const id = chainParam(call);
        return id.ok ? chainOf(parts, id.value) : id;
      },
    },
    {
      method: 'PUT',
      pattern,
      handler: async (call) => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const refused = refusedChain(parts.config.profile, call.body);
        return refused === null ? put(parts, 'chain', id.value, 'put', call.body) : rejected(refused);
      },
    },
  ];
}

/** `<address>@<chain id>` in its normal form. */
function vaultParam(call: OpsCall): string | null {
  const [address = '', chain = '', ...rest] = call.param('vault').split('@');
  const vault = parseAddress(address);
  const chainId = parseChainId(chain);
  return vault === null || chainId === null || rest.length > 0 ? null : `${vault}@${chainId}`;
}

function vaultRoutes(parts: OpsParts): readonly OpsRoute[] {
  return [
    { method: 'GET', pattern: '/operator/vaults', handler: () => accepted({ vaults: list(parts, 'vault') }) },
    {
      method: 'PUT',
      pattern: '/operator/vaults/{vault}',
      handler: async (call) => {
        const key = vaultParam(call);
        if (key === null) return malformed('<address>@<chain id>', 'vault');
        const refused = refusedVault(parts.config.profile, call.body);
        return refused === null ? put(parts, 'vault', key, 'put', call.body) : rejected(refused);
      },
    },
  ];
}

function settlerRoutes(parts: OpsParts): readonly OpsRoute[] {
  const pattern = '/operator/settlers/{settler}';
  const changed = (method: 'put' | 'delete') => async (call: OpsCall) => {
    const key = parseUserId(call.param('settler'));
    if (key === null) return malformed('an Ed25519 key', 'settler');
    const refused = method === 'put' ? refusedKey(parts, key, 'settler') : null;
    return refused ?? put(parts, 'settler', key, method, call.body);
  };
  return [
    { method: 'GET', pattern: '/operator/settlers', handler: () => accepted({ settlers: list(parts, 'settler') }) },
    { method: 'PUT', pattern, handler: changed('put') },
    { method: 'DELETE', pattern, handler: changed('delete') },
  ];
}

interface SingleResource {
  readonly pattern: string;
  readonly kind: Kind;
  readonly method: 'put' | 'patch';
  /** Its members until they are set. */
  readonly defaults: View;
  /** Members that the configuration of the node has, and no request changes. */
  readonly readOnly: View;
}

/** A resource with a single object. */
function singleRoutes(
  parts: OpsParts,
  { pattern, kind, method, defaults, readOnly }: SingleResource,
): readonly OpsRoute[] {
  const show = (view: View): View => ({ ...(kind === 'settings' ? withAliases(view) : view), ...readOnly });
  const change = async (call: OpsCall): Promise<OpsReply> => {
    const reply = refusedAccount(parts, call.body) ?? (await put(parts, kind, '', method, call.body));
    return reply.ok ? accepted(show(reply.value)) : reply;
  };
  return [
    { method: 'GET', pattern, handler: () => accepted(show({ ...defaults, ...list(parts, kind)[0] })) },
    { method: method === 'put' ? 'PUT' : 'PATCH', pattern, handler: change },
  ];
}

function userRoutes(parts: OpsParts): readonly OpsRoute[] {
  const pattern = '/operator/users/{user_id}';
  const answer = async (call: OpsCall, ask: (user: UserId) => Promise<Reply>): Promise<OpsReply> => {
    const user = parseUserId(call.param('user_id'));
    if (user === null) return malformed('a user id', 'user_id');
    const reply = await ask(user);
    return reply.ok ? accepted(wholeUser(parts, user, reply.value)) : reply;
  };
  return [
    { method: 'GET', pattern, handler: (call) => answer(call, (user) => parts.ask(userQuery(parts, user))) },
    {
      method: 'PUT',
      pattern,
      handler: (call) =>
        answer(
          call,
          async (user) =>
            refusedKey(parts, user, 'user_id') ?? request(parts, { kind: 'patchUser', user, body: call.body }),
        ),
    },
  ];
}

function userQuery(parts: OpsParts, user: UserId): Extract<ClearingQuery, { kind: 'user' }> {
  return { kind: 'user', user, isInSession: parts.presence(user).sessions > 0 };
}

/** Combines clearing's view of the user with the gateway's. */
function wholeUser(parts: OpsParts, user: UserId, view: View): View {
  return { ...view, pressure: pressureView(parts, user, view), ...parts.presence(user) };
}

/** The margin requirement of the open orders of each margin-type account, by side (AMB-47). */
function pressureView(parts: OpsParts, user: UserId, view: View): View {
  const accounts = Object.entries(view['sub_accounts'] as Readonly<Record<string, { readonly kind: string }>>);
  const ofMargin = accounts.filter(([, { kind }]) => kind !== 'spot');
  return Object.fromEntries(
    ofMargin.map(([index]) => {
      const { buys, sells } = parts.requirements(user, Number(index));
      return [index, { buy: format18(buys), sell: format18(sells) }];
    }),
  );
}
