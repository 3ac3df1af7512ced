/** The input of market data, kept plainly: the levels of every market and the trades that clearing confirmed. */
import type { Side } from '../../src/core/order-terms.ts';
import type { Views } from '../../src/core/views.ts';
import type { Actor } from '../../src/runtime/actor.ts';
import { DepthCommitted, DepthReset, FillConfirmed, LevelChanged } from '../../src/schema/generated/messages.ts';

export class DepthWatcher implements Actor {
  readonly name: string = 'market-data';
  /** `market side price` → quantity. */
  readonly levels: Map<string, number> = new Map();
  readonly trades: { readonly marketIndex: number; readonly tradeId: number; readonly quantity: number }[] = [];
  readonly commits: Map<number, number> = new Map();

  start(): void {}
  stop(): void {}
  endBatch(): void {}
  tick(): void {}

  ready(): boolean {
    return true;
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    if (typeId === LevelChanged.typeId) this.#onLevel(v, at);
    else if (typeId === DepthReset.typeId) this.#forget(DepthReset.marketIndex(v, at));
    else if (typeId === DepthCommitted.typeId) {
      this.commits.set(DepthCommitted.marketIndex(v, at), DepthCommitted.commits(v, at));
    } else if (typeId === FillConfirmed.typeId) {
      this.trades.push({
        marketIndex: FillConfirmed.marketIndex(v, at),
        tradeId: FillConfirmed.tradeId(v, at),
        quantity: FillConfirmed.quantity(v, at),
      });
    }
  }

  /** The levels of one market, best first. */
  book(marketIndex: number, side: Side): readonly (readonly [number, number])[] {
    const prefix = `${marketIndex} ${side} `;
    const levels = [...this.levels]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, quantity]) => [Number(key.slice(prefix.length)), quantity] as const);
    return levels.sort(([a], [b]) => (side === 0 ? b - a : a - b));
  }

  #onLevel(v: Views, at: number): void {
    const key = `${LevelChanged.marketIndex(v, at)} ${LevelChanged.side(v, at)} ${LevelChanged.price(v, at)}`;
    const quantity = LevelChanged.quantity(v, at);
    if (quantity === 0) this.levels.delete(key);
    else this.levels.set(key, quantity);
  }

  #forget(marketIndex: number): void {
    for (const key of [...this.levels.keys()]) if (key.startsWith(`${marketIndex} `)) this.levels.delete(key);
  }
}
