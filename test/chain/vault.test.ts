// tier: full
/**
 * The vault of test/contracts on anvil: selectors, events, errors and digests are those of wire.md 12 and 13, and the
 * digests of src/chain, of the Solidity code and of viem are the same.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  pad,
  recoverAddress,
  serializeSignature,
  toEventSelector,
  toFunctionSelector,
} from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import {
  domainHash,
  type SettlementApproval,
  settlementDigest,
  type WithdrawalApproval,
  withdrawalDigest,
} from '../../src/chain/approval-digests.ts';
import {
  DEPOSITED_TOPIC,
  DEPOSITED_WITH_CONFIG_TOPIC,
  decodeDeposit,
  encodeDeposit,
  FORCED_TOPIC,
} from '../../src/chain/chain-events.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ANVIL_CHAIN, ANVIL_DEPOSITOR, ANVIL_OWNER, Anvil, padded, type Revert } from '../support/anvil.ts';
import { contracts } from '../support/contracts.ts';
import { USER_42 } from '../support/wire-vectors.ts';

const VAULT: Address = `0x${'0d'.repeat(20)}`;
const TOKEN_IN: Address = `0x${'5a'.repeat(20)}`;
const TOKEN_OUT: Address = `0x${'6b'.repeat(20)}`;
const TARGET: Address = `0x${'7c'.repeat(20)}`;
const USER = USER_42 as UserId;
const VALID_UNTIL = 1_900_000_000n;
const EPOCH_HASH = 'ee'.repeat(32);
const ADMINISTRATOR = privateKeyToAccount(`0x${'a1'.repeat(32)}`);
/** wire.md 13. */
const DOMAIN = '10fcaba36959ea4ed1705f28be1b956c3b4fe0bddf6e6317661e9b6b9aa7a16c';
const WITHDRAWAL_DIGEST = '8dd12f38c5e137766dbadf3c80d7b7413402571b91b5abc3d71864d85f0cb21d';
const WITHDRAWAL_SIGNATURE =
  '5ecc2d8ad5d92a87250d6bf133d61526ddc1d5e3b4db63ebc13b5832c950726776c9552685b6f3aec252dec450af195f0f77b00c7702a767ba6605f4134d4e131b';
const SETTLEMENT_DIGEST = '340479e619c5d41aa3f714ad557511050395c2c716c5b9697b93de3e9bc0bd65';
const SETTLEMENT_SIGNATURE =
  '49b5c840ead9548c38f5a4449fea7fd3bd4f51af872181d011e827f5162f48757abdabff22cd6d33d50eb447ef87d3b03c665aa64ee626726161b04b5f5aa2c61c';
const SETTLEMENT_COMPACT =
  '49b5c840ead9548c38f5a4449fea7fd3bd4f51af872181d011e827f5162f4875fabdabff22cd6d33d50eb447ef87d3b03c665aa64ee626726161b04b5f5aa2c6';
const ORDER_OF_CURVE = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const WITHDRAWAL: WithdrawalApproval = {
  token: padded(TOKEN_IN),
  baseUnits: 1_000n,
  user: USER,
  nonce: 0n,
  validUntil: VALID_UNTIL,
  epochHash: EPOCH_HASH,
  target: padded(TARGET),
};
const SETTLEMENT: SettlementApproval = {
  tokenOut: padded(TOKEN_OUT),
  baseUnitsOut: 2_500n,
  tokenIn: padded(TOKEN_IN),
  baseUnitsIn: 1_000_000n,
  mode: 'margin',
  user: USER,
  account: 3,
  nonce: 0n,
  validUntil: VALID_UNTIL,
  settler: USER,
};

/** The words of a digest by viem alone. */
function plainDigest(words: readonly (string | bigint)[]): string {
  const hex = words.map((word): Hex => (typeof word === 'bigint' ? numberToHex(word, { size: 32 }) : `0x${word}`));
  return keccak256(concatHex(hex)).slice(2);
}

function typeHash(name: string): string {
  return keccak256(new TextEncoder().encode(name)).slice(2);
}

suite('vault', () => {
  let anvil: Anvil;
  let clean: Hex;
  const zero: Address = `0x${'00'.repeat(20)}`;

  before(async () => {
    anvil = await Anvil.start();
    await anvil.client.setCode({ address: VAULT, bytecode: contracts().VaultV1.deployed });
    for (const token of [TOKEN_IN, TOKEN_OUT]) {
      await anvil.client.setCode({ address: token, bytecode: contracts().Token.deployed });
      await anvil.send({ contract: 'Token', at: token, name: 'mint', args: [VAULT, 10_000_000n] });
    }
    // Code without a constructor has no owner: the zero address sets it up.
    await anvil.client.impersonateAccount({ address: zero });
    await anvil.client.setBalance({ address: zero, value: 10n ** 20n });
    const setUp = async (name: string, args: readonly unknown[]): Promise<void> =>
      assert.equal(await anvil.send({ contract: 'VaultV1', at: VAULT, name, args, from: zero }), null);
    await setUp('setDomainSeparator', [`0x${DOMAIN}`]);
    await setUp('setAdministrators', [[ADMINISTRATOR.address, ANVIL_OWNER], 1n]);
    await setUp('setDepositorStatus', [ANVIL_DEPOSITOR, true]);
    clean = await anvil.client.snapshot();
  });

  after(() => anvil.stop());

  const restored = async (): Promise<void> => {
    await anvil.client.revert({ id: clean });
    clean = await anvil.client.snapshot();
  };
  const vaultCall = (name: string, args: readonly unknown[], from?: Address): Promise<Revert | null> =>
    anvil.send({ contract: 'VaultV1', at: VAULT, name, args, ...(from === undefined ? {} : { from }) });
  const revertOf = (revert: Revert | null): string | null => revert?.name ?? null;

  test('APR-01 to APR-03, AMB-83, VER-06, V-8: the digests of the vectors agree between src/chain, Solidity and viem', async () => {
    const domain = domainHash(padded(VAULT), ANVIL_CHAIN);
    assert.equal(domain, DOMAIN);
    assert.equal(plainDigest([padded(VAULT), 0n, 31_337n, 1n]), DOMAIN);
    assert.equal(typeHash('WithdrawalApprovalV1'), '797aea45f9ae7a23c83a831da6478b151bf9c36a60c32d897309fb02a25102ba');
    assert.equal(typeHash('SettlementApprovalV2'), 'c72a99391af5c112d1a35aaf9d9fdea1fa5a899210c28b62c4bf051503147d02');

    assert.equal(withdrawalDigest(domain, WITHDRAWAL), WITHDRAWAL_DIGEST);
    const payout = { tokenAddress: TOKEN_IN, amount: 1_000n, nonce: 0n };
    const user: Hex = `0x${USER}`;
    assert.equal(
      await anvil.read('VaultV1', VAULT, 'withdrawalDigest', [payout, user, TARGET, VALID_UNTIL, `0x${EPOCH_HASH}`]),
      `0x${WITHDRAWAL_DIGEST}`,
    );
    assert.equal(
      plainDigest([
        typeHash('WithdrawalApprovalV1'),
        DOMAIN,
        pad(TOKEN_IN, { dir: 'right' }).slice(2),
        1_000n,
        USER,
        0n,
        VALID_UNTIL,
        EPOCH_HASH,
        pad(TARGET, { dir: 'right' }).slice(2),
      ]),
      WITHDRAWAL_DIGEST,
    );

    assert.equal(settlementDigest(domain, SETTLEMENT), SETTLEMENT_DIGEST);
    assert.equal(
      await anvil.read('VaultV1', VAULT, 'settlementDigest', [settlementOrder(), user]),
      `0x${SETTLEMENT_DIGEST}`,
    );
    assert.notEqual(settlementDigest(domain, { ...SETTLEMENT, mode: 'spot' }), SETTLEMENT_DIGEST);
  });

  test('APR-02: another vault, another chain and another amount have other digests', () => {
    const digests = new Set([
      WITHDRAWAL_DIGEST,
      withdrawalDigest(domainHash(padded(TARGET), ANVIL_CHAIN), WITHDRAWAL),
      withdrawalDigest(domainHash(padded(VAULT), '000000000000000001' as typeof ANVIL_CHAIN), WITHDRAWAL),
      withdrawalDigest(DOMAIN, { ...WITHDRAWAL, baseUnits: 1_001n }),
    ]);
    assert.equal(digests.size, 4);
  });

  test('APR-04: the signatures of the vectors are those of viem over the digest, low-s, of the administrator 5d5c…', async () => {
    assert.equal(ADMINISTRATOR.address.toLowerCase(), '0x5d5c99edf529335160ff180fa141dd4967fc00d2');
    for (const [digest, signature] of [
      [WITHDRAWAL_DIGEST, WITHDRAWAL_SIGNATURE],
      [SETTLEMENT_DIGEST, SETTLEMENT_SIGNATURE],
    ] as const) {
      const own = serializeSignature(await sign({ hash: `0x${digest}`, privateKey: `0x${'a1'.repeat(32)}` }));
      assert.equal(own, `0x${signature}`);
      assert.equal(await recoverAddress({ hash: `0x${digest}`, signature: `0x${signature}` }), ADMINISTRATOR.address);
      assert.ok(BigInt(`0x${signature.slice(64, 128)}`) <= ORDER_OF_CURVE / 2n);
    }
  });

  test('selectors, topics and error selectors are those of wire.md 12.1 and 12.2, for v1 and v2', () => {
    const { VaultV1, VaultV2 } = contracts();
    const settlement = (nonce: string): string =>
      `executeAtomicSettlement((address,uint256,address,uint256,uint8,bytes32,uint64,${nonce},uint256),bytes32,bytes,bytes)`;
    const withdraw = (nonce: string): string =>
      `withdraw((address,uint256,${nonce}),bytes32,address,uint256,bytes32,bytes[])`;
    const common = {
      'deposit(bytes32,address,uint256)': 'd954863c',
      'deposit(bytes32,address,uint256,uint32,uint32,uint32,uint32,(bytes32,uint8,uint8,uint32,uint64,uint64)[],bytes)':
        'cada4503',
      'depositCounts(bytes32)': '3d63ea93',
      'withdrawalCounts(bytes32)': '82ff8b1e',
      'settlementCounts(bytes32,uint64)': '8dff2305',
      'setAdministrators(address[],uint256)': '23c56731',
      'setMinFirstDepositAmount(address,uint256)': '2c0ef662',
    };
    for (const [signature, selector] of Object.entries(common)) {
      assert.equal(VaultV1.selectors[signature], selector, signature);
      assert.equal(VaultV2.selectors[signature], selector, signature);
    }
    assert.equal(VaultV1.selectors[withdraw('uint256')], '952df832');
    assert.equal(VaultV1.selectors[settlement('uint256')], 'd54f6301');
    assert.equal(VaultV2.selectors[withdraw('uint64')], '51c84123');
    assert.equal(VaultV2.selectors[settlement('uint64')], '38845f79');

    const topics = Object.fromEntries(
      VaultV1.abi.filter((item) => item.type === 'event').map((item) => [item.name, toEventSelector(item)]),
    );
    assert.deepEqual(topics, {
      Deposited: `0x${DEPOSITED_TOPIC}`,
      DepositedWithConfig: `0x${DEPOSITED_WITH_CONFIG_TOPIC}`,
      Withdrew: '0xc4f5735f1abe60807c07c06560e4a6d7eb655a37442b6a47e3ab1998c9611e2f',
      Settled: '0x7852077b4dfda35495d65501064b96242614815636355073ea37c700b2e57a37',
      // Of the escape hatch, for which wire.md gives no ABI (CHN-07).
      Checkpoint: toEventSelector('Checkpoint(uint64,bytes32)'),
      ForceWithdrew: `0x${FORCED_TOPIC}`,
    });
    assert.equal(DEPOSITED_TOPIC, '9d677c46e10ba33882144473956fae8d2c52353dcde5aab8230d1bd280cfc3b4');

    const errors: Readonly<Record<string, string>> = {
      Expired: '203d82d8',
      InvalidNonce: '06427aeb',
      InvalidSignature: '8baa579f',
      NotExecutor: 'c32d1d76',
      TransferFromFailed: '7939f424',
      TransferFailed: '90b8ec18',
      SettlerNotApproved: 'be4ab3c7',
      MissedQuorum: '26a15da7',
      DepositorNotApproved: '0a932441',
      ZeroAmount: '1f2a2005',
      FirstDepositBelowMinimum: 'a5bf0c8c',
      NormalizationOverflow: '35fc53d0',
      NormalizationRoundsToZero: '190bc69f',
      DecimalsCallFailed: '771f9aec',
      NotOwner: '30cd7471',
      NotCredentialManager: '26b672e5',
      NotAdmin: '7bfa4b9f',
      InsufficientAmountFromExecutor: 'd44c3d9d',
    };
    const declared = new Map<string, string>();
    for (const item of VaultV1.abi) {
      if (item.type !== 'error') continue;
      declared.set(item.name, toFunctionSelector(`${item.name}(${item.inputs.map(({ type }) => type).join(',')})`));
    }
    for (const [name, selector] of Object.entries(errors)) assert.equal(declared.get(name), `0x${selector}`, name);
  });

  test('DEP-01 to DEP-06: the checks of a deposit in their order; both forms count up and emit what src/chain decodes', async () => {
    await restored();
    const from = ANVIL_DEPOSITOR;
    const deposit = (amount: bigint, sender: Address = from): Promise<Revert | null> =>
      vaultCall('deposit', [`0x${USER}`, TOKEN_IN, amount], sender);
    assert.equal(revertOf(await deposit(0n, ANVIL_OWNER)), 'DepositorNotApproved');
    assert.equal(revertOf(await deposit(0n)), 'ZeroAmount');
    assert.equal(await vaultCall('setMinFirstDepositAmount', [TOKEN_IN, 5_000n], zero), null);
    assert.deepEqual(await deposit(4_999n), { name: 'FirstDepositBelowMinimum', args: [5_000n, 4_999n] });
    assert.equal(revertOf(await deposit(2n ** 255n)), 'NormalizationOverflow');
    assert.equal(revertOf(await deposit(5_000n)), 'TransferFromFailed');

    await anvil.send({ contract: 'Token', at: TOKEN_IN, name: 'mint', args: [from, 10_000n], from });
    await anvil.send({ contract: 'Token', at: TOKEN_IN, name: 'approve', args: [VAULT, 10_000n], from });
    assert.equal(await deposit(5_000n), null);
    const signer = {
      key: `0x${'07'.repeat(32)}`,
      keyType: 1,
      keyPrefix: 2,
      weight: 1,
      expiresAtNs: 0n,
      maxSigningWindowNs: 0n,
    };
    const config = [1, 1, 1, 1, [signer], `0x${'99'.repeat(64)}`];
    assert.equal(await vaultCall('deposit', [`0x${USER}`, TOKEN_IN, 1n, ...config], from), null);
    assert.equal(await anvil.read('VaultV1', VAULT, 'depositCounts', [`0x${USER}`]), 2n);

    const logs = await anvil.client.getLogs({ address: VAULT, fromBlock: 0n });
    const bare = (hex: string): string => hex.slice(2);
    const events = logs.map((log) => decodeDeposit({ topics: log.topics.map(bare), data: bare(log.data) }));
    const event = { user: USER, token: padded(TOKEN_IN) };
    assert.deepEqual(events.slice(-2), [
      { ...event, nonce: 0, baseUnits: 5_000n },
      { ...event, nonce: 1, baseUnits: 1n },
    ]);
    const encoded = encodeDeposit({ ...event, nonce: 0, baseUnits: 5_000n });
    assert.deepEqual(logs.at(-2)?.topics.map(bare), encoded.topics);
    assert.equal(bare(logs.at(-2)?.data ?? '0x'), encoded.data);
  });

  test('DEP-04: an amount that is nothing in 18 decimals is refused', async () => {
    const token = await anvil.deploy('Token', [24]);
    const user: Hex = `0x${USER}`;
    assert.equal(
      revertOf(await vaultCall('deposit', [user, token, 999_999n], ANVIL_DEPOSITOR)),
      'NormalizationRoundsToZero',
    );
    assert.equal(revertOf(await vaultCall('deposit', [user, TARGET, 5n], ANVIL_DEPOSITOR)), 'DecimalsCallFailed');
  });

  test('WDR-08: a withdrawal pays the vector once; expiry, quorum, nonce and signatures are checked in that order', async () => {
    await restored();
    const withdraw = (change: { amount?: bigint; nonce?: bigint; validUntil?: bigint; signatures?: readonly Hex[] }) =>
      vaultCall('withdraw', [
        { tokenAddress: TOKEN_IN, amount: change.amount ?? 1_000n, nonce: change.nonce ?? 0n },
        `0x${USER}`,
        TARGET,
        change.validUntil ?? VALID_UNTIL,
        `0x${EPOCH_HASH}`,
        change.signatures ?? [`0x${WITHDRAWAL_SIGNATURE}`],
      ]);
    const bytes = hexToBytes(`0x${WITHDRAWAL_SIGNATURE}`);
    const twin: Hex = concatHex([
      `0x${WITHDRAWAL_SIGNATURE.slice(0, 64)}`,
      numberToHex(ORDER_OF_CURVE - BigInt(`0x${WITHDRAWAL_SIGNATURE.slice(64, 128)}`), { size: 32 }),
      numberToHex(bytes[64] === 27 ? 28 : 27, { size: 1 }),
    ]);
    const zeroBased: Hex = `0x${WITHDRAWAL_SIGNATURE.slice(0, 128)}00`;
    assert.equal(revertOf(await withdraw({ validUntil: 1n, signatures: [] })), 'Expired');
    assert.deepEqual(await withdraw({ signatures: [] }), { name: 'MissedQuorum', args: [0n, 1n] });
    assert.deepEqual(await withdraw({ nonce: 1n }), { name: 'InvalidNonce', args: [0n, 1n] });
    assert.equal(revertOf(await withdraw({ amount: 1_001n })), 'InvalidSignature');
    assert.equal(revertOf(await withdraw({ signatures: [twin] })), 'InvalidSignature');
    assert.equal(revertOf(await withdraw({ signatures: [zeroBased] })), 'InvalidSignature');

    assert.equal(await vaultCall('setAdministrators', [[ADMINISTRATOR.address, ANVIL_OWNER], 2n], zero), null);
    const twice: readonly Hex[] = [`0x${WITHDRAWAL_SIGNATURE}`, `0x${WITHDRAWAL_SIGNATURE}`];
    assert.deepEqual(await withdraw({ signatures: twice }), { name: 'MissedQuorum', args: [1n, 2n] });
    assert.equal(await vaultCall('setAdministrators', [[ADMINISTRATOR.address], 1n], zero), null);

    assert.equal(await withdraw({}), null);
    assert.equal(await anvil.read('Token', TOKEN_IN, 'balanceOf', [TARGET]), 1_000n);
    assert.equal(await anvil.read('VaultV1', VAULT, 'withdrawalCounts', [`0x${USER}`]), 1n);
    assert.deepEqual(await withdraw({}), { name: 'InvalidNonce', args: [1n, 0n] });
  });

  test('STL-07 to STL-12: a settlement executes the vector once, with either form of the signature', async () => {
    for (const signature of [SETTLEMENT_SIGNATURE, SETTLEMENT_COMPACT]) {
      await restored();
      const executor = await anvil.deploy('Executor');
      const other = await anvil.deploy('Executor');
      const call = (change: { validUntil?: bigint; nonce?: bigint; signature?: Hex; by?: Address }) =>
        anvil.send({
          contract: 'Executor',
          at: change.by ?? executor,
          name: 'call',
          args: [VAULT, settlementData(change, signature)],
        });
      const prepare = (allowance: bigint, returned: bigint, reentry: Hex = '0x') =>
        anvil.send({
          contract: 'Executor',
          at: executor,
          name: 'prepare',
          args: [TOKEN_IN, VAULT, allowance, returned, reentry],
        });
      assert.equal(revertOf(await call({ validUntil: 1n })), 'Expired');
      assert.equal(revertOf(await call({})), 'SettlerNotApproved');
      assert.equal(await vaultCall('addSettlerExecutor', [`0x${USER}`, executor], zero), null);
      assert.equal(revertOf(await call({ by: other })), 'NotExecutor');
      assert.deepEqual(await call({ nonce: 1n }), { name: 'InvalidNonce', args: [0n, 1n] });
      assert.equal(revertOf(await call({ signature: `0x${WITHDRAWAL_SIGNATURE}` })), 'InvalidSignature');
      await prepare(1_000_000n, 999_999n);
      assert.equal(revertOf(await call({})), 'InsufficientAmountFromExecutor');
      await prepare(999_999n, 1_000_000n);
      assert.equal(revertOf(await call({})), 'TransferFromFailed');
      // The counter moves before the callback, so the same approval within it is refused.
      await prepare(1_000_000n, 1_000_000n, settlementData({}, signature));
      assert.deepEqual(await call({}), { name: 'InvalidNonce', args: [1n, 0n] });
      await prepare(1_000_000n, 1_000_000n);
      await anvil.send({ contract: 'Token', at: TOKEN_IN, name: 'mint', args: [executor, 1_000_000n] });
      assert.equal(await call({}), null);
      assert.equal(await anvil.read('Token', TOKEN_OUT, 'balanceOf', [executor]), 2_500n);
      assert.equal(await anvil.read('Token', TOKEN_IN, 'balanceOf', [VAULT]), 11_000_000n);
      assert.equal(await anvil.read('VaultV1', VAULT, 'settlementCounts', [`0x${USER}`, 3n]), 1n);
    }
  });

  function settlementOrder(change: { readonly validUntil?: bigint; readonly nonce?: bigint } = {}) {
    return {
      tokenOut: TOKEN_OUT,
      amountOut: 2_500n,
      tokenIn: TOKEN_IN,
      amountIn: 1_000_000n,
      mode: 1,
      user: `0x${USER}`,
      account: 3n,
      nonce: change.nonce ?? 0n,
      validUntil: change.validUntil ?? VALID_UNTIL,
    };
  }

  function settlementData(
    change: { readonly validUntil?: bigint; readonly nonce?: bigint; readonly signature?: Hex },
    signature: string,
  ): Hex {
    return encodeFunctionData({
      abi: contracts().VaultV1.abi,
      functionName: 'executeAtomicSettlement',
      args: [settlementOrder(change), `0x${USER}`, '0x', change.signature ?? `0x${signature}`],
    });
  }
});
