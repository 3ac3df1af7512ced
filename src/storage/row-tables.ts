/**
 * The tables of rows under a key of their own: keys and bytes follow from the layout of the row (src/clearing/row-layouts.ts).
 *
 * A changed layout is another version of the data: it needs a step of its own in upgrade-steps.ts.
 */
import { ROW_LAYOUTS, type RowTableName } from '../clearing/row-layouts.ts';
import type { Tables } from '../clearing/rows.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { Field } from '../schema/row-fields.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { type KeyWriter, TABLE, type Table } from './key-layout.ts';

/** A table: its byte, and the key of a row. */
interface RowTable<Row> {
  readonly table: Table;
  key(keys: KeyWriter, row: Row): Uint8Array;
}

export const ROW_TABLES: { readonly [T in RowTableName]: RowTable<Tables[T]> } = {
  order: {
    table: TABLE.openOrder,
    key: (keys, row) => keys.ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence),
  },
  user: { table: TABLE.user, key: (keys, row) => keys.user(TABLE.user, row.user) },
  subAccount: {
    table: TABLE.subAccount,
    key: (keys, row) => keys.subAccount(TABLE.subAccount, row.user, row.subAccount),
  },
  balance: { table: TABLE.balance, key: (keys, row) => keys.balance(row.user, row.subAccount, row.asset) },
  position: { table: TABLE.position, key: (keys, row) => keys.position(row.user, row.subAccount, row.asset) },
  asset: { table: TABLE.asset, key: (keys, row) => keys.named(TABLE.asset, row.assetId) },
  market: { table: TABLE.market, key: (keys, row) => keys.numbered(TABLE.market, row.definition.marketIndex) },
  price: { table: TABLE.price, key: (keys, row) => keys.named(TABLE.price, row.asset) },
  mark: { table: TABLE.mark, key: (keys, row) => keys.named(TABLE.mark, row.asset) },
  deposit: { table: TABLE.deposit, key: (keys, row) => keys.deposit(row.chainId, row.tx, row.logIndex) },
  withdrawal: { table: TABLE.withdrawal, key: (keys, row) => keys.placed(TABLE.withdrawal, row.user, row.place) },
  vaultToken: { table: TABLE.vaultToken, key: (keys, row) => keys.onChain(TABLE.vaultToken, row.chainId, row.token) },
  withdrawalCounter: {
    table: TABLE.withdrawalCounter,
    key: (keys, row) => keys.onChain(TABLE.withdrawalCounter, row.chainId, row.user),
  },
  forcedCounter: {
    table: TABLE.forcedCounter,
    key: (keys, row) => keys.onChain(TABLE.forcedCounter, row.chainId, row.user),
  },
  withdrawalUsage: { table: TABLE.withdrawalUsage, key: (keys, row) => keys.withdrawalUsage(row.user, row.asset) },
  signers: { table: TABLE.signers, key: (keys, row) => keys.user(TABLE.signers, row.user) },
  lot: { table: TABLE.lot, key: (keys, row) => keys.lot(row.user, row.place, row.asset) },
  pooledCredits: { table: TABLE.pooledCredits, key: (keys, row) => keys.named(TABLE.pooledCredits, row.asset) },
  unclaimed: { table: TABLE.unclaimed, key: (keys, row) => keys.unclaimed(row.chainId, row.user, row.counter) },
  rebalancingPool: { table: TABLE.rebalancingPool, key: (keys, row) => keys.named(TABLE.rebalancingPool, row.asset) },
  vaultDeviation: {
    table: TABLE.vaultDeviation,
    key: (keys, row) => keys.assetOnChain(TABLE.vaultDeviation, row.chainId, row.asset),
  },
  payoutReserve: {
    table: TABLE.payoutReserve,
    key: (keys, row) => keys.onChain(TABLE.payoutReserve, row.chainId, row.token),
  },
  netDeposit: {
    table: TABLE.netDeposit,
    key: (keys, row) => keys.assetOnChain(TABLE.netDeposit, row.chainId, row.asset),
  },
  settlement: { table: TABLE.settlement, key: (keys, row) => keys.placed(TABLE.settlement, row.user, row.place) },
  settlementCounter: {
    table: TABLE.settlementCounter,
    key: (keys, row) => keys.settlementCounter(row.chainId, row.user, row.subAccount),
  },
  chainCursor: {
    table: TABLE.chainCursor,
    key: (keys, row) => keys.assetOnChain(TABLE.chainCursor, row.chainId, row.event),
  },
  cursorEvent: {
    table: TABLE.cursorEvent,
    key: (keys, row) => keys.cursorEvent(row.chainId, row.event, row.place),
  },
  signedApproval: { table: TABLE.signedApproval, key: (keys, row) => keys.numbered(TABLE.signedApproval, row.place) },
  protection: {
    table: TABLE.protection,
    key: (keys, row) => keys.protection(row.user, row.marketIndex, row.slot),
  },
  usedText: { table: TABLE.usedText, key: (keys, row) => keys.usedText(row.user, row.place) },
  config: { table: TABLE.config, key: (keys, row) => keys.config(row.kind, row.key) },
  totals: { table: TABLE.totals, key: (keys, row) => keys.named(TABLE.totals, row.asset) },
  tally: { table: TABLE.tally, key: (keys, row) => keys.named(TABLE.tally, row.name) },
  liquidation: {
    table: TABLE.liquidation,
    key: (keys, row) => keys.subAccount(TABLE.liquidation, row.user, row.subAccount),
  },
  backstop: { table: TABLE.backstop, key: (keys, row) => keys.numbered(TABLE.backstop, row.index) },
  quoteSet: { table: TABLE.quoteSet, key: (keys, row) => keys.quoteSet(row.marketIndex, row.user, row.slot) },
  adlUsage: { table: TABLE.adlUsage, key: (keys, row) => keys.numbered(TABLE.adlUsage, row.marketIndex) },
};

/** @returns the row's value, a piece of `to`. */
export function encodeRow<T extends RowTableName>(
  to: ByteWriter,
  table: T,
  key: Uint8Array,
  row: Tables[T],
): Uint8Array {
  return encodeFrame(to, key, () => layoutOf(table).write(to, row));
}

/** @throws InvariantError when the checksum or the layout is not what was written. */
export function decodeRow<T extends RowTableName>(table: T, key: Uint8Array, value: Uint8Array): Tables[T] {
  return decodeFrame(key, value, (from) => layoutOf(table).read(from));
}

function layoutOf<T extends RowTableName>(table: T): Field<Tables[T]> {
  return ROW_LAYOUTS[table] as Field<Tables[T]>;
}
