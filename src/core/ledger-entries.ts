/**
 * Why a balance of the ledger changes: the closed vocabulary of `entry` in ledger rows (LDG-01). The numbers are in outcome
 * bytes, which no file keeps; the words are.
 */
export const LEDGER_ENTRY = {
  /** The balance when the row log begins. */
  opening: 0,
  /** The legs of a confirmed fill: base and quote. */
  trade: 1,
  tradingFee: 2,
  /** What a fill paid to the fee account, both sides together. */
  feeIncome: 3,
  deposit: 4,
  withdrawal: 5,
  /** Of a deposit or a withdrawal; a rebate is positive. */
  rebalancingFee: 6,
  /** What a vault paid without the node. */
  forcedWithdrawal: 7,
  settlement: 8,
  transfer: 9,
  /** A flat position was folded into spot USD. */
  positionClosed: 10,
  faucet: 11,
  /** A lot that was kept apart is pooled. */
  lotPooled: 12,
  /** Everything of an account went to the backstop. */
  takeOver: 13,
  backstopCredit: 14,
  /** USD of a sub-account of the backstop returned to its capital. */
  backstopReturn: 15,
  /** Positions of the backstop were closed against each other. */
  netting: 16,
  autoDeleverage: 17,
  /** A sub-account of the backstop was emptied. */
  backstopClose: 18,
  /** A booked payout is not on its chain any more. */
  withdrawalReversed: 19,
  /** A booked settlement is not on its chain any more. */
  settlementReversed: 20,
  /** A rebalancing pool that versions of before took below zero was filled. */
  poolFill: 21,
} as const;
export type LedgerEntry = (typeof LEDGER_ENTRY)[keyof typeof LEDGER_ENTRY];

export const LEDGER_ENTRY_WORD: Readonly<Record<LedgerEntry, string>> = {
  0: 'opening',
  1: 'trade',
  2: 'trading_fee',
  3: 'fee_income',
  4: 'deposit',
  5: 'withdrawal',
  6: 'rebalancing_fee',
  7: 'forced_withdrawal',
  8: 'settlement',
  9: 'transfer',
  10: 'position_closed',
  11: 'faucet',
  12: 'lot_pooled',
  13: 'take_over',
  14: 'backstop_credit',
  15: 'backstop_return',
  16: 'netting',
  17: 'auto_deleverage',
  18: 'backstop_close',
  19: 'withdrawal_reversed',
  20: 'settlement_reversed',
  21: 'pool_fill',
};

export const LEDGER_ENTRIES: readonly string[] = Object.values(LEDGER_ENTRY_WORD);
