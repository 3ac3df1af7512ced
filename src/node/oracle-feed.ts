/** The dev profile's feeder: republishes the last oracle prices so that they never go stale (operator-api.md 1). */
import type { OpsParts } from './ops-parts.ts';

export class OracleFeed {
  private readonly timer: NodeJS.Timeout;

  constructor(parts: Pick<OpsParts, 'ask' | 'command'>, everyMs: number) {
    this.timer = setInterval(() => void republish(parts), everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

async function republish({ ask, command }: Pick<OpsParts, 'ask' | 'command'>): Promise<void> {
  const reply = await ask({ kind: 'prices' });
  if (!reply.ok) return;
  const prices = Object.entries(reply.value.prices);
  if (prices.length === 0) return;
  const body = { prices: prices.map(([asset, { price }]) => ({ asset_id: asset, price })) };
  await command({ kind: 'setPrices', body });
}
