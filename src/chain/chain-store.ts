/**
 * Simulated chains in the data directory, one file each, `chains/<chain id>.json`, always written completely (state-file.ts); how far they
 * are watched is in cursors, as of any other chain (event-cursor.ts). Numbers beyond 2^53 are decimal strings. An unreadable file is
 * damage: the node does not start with it.
 *
 *   format 1   blocks without the calls that were sent: they are read, and cannot be replaced by a reorganisation
 *   format 2   the calls, the changes of balances, replaced blocks, faults of providers
 *
 * Beside it versions before the one watch of all chains wrote `<chain id>.watch.json`, which becomes cursors (watch-file.ts).
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../core/assert.ts';
import { type ChainId, parseChainId } from '../core/ids.ts';
import type { ChainLog, VaultEventKind } from './chain-events.ts';
import { CursorStore } from './event-cursor.ts';
import {
  type BalanceChange,
  type Block,
  type ChainCall,
  type ChainState,
  type DepositCall,
  type EscapeState,
  type Fork,
  NO_ESCAPE,
  PROVIDER_FAULTS,
  type ProviderFault,
  type WithdrawCall,
} from './simulated-chain.ts';
import type { SettleCall } from './simulated-settlement.ts';
import { type Json, loadStateFile, StateReader, saveStateFile } from './state-file.ts';
import { convertedWatch } from './watch-file.ts';

const FORMAT = 2;
const READ = new StateReader('the file of a simulated chain');

/** What keeps the chains: files of the data directory, or a memory that a simulation kills. */
export interface ChainFiles extends Pick<ChainStore, 'load' | 'save' | 'convertWatch'> {
  readonly cursors: Pick<CursorStore, 'load' | 'save'>;
}

export class ChainStore implements ChainFiles {
  readonly #directory: string;
  readonly cursors: CursorStore;

  /** @param dataDirectory exists; the chains get a subdirectory. */
  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, 'chains');
    this.cursors = new CursorStore(dataDirectory);
  }

  /** @returns null if nothing was saved. @throws InvariantError for a damaged file, Error when it cannot be read. */
  async load(chainId: ChainId): Promise<ChainState | null> {
    const text = await loadStateFile(this.#path(chainId));
    if (text === null) return null;
    const state = decodeChain(text);
    assert(state.chainId === chainId, `the file of chain ${chainId} holds that chain`);
    return state;
  }

  /** One call at a time per chain. @throws Error when writing fails; the old state is then still there. */
  async save(state: ChainState): Promise<void> {
    await saveStateFile(this.#path(state.chainId), encodeChain(state));
  }

  /** Makes cursors of the watch file of an earlier version, which is removed then. @param vault 40 hex. @throws as `load`. */
  async convertWatch(chainId: ChainId, vault: string): Promise<void> {
    const path = this.#path(`${chainId}.watch`);
    const text = await loadStateFile(path);
    if (text === null) return;
    for (const [event, cursor] of Object.entries(convertedWatch(text, vault))) {
      const kind = event as VaultEventKind;
      // Killed in between, those that are written go on from where they are.
      if ((await this.cursors.load(chainId, kind)) === null) await this.cursors.save(chainId, kind, cursor);
    }
    await rm(path);
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.json`);
  }
}

export function encodeChain(state: ChainState): string {
  const exact = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
  return `${JSON.stringify({ format: FORMAT, ...state }, exact)}\n`;
}

/** @throws InvariantError unless `text` is a complete state written by `encodeChain`, in this format or the one before. */
export function decodeChain(text: string): ChainState {
  const root = READ.root(text);
  const { format } = root;
  READ.check(format === FORMAT || format === 1, 'its format is known');
  const chainId = parseChainId(READ.string(root['chainId']));
  if (chainId === null) throw READ.damaged('it names no chain');
  const blocks = READ.list(root['blocks']).map((item) => block(READ.object(item), format === 1));
  const past =
    format === 1
      ? { transactions: blocks.length, forks: [], replaced: [], providers: [], escape: NO_ESCAPE }
      : {
          transactions: READ.count(root['transactions']),
          forks: READ.list(root['forks']).map((item) => fork(READ.object(item))),
          replaced: READ.list(root['replaced']).map((item) => block(READ.object(item), false)),
          providers: READ.list(root['providers']).map((item) => providerFault(READ.object(item))),
          escape: escapeState(READ.object(root['escape'])),
        };
  const state: ChainState = {
    chainId,
    head: READ.count(root['head']),
    headNs: READ.whole(root['headNs']),
    blocks,
    balances: READ.list(root['balances']).map((item) => balanceChange(item)),
    ...past,
  };
  let below = 0;
  for (const { number } of state.blocks) {
    READ.check(number > below && number <= state.head, 'blocks are in order and not above the head');
    below = number;
  }
  READ.check(
    state.balances.every(([, balance]) => balance >= 0n),
    'a balance is not negative',
  );
  return state;
}

function escapeState({ checkpointNs, isOpen }: Json): EscapeState {
  return { checkpointNs: checkpointNs === null ? null : READ.whole(checkpointNs), isOpen: isOpen === true };
}

function fork(json: Json): Fork {
  return { from: READ.count(json['from']), fork: READ.count(json['fork']) };
}

function providerFault(json: Json): ProviderFault {
  const fault = PROVIDER_FAULTS.find((name) => name === json['fault']);
  if (fault === undefined) throw READ.damaged('a fault of a provider is unknown');
  return { fault, lagBlocks: READ.count(json['lagBlocks']) };
}

function balanceChange(item: unknown): BalanceChange {
  const [key, change] = READ.list(item);
  const text = READ.string(change);
  return [READ.string(key), text.startsWith('-') ? -READ.whole(text.slice(1)) : READ.whole(text)];
}

/** @param isBare a block of format 1. */
function block(json: Json, isBare: boolean): Block {
  const log = json['log'];
  const { call, changes } = isBare || json['sent'] === null ? NOT_SENT : READ.object(json['sent']);
  return {
    number: READ.count(json['number']),
    hash: READ.hex(json['hash'], 32),
    timeNs: READ.whole(json['timeNs']),
    tx: READ.hex(json['tx'], 32),
    log: log === null ? null : chainLog(READ.object(log)),
    sent:
      call === undefined
        ? null
        : { call: chainCall(READ.object(call)), changes: READ.list(changes).map((item) => balanceChange(item)) },
  };
}

const NOT_SENT: Json = {};

function chainCall({ kind, call }: Json): ChainCall {
  const json = READ.object(call);
  switch (kind) {
    case 'deposit':
      return { kind, call: depositCall(json) };
    case 'withdraw':
      return { kind, call: withdrawCall(json) };
    case 'settle':
      return { kind, call: settleCall(json) };
    case 'mint':
      return { kind, call: { token: address(json['token']), to: address(json['to']), baseUnits: units(json) } };
    case 'forceWithdraw': {
      const mint = { token: address(json['token']), to: address(json['to']), baseUnits: units(json) };
      return { kind, call: { ...mint, vault: address(json['vault']), user: READ.user(json['user']) } };
    }
    default:
      throw READ.damaged('a call is of no known kind');
  }
}

function depositCall(json: Json): DepositCall {
  const { token, decimals, minFirstDepositBaseUnits } = READ.object(json['token']);
  return {
    vault: address(json['vault']),
    user: READ.user(json['user']),
    token: {
      token: address(token),
      decimals: READ.count(decimals),
      minFirstDepositBaseUnits: READ.whole(minFirstDepositBaseUnits),
    },
    baseUnits: units(json),
    from: address(json['from']),
    approve: json['approve'] === true,
    senderAllowed: json['senderAllowed'] === true,
    ...(json['config'] === undefined ? {} : { config: READ.string(json['config']) }),
  };
}

function withdrawCall(json: Json): WithdrawCall {
  return {
    vault: address(json['vault']),
    user: READ.user(json['user']),
    token: address(json['token']),
    baseUnits: units(json),
    nonce: READ.whole(json['nonce']),
    target: address(json['target']),
    validUntil: READ.whole(json['validUntil']),
    signers: READ.list(json['signers']).map((signer) => (signer === null ? null : READ.hex(signer, 20))),
    administrators: READ.list(json['administrators']).map((administrator) => READ.hex(administrator, 20)),
    quorum: READ.count(json['quorum']),
  };
}

function settleCall(json: Json): SettleCall {
  const { allowance, returns, reenter } = READ.object(json['conduct']);
  const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null => (value === null ? null : read(value));
  const mode = json['mode'];
  if (mode !== 'spot' && mode !== 'margin') throw READ.damaged('a settlement is of no known mode');
  return {
    vault: address(json['vault']),
    caller: address(json['caller']),
    registered: orNull(json['registered'], address),
    tokenOut: address(json['tokenOut']),
    baseUnitsOut: READ.whole(json['baseUnitsOut']),
    tokenIn: address(json['tokenIn']),
    baseUnitsIn: READ.whole(json['baseUnitsIn']),
    mode,
    user: READ.user(json['user']),
    account: READ.count(json['account']),
    nonce: READ.whole(json['nonce']),
    validUntil: READ.whole(json['validUntil']),
    settler: READ.user(json['settler']),
    signer: orNull(json['signer'], (signer) => READ.hex(signer, 20)),
    administrators: READ.list(json['administrators']).map((administrator) => READ.hex(administrator, 20)),
    conduct: {
      allowance: orNull(allowance, (units) => READ.whole(units)),
      returns: orNull(returns, (units) => READ.whole(units)),
      reenter: reenter === true,
    },
  };
}

function units(json: Json): bigint {
  return READ.whole(json['baseUnits']);
}

function address(value: unknown): string {
  return READ.hex(value, 32);
}

function chainLog(json: Json): ChainLog {
  return {
    blockNumber: READ.count(json['blockNumber']),
    blockHash: READ.hex(json['blockHash'], 32),
    tx: READ.hex(json['tx'], 32),
    logIndex: READ.count(json['logIndex']),
    address: READ.string(json['address']),
    topics: READ.list(json['topics']).map((topic) => READ.hex(topic, 32)),
    data: READ.string(json['data']),
  };
}
