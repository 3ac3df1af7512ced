/** The node's own reductions and cancels on their way to the markets (AMB-61): sent at once or not at all. */
import { must } from '../core/assert.ts';
import type { HashKey } from '../core/key-words.ts';
import type { Outlet } from '../runtime/outlet.ts';
import { CancelOrder, ReplaceOrder } from '../schema/generated/messages.ts';
import { writeNodeCancel, writeReduction } from './door-commands.ts';
import type { ReduceWord } from './orders/order-events.ts';

export class NodeReductions {
  private readonly shards: readonly Outlet[];
  private readonly openMarkets: ReadonlySet<number>;
  private readonly nowNs: () => bigint;
  private readonly key: HashKey;

  /** @param shards one per shard; market m lives on shard m mod shards. @param key of the hashes of ids. */
  constructor(shards: readonly Outlet[], openMarkets: ReadonlySet<number>, nowNs: () => bigint, key: HashKey) {
    this.key = key;
    this.shards = shards;
    this.openMarkets = openMarkets;
    this.nowNs = nowNs;
  }

  /** They take off risk, so they may use the room of cancels. @returns false: there is none, nothing was sent. */
  send(word: ReduceWord): boolean {
    if (!this.openMarkets.has(word.marketIndex)) return false;
    const outlet = must(this.shards[word.marketIndex % this.shards.length], 'a shard for every market');
    const message = word.total === 0 ? CancelOrder : ReplaceOrder;
    const at = outlet.claim(message.typeId, message.bytes, true);
    if (at < 0) return false;
    const write = word.total === 0 ? writeNodeCancel : writeReduction;
    write(outlet.views, at, word, { receivedNs: this.nowNs(), key: this.key });
    outlet.commit();
    return true;
  }
}
