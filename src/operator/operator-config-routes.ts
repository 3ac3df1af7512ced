/**
 * Chains, vaults, settlers, withdrawal delays, settings and users (operator-api.md 4.4 to 4.7, 4.10). Clearing
 * validates the bodies.
 */

import type { ClearingQuery } from '../clearing/clearing-queries.ts';
import type { ActionReply } from '../clearing/inputs.ts';
import { configList, DEFAULT_WITHDRAWAL_DELAY } from '../clearing/registry/registry-config.ts';
import { DEFAULT_SETTINGS, withAliases } from '../clearing/registry/settings.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import type { Shape } from '../codec/shapes/shape-kit.ts';
import { format18 } from '../core/decimal.ts';
import { type ChainId, parseAddress, parseChainId, parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { CHAIN_ID_WORDS } from './body-shapes.ts';
import { COMMAND_BODIES, type OperatorRequest } from './commands.ts';
import { CONFIG_BODIES } from './config-bodies.ts';
import { request } from './operator-change.ts';
import type { OpsCall, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { refusedChain, refusedVault } from './production-rules.ts';
import {
  CHAIN_SHOWN,
  CHAINS_SHOWN,
  DELAY_SHOWN,
  NOTHING,
  SETTLER_SHOWN,
  SETTLERS_SHOWN,
  settingsShown,
  USER_SHOWN,
  VAULT_SHOWN,
  VAULTS_SHOWN,
} from './reply-shapes.ts';
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
      ...{ path: '/operator/withdrawal-delay-parameters', kind: 'withdrawal-delay', method: 'put' },
      area: 'Chains',
      summaries: { get: 'How long withdrawals wait', change: 'Change how long withdrawals wait' },
      body: CONFIG_BODIES['withdrawal-delay'],
      reply: DELAY_SHOWN,
      example: {
        body: '{"min_delay":30,"max_delay":3600}',
        reply:
          '{"min_delay":30,"max_delay":3600,"delay_clamps":[0,10000,50000,250000],"delay_values":[0,300,1800,7200],"cap_floor":50000}',
      },
      ...{ defaults: { ...DEFAULT_WITHDRAWAL_DELAY }, readOnly: {} },
    }),
    ...singleRoutes(parts, {
      ...{ path: '/operator/settings', kind: 'settings', method: 'patch', defaults: { ...DEFAULT_SETTINGS } },
      area: 'Settings',
      summaries: { get: 'All settings', change: 'Change settings' },
      body: CONFIG_BODIES.settings,
      reply: settingsShown(CONFIG_BODIES.settings['properties'] as Readonly<Record<string, Shape>>),
      example: { body: '{"clock_skew_ms":5000}', reply: SETTINGS_EXAMPLE },
      readOnly: { webauthn: parts.config.webauthn ?? null, approval_keys: parts.config.approvalAddresses },
    }),
    ...userRoutes(parts),
  ];
}

const SETTINGS_EXAMPLE = writeJson({
  ...withAliases({ ...DEFAULT_SETTINGS }),
  webauthn: null,
  approval_keys: ['5d5c99edf529335160ff180fa141dd4967fc00d2'],
} as unknown as JsonWritable);

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

/** The object of that key, whose view names it; NOT_FOUND. */
function oneOf(parts: OpsParts, kind: 'vault' | 'settler', key: string | null): OpsReply {
  const view = list(parts, kind).find((known) => known[kind] === key);
  return view === undefined ? rejected(reject('NOT_FOUND', `there is no such ${kind}`)) : accepted(view);
}

function put(
  parts: OpsParts,
  config: Kind,
  key: string,
  method: ConfigMethod,
  { body, by }: OpsCall,
): Promise<ActionReply> {
  return request(parts, { kind: 'putConfig', config, key, method, body }, by);
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

const CHAIN_EXAMPLE =
  '{"chain_id":"000000000000007a69","kind":"simulated","block_time_ms":1000,"auto_mine":false,"providers":3,"confirmations":{"deposit":1,"withdrawal":1,"settlement":0},"checkpoint_interval_ms":1000,"approval_validity_s":3600,"escape_timeout_s":604800}';
const CHAIN = {
  path: '/operator/chains/{chain_id}',
  area: 'Chains',
  reply: CHAIN_SHOWN,
  errors: ['CHAIN_NOT_FOUND'],
} as const;

function chainRoutes(parts: OpsParts): readonly OpsRoute[] {
  const path = { chain_id: '000000000000007a69' };
  return [
    {
      method: 'GET',
      path: '/operator/chains',
      area: 'Chains',
      summary: 'All chains',
      reply: CHAINS_SHOWN,
      example: { reply: `{"chains":[${CHAIN_EXAMPLE}]}` },
      handler: () => accepted({ chains: list(parts, 'chain') }),
    },
    {
      ...CHAIN,
      method: 'GET',
      summary: 'A chain',
      example: { path, reply: CHAIN_EXAMPLE },
      handler: (call) => {
        const id = chainParam(call);
        return id.ok ? chainOf(parts, id.value) : id;
      },
    },
    {
      ...CHAIN,
      method: 'PUT',
      role: 'funds',
      isJournaled: true,
      summary: 'Register or change a chain',
      body: CONFIG_BODIES.chain,
      example: { path, body: '{"kind":"simulated"}', reply: CHAIN_EXAMPLE },
      handler: async (call) => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const refused = refusedChain(parts.config.profile, call.body);
        return refused === null ? put(parts, 'chain', id.value, 'put', call) : rejected(refused);
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

const VAULT_EXAMPLE =
  '{"vault":"0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d000000000000000000000000@000000000000007a69","administrators":["5d5c99edf529335160ff180fa141dd4967fc00d2"],"quorum":1,"confirmations":null,"abi":"v1"}';

function vaultRoutes(parts: OpsParts): readonly OpsRoute[] {
  return [
    {
      method: 'GET',
      path: '/operator/vaults',
      area: 'Vaults',
      summary: 'All vaults',
      reply: VAULTS_SHOWN,
      example: { reply: `{"vaults":[${VAULT_EXAMPLE}]}` },
      handler: () => accepted({ vaults: list(parts, 'vault') }),
    },
    {
      method: 'PUT',
      path: '/operator/vaults/{vault}',
      area: 'Vaults',
      role: 'funds',
      isJournaled: true,
      shown: (call) => oneOf(parts, 'vault', vaultParam(call)),
      summary: 'Register or change a vault',
      description: 'One vault a chain.',
      body: CONFIG_BODIES.vault,
      reply: VAULT_SHOWN,
      errors: ['CHAIN_NOT_FOUND', 'VAULT_EXISTS'],
      example: {
        path: { vault: '0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d000000000000000000000000@000000000000007a69' },
        body: '{"administrators":["5d5c99edf529335160ff180fa141dd4967fc00d2"],"quorum":1}',
        reply: VAULT_EXAMPLE,
      },
      handler: async (call) => {
        const key = vaultParam(call);
        if (key === null) return malformed('<address>@<chain id>', 'vault');
        const refused = refusedVault(parts.config.profile, call.body);
        return refused === null ? put(parts, 'vault', key, 'put', call) : rejected(refused);
      },
    },
  ];
}

const SETTLER_EXAMPLE =
  '{"settler":"ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1","chain_id":"000000000000007a69","executor":"e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3"}';

function settlerRoutes(parts: OpsParts): readonly OpsRoute[] {
  const example = { path: { settler: 'ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1' } };
  const one = {
    path: '/operator/settlers/{settler}',
    area: 'Settlers',
    role: 'funds',
    isJournaled: true,
    shown: (call: OpsCall): OpsReply => oneOf(parts, 'settler', parseUserId(call.param('settler'))),
  } as const;
  const changed = (method: 'put' | 'delete') => async (call: OpsCall) => {
    const key = parseUserId(call.param('settler'));
    if (key === null) return malformed('an Ed25519 key', 'settler');
    const refused = method === 'put' ? refusedKey(parts, key, 'settler') : null;
    return refused ?? put(parts, 'settler', key, method, call);
  };
  return [
    {
      method: 'GET',
      path: '/operator/settlers',
      area: 'Settlers',
      summary: 'All settlers',
      reply: SETTLERS_SHOWN,
      example: { reply: `{"settlers":[${SETTLER_EXAMPLE}]}` },
      handler: () => accepted({ settlers: list(parts, 'settler') }),
    },
    {
      ...one,
      method: 'PUT',
      summary: 'Register or change a settler',
      body: CONFIG_BODIES.settler,
      reply: SETTLER_SHOWN,
      errors: ['CHAIN_NOT_FOUND'],
      example: {
        ...example,
        body: '{"chain_id":"000000000000007a69","executor":"e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3"}',
        reply: SETTLER_EXAMPLE,
      },
      handler: changed('put'),
    },
    {
      ...one,
      method: 'DELETE',
      summary: 'Remove a settler',
      reply: NOTHING,
      errors: ['SETTLER_NOT_FOUND'],
      example: { ...example, reply: '{}' },
      handler: changed('delete'),
    },
  ];
}

interface SingleResource extends Pick<OpsRoute, 'path' | 'area' | 'reply'> {
  readonly body: Shape;
  readonly summaries: { readonly get: string; readonly change: string };
  readonly example: { readonly body: string; readonly reply: string };
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
  { path, area, reply, body, summaries, example, kind, method, defaults, readOnly }: SingleResource,
): readonly OpsRoute[] {
  const show = (view: View): View => ({ ...(kind === 'settings' ? withAliases(view) : view), ...readOnly });
  const change = async (call: OpsCall): Promise<OpsReply> => {
    const done = refusedAccount(parts, call.body) ?? (await put(parts, kind, '', method, call));
    return done.ok ? accepted(show(done.value)) : done;
  };
  return [
    {
      ...{ path, area, reply },
      method: 'GET',
      summary: summaries.get,
      example: { reply: example.reply },
      handler: () => accepted(show({ ...defaults, ...list(parts, kind)[0] })),
    },
    {
      ...{ path, area, reply, body, example },
      // Among the settings are the accounts of fees and of the backstop.
      role: 'funds',
      isJournaled: true,
      method: method === 'put' ? 'PUT' : 'PATCH',
      summary: summaries.change,
      handler: change,
    },
  ];
}

const USER_EXAMPLE =
  '{"user_id":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","is_mm":true,"config_nonce":0,"sub_accounts":{"0":{"kind":"spot","name":"Spot","balances":{"0":{"owned":"900","held":"100","locked":"0"}},"positions":{}}},"isolated_lots":[],"withdrawal_usage":{},"action_nonces":{"transfer":0,"close_position":0},"pressure":{},"sessions":1,"streams":0}';

function userRoutes(parts: OpsParts): readonly OpsRoute[] {
  const user = {
    path: '/operator/users/{user_id}',
    area: 'Users',
    reply: USER_SHOWN,
  } as const;
  const path = { user_id: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c' };
  const answer = async (
    call: OpsCall,
    ask: (user: UserId) => Promise<ActionReply>,
    show: (view: View, user: UserId) => View = (view, user) => wholeUser(parts, user, view),
  ): Promise<OpsReply> => {
    const user = parseUserId(call.param('user_id'));
    if (user === null) return malformed('a user id', 'user_id');
    const reply = await ask(user);
    return reply.ok ? accepted(show(reply.value, user)) : reply;
  };
  return [
    {
      ...user,
      method: 'GET',
      summary: 'A user',
      errors: ['USER_NOT_FOUND'],
      example: { path, reply: USER_EXAMPLE },
      handler: (call) => answer(call, (id) => parts.ask(userQuery(parts, id))),
    },
    {
      ...user,
      method: 'PUT',
      isJournaled: true,
      shown: (call) =>
        answer(
          call,
          async (id) => isMakerOf(await parts.ask(userQuery(parts, id))),
          (view) => view,
        ),
      summary: 'Make a user a market maker, or not',
      description: 'Live at once, also for a key never seen.',
      body: COMMAND_BODIES.user,
      example: { path, body: '{"is_mm":true}', reply: USER_EXAMPLE },
      handler: (call) =>
        answer(
          call,
          async (id) =>
            refusedKey(parts, id, 'user_id') ??
            request(parts, { kind: 'patchUser', user: id, body: call.body }, call.by),
        ),
    },
  ];
}

/** What the call changes of a user. */
function isMakerOf(reply: ActionReply): ActionReply {
  return reply.ok ? accepted({ is_mm: reply.value['is_mm'] }) : reply;
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
