/**
 * Routes of the simulated chains (operator-api.md 8, dev and test): deposits, blocks, minting, and the state of a
 * chain; and in every profile those of 4.4: the end of a chain's stop, and deposits that were not credited. They read and
 * write JSON; ChainOperations and SimulatedOperations perform the operations.
 */

import {
  type ChainOperations,
  type ChainTransaction,
  type ChainVault,
  DEFAULT_SENDER,
  type SignedCheckpoint,
  type SimulatedOperations,
} from '../chain/chain-operations.ts';
import { PROVIDER_FAULTS } from '../chain/simulated-chain.ts';
import {
  COUNT,
  defaulted,
  FLAG,
  inside,
  listOf,
  nullable,
  optional,
  type Shape,
  SUB_ACCOUNT,
  U64,
  USER_ID_GIVEN,
  words,
} from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import { must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { type ChainId, isPayable, parseAddress, parseUserId } from '../core/ids.ts';
import { AMOUNT18_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isValidKey } from '../crypto/ed25519.ts';
import { badMember, readBody } from './body-reader.ts';
import {
  ADDRESS,
  ASSET,
  BODY_INSTANT,
  body,
  CONFIRMED,
  decimal,
  integer,
  integerText,
  list,
  parsed,
  parsedText,
  USER,
} from './body-shapes.ts';
import { change, seenByAll } from './operator-change.ts';
import { chainOf, chainParam } from './operator-config-routes.ts';
import type { OpsCall, OpsMethod, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import {
  BALANCE_SHOWN,
  BLOCKS_READ,
  CHECKPOINT,
  COUNTERS,
  HEAD,
  NOTHING,
  PROVIDERS,
  REORGANISED,
  TRANSACTION,
  UNCLAIMED,
  VAULT_STATE,
} from './reply-shapes.ts';

type View = Readonly<Record<string, unknown>>;
type Ask = (chains: SimulatedOperations, chain: ChainId, call: OpsCall) => Promise<Outcome<View>>;
type HookCall = Pick<OpsCall, 'body'>;
type Hook = (chains: SimulatedOperations, chain: ChainId, call: HookCall) => Promise<Outcome<View>>;

/** An ERC-20 amount is a uint256. */
const AMOUNT = integerText({ min: 0n, max: (1n << 256n) - 1n });
const NONCE = integer(0, Number.MAX_SAFE_INTEGER);
const WIDE_NONCE = parsed(NONCE, (value) => (isNonce(value) ? BigInt(value) : null), 'a whole number below 2^53');
const COUNTER_FORM = /^(?:0|[1-9][0-9]{0,15})$/;
const U8 = integer(0, 255);
const U32 = integer(0, 4_294_967_295);
const KEY_BYTES = 32;
const BLOCKS = integer(1, 10_000);
const HASH = Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 hex digits' });
const HEX = parsedText(
  Type.String({ pattern: '^(?:0x)?[0-9a-fA-F]{0,260}$', description: 'hex digits' }),
  (text) => (/^(?:0x)?[0-9a-fA-F]{0,260}$/.test(text) ? text.replace(/^0x/, '').toLowerCase() : null),
  'a hex text',
);
const YES = defaulted(FLAG, true);

const ACCEPT_BODY = body({ accept: CONFIRMED });
const DEVIATION_BODY = body({ asset_id: ASSET, amount: decimal({ min: 0n, max: AMOUNT18_MAX }) });
const CREDIT_BODY = body({ user: USER });

const CONFIG_SIGNER = body({
  key: parsed(list(U8), (value) => bytesOf(value, KEY_BYTES), `${KEY_BYTES} integers`),
  key_type: inside('keyType', U8),
  key_prefix: inside('keyPrefix', U8),
  weight: U32,
  expires_at_ns: inside('expiresAtNs', BODY_INSTANT),
  max_signing_window_ns: inside('maxSigningWindowNs', U64),
});

/** The configured overload takes any figures of its types: the vault checks none of them. */
const DEPOSIT_CONFIG = body({
  master_weight: inside('masterWeight', U32),
  low_threshold: inside('low', U32),
  medium_threshold: inside('medium', U32),
  high_threshold: inside('high', U32),
  signers: list(CONFIG_SIGNER),
  master_config_signature: inside(
    'signature',
    defaulted(
      parsed(list(U8), (value) => bytesOf(value), 'a list of integers from 0 to 255'),
      [],
    ),
  ),
});

const DEPOSIT_BODY = body({
  user: USER,
  token: ADDRESS,
  amount_base_units: inside('baseUnits', AMOUNT),
  from: defaulted(ADDRESS, DEFAULT_SENDER),
  approve: YES,
  sender_allowed: inside('senderAllowed', YES),
  config: defaulted(nullable(DEPOSIT_CONFIG), null),
  confirm: YES,
});

const WITHDRAW_BODY = body({
  user: USER,
  nonce: NONCE,
  confirm: YES,
  overrides: defaulted(
    nullable(
      body({
        amount_base_units: inside('baseUnits', optional(AMOUNT)),
        target: optional(ADDRESS),
        nonce: optional(WIDE_NONCE),
        valid_until: inside('validUntil', optional(WIDE_NONCE)),
        epoch_hash: inside('epochHash', optional(HASH)),
        signatures: optional(listOf(HEX)),
      }),
    ),
    null,
  ),
});

/** What an executor does where nothing is said. */
const FAITHFUL = { allowance: null, returns: null, reenter: false } as const;

const SETTLE_BODY = body({
  user: USER,
  sub_account: inside('subAccount', integer(0, SUB_ACCOUNTS_MAX - 1)),
  nonce: NONCE,
  confirm: YES,
  overrides: defaulted(
    nullable(
      body({
        caller: optional(ADDRESS),
        settler: optional(USER),
        token_in: inside('tokenIn', optional(ADDRESS)),
        amount_in_base_units: inside('baseUnitsIn', optional(AMOUNT)),
        token_out: inside('tokenOut', optional(ADDRESS)),
        amount_out_base_units: inside('baseUnitsOut', optional(AMOUNT)),
        mode: optional(words('spot', 'margin')),
        nonce: optional(WIDE_NONCE),
        valid_until: inside('validUntil', optional(WIDE_NONCE)),
        signature: optional(HEX),
      }),
    ),
    null,
  ),
  executor: defaulted(
    nullable(
      body({
        allowance_base_units: inside('allowance', defaulted(nullable(AMOUNT), null)),
        returns_base_units: inside('returns', defaulted(nullable(AMOUNT), null)),
        reenter: defaulted(FLAG, false),
      }),
    ),
    null,
  ),
});

const MINE_BODY = body({ blocks: defaulted(BLOCKS, 1) });
const REORG_BODY = body({
  depth: defaulted(BLOCKS, 2),
  keep: defaulted(listOf(HASH), []),
  /** One more than `depth`, where it is left out. */
  blocks: optional(BLOCKS),
});
const PROVIDER_BODY = body({
  provider: defaulted(integer(0, 14), 0),
  fault: defaulted(words(...PROVIDER_FAULTS), 'none'),
  /** Of a lagging one alone; 1 where it is left out. */
  lag_blocks: inside('lagBlocks', optional(BLOCKS)),
});
const FORCE_BODY = body({
  user: USER,
  token: ADDRESS,
  amount_base_units: inside('baseUnits', AMOUNT),
  target: inside('to', ADDRESS),
  confirm: YES,
});
const REPLAY_BODY = body({ tx: HASH });
const MINT_BODY = body({ token: ADDRESS, to: ADDRESS, amount_base_units: inside('baseUnits', AMOUNT) });

function isNonce(value: unknown): value is number | bigint {
  return (typeof value === 'number' || typeof value === 'bigint') && value >= 0 && Number.isSafeInteger(Number(value));
}

/** Integers from 0 to 255 as hex. @param count how many there are; any number up to the limit of lists without it. */
function bytesOf(value: unknown, count?: number): string | null {
  const read = readBody(list(U8), value);
  return read.ok && (count ?? read.value.length) === read.value.length ? toHex(Uint8Array.from(read.value)) : null;
}

const NOT_SIMULATED: Reject = reject('INVALID_REQUEST', 'this chain is not simulated here', 'chain_id');

const NOT_STARTED: Reject = reject('SERVICE_UNAVAILABLE', 'the chains have not started');

/** @param operations returns null until the simulated chains have started. */
export function chainHookRoutes(parts: OpsParts, operations: () => ChainOperations | null): readonly OpsRoute[] {
  const route = (method: OpsMethod, name: string, ask: Ask, doc: HookDoc): OpsRoute => ({
    ...doc,
    method,
    path: `/operator/chains/{chain_id}/${name}`,
    area: 'Simulated chains',
    ...(method === 'GET' ? {} : { role: 'funds' as const }),
    errors: ['CHAIN_NOT_FOUND', ...(doc.errors ?? [])],
    example: { path: ON_CHAIN, ...doc.example },
    handler: async (call): Promise<OpsReply> => {
      const chain = simulatedChain(parts, call);
      if (!chain.ok) return chain;
      const chains = operations();
      if (chains === null) return rejected(NOT_SIMULATED);
      const reply = await ask(chains.simulated, chain.value, call);
      if (method !== 'GET' && reply.ok) await seenByAll(parts);
      return reply;
    },
  });
  return [
    ...Object.entries(CHAIN_HOOKS).map(([name, { ask, ...doc }]) => route('POST', name, ask, doc)),
    route('GET', 'counters', counters, {
      summary: 'Counters of a user in the vault',
      query: [
        { name: 'user', shape: USER_ID_GIVEN, summary: 'the user' },
        { name: 'sub_account', shape: SUB_ACCOUNT, summary: 'by default 0' },
      ],
      reply: COUNTERS,
      example: {
        query: 'user=8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
        reply: '{"depositCounts":1,"withdrawalCounts":0,"settlementCounts":0}',
      },
    }),
    route('GET', 'balances', balance, {
      summary: 'The balance of an address in a token',
      query: [
        { name: 'address', shape: ADDRESS, summary: 'the owner' },
        { name: 'token', shape: ADDRESS, summary: 'the token' },
      ],
      reply: BALANCE_SHOWN,
      example: {
        query: 'address=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&token=5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
        reply: '{"balance_base_units":"1000000"}',
      },
    }),
    route('GET', 'vault', async (chains, chain) => mapped(await chains.vault(chain), vaultView), {
      summary: 'The vault as it is on the chain',
      reply: VAULT_STATE,
      errors: ['VAULT_NOT_FOUND'],
      example: { reply: VAULT_EXAMPLE },
    }),
    route(
      'GET',
      'providers',
      async (chains, chain) => mapped(await chains.providers(chain), (providers) => ({ providers })),
      {
        summary: 'The providers of the chain',
        reply: PROVIDERS,
        example: { reply: PROVIDERS_EXAMPLE },
      },
    ),
  ];
}

/** @param operations returns null until the chains have started. */
export function chainRoutes(parts: OpsParts, operations: () => ChainOperations | null): readonly OpsRoute[] {
  return [
    {
      method: 'POST',
      path: '/operator/chains/{chain_id}/resume',
      area: 'Chains',
      role: 'funds',
      isJournaled: true,
      summary: 'Resume a chain that stopped',
      description: 'Credits and approvals go on after a reorganisation behind finality. Credits stay.',
      body: ACCEPT_BODY,
      reply: NOTHING,
      errors: ['CHAIN_NOT_FOUND'],
      example: { path: ON_CHAIN, body: '{"accept":true}', reply: '{}' },
      handler: async (call): Promise<OpsReply> => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const chain = chainOf(parts, id.value);
        if (!chain.ok) return chain;
        const read = readBody(ACCEPT_BODY, call.body);
        if (!read.ok) return read;
        return mapped((await operations()?.resume(id.value)) ?? accepted(undefined), () => ({}));
      },
    },
    {
      method: 'POST',
      path: '/operator/chains/{chain_id}/accept-deviation',
      area: 'Chains',
      role: 'funds',
      isJournaled: true,
      summary: 'Accept that a vault has less than the ledger',
      body: DEVIATION_BODY,
      reply: NOTHING,
      errors: ['CHAIN_NOT_FOUND', 'ASSET_NOT_FOUND'],
      example: { path: ON_CHAIN, body: '{"asset_id":"2","amount":"1.5"}', reply: '{}' },
      handler: async (call): Promise<OpsReply> => {
        const reply = await acceptDeviation(parts, call);
        // The chains go on by what clearing has now.
        if ('ok' in reply && reply.ok) await operations()?.deviations();
        return reply;
      },
    },
    {
      method: 'GET',
      path: '/operator/chains/{chain_id}/unclaimed',
      area: 'Chains',
      summary: 'Deposits that credited nothing',
      reply: UNCLAIMED,
      errors: ['CHAIN_NOT_FOUND'],
      example: { path: ON_CHAIN, reply: '{"unclaimed":[]}' },
      handler: async (call): Promise<OpsReply> => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const chain = chainOf(parts, id.value);
        if (!chain.ok) return chain;
        const listed = await parts.ask({ kind: 'unclaimed', chainId: id.value });
        const units = [...(operations()?.unclaimedUnits(id.value) ?? [])];
        const view = units.map(([token, amount]) => ({ token, amount_base_units: amount.toString() }));
        return units.length === 0 ? listed : mapped(listed, (body) => ({ ...body, units: view }));
      },
    },
    {
      method: 'POST',
      path: '/operator/chains/{chain_id}/checkpoint',
      area: 'Chains',
      role: 'funds',
      isJournaled: true,
      summary: 'Sign the root of a vault',
      reply: CHECKPOINT,
      errors: ['CHAIN_NOT_FOUND', 'VAULT_NOT_FOUND'],
      example: {
        path: ON_CHAIN,
        reply:
          '{"root":"abababababababababababababababababababababababababababababababab","number":"1","signatures":[],"withdrawable":[]}',
      },
      handler: async (call): Promise<OpsReply> => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const chain = chainOf(parts, id.value);
        if (!chain.ok) return chain;
        const signed = await operations()?.checkpoint(id.value);
        return signed === undefined ? rejected(NOT_STARTED) : mapped(signed, checkpointView);
      },
    },
    {
      method: 'POST',
      path: '/operator/chains/{chain_id}/read-again',
      area: 'Chains',
      isJournaled: true,
      summary: 'Read blocks again',
      description: 'From that block on; what is booked stays.',
      reply: BLOCKS_READ,
      errors: ['CHAIN_NOT_FOUND'],
      example: { path: ON_CHAIN, query: 'from=1', reply: '{"from":1,"to":14}' },
      query: [{ name: 'from', shape: COUNT, summary: 'the first block' }],
      handler: async (call): Promise<OpsReply> => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const chain = chainOf(parts, id.value);
        if (!chain.ok) return chain;
        const from = call.query.whole('from');
        if (!from.ok) return from;
        const block = Number(from.value ?? 0n);
        if (!Number.isSafeInteger(block) || block < 1) {
          return rejected(reject('INVALID_REQUEST', 'a block from 1 on is expected', 'from'));
        }
        const read = await operations()?.readAgain(id.value, block);
        return read === undefined ? rejected(NOT_STARTED) : mapped(read, (blocks) => ({ ...blocks }));
      },
    },
    {
      method: 'POST',
      path: '/operator/chains/{chain_id}/unclaimed/{counter}/credit',
      area: 'Chains',
      role: 'funds',
      isJournaled: true,
      summary: 'Credit a deposit that credited nothing',
      description: 'Once its token is registered.',
      body: CREDIT_BODY,
      reply: NOTHING,
      errors: ['CHAIN_NOT_FOUND', 'ASSET_NOT_FOUND', 'NOT_FOUND'],
      example: {
        path: { ...ON_CHAIN, counter: '3' },
        body: '{"user":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"}',
        reply: '{}',
      },
      handler: (call) => creditUnclaimed(parts, call),
    },
  ];
}

/** Approvals go on although the vault has that much less than the ledger (MON-05). CHAIN_NOT_FOUND, ASSET_NOT_FOUND, INVALID_REQUEST. */
async function acceptDeviation(parts: OpsParts, call: OpsCall): Promise<OpsReply> {
  const id = chainParam(call);
  if (!id.ok) return id;
  const chain = chainOf(parts, id.value);
  if (!chain.ok) return chain;
  const read = readBody(DEVIATION_BODY, call.body);
  if (!read.ok) return read;
  const { asset_id: asset, amount } = read.value;
  return change(parts, { kind: 'acceptDeviation', chainId: id.value, asset, amount }, call.by);
}

/** Credits a deposit that was not credited when it came, once. NOT_FOUND, ASSET_NOT_FOUND, INVALID_REQUEST. */
async function creditUnclaimed(parts: OpsParts, call: OpsCall): Promise<OpsReply> {
  const id = chainParam(call);
  if (!id.ok) return id;
  const chain = chainOf(parts, id.value);
  if (!chain.ok) return chain;
  const text = call.param('counter');
  const counter = COUNTER_FORM.test(text) ? Number(text) : Number.NaN;
  const read = readBody(CREDIT_BODY, call.body);
  if (!read.ok) return read;
  const { user } = read.value;
  if (!Number.isSafeInteger(counter)) return badMember('counter', 'a counter of the vault');
  // MON-14: what it were credited, no signature could ever move.
  if (!isValidKey(must(parseHex(user, 32), 'a user is 32 bytes of hex'))) {
    return badMember('user', 'an id that is a key, which can sign,');
  }
  return change(parts, { kind: 'creditUnclaimed', chainId: id.value, user, counter }, call.by);
}

/** Unknown chains are 404, EVM chains 400. */
function simulatedChain(parts: OpsParts, call: OpsCall): Outcome<ChainId> {
  const id = chainParam(call);
  if (!id.ok) return id;
  const chain = chainOf(parts, id.value);
  if (!chain.ok) return chain;
  return chain.value['kind'] === 'simulated' ? id : rejected(NOT_SIMULATED);
}

function mapped<T>(outcome: Outcome<T>, view: (value: T) => View): Outcome<View> {
  return outcome.ok ? accepted(view(outcome.value)) : outcome;
}

function checkpointView({ root, number, signatures, entries }: SignedCheckpoint): View {
  const rows = entries.map(({ baseUnits, ...entry }) => ({ ...entry, amount_base_units: baseUnits.toString() }));
  return { root, number: number.toString(), signatures, withdrawable: rows };
}

function transactionView(transaction: ChainTransaction): View {
  return { ...transaction };
}

async function deposit(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(DEPOSIT_BODY, call.body);
  if (!read.ok) return rejected(placeWithDots(read.reject));
  const { config, ...request } = read.value;
  const done = await chains.deposit(chain, { ...request, ...(config === null ? {} : { config }) });
  return mapped(done, transactionView);
}

/** `config.signers[0].key` → `config.signers.0.key`, as this body alone names its members. */
function placeWithDots({ code, message, field }: Reject): Reject {
  return field === undefined ? reject(code, message) : reject(code, message, field.replace(/\[(\d+)\]/g, '.$1'));
}

async function withdraw(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(WITHDRAW_BODY, call.body);
  if (!read.ok) return read;
  const overrides = read.value.overrides ?? {};
  return mapped(await chains.withdraw(chain, { ...read.value, overrides }), transactionView);
}

async function settle(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(SETTLE_BODY, call.body);
  if (!read.ok) return read;
  const overrides = read.value.overrides ?? {};
  const executor = read.value.executor ?? FAITHFUL;
  return mapped(await chains.settle(chain, { ...read.value, overrides, executor }), transactionView);
}

async function mine(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(MINE_BODY, call.body);
  return read.ok ? mapped(await chains.mine(chain, read.value.blocks), (head) => ({ head })) : read;
}

async function reorganise(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(REORG_BODY, call.body);
  if (!read.ok) return read;
  const { depth, keep, blocks = depth + 1 } = read.value;
  return mapped(await chains.reorganise(chain, { depth, keep, blocks }), (reorganised) => ({ ...reorganised }));
}

async function setProvider(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(PROVIDER_BODY, call.body);
  if (!read.ok) return read;
  const { provider, fault, lagBlocks } = read.value;
  const isLagging = fault === 'lagging';
  if (lagBlocks !== undefined && !isLagging)
    return badMember('lag_blocks', 'no member of a provider that does not lag');
  const set = await chains.setProvider(chain, provider, { fault, lagBlocks: isLagging ? (lagBlocks ?? 1) : 0 });
  return mapped(set, (providers) => ({ providers }));
}

async function openEscape(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(ACCEPT_BODY, call.body);
  return read.ok ? mapped(await chains.escape(chain), vaultView) : read;
}

async function forceWithdraw(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(FORCE_BODY, call.body);
  if (!read.ok) return read;
  if (!isPayable(read.value.to)) {
    return badMember('target', 'an address of 20 bytes, padded on the right, and not zero,');
  }
  return mapped(await chains.forceWithdraw(chain, read.value), transactionView);
}

async function replay(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(REPLAY_BODY, call.body);
  return read.ok ? mapped(await chains.replay(chain, read.value.tx), () => ({})) : read;
}

async function mint(chains: SimulatedOperations, chain: ChainId, call: HookCall): Promise<Outcome<View>> {
  const read = readBody(MINT_BODY, call.body);
  return read.ok ? mapped(await chains.mint(chain, read.value), transactionView) : read;
}

const ON_CHAIN = { chain_id: '000000000000007a69' };
const TRANSACTION_EXAMPLE =
  '{"tx":"abababababababababababababababababababababababababababababababab","status":"mined","revert":null,"block":12,"head":12,"nonce":0}';
const PROVIDERS_EXAMPLE = '{"providers":[{"provider":0,"fault":"none"}]}';
const VAULT_EXAMPLE =
  '{"vault":"0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d000000000000000000000000@000000000000007a69","head":12,"balances":{"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000":"1000000"},"administrators":["5d5c99edf529335160ff180fa141dd4967fc00d2"],"quorum":1,"escape_mode":false,"last_checkpoint_ns":1800000000000000000}';

/** What documents say of a hook beside its path. */
type HookDoc = Pick<OpsRoute, 'summary' | 'query' | 'body' | 'reply' | 'errors' | 'example'>;

/** What a hook of a simulated chain does, by the end of its path. */
export const CHAIN_HOOKS: Readonly<Record<string, HookDoc & { readonly body: Shape; readonly ask: Hook }>> = {
  deposits: {
    body: DEPOSIT_BODY,
    ask: deposit,
    summary: 'Deposit into the vault',
    reply: TRANSACTION,
    example: {
      body: '{"user":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","token":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","amount_base_units":"1000000"}',
      reply: TRANSACTION_EXAMPLE,
    },
  },
  'withdrawals/execute': {
    body: WITHDRAW_BODY,
    ask: withdraw,
    summary: 'Execute an approved withdrawal',
    errors: ['WITHDRAWAL_NOT_FOUND'],
    reply: TRANSACTION,
    example: {
      body: '{"user":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","nonce":0}',
      reply: TRANSACTION_EXAMPLE,
    },
  },
  'settlements/execute': {
    body: SETTLE_BODY,
    ask: settle,
    summary: 'Execute an approved settlement',
    errors: ['SETTLEMENT_NOT_FOUND'],
    reply: TRANSACTION,
    example: {
      body: '{"user":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","sub_account":0,"nonce":0}',
      reply: TRANSACTION_EXAMPLE,
    },
  },
  mine: {
    body: MINE_BODY,
    ask: mine,
    summary: 'Mine blocks',
    reply: HEAD,
    example: { body: '{"blocks":1}', reply: '{"head":13}' },
  },
  reorg: {
    body: REORG_BODY,
    ask: reorganise,
    summary: 'Replace the last blocks',
    reply: REORGANISED,
    example: { body: '{"depth":2}', reply: '{"head":14,"dropped":[]}' },
  },
  providers: {
    body: PROVIDER_BODY,
    ask: setProvider,
    summary: 'Give a provider a fault',
    reply: PROVIDERS,
    example: { body: '{"provider":0,"fault":"none"}', reply: PROVIDERS_EXAMPLE },
  },
  'logs/replay': {
    body: REPLAY_BODY,
    ask: replay,
    summary: 'Deliver the logs of a transaction again',
    errors: ['NOT_FOUND'],
    reply: NOTHING,
    example: { body: '{"tx":"abababababababababababababababababababababababababababababababab"}', reply: '{}' },
  },
  escape: {
    body: ACCEPT_BODY,
    ask: openEscape,
    summary: 'Open forced withdrawals',
    errors: ['VAULT_NOT_FOUND'],
    reply: VAULT_STATE,
    example: { body: '{"accept":true}', reply: VAULT_EXAMPLE },
  },
  'force-withdraw': {
    body: FORCE_BODY,
    ask: forceWithdraw,
    summary: 'Withdraw by force',
    reply: TRANSACTION,
    example: {
      body: '{"user":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","token":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","amount_base_units":"1","target":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}',
      reply: TRANSACTION_EXAMPLE,
    },
  },
  'tokens/mint': {
    body: MINT_BODY,
    ask: mint,
    summary: 'Mint tokens',
    reply: TRANSACTION,
    example: {
      body: '{"token":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","to":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","amount_base_units":"1000000"}',
      reply: TRANSACTION_EXAMPLE,
    },
  },
};

/** A required query parameter, parsed. */
function queried<T>(call: OpsCall, name: string, parse: (text: string) => T | null): Outcome<T> {
  const text = call.query.one(name);
  if (!text.ok) return text;
  const value = text.value === null ? null : parse(text.value);
  return value === null ? rejected(reject('INVALID_REQUEST', `${name} is needed in its form`, name)) : accepted(value);
}

async function counters(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const user = queried(call, 'user', parseUserId);
  if (!user.ok) return user;
  const subAccount = call.query.whole('sub_account');
  if (!subAccount.ok) return subAccount;
  const index = subAccount.value ?? 0n;
  if (index >= BigInt(SUB_ACCOUNTS_MAX)) {
    return rejected(reject('INVALID_REQUEST', 'there is no such sub-account', 'sub_account'));
  }
  return mapped(await chains.counters(chain, user.value, Number(index)), (counts) => ({ ...counts }));
}

async function balance(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const address = queried(call, 'address', parseAddress);
  if (!address.ok) return address;
  const token = queried(call, 'token', parseAddress);
  if (!token.ok) return token;
  const amount = await chains.balance(chain, address.value, token.value);
  return mapped(amount, (units) => ({ balance_base_units: units.toString() }));
}

function vaultView({ vault, head, balances, administrators, quorum, escapeMode, lastCheckpointNs }: ChainVault): View {
  return {
    vault,
    head,
    balances: Object.fromEntries([...balances].map(([token, units]) => [token, units.toString()])),
    administrators,
    quorum,
    escape_mode: escapeMode,
    last_checkpoint_ns: lastCheckpointNs,
  };
}
