/**
 * Deliberate bugs, each one that a hurried change could make: a piece of the built program, what stands there instead,
 * and the suite that must notice. run.ts makes them and looks. Here: storage, node, money, matching; room-mutants.ts has
 * the others.
 */
import { ROOM_MUTANTS } from './room-mutants.ts';

export interface Mutant {
  /** The promise that it breaks. */
  readonly breaks: string;
  /** Of the build, without its `.js`. */
  readonly file: string;
  /** Occurs in it once. */
  readonly find: string;
  readonly put: string;
  /** Test file of the build, without its `.test.js`. */
  readonly caughtBy: string;
}

const STORAGE: readonly Mutant[] = [
  {
    breaks: 'a commit is flushed before its meta page points to it',
    file: 'src/storage/environment',
    find: 'overlappingSync: false',
    put: 'noSync: true',
    caughtBy: 'test/reliability/io',
  },
  {
    breaks: 'a record names the hash of the one before it',
    file: 'src/storage/journal',
    find: 'this.#lastHash = new Uint8Array(value.subarray(value.length - this.#lastHash.length));',
    put: '',
    caughtBy: 'test/storage/journal',
  },
  {
    breaks: 'a record is what its hash says',
    file: 'src/storage/journal-record',
    find: 'assert(equal(stored, sha256(buffer.subarray(0, hashAt))),',
    put: 'assert(true,',
    caughtBy: 'test/storage/journal',
  },
  {
    breaks: 'a finished order is written once, wherever it is in its block',
    file: 'src/storage/order-of-id',
    find: '.orderSequence < orderSequence)',
    put: '.orderSequence < Number.POSITIVE_INFINITY)',
    caughtBy: 'test/storage/checkpoint',
  },
  {
    breaks: 'a row is what its checksum says',
    file: 'src/storage/row-codecs',
    find: 'if (checksumAt(value, body.length) !== crc32c(body, crc32c(key)))',
    put: 'if (body.length < 0)',
    caughtBy: 'test/reliability/damage',
  },
  {
    breaks: 'a match that a checkpoint falls into ends after it',
    file: 'src/clearing/orders',
    find: 'if ((row.flags & ORDER_FLAG.entering) !== 0)\n        market.entering = slot;',
    put: '',
    caughtBy: 'test/clearing/stored-state',
  },
  {
    breaks: 'a checkpoint is whole with its sequence',
    file: 'src/storage/checkpoint',
    find: '            checkpointMetaWrite(this.#bytes, checkpoint),\n',
    put: '',
    caughtBy: 'test/storage/checkpoint',
  },
  {
    breaks: 'the sums of a table follow what is removed',
    file: 'src/storage/table-sums',
    find: 'this.#sums.remove(key, checksumOf(before));',
    put: '',
    caughtBy: 'test/storage/verify-map',
  },
  {
    breaks: 'what is written once is not written over',
    file: 'src/storage/environment',
    find: 'const NEW = { noOverwrite: true };',
    put: 'const NEW = {};',
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'a table has every row that was written',
    file: 'src/storage/verify-map',
    find: 'checkSum(tableName(table), this.#found.of(table), stored.of(table));',
    put: '',
    caughtBy: 'test/storage/verify-map',
  },
  {
    breaks: 'a living node keeps its directory',
    file: 'src/storage/data-lock',
    find: 'return claim.boot === bootId() && claim.start === startOf(claim.pid);',
    put: 'return false;',
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'history is the newest first',
    file: 'src/storage/runs',
    find: 'if (a.timestampNs !== b.timestampNs)\n        return a.timestampNs > b.timestampNs ? -1 : 1;',
    put: '',
    caughtBy: 'test/storage/history',
  },
  {
    breaks: 'a page of a list is the one that belongs there',
    file: 'src/storage/environment',
    find: 'if (newestFirst ? order <= 0 : order >= 0)',
    put: 'if (false)',
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'a list has all that was counted',
    file: 'src/storage/history',
    find: 'assert(entries === expected,',
    put: 'assert(entries <= expected,',
    caughtBy: 'test/storage/history',
  },
];

const NODE: readonly Mutant[] = [
  {
    breaks: 'a journal goes on from its own snapshot alone',
    file: 'src/tools/copy-data',
    find: '!isSameRecord(record, base)',
    put: 'false',
    caughtBy: 'test/tools/pruning',
  },
  {
    breaks: 'what is applied was journaled before',
    file: 'src/clearing/clearing-actor',
    find: 'this.sequence = durability.append(timeNs, payload);',
    put: 'this.sequence = payload.length % 5 === 0 ? this.sequence : durability.append(timeNs, payload);',
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'the verdict of a signature is journaled, not asked again',
    file: 'src/clearing/journal-batch',
    find: 'valid: v.u32[(at + 12) >>> 2] === 1,',
    put: 'valid: true,',
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'a start replays all of the tail',
    file: 'src/clearing/recovery',
    find: 'for (const record of batches) {',
    put: 'for (const record of [...batches].slice(0, -1)) {',
    caughtBy: 'test/reliability/kills',
  },
  {
    breaks: 'ids of finished orders stay taken over a restart',
    file: 'src/clearing/restoring',
    find: 'for (const tombstone of durability.rememberedIds(nowNs)) {',
    put: 'for (const tombstone of []) {',
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'a damaged directory is not started on',
    file: 'src/node/node-threads',
    find: "this.check = checkBeforeStart(dataDirectory, workerEntry('check-data'), ",
    put: 'this.check = Promise.resolve(',
    caughtBy: 'test/node/start-check',
  },
  {
    breaks: 'a copied record is what it was',
    file: 'src/storage/journal',
    find: 'assert(equal(previous, record.hash),',
    put: 'assert(true,',
    caughtBy: 'test/tools/data-tools',
  },
  {
    breaks: 'the unflushed window starts with the first word that waits',
    file: 'src/clearing/unflushed-window',
    find: 'if (last === undefined || (nowMs - last.ms >= APART_MS',
    put: 'moments.length = 0; if (true || (nowMs - APART_MS >= 0',
    caughtBy: 'test/clearing/unflushed-window',
  },
];

const MONEY: readonly Mutant[] = [
  {
    breaks: 'the ledger adds up',
    file: 'src/clearing/balances',
    find: 'slot.totals.claims = add18(slot.totals.claims, subtract18(owned, slot.owned));',
    put: '',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'a fee is rounded against the client',
    file: 'src/core/arithmetic',
    find: 'return mulDivCeil(notional, BigInt(rate), RATE_SCALE);',
    put: 'return mulDivFloor(notional, BigInt(rate), RATE_SCALE);',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'an order holds notional and fee',
    file: 'src/core/buy-holds',
    find: 'const held = notional + millions * BigInt(rate);',
    put: 'const held = notional;',
    caughtBy: 'test/core/buy-holds',
  },
  {
    breaks: 'clearing refuses what the limit price forbids',
    file: 'src/clearing/fill-checks',
    find: 'return order.side === SIDE.buy ? price > order.price : price < order.price;',
    put: 'return false;',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'an order is not filled beyond its quantity',
    file: 'src/clearing/fill-checks',
    find: 'if (quantity !== 0 && plan.filledQuantity(slot) + fill.input.quantity > enabledQuantity)',
    put: 'if (quantity < 0)',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'an account owes what it owes, whatever it is let through by at once',
    file: 'src/clearing/account-margin',
    find: "return amount < 0n || (amount > 0n && terms === 'all');",
    put: "return terms === 'all';",
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a reducing trade is held to solvency',
    file: 'src/clearing/fill-checks',
    find: 'return solvencyHolds(after',
    put: 'return isReducing || solvencyHolds(after',
    caughtBy: 'test/clearing/solvency',
  },
  {
    breaks: 'a user in a message is all of its bytes',
    file: 'src/order/order-codec',
    find: 'word < USER_WORDS',
    put: 'word < 1',
    caughtBy: 'test/order/order-codec',
  },
  {
    breaks: 'a signature is asked for at the first fill of an order of the same batch',
    file: 'src/clearing/clearing',
    find: 'this.#need(newOrderRow(input, input.order.user));',
    put: '',
    caughtBy: 'test/clearing/hooks-and-restarts',
  },
  {
    breaks: 'a plan that fails leaves nothing behind',
    file: 'src/clearing/fills',
    find: '            drop(fills);\n',
    put: '',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'what an order has traded fits its row',
    file: 'src/clearing/fill-plan',
    find: 'if (this.filledNotional(slot) > AMOUNT18_MAX)',
    put: 'if (slot.row.filledQuantity < 0)',
    caughtBy: 'test/clearing/amount-bounds',
  },
  {
    breaks: 'what open orders count follows each change of one of them',
    file: 'src/clearing/pressing',
    find: 'if (pressing !== null)',
    put: 'if (pressing === undefined)',
    caughtBy: 'test/clearing/pressing',
  },
  {
    breaks: 'a nonce is used once',
    file: 'src/clearing/action-nonces',
    find: 'if (nonce > last && nonce <= NONCE_MAX)',
    put: 'if (nonce >= last && nonce <= NONCE_MAX)',
    caughtBy: 'test/clearing/money',
  },
  {
    breaks: 'the seller delivers what the buyer gets',
    file: 'src/clearing/fill-checks',
    find: 'return plan.owned(slot.base) >= fill.base;',
    put: 'return true;',
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'what a price has fired has fired before its row says so',
    file: 'src/clearing/trigger-heaps',
    find: 'const price = at < 0 ? farthestSince(heap, since) : heap.inForce;',
    put: 'const price = heap.inForce;',
    caughtBy: 'test/clearing/trigger-heaps',
  },
  {
    breaks: 'a trigger that came behind a price is not fired by it',
    file: 'src/clearing/trigger-heaps',
    find: '<= entry.since)',
    put: '<= 0)',
    caughtBy: 'test/clearing/trigger-heaps',
  },
  {
    breaks: 'what a finished parent has enabled bounds its child',
    file: 'src/clearing/children',
    find: 'return row.enabledQuantity < row.quantity ? Math.min(quantity, row.enabledQuantity) : quantity;',
    put: 'return quantity;',
    caughtBy: 'test/clearing/triggers',
  },
  {
    breaks: 'open interest is bound at the oracle as at the mark',
    file: 'src/clearing/caps',
    find: 'interest * prices.oracle > maxOpenInterest * ONE_18 || ',
    put: '',
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a balance is worth its mark where it has a minimum',
    file: 'src/clearing/funds/transfers',
    find: 'termsOf(risk, nowNs).prices.mark',
    put: 'termsOf(risk, nowNs).prices.oracle',
    caughtBy: 'test/clearing/funds/sub-accounts',
  },
  {
    breaks: 'a fill is stale after five minutes',
    file: 'src/core/limits',
    find: 'STALE_MATCH_NS = 300000000000n',
    put: 'STALE_MATCH_NS = 301000000000n',
    caughtBy: 'test/core/limits',
  },
];

const MATCHING: readonly Mutant[] = [
  {
    breaks: 'own orders never trade with each other',
    file: 'src/matching/book',
    find: 'if (this.preventsSelfTrades && this.isSameOwner(maker, taker)) {',
    put: 'if (false) {',
    caughtBy: 'test/matching/self-trades',
  },
  {
    breaks: 'a post-only order never takes',
    file: 'src/matching/market-engine',
    find: 'if ((command.flags & ORDER_FLAG.postOnly) !== 0 && this.#book.wouldTake(slot, command.price)) {',
    put: 'if (false) {',
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'orders of one price go in the order of their arrival',
    file: 'src/matching/level-queues',
    find: 'return this.#slots[this.#levels[(level << LEVEL_BITS) + HEAD]];',
    put: 'return this.#slots[this.#levels[(level << LEVEL_BITS) + TAIL] - 1];',
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'a fill takes no more than its maker has',
    file: 'src/matching/book',
    find: 'const lots = Math.min(left, makerLeft);',
    put: 'const lots = left;',
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'an id that stays is known when its neighbours leave',
    file: 'src/matching/id-table',
    find: 'this.placeOf(cells[place]) > gap',
    put: 'false',
    caughtBy: 'test/matching/id-table',
  },
  {
    breaks: 'who does not know the key cannot make ids meet',
    file: 'src/core/key-words',
    find: 'v0 ^= word;',
    put: '',
    caughtBy: 'test/matching/key-words',
  },
  {
    breaks: 'who does not know the key cannot make prices meet',
    file: 'src/matching/price-hash',
    find: 'this.#words[at] = hashWords(key, NO_USER, word, 0, 4);',
    put: 'this.#words[at] = at;',
    caughtBy: 'test/matching/price-hash',
  },
];

export const MUTANTS: readonly Mutant[] = [...STORAGE, ...NODE, ...MONEY, ...MATCHING, ...ROOM_MUTANTS];
