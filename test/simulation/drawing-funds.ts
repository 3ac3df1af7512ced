/**
 * The next move of funds, drawn from a seed and from what the node shows: deposits, blocks, withdrawals, approvals that are presented
 * in time, late and twice.
 *
 * Not here: how often each is drawn (drawing.ts), carrying it out (chains.ts, performing.ts).
 */
import type { WithdrawalRow } from '../../src/clearing/rows.ts';
import { assert } from '../../src/core/assert.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import type { SeededRandom } from '../support/simulation.ts';
import type { Action, FundsAction, Who } from './actions.ts';
import { USERS, userAt } from './people.ts';
import { nameOf, PROVIDERS, REGISTERED_FIRST, type Registered, TOKENS, tokenAt, VAULTS } from './vaults.ts';

const ONE = 10n ** 18n;

export class FundsDrawing {
  readonly #random: SeededRandom;
  #registered: readonly Registered[] = REGISTERED_FIRST;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  draw(kind: FundsAction['kind'], node: SimulatedNode, who: Who): Action {
    switch (kind) {
      case 'deposit':
        return this.#deposit(who);
      case 'mine':
        return { kind, vault: this.#random.below(VAULTS.length), blocks: this.#pick([1, 1, 1, 2, 3]) };
      case 'withdraw':
        return this.#withdraw(node, who);
      case 'cancelWithdrawal': {
        const row = this.#row(node, ['queued', 'filled', 'filled', 'approved']);
        if (row === null) return { kind, who, token: this.#random.below(TOKENS.length), nonce: 0 };
        return { kind, ...placeOf(row) };
      }
      case 'execute':
        return this.#execute(node, who);
      case 'reorg':
        return {
          kind,
          vault: this.#random.below(VAULTS.length),
          depth: this.#pick([1, 1, 2, 3, 5]),
          keeps: this.#pick([0xff, 0xff, this.#random.below(256)]),
          isReversed: this.#once(6),
          more: this.#pick([0, 1, 1, 4]),
        };
      case 'provider': {
        const fault = this.#pick([
          'none',
          'none',
          'none',
          'unreachable',
          'lagging',
          'omit_logs',
          'forge_amount',
        ] as const);
        const lagBlocks = fault === 'lagging' ? 1 + this.#random.below(6) : 0;
        const place = { vault: this.#random.below(VAULTS.length), provider: this.#random.below(PROVIDERS) };
        return { kind, ...place, fault, lagBlocks };
      }
      case 'replay':
        return { kind, vault: this.#random.below(VAULTS.length), back: this.#random.below(8) };
      case 'resume':
        return { kind, vault: this.#random.below(VAULTS.length) };
      case 'settle':
        return this.#settle(node, who);
      case 'executeSettlement': {
        const rows = [...node.gateway.settlements.all()];
        const confirm = this.#once(2);
        if (rows.length === 0) return { kind, who, vault: 0, account: 0, nonce: this.#random.below(3), confirm };
        const { user, chainId, subAccount, nonce } = this.#pick(rows);
        const vault = VAULTS.findIndex((one) => one.chainId === chainId);
        const other = this.#once(6) ? Math.max(0, nonce - 1) : nonce;
        return { kind, who: USERS.indexOf(user), vault, account: subAccount, nonce: other, confirm };
      }
      case 'tokens':
        return this.#tokens();
      case 'creditUnclaimed': {
        const rows = [...node.clearing.ledger.unclaimed.values()];
        if (rows.length === 0) return { kind, who, vault: 0, counter: 0 };
        const { user, chainId, counter } = this.#pick(rows);
        const vault = VAULTS.findIndex((one) => one.chainId === chainId);
        return { kind, who: USERS.indexOf(user), vault, counter };
      }
    }
  }

  /** Up to three units of the token; now and then too little for the last of 18 decimals, or nothing. */
  #deposit(who: Who): Action {
    const token = this.#random.below(TOKENS.length);
    const { decimals } = tokenAt(token);
    const millionths = BigInt(1 + this.#random.below(3_000_000)) * 10n ** BigInt(decimals - 6);
    const baseUnits = this.#once(12) ? BigInt(this.#random.below(150)) : millionths + BigInt(this.#random.below(7));
    return { kind: 'deposit', who, token, baseUnits: String(baseUnits), confirm: this.#once(3) };
  }

  /** Caps that some deposits are beyond, or none; now and then a token less, and with the next change of it again. */
  #tokens(): Action {
    const token = this.#random.below(TOKENS.length);
    const { asset } = tokenAt(token);
    const changed = { token, most: this.#pick([null, 1, 4, 30]), hourly: this.#pick([null, null, 1, 5]) };
    const others = this.#registered.filter((one) => one.token !== token);
    this.#registered = this.#once(4) ? others : [...others, changed];
    return { kind: 'tokens', asset, registered: this.#registered.filter((one) => tokenAt(one.token).asset === asset) };
  }

  /** All that is owned, a part of it, or more; mostly with the counter left to the node. */
  #withdraw(node: SimulatedNode, who: Who): Action {
    const token = this.#random.below(TOKENS.length);
    const { asset } = tokenAt(token);
    const owned = node.clearing.ledger.users.get(userAt(who))?.subAccounts.get(0)?.balances.get(asset)?.owned ?? 0n;
    const amount = this.#pick([owned, owned / 2n, owned / 9n, ONE / 7n, ONE / 1_000n, owned + 1n, 1n]);
    const nonce = this.#once(8) ? this.#random.below(6) : null;
    const target = this.#once(30) ? '00' : this.#pick(['71', '72', '73']);
    return { kind: 'withdraw', who, token, amount: (amount === 0n ? 1n : amount).toString(16), nonce, target };
  }

  /** One token of a vault for the other, out of a spot account or a margin account. */
  #settle(node: SimulatedNode, who: Who): Action {
    const out = this.#random.below(TOKENS.length);
    const { asset, vault } = tokenAt(out);
    const into = TOKENS.findIndex((token, index) => token.vault === vault && index !== out);
    const account = this.#random.below(2);
    const accounts = node.clearing.ledger.users.get(userAt(who))?.subAccounts;
    const owned = accounts?.get(account)?.balances.get(asset)?.owned ?? 0n;
    const amount = this.#pick([owned, owned / 5n, owned / 31n, ONE / 900n, 3n]);
    const amountOut = (amount === 0n ? ONE : amount).toString(16);
    const amountIn = this.#pick([ONE / 3n, ONE / 7_000n, 1n]).toString(16);
    const nonce = this.#once(6) ? this.#random.below(4) : null;
    return { kind: 'settle', who, account, out, into, amountOut, amountIn, nonce };
  }

  #execute(node: SimulatedNode, who: Who): Action {
    const row = this.#row(node, ['approved']);
    const confirm = this.#once(2);
    if (row === null) return { kind: 'execute', who, vault: 0, nonce: 0, confirm, old: null };
    const vault = VAULTS.findIndex(({ chainId }) => chainId === row.chainId);
    const old = this.#once(4) ? this.#random.below(4) : null;
    return { kind: 'execute', who: USERS.indexOf(row.user), vault, nonce: row.nonce, confirm, old };
  }

  /** One of the published withdrawals in such a state. */
  #row(node: SimulatedNode, states: readonly WithdrawalRow['status'][]): WithdrawalRow | null {
    const state = this.#pick(states);
    const rows = [...node.gateway.withdrawals.all()].filter(({ status }) => status === state);
    return rows.length === 0 ? null : this.#pick(rows);
  }

  #once(of: number): boolean {
    return this.#random.below(of) === 0;
  }

  #pick<T>(from: readonly T[]): T {
    assert(from.length > 0, 'there is something to pick from');
    return from[this.#random.below(from.length)] as T;
  }
}

/** How an action names a withdrawal. */
export function placeOf(row: WithdrawalRow): { readonly who: Who; readonly token: number; readonly nonce: number } {
  const name = `${row.token}@${row.chainId}`;
  return { who: USERS.indexOf(row.user), token: TOKENS.findIndex((token) => nameOf(token) === name), nonce: row.nonce };
}
