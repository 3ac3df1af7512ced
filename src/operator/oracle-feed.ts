/** The dev profile's feeder: republishes the last oracle prices so that they never go stale (operator-api.md 1). */
import type { AssetId } from '../core/ids.ts';
import type { OpsParts } from './ops-parts.ts';

export class OracleFeed {
  readonly #timer: NodeJS.Timeout;

  constructor(parts: Pick<OpsParts, 'ask' | 'command'>, everyMs: number) {
    this.#timer = setInterval(() => void republish(parts), everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function republish({ ask, command }: Pick<OpsParts, 'ask' | 'command'>): Promise<void> {
  const reply = await ask({ kind: 'prices' });
  if (!reply.ok) return;
  const prices = Object.entries(reply.value.prices).flatMap(([asset, { oracle }]) =>
    oracle === null ? [] : [{ asset: asset as AssetId, price: oracle.price, publishNs: null, source: 'operator' }],
  );
  if (prices.length > 0) await command({ kind: 'setPrices', prices });
}
