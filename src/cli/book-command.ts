/** `ringbook book`: the best levels of a market, once or live. */
import { RingbookClient } from '../client/client.ts';
import type { DepthLevel } from '../client/replies.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  EXIT,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';

interface BookView {
  asks(count: number): readonly DepthLevel[];
  bids(count: number): readonly DepthLevel[];
  readonly sequenceNumber: number;
}

/** Asks above bids, the best ones in the middle, numbers right-aligned. */
export function bookTable(market: string, book: BookView, levels: number): string {
  const asks = book.asks(levels).toReversed();
  const bids = book.bids(levels);
  const all = [...asks, ...bids];
  const priceWidth = Math.max(5, ...all.map((level) => level.price.length));
  const quantityWidth = Math.max(8, ...all.map((level) => level.quantity.length));
  const line = (side: string, level: DepthLevel): string =>
    `${side}  ${level.price.padStart(priceWidth)}  ${level.quantity.padStart(quantityWidth)}`;
  return [
    `market ${market}, sequence ${book.sequenceNumber}`,
    `     ${'price'.padStart(priceWidth)}  ${'quantity'.padStart(quantityWidth)}`,
    ...asks.map((level) => line('ask', level)),
    '-'.repeat(priceWidth + quantityWidth + 7),
    ...bids.map((level) => line('bid', level)),
    '',
  ].join('\n');
}

/** Redraws until Ctrl-C; in place on a terminal, otherwise one table after the other. */
async function watch(client: RingbookClient, market: string, levels: number): Promise<void> {
  const clear = process.stdout.isTTY ? '\u001b[H\u001b[2J' : '';
  const book = await client.liveBook(market, (live) => {
    process.stdout.write(clear + bookTable(market, live, levels));
  });
  await new Promise<void>((resolve) => process.once('SIGINT', resolve));
  book.close();
}

export const bookCommand: Command = {
  name: 'book',
  summary: 'show the order book of a market',
  help: `usage: ringbook book MARKET [options]

MARKET is the symbol of the market's asset, or its id.

  --levels N         levels a side          (default 10)
  --live             keep it current until Ctrl-C
${ADDRESS_HELP}

example:
  ringbook book ETH --live
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      ...ADDRESS_OPTIONS,
      levels: { type: 'string', default: '10' },
      live: { type: 'boolean', default: false },
    });
    const [market] = positionals;
    if (market === undefined || positionals.length !== 1) throw usageError('book takes one MARKET: ringbook book ETH');
    const levels = positiveInteger(values.levels, '--levels');
    const client = new RingbookClient({
      oms: checkAddresses(values.oms, 'oms'),
      mds: checkAddresses(values.mds, 'mds'),
    });
    try {
      if (values.live) {
        await watch(client, market, levels);
      } else {
        const depth = await client.depth(market);
        const book: BookView = {
          asks: (count) => depth.asks.slice(0, count),
          bids: (count) => depth.bids.slice(0, count),
          sequenceNumber: depth.sequenceNumber,
        };
        process.stdout.write(bookTable(market, book, levels));
      }
    } finally {
      client.close();
    }
    return EXIT.done;
  },
};
