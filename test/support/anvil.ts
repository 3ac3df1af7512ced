/**
 * An EVM chain of a test: `anvil` from npm as a child process, with the vault and the tokens of test/contracts on it, driven
 * through viem. Blocks are mined by transactions and on request, unless a block time is given.
 *
 * The binary comes with the package of the platform; `ANVIL` names another one, where npm has none.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Address,
  createTestClient,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  type WalletActions,
  walletActions,
} from 'viem';
import { domainHash } from '../../src/chain/approval-digests.ts';
import type { ChainId } from '../../src/core/ids.ts';
import { type ContractName, contracts } from './contracts.ts';
import { eventually } from './patience.ts';

/** Anvil's own chain id, 31337. */
export const ANVIL_CHAIN: ChainId = '000000000000007a69' as ChainId;
/** The first account of anvil's default mnemonic: unlocked, rich in ether. */
export const ANVIL_OWNER: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const ANVIL_DEPOSITOR: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const LISTENING = /Listening on [^:]+:(\d+)/;
const START_MS_MAX = 60_000;
const UNMINED_MS_MAX = 10_000;
/** Enough for thousands of deposits in a transaction. */
const BLOCK_GAS = 30_000_000_000n;

type Client = TestClient<'anvil'> & PublicActions & WalletActions;

/** What a contract answered to a call that it refused. */
export interface Revert {
  /** The name of its error. */
  readonly name: string;
  readonly args: readonly unknown[];
}

export class Anvil {
  readonly url: string;
  readonly client: Client;
  readonly chainId: ChainId;
  /** Null: another process has it. */
  readonly #child: ChildProcess | null;

  /** @param vmId the chain id that it names. @param args further options of anvil. */
  static async start(vmId = 31_337, args: readonly string[] = []): Promise<Anvil> {
    const gas = ['--gas-limit', `${BLOCK_GAS}`, '--hardfork', 'cancun'];
    const options = ['--host', '127.0.0.1', '--port', '0', '--chain-id', `${vmId}`, ...gas, ...args];
    const child = spawn(anvilPath(), options, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const port = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`anvil does not listen: ${output}`)), START_MS_MAX);
      const read = (text: string): void => {
        output += text;
        const found = LISTENING.exec(output)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      };
      child.stdout.setEncoding('utf8').on('data', read);
      child.stderr.setEncoding('utf8').on('data', read);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`anvil ended with ${code}: ${output}`)));
    }).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    });
    // Its log would fill the pipe.
    child.stdout.removeAllListeners('data').resume();
    child.stderr.removeAllListeners('data').resume();
    return new Anvil(`http://127.0.0.1:${port}`, vmId, child);
  }

  /** @param url of an anvil that another process has started. */
  static async connect(url: string): Promise<Anvil> {
    const { client } = new Anvil(url, 0, null);
    return new Anvil(url, await client.getChainId(), null);
  }

  private constructor(url: string, vmId: number, child: ChildProcess | null) {
    this.url = url;
    this.chainId = vmId.toString(16).padStart(18, '0') as ChainId;
    this.#child = child;
    const transport = http(url, { retryCount: 0, timeout: START_MS_MAX });
    this.client = createTestClient({ mode: 'anvil', transport, pollingInterval: 10 })
      .extend(publicActions)
      .extend(walletActions);
    if (child !== null) process.once('exit', () => child.kill('SIGKILL'));
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async deploy(name: ContractName, args: readonly unknown[] = []): Promise<Address> {
    const { abi, bytecode } = contracts()[name];
    const data = encodeDeployData({ abi, bytecode, args });
    const hash = await this.client.sendTransaction({ account: ANVIL_OWNER, chain: null, data });
    const { contractAddress } = await this.#receipt(hash);
    if (contractAddress === null || contractAddress === undefined) throw new Error(`${name} has no address`);
    return contractAddress;
  }

  /** Calls a function as `from` in a transaction. @returns null when it is mined, or why the contract refused it. */
  async send(call: {
    readonly contract: ContractName;
    readonly at: Address;
    readonly name: string;
    readonly args: readonly unknown[];
    readonly from?: Address;
  }): Promise<Revert | null> {
    const { abi } = contracts()[call.contract];
    const data = encodeFunctionData({ abi, functionName: call.name, args: call.args });
    const request = { account: call.from ?? ANVIL_OWNER, to: call.at, data };
    try {
      await this.client.call(request);
    } catch (error) {
      const reverted = revertData(error);
      if (reverted === null) throw error;
      const { errorName, args } = decodeErrorResult({ abi: contracts().VaultV1.abi, data: reverted });
      return { name: errorName, args: args ?? [] };
    }
    const hash = await this.client.sendTransaction({ ...request, chain: null });
    const { status } = await this.#receipt(hash);
    if (status !== 'success') throw new Error(`${call.name} was called without a fault and reverted in its block`);
    return null;
  }

  /**
   * Waits until a transaction is in a block. Not viem's wait: that looks again only when the head has moved, and the block
   * that a transaction makes is often the last one. A transaction that stays in anvil's pool gets a block after 10 s.
   */
  async #receipt(hash: Hex): Promise<TransactionReceipt> {
    let receipt: TransactionReceipt | null = null;
    let blockAtMs = performance.now() + UNMINED_MS_MAX;
    await eventually(
      async () => {
        receipt = await this.client.getTransactionReceipt({ hash }).catch((error: unknown) => {
          if (error instanceof TransactionReceiptNotFoundError) return null;
          throw error;
        });
        if (receipt === null && performance.now() > blockAtMs) {
          blockAtMs = performance.now() + UNMINED_MS_MAX;
          await this.mine(1);
        }
        return receipt !== null;
      },
      () => `transaction ${hash} is in no block`,
    );
    assert(receipt !== null);
    return receipt;
  }

  /** Calls a function that reads. */
  async read(contract: ContractName, at: Address, name: string, args: readonly unknown[] = []): Promise<unknown> {
    return this.client.readContract({ abi: contracts()[contract].abi, address: at, functionName: name, args });
  }

  mine(blocks: number): Promise<void> {
    return this.client.mine({ blocks });
  }

  /** Replaces the last blocks by as many empty ones. */
  async reorg(depth: number): Promise<void> {
    await this.client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
  }

  async head(): Promise<number> {
    return Number(await this.client.getBlockNumber({ cacheTime: 0 }));
  }
}

/** The data that a contract reverted with, wherever viem has put it; null when something else went wrong. */
function revertData(error: unknown): Hex | null {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : null) {
    if (!('data' in at)) continue;
    if (typeof at.data === 'string' && /^0x[0-9a-f]{8,}$/.test(at.data)) return at.data as Hex;
  }
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : null) {
    if ('raw' in at && typeof at.raw === 'string' && at.raw.startsWith('0x')) return at.raw as Hex;
  }
  return null;
}

function anvilPath(): string {
  const own = process.env['ANVIL'];
  if (own !== undefined) return own;
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${cpu}`;
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
}

/** A vault with its depositor allowed, its domain hash set, and one administrator. */
export interface VaultOnAnvil {
  readonly vault: Address;
  readonly token: Address;
}

/** 64 hex, right-padded, as the node writes addresses. */
export function padded(address: Address): string {
  return address.slice(2).toLowerCase().padEnd(64, '0');
}

/** @param administrators of 20 bytes; the first is enough for a withdrawal. */
export async function deployVault(
  anvil: Anvil,
  administrators: readonly Address[],
  version: 'VaultV1' | 'VaultV2' = 'VaultV1',
  decimals = 6,
): Promise<VaultOnAnvil> {
  const vault = await anvil.deploy(version, [ANVIL_OWNER, ANVIL_OWNER]);
  const token = await anvil.deploy('Token', [decimals]);
  const call = (name: string, args: readonly unknown[]) => anvil.send({ contract: version, at: vault, name, args });
  await call('setDomainSeparator', [`0x${domainHash(padded(vault), anvil.chainId)}`]);
  await call('setAdministrators', [administrators, 1n]);
  await call('setDepositorStatus', [ANVIL_DEPOSITOR, true]);
  return { vault, token };
}

/**
 * Mints what it takes, approves and deposits: three transactions, each in its block.
 *
 * @param config further arguments, of the configured overload.
 */
export async function depositOnAnvil(
  anvil: Anvil,
  { vault, token }: VaultOnAnvil,
  user: string,
  amount: bigint,
  config: readonly unknown[] = [],
): Promise<Revert | null> {
  const from = ANVIL_DEPOSITOR;
  await anvil.send({ contract: 'Token', at: token, name: 'mint', args: [from, amount], from });
  await anvil.send({ contract: 'Token', at: token, name: 'approve', args: [vault, amount], from });
  const args = [`0x${user}`, token, amount, ...config];
  return anvil.send({ contract: 'VaultV1', at: vault, name: 'deposit', args, from });
}
