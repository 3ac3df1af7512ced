/** The readers of bodies of the simulated chains before their shapes: judges of the new ones. */
import {
  DEFAULT_SENDER,
  type DepositRequest,
  type ExecuteSettlement,
  type ExecuteWithdrawal,
  type SimulatedOperations,
} from '../../../src/chain/chain-operations.ts';
import type { ConfigSigner, DepositConfig } from '../../../src/chain/deposit-config.ts';
import { PROVIDER_FAULTS } from '../../../src/chain/simulated-chain.ts';
import { toHex } from '../../../src/core/hex.ts';
import { type ChainId, isPayable, parseAddress, parseUserId, type UserId } from '../../../src/core/ids.ts';
import { SUB_ACCOUNTS_MAX } from '../../../src/core/limits.ts';
import { accepted, type Outcome, rejected } from '../../../src/core/outcome.ts';
import { reject } from '../../../src/core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT } from '../../../src/core/units.ts';
import { BodyReader, readEach } from './body-reader.ts';

type View = Readonly<Record<string, unknown>>;
interface OpsCall {
  readonly body: View;
}

function mapped<T>(outcome: Outcome<T>, view: (value: T) => View): Outcome<View> {
  return outcome.ok ? accepted(view(outcome.value)) : outcome;
}

function shown(value: object): View {
  return { ...value };
}

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
async function deposit(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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
  return reader.failure ?? mapped(await chains.deposit(chain, request), shown);
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

async function withdraw(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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
  return changed.failure ?? mapped(await chains.withdraw(chain, { user, nonce, overrides, confirm }), shown);
}

async function settle(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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
  return mapped(await chains.settle(chain, request), shown);
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

async function mine(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['blocks']);
  const blocks = reader.integer('blocks', BLOCKS, 1);
  return reader.failure ?? mapped(await chains.mine(chain, blocks), (head) => ({ head }));
}

async function reorganise(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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

async function setProvider(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['provider', 'fault', 'lag_blocks']);
  const provider = reader.integer('provider', PROVIDERS, 0);
  const fault = reader.word('fault', PROVIDER_FAULTS, 'none');
  const isLagging = fault === 'lagging';
  if (reader.has('lag_blocks') && !isLagging) reader.fail('lag_blocks', 'only a lagging provider has it');
  const lagBlocks = isLagging ? reader.integer('lag_blocks', BLOCKS, 1) : 0;
  if (reader.failure !== null) return reader.failure;
  return mapped(await chains.setProvider(chain, provider, { fault, lagBlocks }), (providers) => ({ providers }));
}

async function openEscape(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['accept']);
  if (!reader.flag('accept', undefined)) reader.fail('accept', 'true is expected');
  return reader.failure ?? mapped(await chains.escape(chain), shown);
}

async function forceWithdraw(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
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
  return reader.failure ?? mapped(await chains.forceWithdraw(chain, request), shown);
}

async function replay(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['tx']);
  const tx = reader.form('tx', parseHash, 'a transaction id is', undefined, '');
  return reader.failure ?? mapped(await chains.replay(chain, tx), () => ({}));
}

async function mint(chains: SimulatedOperations, chain: ChainId, call: OpsCall): Promise<Outcome<View>> {
  const reader = new BodyReader(call.body, ['token', 'to', 'amount_base_units']);
  const request = {
    token: reader.form('token', parseAddress, 'an address is', undefined, ''),
    to: reader.form('to', parseAddress, 'an address is', undefined, ''),
    baseUnits: reader.integerText('amount_base_units', AMOUNT, undefined),
  };
  return reader.failure ?? mapped(await chains.mint(chain, request), shown);
}

export const OLD_CHAIN_READERS: Readonly<
  Record<string, (chains: SimulatedOperations, chain: ChainId, call: OpsCall) => Promise<Outcome<View>>>
> = {
  deposits: deposit,
  'withdrawals/execute': withdraw,
  'settlements/execute': settle,
  mine,
  reorg: reorganise,
  providers: setProvider,
  escape: openEscape,
  'force-withdraw': forceWithdraw,
  'logs/replay': replay,
  'tokens/mint': mint,
};
