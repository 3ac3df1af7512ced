/**
 * Users of a soak who move money between a real EVM chain (anvil) and a node, and a plain book of what they must own: whole base units that
 * the vault took, paid and settled. Its providers are companies drawn from the table (rpc-companies.ts).
 *
 *   deposit ─▶ transfer between accounts ─▶ withdraw ─▶ the approval is executed on the vault
 *                                      └──▶ settle ───▶ by an executor
 *
 * What a node that is gone or refuses does not do is done in a later turn; nothing here retries a request.
 */
import assert from 'node:assert/strict';
import { type Address, encodeFunctionData } from 'viem';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { keyFromSeed, type SigningKey } from '../../src/client/keys.ts';
import type { NowNs } from '../../src/client/time.ts';
import { parseDecimal18 } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { Anvil, deployVault, depositOnAnvil, padded, type VaultOnAnvil } from './anvil.ts';
import { contracts } from './contracts.ts';
import { metricOf, type NodeProcess, operator } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import { BATCH_LIMITS, type Company, LOG_LIMITS, RpcCompany } from './rpc-companies.ts';
import type { SeededRandom } from './simulation.ts';

const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
const TARGET: Address = `0x${'7c'.repeat(20)}`;
const VM_ID = 1_347;
const CONFIRMATIONS = 2;
/** What the vault pays and settles, of 6 decimals, and what settlements bring, of 18. */
const [OUT, IN] = ['7', '9'] as [AssetId, AssetId];
const UNIT18 = 10n ** 18n;
const OUT_UNIT = 1_000_000n;
const SETTLED = { out: 2n, into: 3n } as const;
const USERS = 3;
const TURN_MS = 700;
const BLOCK_MS = 1_000;
const SETTLER = keyFromSeed(new Uint8Array(32).fill(0x5e));
const FAULTS = ['dead', 'limited', 'slow', 'overloaded', 'bomb'] as const;

interface FundedUser {
  readonly key: SigningKey;
  /** 18-decimal units, as the vault has moved them. */
  readonly owned: { out: bigint; into: bigint };
}

export class SoakFunds {
  /** How often what was done, or refused with which code. */
  readonly tally: Map<string, number> = new Map();
  readonly #random: SeededRandom;
  readonly #anvil: Anvil;
  readonly #vault: VaultOnAnvil;
  readonly #tokenIn: Address;
  readonly #executor: Address;
  readonly #users: readonly FundedUser[];
  #companies: readonly RpcCompany[] = [];
  #isStopped = false;
  /** One transaction after another: an allowance is of one depositor. */
  #chainTail: Promise<unknown> = Promise.resolve();

  static async open(random: SeededRandom): Promise<SoakFunds> {
    const anvil = await Anvil.start(VM_ID);
    const vault = await deployVault(anvil, [ADMINISTRATOR]);
    const tokenIn = await anvil.deploy('Token', [18]);
    const executor = await anvil.deploy('Executor');
    const args = [`0x${SETTLER.userId}`, executor];
    await anvil.send({ contract: 'VaultV1', at: vault.vault, name: 'addSettlerExecutor', args });
    return new SoakFunds(random, { anvil, vault, tokenIn, executor });
  }

  private constructor(
    random: SeededRandom,
    parts: {
      readonly anvil: Anvil;
      readonly vault: VaultOnAnvil;
      readonly tokenIn: Address;
      readonly executor: Address;
    },
  ) {
    this.#random = random;
    this.#anvil = parts.anvil;
    this.#vault = parts.vault;
    this.#tokenIn = parts.tokenIn;
    this.#executor = parts.executor;
    this.#users = Array.from({ length: USERS }, (_, index) => {
      const key = keyFromSeed(new Uint8Array(32).fill(0xc0 + index));
      return { key, owned: { out: 0n, into: 0n } };
    });
  }

  async close(): Promise<void> {
    await this.#chainTail.catch(() => undefined);
    await Promise.all(this.#companies.map((company) => company.stop()));
    await this.#anvil.stop();
  }

  /** Registers chain, vault, settler and assets with a node that has none of them. */
  async register(node: NodeProcess): Promise<void> {
    const { chainId } = this.#anvil;
    await this.drawCompanies(node);
    const administrators = [ADMINISTRATOR.slice(2)];
    await put(node, `/operator/vaults/${padded(this.#vault.vault)}@${chainId}`, { administrators, quorum: 1 });
    const settler = { chain_id: chainId, executor: this.#executor.slice(2).toLowerCase() };
    await put(node, `/operator/settlers/${SETTLER.userId}`, settler);
    const tokens = (at: Address, decimals: number) => [{ token: padded(at), chain_id: chainId, decimals }];
    await put(node, `/operator/assets/${OUT}`, { symbol: 'OUT', tokens: tokens(this.#vault.token, 6) });
    // Collateral, or no margin account takes it.
    await put(node, `/operator/risk-parameters/${OUT}`, { collateral_factor: 90 });
    await put(node, `/operator/assets/${IN}`, { symbol: 'IN', tokens: tokens(this.#tokenIn, 18) });
    const delays = { min_delay: 1, max_delay: 1, delay_clamps: [0], delay_values: [0], cap_floor: 50_000 };
    await put(node, '/operator/withdrawal-delay-parameters', delays);
  }

  /** Three other providers. @returns their limits, in words. */
  async drawCompanies(node: NodeProcess): Promise<string> {
    const before = this.#companies;
    this.#companies = await Promise.all([1, 2, 3].map(() => RpcCompany.start(this.#anvil.url, this.#drawn())));
    const confirmations = { deposit: CONFIRMATIONS, withdrawal: CONFIRMATIONS };
    const rpc_urls = this.#companies.map(({ url }) => url);
    await put(node, `/operator/chains/${this.#anvil.chainId}`, { kind: 'evm', rpc_urls, confirmations });
    await Promise.all(before.map((company) => company.stop()));
    return this.#companies.map(({ company }) => `${company.logs.name} / ${company.batch.name}`).join('; ');
  }

  /** One provider fails in this way for a while; a majority never does. */
  async failOne(forMs: number): Promise<string> {
    const company = this.#companies[this.#random.below(this.#companies.length)];
    const fault = FAULTS[this.#random.below(FAULTS.length)] ?? 'dead';
    if (company === undefined) return 'none';
    company.fault = fault;
    await aMoment(forMs);
    company.fault = 'none';
    return fault;
  }

  /** Moves money until it is stopped or the node is gone. */
  async run(node: NodeProcess, nowNs: NowNs): Promise<void> {
    this.#isStopped = false;
    const isOver = (): boolean => this.#isStopped || node.child.exitCode !== null || node.child.signalCode !== null;
    const mining = this.#mine(isOver);
    await Promise.all(this.#users.map((user) => this.#live(user, node, nowNs, isOver)));
    await mining;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Waits until the node has booked what the chain shows, and compares everything with the plain book. */
  async check(node: NodeProcess): Promise<void> {
    for (const company of this.#companies) company.fault = 'none';
    let found = '';
    const wanted = await this.#wanted();
    const mining = setInterval(() => void this.#chain(() => this.#anvil.mine(1)).catch(() => undefined), BLOCK_MS);
    try {
      await eventually(
        async () => {
          found = await this.#found(node);
          if (found !== wanted) await aMoment(250);
          return found === wanted;
        },
        () => `funds: the node has\n${found}\nand the chain\n${wanted}\n${node.stderr().slice(-2_000)}`,
      );
    } finally {
      clearInterval(mining);
    }
    assert.equal(await metricOf(node, `ringbook_chain_stopped{chain="${this.#anvil.chainId}"}`), 0);
  }

  async #wanted(): Promise<string> {
    const lines = this.#users.map(({ key, owned }) => `${key.userId.slice(0, 8)} ${owned.out} ${owned.into}`);
    const balance = async (token: Address): Promise<bigint> =>
      (await this.#anvil.read('Token', token, 'balanceOf', [this.#vault.vault])) as bigint;
    const held = [(await balance(this.#vault.token)) * (UNIT18 / OUT_UNIT), await balance(this.#tokenIn)];
    return [...lines, `vault ${held.join(' ')}`].join('\n');
  }

  async #found(node: NodeProcess): Promise<string> {
    const lines: string[] = [];
    for (const { key } of this.#users) {
      const { body } = await operator(node, 'GET', `/operator/users/${key.userId}`);
      const accounts = Object.values((body['sub_accounts'] ?? {}) as Record<string, AccountView>);
      const total = (asset: AssetId): bigint =>
        accounts.reduce((sum, { balances }) => {
          const { owned = '0', locked = '0' } = balances[asset] ?? {};
          return sum + (parseDecimal18(owned) ?? 0n) + (parseDecimal18(locked) ?? 0n);
        }, 0n);
      lines.push(`${key.userId.slice(0, 8)} ${total(OUT)} ${total(IN)}`);
    }
    const { body } = await operator(node, 'GET', '/operator/ledger');
    const assets = body['assets'] as Record<string, { readonly vault_holdings: string }>;
    const held = [OUT, IN].map((asset) => parseDecimal18(assets[asset]?.vault_holdings ?? '0'));
    return [...lines, `vault ${held.join(' ')}`].join('\n');
  }

  #drawn(): Partial<Company> {
    const random = this.#random;
    const isSo = (): boolean => random.below(2) === 0;
    const order = (['chain', 'reversed', 'shuffled'] as const)[random.below(3)] ?? 'chain';
    const [logs, batch] = [
      LOG_LIMITS[random.below(LOG_LIMITS.length)],
      BATCH_LIMITS[random.below(BATCH_LIMITS.length)],
    ];
    assert.ok(logs !== undefined && batch !== undefined);
    const lags = random.below(3) === 0 ? [0, 1] : [0];
    return { logs, batch, hasNull: isSo(), order, isDoubled: isSo(), hasZeros: isSo(), hasTextIds: isSo(), lags };
  }

  async #mine(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#chain(() => this.#anvil.mine(1));
      await aMoment(BLOCK_MS);
    }
  }

  #chain<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#chainTail.then(work);
    this.#chainTail = turn.catch(() => undefined);
    return turn;
  }

  #count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  async #live(user: FundedUser, node: NodeProcess, nowNs: NowNs, isOver: () => boolean): Promise<void> {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: user.key, nowNs });
    let isIn = false;
    while (!isOver()) {
      try {
        if (!isIn) await client.login();
        isIn = true;
        this.#count(await this.#turn(user, client));
      } catch (error) {
        // What ends while the node does is no answer.
        if (isOver()) break;
        if (!(error instanceof RingbookError)) throw error;
        this.#count(`refused ${error.code}`);
      }
      await aMoment(TURN_MS);
    }
    client.close();
  }

  /** @returns what was done. */
  async #turn(user: FundedUser, client: RingbookClient): Promise<string> {
    const random = this.#random;
    const { chainId } = this.#anvil;
    switch (random.below(6)) {
      case 0: {
        const units = BigInt(5 + random.below(40));
        await this.#chain(async () => {
          const revert = await depositOnAnvil(this.#anvil, this.#vault, user.key.userId, units * OUT_UNIT);
          assert.equal(revert, null, 'the vault takes a deposit');
          user.owned.out += units * UNIT18;
        });
        return 'deposit';
      }
      case 1: {
        const amount18 = BigInt(1 + random.below(4)) * UNIT18;
        const token = padded(this.#vault.token);
        await client.account.withdraw({ token, chainId, amount18, target: padded(TARGET) });
        return 'withdrawal';
      }
      case 2:
        return this.#executeWithdrawal(user, client);
      case 3: {
        const amounts = { amountOut18: SETTLED.out * UNIT18, amountIn18: SETTLED.into * UNIT18 };
        const tokens = { tokenOut: padded(this.#vault.token), tokenIn: padded(this.#tokenIn) };
        await client.account.settle({ subAccount: 0, settler: SETTLER.userId, ...tokens, ...amounts, chainId });
        return 'settlement';
      }
      case 4:
        return this.#executeSettlement(user, client);
      default: {
        const there = random.below(2) === 0;
        await client.account.transfer({
          sourceIndex: there ? 0 : 1,
          targetIndex: there ? 1 : 0,
          assetId: OUT,
          amount18: BigInt(1 + random.below(3)) * UNIT18,
          targetAccountType: null,
          nonce: client.nowNs(),
        });
        return 'transfer';
      }
    }
  }

  /** Anybody may execute an approval; one that is executed and not booked yet is refused by the vault. */
  async #executeWithdrawal(user: FundedUser, client: RingbookClient): Promise<string> {
    const row = (await client.account.withdrawals()).find(({ status }) => status === 'approved');
    const [approval] = row?.approvals ?? [];
    if (row === undefined || approval === undefined) return 'no approval';
    const amount18 = BigInt(`0x${row.amount}`);
    return this.#chain(async () => {
      const revert = await this.#anvil.send({
        contract: 'VaultV1',
        at: this.#vault.vault,
        name: 'withdraw',
        args: [
          {
            tokenAddress: this.#vault.token,
            amount: amount18 / (UNIT18 / OUT_UNIT),
            nonce: BigInt(row.nonce),
          },
          `0x${user.key.userId}`,
          TARGET,
          BigInt(approval.expiry),
          `0x${approval.epochHash}`,
          [`0x${approval.signature.replace(/^0x/, '')}`],
        ],
      });
      if (revert !== null) return `payout refused by the vault: ${revert.name}`;
      user.owned.out -= amount18;
      return 'payout';
    });
  }

  async #executeSettlement(user: FundedUser, client: RingbookClient): Promise<string> {
    const [approval] = await client.account.settlementSignatures();
    if (approval === undefined) return 'no approval';
    const { vault, token } = this.#vault;
    const [tokenIn, executor] = [this.#tokenIn, this.#executor];
    const amountIn = SETTLED.into * UNIT18;
    const order = {
      ...{ tokenOut: token, amountOut: SETTLED.out * OUT_UNIT, tokenIn, amountIn, mode: 0 },
      ...{ user: `0x${user.key.userId}`, account: 0n, nonce: BigInt(approval.nonce) },
      validUntil: BigInt(approval.expiry),
    };
    const data = encodeFunctionData({
      abi: contracts().VaultV1.abi,
      functionName: 'executeAtomicSettlement',
      args: [order, `0x${SETTLER.userId}`, '0x', `0x${approval.signature}`],
    });
    return this.#chain(async () => {
      await this.#anvil.send({ contract: 'Token', at: tokenIn, name: 'mint', args: [executor, amountIn] });
      const prepared = [tokenIn, vault, amountIn, amountIn, '0x'];
      await this.#anvil.send({ contract: 'Executor', at: executor, name: 'prepare', args: prepared });
      const revert = await this.#anvil.send({ contract: 'Executor', at: executor, name: 'call', args: [vault, data] });
      if (revert !== null) return `settlement refused by the vault: ${revert.name}`;
      user.owned.out -= SETTLED.out * UNIT18;
      user.owned.into += SETTLED.into * UNIT18;
      return 'settled';
    });
  }
}

interface AccountView {
  readonly balances: Readonly<Record<string, { readonly owned: string; readonly locked: string }>>;
}

async function put(node: NodeProcess, path: string, body: object): Promise<void> {
  const { status, text } = await operator(node, 'PUT', path, body);
  assert.equal(status, 200, `${path}: ${text}`);
}
