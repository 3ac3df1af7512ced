/** A small simulated chain with the addresses of the dev seed. */

import { type DepositCall, emptyChain, SimulatedChain, type TokenTerms } from '../../src/chain/simulated-chain.ts';
import type { ChainId } from '../../src/core/ids.ts';
import { ALICE } from './names.ts';

export const STARTED_NS = 1_800_000_000_000_000_000n;
export const CHAIN_ID: ChainId = '000000000000007a69' as ChainId;
export const VAULT: string = '0d'.repeat(20) + '0'.repeat(24);
export const SENDER: string = 'aa'.repeat(20) + '0'.repeat(24);
export const TOKEN: TokenTerms = { token: '5a'.repeat(20) + '0'.repeat(24), decimals: 6, minFirstDepositBaseUnits: 0n };

export const DEPOSIT: DepositCall = {
  vault: VAULT,
  user: ALICE,
  token: TOKEN,
  baseUnits: 1_000_000n,
  from: SENDER,
  approve: true,
  senderAllowed: true,
};

/** An empty chain with so many blocks. */
export function chainAt(head: number): SimulatedChain {
  const chain = new SimulatedChain(emptyChain(CHAIN_ID, STARTED_NS));
  chain.mine(head, STARTED_NS);
  return chain;
}
