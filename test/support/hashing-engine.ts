/** An engine whose caller need not hash: it does here what the front door does, with its own key. */
import { hashId, hashKeyOf } from '../../src/core/key-words.ts';
import type { CancelCommand, HashedKey, NewOrderCommand, ReplaceCommand } from '../../src/matching/commands.ts';
import { MarketEngine, type MarketEngineOptions } from '../../src/matching/market-engine.ts';

export class HashingEngine extends MarketEngine {
  readonly #key: ReturnType<typeof hashKeyOf>;

  constructor(options: MarketEngineOptions) {
    super(options);
    this.#key = hashKeyOf(options.hashSeed ?? 0n);
  }

  override create(command: NewOrderCommand): void {
    this.#hash(command);
    super.create(command);
  }

  override replace(command: ReplaceCommand): void {
    this.#hash(command);
    super.replace(command);
  }

  override cancel(command: CancelCommand): void {
    this.#hash(command);
    super.cancel(command);
  }

  /** And says that the command comes, as a shard does. */
  #hash(command: HashedKey): void {
    const { words, userAt, orderIdAt, orderIdBytes } = command;
    command.idHash = hashId(this.#key, words, userAt, orderIdAt, orderIdBytes);
    this.expect(command.idHash);
  }
}
