/**
 * Routes of the simulated chains (operator-api.md 8, dev and test): deposits, blocks, minting, and the state of a
 * chain; and in every profile those of 4.4: the end of a chain's stop, and deposits that were not credited. They read and
 * write JSON; ChainOperations performs the operations.
 */

import {
  type ChainOperations,
  type ChainTransaction,
  type ChainVault,
  DEFAULT_SENDER,
  type DepositRequest,
  type ExecuteSettlement,
  type ExecuteWithdrawal,
  type SignedCheckpoint,
} from '../chain/chain-operations.ts';
import type { ConfigSigner, DepositConfig } from '../chain/deposit-config.ts';
import { PROVIDER_FAULTS } from '../chain/simulated-chain.ts';
import { must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import {
  type AssetId,
  type ChainId,
  isPayable,
  parseAddress,
  parseAssetId,
  parseUserId,
  type UserId,
} from '../core/ids.ts';
import { AMOUNT18_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT } from '../core/units.ts';
import { isValidKey } from '../crypto/ed25519.ts';
import { NO_MEMBERS, type QueryMembers } from '../http/query.ts';
import { BodyReader, readEach } from './body-reader.ts';
import { change, seenByAll } from './operator-change.ts';
import { chainOf, chainParam } from './operator-config-routes.ts';
import type { OpsCall, OpsMethod, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';

type View = Readonly<Record<string, unknown>>;
type Ask = (chains: ChainOperations, chain: ChainId, call: OpsCall) => Promise<Outcome<View>>;

/** An ERC-20 amount is a uint256. */
const AMOUNT = { min: 0n, max: (1n << 256n) - 1n };
const NONCES = { min: 0, max: Number.MAX_SAFE_INTEGER };
const OVERRIDES = ['amount_base_units', 'target', 'nonce', 'valid_until', 'epoch_hash', 'signatures'];
const SETTLEMENT_OVERRIDES = [
  'caller',
  'settler',
  'token_in',
  'amount_in_base_units',
  'token_out',
  'amount_out_base_units',
  'mode',
  'nonce',
  'valid_until',
  'signature',
];
const EXECUTOR = ['allowance_base_units', 'returns_base_units', 'reenter'];
const ACCOUNTS = { min: 0, max: SUB_ACCOUNTS_MAX - 1 };
const SIGNATURE_FORM = /^(?:0x)?[0-9a-fA-F]{0,260}$/;
const COUNTER_FORM = /^(?:0|[1-9][0-9]{0,15})$/;
const U8 = { min: 0, max: 255 };
const U32 = { min: 0, max: 4_294_967_295 };
const U64_MAX = (1n << 64n) - 1n;
const KEY_BYTES = 32;
const CONFIG_MEMBERS = [
  ...['master_weight', 'low_threshold', 'medium_threshold', 'high_threshold'],
  ...['signers', 'master_config_signature'],
];
const SIGNER_MEMBERS = ['key', 'key_type', 'key_prefix', 'weight', 'expires_at_ns', 'max_signing_window_ns'];
const BLOCKS = { min: 1, max: 10_000 };
const PROVIDERS = { min: 0, max: 14 };
const NOT_SIMULATED: Reject = reject('INVALID_REQUEST', 'this chain is not simulated here', 'chain_id');

const NOT_STARTED: Reject = reject('SERVICE_UNAVAILABLE', 'the chains have not started');

/** @param operations returns null until the simulated chains have started. */
export function chainHookRoutes(parts: OpsParts, operations: () => ChainOperations | null): readonly OpsRoute[] {
  const route = (method: OpsMethod, name: string, ask: Ask, query: QueryMembers = NO_MEMBERS): OpsRoute => ({
    method,
    pattern: `/operator/chains/{chain_id}/${name}`,
    query,
    handler: async (call): Promise<OpsReply> => {
      const chain = simulatedChain(parts, call);
      if (!chain.ok) return chain;
      const chains = operations();
      if (chains === null) return rejected(NOT_SIMULATED);
      const reply = await ask(chains, chain.value, call);
      if (method !== 'GET' && reply.ok) await seenByAll(parts);
      return reply;
    },
  });
  return [
    route('POST', 'deposits', deposit),
    route('POST', 'withdrawals/execute', withdraw),
    route('POST', 'settlements/execute', settle),
    route('POST', 'mine', mine),
    route('POST', 'reorg', reorganise),
    route('POST', 'providers', setProvider),
    route('POST', 'logs/replay', replay),
    route('POST', 'escape', openEscape),
    route('POST', 'force-withdraw', forceWithdraw),
    route('POST', 'tokens/mint', mint),
    route('GET', 'counters', counters, { user: 'once', sub_account: 'once' }),
    route('GET', 'balances', balance, { address: 'once', token: 'once' }),
    route('GET', 'vault', async (chains, chain) => mapped(await chains.vault(chain), vaultView)),
    route('GET', 'providers', async (chains, chain) =>
      mapped(await chains.providers(chain), (providers) => ({ providers })),
    ),
  ];
}

/** @param operations returns null until the chains have started. */
export function chainRoutes(parts: OpsParts, operations: () => ChainOperations | null): readonly OpsRoute[] {
  return [
    {
      method: 'POST',
      pattern: '/operator/chains/{chain_id}/resume',
      handler: async (call): Promise<OpsReply> => {
        const id = chainParam(call);
        if (!id.ok) return id;
        const chain = chainOf(parts, id.value);
        if (!chain.ok) return chain;
        const reader = new BodyReader(call.body, ['accept']);
        if (!reader.flag('accept', undefined)) reader.fail('accept', 'true is expected');
        if (reader.failure !== null) return reader.failure;
        return mapped((await operations()?.resume(id.value)) ?? accepted(undefined), () => ({}));
      },
    },
    {
      method: 'POST',
      pattern: '/operator/chains/{chain_id}/accept-deviation',
      handler: async (call): Promise<OpsReply> => {
        const reply = await acceptDeviation(parts, call);
        // The chains go on by what clearing has now.
        if ('ok' in reply && reply.ok) await operations()?.deviations();
        return reply;
      },
    },
    {
      method: 'GET',
      pattern: '/operator/chains/{chain_id}/unclaimed',
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
      pattern: '/operator/chains/{chain_id}/checkpoint',
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
      pattern: '/operator/chains/{chain_id}/read-again',
      query: { from: 'once' },
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
      pattern: '/operator/chains/{chain_id}/unclaimed/{counter}/credit',
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
  const reader = new BodyReader(call.body, ['asset_id', 'amount']);
  const asset = reader.form('asset_id', parseAssetId, 'an asset id is', undefined, '' as AssetId);
  const amount = reader.decimal('amount', { min: 0n, max: AMOUNT18_MAX }, undefined);
  return reader.failure ?? change(parts, { kind: 'acceptDeviation', chainId: id.value, asset, amount });
}

/** Credits a deposit that was not credited when it came, once. NOT_FOUND, ASSET_NOT_FOUND, INVALID_REQUEST. */
async function creditUnclaimed(parts: OpsParts, call: OpsCall): Promise<OpsReply> {
  const id = chainParam(call);
  if (!id.ok) return id;
  const chain = chainOf(parts, id.value);
  if (!chain.ok) return chain;
  const text = call.param('counter');
  const counter = COUNTER_FORM.test(text) ? Number(text) : Number.NaN;
  const reader = new BodyReader(call.body, ['user']);
  if (!Number.isSafeInteger(counter)) reader.fail('counter', 'a counter of the vault is expected');
  const user = reader.form('user', parseUserId, 'a user id is', undefined, '' as UserId);
  // MON-14: what it were credited, no signature could ever move.
  if (reader.failure === null && !isValidKey(must(parseHex(user, 32), 'a user is 32 bytes of hex'))) {
    reader.fail('user', 'this id is no key: no signature can ever be of it');
  }
  return reader.failure ?? change(parts, { kind: 'creditUnclaimed', chainId: id.value, user, counter });
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

async function deposit(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, [
    'user',
    'token',
    'amount_base_units',
    'from',
    'approve',
    'sender_allowed',
    'config',
    'confirm',
  ]);
  const given = reader.raw('config') ?? null;
  const config = given === null ? null : readConfig(given);
  if (config !== null && !config.ok) return config;
  const request: DepositRequest = {
    user: reader.form('user', parseUserId, 'a user id is', undefined, '' as UserId),
    token: reader.form('token', parseAddress, 'an address is', undefined, ''),
    baseUnits: reader.integerText('amount_base_units', AMOUNT, undefined),
    from: reader.form('from', parseAddress, 'an address is', DEFAULT_SENDER, ''),
    approve: reader.flag('approve', true),
    senderAllowed: reader.flag('sender_allowed', true),
    ...(config === null ? {} : { config: config.value }),
    confirm: reader.flag('confirm', true),
  };
  return reader.failure ?? mapped(await chains.deposit(chain, request), transactionView);
}

/** The configured overload takes any figures of its types: the vault checks none of them. */
function readConfig(given: unknown): Outcome<DepositConfig> {
  if (typeof given !== 'object' || Array.isArray(given)) {
    return rejected(reject('INVALID_REQUEST', 'an object is expected', 'config'));
  }
  const reader = new BodyReader(given, CONFIG_MEMBERS, 'config.');
  const weights = CONFIG_MEMBERS.slice(0, 4).map((name) => reader.integer(name, U32, undefined));
  const [masterWeight = 0, low = 0, medium = 0, high = 0] = weights;
  const rows = reader.list('signers', undefined);
  const readers = rows.map((row, index) => new BodyReader(row, SIGNER_MEMBERS, `config.signers.${index}.`));
  const signers = readEach(reader, readers, readConfigSigner);
  const signature = toHex(Uint8Array.from(reader.integers('master_config_signature', U8, [])));
  return reader.failure ?? accepted({ masterWeight, low, medium, high, signers, signature });
}

function readConfigSigner(reader: BodyReader): ConfigSigner {
  const key = reader.integers('key', U8, []);
  if (key.length !== KEY_BYTES) reader.fail('key', `${KEY_BYTES} integers are expected`);
  return {
    key: toHex(Uint8Array.from(key)),
    keyType: reader.integer('key_type', U8, undefined),
    keyPrefix: reader.integer('key_prefix', U8, undefined),
    weight: reader.integer('weight', U32, undefined),
    expiresAtNs: readTime(reader, 'expires_at_ns'),
    maxSigningWindowNs: readU64(reader, 'max_signing_window_ns'),
  };
}

/** A JSON integer beyond 2^53 too; the parser delivers those as bigint. */
function readTime(reader: BodyReader, name: string): bigint {
  const ns = readU64(reader, name);
  if (isOfOtherUnit(ns)) reader.fail(name, `${name} ${OTHER_UNIT_TEXT}`);
  return ns;
}

function readU64(reader: BodyReader, name: string): bigint {
  const value = reader.raw(name);
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const whole = isWhole ? BigInt(value) : -1n;
  if (whole >= 0n && whole <= U64_MAX) return whole;
  reader.fail(name, 'an integer of 64 bits is expected');
  return 0n;
}

async function withdraw(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['user', 'nonce', 'overrides', 'confirm']);
  const user = reader.form('user', parseUserId, 'a user id is', undefined, '' as UserId);
  const nonce = reader.integer('nonce', NONCES, undefined);
  const confirm = reader.flag('confirm', true);
  if (reader.failure !== null) return reader.failure;
  const changed = new BodyReader(reader.raw('overrides') ?? {}, OVERRIDES, 'overrides.');
  const overrides: ExecuteWithdrawal['overrides'] = {
    ...(changed.has('amount_base_units') ? { baseUnits: changed.integerText('amount_base_units', AMOUNT, 0n) } : {}),
    ...(changed.has('target') ? { target: changed.form('target', parseAddress, 'an address is', undefined, '') } : {}),
    ...(changed.has('nonce') ? { nonce: BigInt(changed.integer('nonce', NONCES, 0)) } : {}),
    ...(changed.has('valid_until') ? { validUntil: BigInt(changed.integer('valid_until', NONCES, 0)) } : {}),
    ...(changed.has('epoch_hash')
      ? { epochHash: changed.form('epoch_hash', parseHash, 'a hash is', undefined, '') }
      : {}),
    ...(changed.has('signatures') ? { signatures: signatureList(changed) } : {}),
  };
  return changed.failure ?? mapped(await chains.withdraw(chain, { user, nonce, overrides, confirm }), transactionView);
}

async function settle(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['user', 'sub_account', 'nonce', 'overrides', 'executor', 'confirm']);
  const user = reader.form('user', parseUserId, 'a user id is', undefined, '' as UserId);
  const subAccount = reader.integer('sub_account', ACCOUNTS, undefined);
  const nonce = reader.integer('nonce', NONCES, undefined);
  const confirm = reader.flag('confirm', true);
  if (reader.failure !== null) return reader.failure;
  const overrides = settlementOverrides(
    new BodyReader(reader.raw('overrides') ?? {}, SETTLEMENT_OVERRIDES, 'overrides.'),
  );
  if (!overrides.ok) return overrides;
  const conduct = new BodyReader(reader.raw('executor') ?? {}, EXECUTOR, 'executor.');
  const executor = {
    allowance: conduct.integerTextOrNull('allowance_base_units', AMOUNT, null),
    returns: conduct.integerTextOrNull('returns_base_units', AMOUNT, null),
    reenter: conduct.flag('reenter', false),
  };
  if (conduct.failure !== null) return conduct.failure;
  const request = { user, subAccount, nonce, overrides: overrides.value, executor, confirm };
  return mapped(await chains.settle(chain, request), transactionView);
}

function settlementOverrides(reader: BodyReader): Outcome<ExecuteSettlement['overrides']> {
  const address = (name: string): string => reader.form(name, parseAddress, 'an address is', undefined, '');
  const units = (name: string): bigint => reader.integerText(name, AMOUNT, undefined);
  const number = (name: string): bigint => BigInt(reader.integer(name, NONCES, undefined));
  const given: ExecuteSettlement['overrides'] = {
    ...(reader.has('caller') ? { caller: address('caller') } : {}),
    ...(reader.has('settler')
      ? { settler: reader.form('settler', parseUserId, 'an Ed25519 key is', undefined, '' as UserId) }
      : {}),
    ...(reader.has('token_in') ? { tokenIn: address('token_in') } : {}),
    ...(reader.has('amount_in_base_units') ? { baseUnitsIn: units('amount_in_base_units') } : {}),
    ...(reader.has('token_out') ? { tokenOut: address('token_out') } : {}),
    ...(reader.has('amount_out_base_units') ? { baseUnitsOut: units('amount_out_base_units') } : {}),
    ...(reader.has('mode') ? { mode: reader.word('mode', ['spot', 'margin'], undefined) } : {}),
    ...(reader.has('nonce') ? { nonce: number('nonce') } : {}),
    ...(reader.has('valid_until') ? { validUntil: number('valid_until') } : {}),
    ...(reader.has('signature')
      ? { signature: reader.form('signature', parseSignature, 'a hex text is', undefined, '') }
      : {}),
  };
  return reader.failure ?? accepted(given);
}

function parseSignature(text: string): string | null {
  return SIGNATURE_FORM.test(text) ? text.replace(/^0x/, '').toLowerCase() : null;
}

function signatureList(reader: BodyReader): readonly string[] {
  const list = reader.raw('signatures');
  const isList = Array.isArray(list) && list.every((item) => typeof item === 'string' && SIGNATURE_FORM.test(item));
  if (!isList) reader.fail('signatures', 'a list of hex texts is expected');
  return isList ? (list as string[]).map((text) => text.replace(/^0x/, '').toLowerCase()) : [];
}

function parseHash(text: string): string | null {
  return /^[0-9a-f]{64}$/.test(text) ? text : null;
}

async function mine(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['blocks']);
  const blocks = reader.integer('blocks', BLOCKS, 1);
  return reader.failure ?? mapped(await chains.mine(chain, blocks), (head) => ({ head }));
}

async function reorganise(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['depth', 'keep', 'blocks']);
  const depth = reader.integer('depth', BLOCKS, 2);
  const keep = reader.has('keep') ? reader.raw('keep') : [];
  const isList = Array.isArray(keep) && keep.every((tx) => typeof tx === 'string' && parseHash(tx) !== null);
  if (!isList) reader.fail('keep', 'a list of transaction ids of 64 hex digits is expected');
  const blocks = reader.integer('blocks', BLOCKS, depth + 1);
  if (reader.failure !== null) return reader.failure;
  const done = await chains.reorganise(chain, { depth, keep: keep as readonly string[], blocks });
  return mapped(done, (reorganised) => ({ ...reorganised }));
}

async function setProvider(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['provider', 'fault', 'lag_blocks']);
  const provider = reader.integer('provider', PROVIDERS, 0);
  const fault = reader.word('fault', PROVIDER_FAULTS, 'none');
  const isLagging = fault === 'lagging';
  if (reader.has('lag_blocks') && !isLagging) reader.fail('lag_blocks', 'only a lagging provider has it');
  const lagBlocks = isLagging ? reader.integer('lag_blocks', BLOCKS, 1) : 0;
  if (reader.failure !== null) return reader.failure;
  return mapped(await chains.setProvider(chain, provider, { fault, lagBlocks }), (providers) => ({ providers }));
}

async function openEscape(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['accept']);
  if (!reader.flag('accept', undefined)) reader.fail('accept', 'true is expected');
  return reader.failure ?? mapped(await chains.escape(chain), vaultView);
}

async function forceWithdraw(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['user', 'token', 'amount_base_units', 'target', 'confirm']);
  const request = {
    user: reader.form('user', parseUserId, 'a user id is', undefined, '' as UserId),
    token: reader.form('token', parseAddress, 'an address is', undefined, ''),
    baseUnits: reader.integerText('amount_base_units', AMOUNT, undefined),
    to: reader.form('target', parseAddress, 'an address is', undefined, ''),
    confirm: reader.flag('confirm', true),
  };
  if (!isPayable(request.to)) {
    reader.fail('target', 'the target is an address of 20 bytes, padded on the right, and not zero');
  }
  return reader.failure ?? mapped(await chains.forceWithdraw(chain, request), transactionView);
}

async function replay(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['tx']);
  const tx = reader.form('tx', parseHash, 'a transaction id is', undefined, '');
  return reader.failure ?? mapped(await chains.replay(chain, tx), () => ({}));
}

async function mint(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['token', 'to', 'amount_base_units']);
  const request = {
    token: reader.form('token', parseAddress, 'an address is', undefined, ''),
    to: reader.form('to', parseAddress, 'an address is', undefined, ''),
    baseUnits: reader.integerText('amount_base_units', AMOUNT, undefined),
  };
  return reader.failure ?? mapped(await chains.mint(chain, request), transactionView);
}

/** A required query parameter, parsed. */
function queried<T>(call: OpsCall, name: string, parse: (text: string) => T | null): Outcome<T> {
  const text = call.query.one(name);
  if (!text.ok) return text;
  const value = text.value === null ? null : parse(text.value);
  return value === null ? rejected(reject('INVALID_REQUEST', `${name} is needed in its form`, name)) : accepted(value);
}

async function counters(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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

async function balance(chains: ChainOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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
