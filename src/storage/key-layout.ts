/**
 * Every key of the map. The first byte names the table; integers are big-endian, so keys sort as their parts do.
 *
 *   01 meta                        1 byte                                             version of the data, checkpoint, sums, base of the journal
 *   10 config                      kind, 00, key
 *   11 asset                       asset id
 *   12 market                      market 4
 *   13 price                       asset id
 *   14 tally                       name
 *   15 totals                      asset id
 *   16 mark                        asset id
 *   17 use of auto-deleveraging    market 4
 *   18 pooled in the last hour     token's address form
 *   19 rebalancing pool            asset id
 *   1a forced withdrawal counter   chain 9, user 32
 *   1b net deposit                 chain 9, asset id
 *   1c used text                   user 32, place 4
 *   1f cursor of a chain           chain 9, kind of events
 *   20 user                        user 32
 *   21 sub-account                 user 32, sub-account 1
 *   22 balance                     user 32, sub-account 1, asset id
 *   23 deposit                     chain 9, tx 32, log index 4
 *   24 position                    user 32, sub-account 1, asset id
 *   25 liquidation                 user 32, sub-account 1
 *   26 backstop                    index of its sub-account 4
 *   27 withdrawal                  user 32, place 1
 *   28 withdrawal usage            user 32, asset id
 *   29 withdrawal counter          chain 9, user 32
 *   2a vault token                 chain 9, token 32
 *   2d isolated lot                user 32, place 1, asset id
 *   2e unclaimed deposit           chain 9, user 32, counter 8
 *   2b settlement                  user 32, place 1
 *   2c settlement counter          chain 9, user 32, sub-account 1
 *   30 open order                  market 4, order sequence 8                         its record
 *   31 block of finished orders    market 4, order sequence 8                         records, that one the first (order-blocks.ts)
 *   32   runs of a user's          user 32, market 4, timestamp 8, order id           run of: that, order sequence 8, block 8
 *   33   when to look at a run     last update 8, key of the run in 35
 *   34   by order id               user 32, market 4, order id                        order sequence 8, block 8
 *   35   runs of ids               user 32, market 4, checkpoint 8, chunk 4           key of the run in 32; ids as they ended
 *   36   what ids there are        user 32, market 4                                  count 8, watermark 8, place in 35
 *   37 block of signed texts       market 4, order sequence 8                         texts from that order on (signed-texts.ts)
 *   38 event of a cursor           chain 9, place 4, kind of events
 *   39 approval of the last hour     place 4
 *   3a protection group            user 32, market 4, slot 1
 *   3b quote set                  market 4, user 32, slot 1
 *   40 block of trades             market 4, trade id 8                              trades from that one on (trade-blocks.ts)
 *   41   runs of a user's          user 32, market 4, match time 8, trade id 8, side 1          run of: the last three
 *   50 count of finished orders    user 32, market 4 (none: all of the user's)        count 8
 *   51 count of trades             user 32, market 4 (none: all of the user's)        count 8
 *   f0 journal                     sequence 8
 *
 * A run is what one checkpoint adds to a list of one user in one market, in one value, newest first (runs.ts); its key is
 * made of its newest entry. A run saves one key per entry: keys that fall anywhere in a table are what a checkpoint
 * spends its time on, while rows come in the order of their sequences, which is cheap. A run of ids is about the orders
 * of one run in 32, in the order in which they ended; 33 leads from their earliest last update to it, and so to all that
 * has to go when they are forgotten.
 *
 * An order id holds no byte 00 and never starts with one, so ids sort by bytes (AMB-105) although they differ in length.
 * A user may be on both sides of a trade: side is 0 for the maker, 1 for the taker. The journal is last, so that it
 * grows at the end of the map.
 */
import { must } from '../core/assert.ts';
import type { AssetId, ChainId, OrderId, UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import { ByteWriter } from '../schema/byte-writer.ts';

export const TABLE = {
  meta: 0x01,
  config: 0x10,
  asset: 0x11,
  market: 0x12,
  price: 0x13,
  tally: 0x14,
  totals: 0x15,
  mark: 0x16,
  adlUsage: 0x17,
  pooledCredits: 0x18,
  rebalancingPool: 0x19,
  forcedCounter: 0x1a,
  netDeposit: 0x1b,
  usedText: 0x1c,
  payoutReserve: 0x1d,
  vaultDeviation: 0x1e,
  chainCursor: 0x1f,
  user: 0x20,
  subAccount: 0x21,
  balance: 0x22,
  deposit: 0x23,
  position: 0x24,
  liquidation: 0x25,
  backstop: 0x26,
  withdrawal: 0x27,
  withdrawalUsage: 0x28,
  withdrawalCounter: 0x29,
  vaultToken: 0x2a,
  signers: 0x2f,
  lot: 0x2d,
  unclaimed: 0x2e,
  settlement: 0x2b,
  settlementCounter: 0x2c,
  openOrder: 0x30,
  orderBlock: 0x31,
  finishedRun: 0x32,
  dueRun: 0x33,
  finishedById: 0x34,
  idRun: 0x35,
  idList: 0x36,
  signedText: 0x37,
  cursorEvent: 0x38,
  signedApproval: 0x39,
  protection: 0x3a,
  quoteSet: 0x3b,
  tradeBlock: 0x40,
  tradeRun: 0x41,
  finishedCount: 0x50,
  tradeCount: 0x51,
  journal: 0xf0,
} as const;
export type Table = (typeof TABLE)[keyof typeof TABLE];

/** What a table is called in reports. @throws InvariantError when there is none with that byte. */
export function tableName(table: number): string {
  const [name] = Object.entries(TABLE).find(([, byte]) => byte === table) ?? [];
  return must(name, `storage: there is no table ${table.toString(16)}`);
}

const LOOKUP_CHUNK_BYTES = 1 << 12;

export const META = { dataVersion: 1, checkpoint: 2, tableSums: 3, journalBase: 4, journalStored: 5 } as const;

export const TRADE_SIDE = { maker: 0, taker: 1 } as const;
export type TradeSideIndex = (typeof TRADE_SIDE)[keyof typeof TRADE_SIDE];

/** The list of a user in a market. */
export interface ListName {
  readonly user: UserId;
  readonly marketIndex: number;
}

/** Writes keys into a ByteWriter; each method returns the finished piece. */
export class KeyWriter {
  readonly #writer: ByteWriter;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  /** A whole table's lower bound; with table + 1 its upper bound. */
  table(table: number): Uint8Array {
    this.#begin(table);
    return this.#writer.end();
  }

  meta(name: number): Uint8Array {
    this.#begin(TABLE.meta);
    this.#writer.u8(name);
    return this.#writer.end();
  }

  journal(sequence: number): Uint8Array {
    this.#begin(TABLE.journal);
    this.#writer.safe(sequence);
    return this.#writer.end();
  }

  config(kind: string, key: string): Uint8Array {
    this.#begin(TABLE.config);
    this.#writer.ascii(kind);
    this.#writer.u8(0);
    this.#writer.raw(Buffer.from(key, 'utf8'));
    return this.#writer.end();
  }

  /** Tables whose key is one name: asset, price, totals, tally. */
  named(table: Table, name: string): Uint8Array {
    this.#begin(table);
    this.#writer.ascii(name);
    return this.#writer.end();
  }

  /** Tables whose key is one number: market, use of auto-deleveraging, backstop. */
  numbered(table: Table, index: number): Uint8Array {
    this.#begin(table);
    this.#writer.u32(index);
    return this.#writer.end();
  }

  /** Tables with a row per user. */
  user(table: Table, user: UserId): Uint8Array {
    this.#begin(table);
    this.#writer.hex(user, 32);
    return this.#writer.end();
  }

  /** Tables with a row per sub-account. */
  subAccount(table: Table, user: UserId, subAccount: number): Uint8Array {
    this.#begin(table);
    this.#writer.hex(user, 32);
    this.#writer.u8(subAccount);
    return this.#writer.end();
  }

  balance(user: UserId, subAccount: number, asset: AssetId): Uint8Array {
    this.#begin(TABLE.balance);
    this.#writer.hex(user, 32);
    this.#writer.u8(subAccount);
    this.#writer.ascii(asset);
    return this.#writer.end();
  }

  position(user: UserId, subAccount: number, asset: AssetId): Uint8Array {
    this.#begin(TABLE.position);
    this.#writer.hex(user, 32);
    this.#writer.u8(subAccount);
    this.#writer.ascii(asset);
    return this.#writer.end();
  }

  deposit(chainId: ChainId, tx: string, logIndex: number): Uint8Array {
    this.#begin(TABLE.deposit);
    this.#writer.hex(chainId, 9);
    this.#writer.hex(tx, 32);
    this.#writer.u32(logIndex);
    return this.#writer.end();
  }

  /** Withdrawal or settlement: of a user, the first byte behind it a place. */
  placed(table: Table, user: UserId, place: number): Uint8Array {
    this.#begin(table);
    this.#writer.hex(user, 32);
    this.#writer.u8(place);
    return this.#writer.end();
  }

  protection(user: UserId, marketIndex: number, slot: number): Uint8Array {
    this.#begin(TABLE.protection);
    this.#writer.hex(user, 32);
    this.#writer.u32(marketIndex);
    this.#writer.u8(slot);
    return this.#writer.end();
  }

  usedText(user: UserId, place: number): Uint8Array {
    this.#begin(TABLE.usedText);
    this.#writer.hex(user, 32);
    this.#writer.u32(place);
    return this.#writer.end();
  }

  lot(user: UserId, place: number, asset: AssetId): Uint8Array {
    this.#begin(TABLE.lot);
    this.#writer.hex(user, 32);
    this.#writer.u8(place);
    this.#writer.ascii(asset);
    return this.#writer.end();
  }

  unclaimed(chainId: ChainId, user: UserId, counter: number): Uint8Array {
    this.#begin(TABLE.unclaimed);
    this.#writer.hex(chainId, 9);
    this.#writer.hex(user, 32);
    this.#writer.safe(counter);
    return this.#writer.end();
  }

  withdrawalUsage(user: UserId, asset: AssetId): Uint8Array {
    this.#begin(TABLE.withdrawalUsage);
    this.#writer.hex(user, 32);
    this.#writer.ascii(asset);
    return this.#writer.end();
  }

  /** A counter of a user or the units of a token: 32 bytes on a chain. */
  onChain(table: Table, chainId: ChainId, name: string): Uint8Array {
    this.#begin(table);
    this.#writer.hex(chainId, 9);
    this.#writer.hex(name, 32);
    return this.#writer.end();
  }

  /** The key of an asset, or of a kind of events, on a chain. */
  assetOnChain(table: Table, chainId: ChainId, asset: string): Uint8Array {
    this.#begin(table);
    this.#writer.hex(chainId, 9);
    this.#writer.ascii(asset);
    return this.#writer.end();
  }

  /** The event of a cursor; places of its kinds of events stand beside each other. */
  cursorEvent(chainId: ChainId, event: string, place: number): Uint8Array {
    this.#begin(TABLE.cursorEvent);
    this.#writer.hex(chainId, 9);
    this.#writer.u32(place);
    this.#writer.ascii(event);
    return this.#writer.end();
  }

  quoteSet(marketIndex: number, user: UserId, slot: number): Uint8Array {
    this.#begin(TABLE.quoteSet);
    this.#writer.u32(marketIndex);
    this.#writer.hex(user, 32);
    this.#writer.u8(slot);
    return this.#writer.end();
  }

  settlementCounter(chainId: ChainId, user: UserId, subAccount: number): Uint8Array {
    this.#begin(TABLE.settlementCounter);
    this.#writer.hex(chainId, 9);
    this.#writer.hex(user, 32);
    this.#writer.u8(subAccount);
    return this.#writer.end();
  }

  /** Open order, block of finished orders, of signed texts, of trades: one of a market's by its sequence. */
  ofMarket(table: Table, marketIndex: number, sequence: number): Uint8Array {
    this.#begin(table);
    this.#writer.u32(marketIndex);
    this.#writer.safe(sequence);
    return this.#writer.end();
  }

  /** @param place writes what sorts the run among those of its user and market: its newest entry. */
  run(table: Table, { user, marketIndex }: ListName, place: (to: ByteWriter) => void): Uint8Array {
    this.#begin(table);
    this.#writer.hex(user, 32);
    this.#writer.u32(marketIndex);
    place(this.#writer);
    return this.#writer.end();
  }

  /** @param idRun the key of the run of ids that is to be looked at when its first order is due. */
  dueRun(firstUpdateNs: TimestampNs, idRun: Uint8Array): Uint8Array {
    this.#begin(TABLE.dueRun);
    this.#writer.u64(firstUpdateNs);
    this.#writer.raw(idRun);
    return this.#writer.end();
  }

  /** Lower bound of the runs with a first order last updated at that time or later. */
  dueRunsFrom(timeNs: TimestampNs): Uint8Array {
    this.#begin(TABLE.dueRun);
    this.#writer.u64(timeNs);
    return this.#writer.end();
  }

  finishedById(user: UserId, marketIndex: number, orderId: OrderId): Uint8Array {
    this.#begin(TABLE.finishedById);
    this.#writer.hex(user, 32);
    this.#writer.u32(marketIndex);
    this.#writer.ascii(orderId);
    return this.#writer.end();
  }

  /** Lower bound of a user's part of a table, or of the user's in one market where the market follows the user. */
  ofUser(table: number, user: UserId, marketIndex: number | null): Uint8Array {
    this.#begin(table);
    this.#writer.hex(user, 32);
    if (marketIndex !== null) this.#writer.u32(marketIndex);
    return this.#writer.end();
  }

  #begin(table: number): void {
    this.#writer.begin();
    this.#writer.u8(table);
  }
}

/** The first key after all that start with `prefix`, which is not all ff. */
export function endOf(prefix: Uint8Array): Uint8Array {
  const end = new Uint8Array(prefix);
  let last = end.length - 1;
  while (end[last] === 0xff) last -= 1;
  end[last] = (end[last] ?? 0) + 1;
  return end.subarray(0, last + 1);
}

/** The least key above `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/** A writer of its own, for keys that are looked up: each stays valid. */
export function keyWriter(): KeyWriter {
  return new KeyWriter(new ByteWriter(LOOKUP_CHUNK_BYTES));
}
