/** `ringbook quote`: makes what rests of a quote set what it is given, with one signature; or ends the set. */
import { RingbookClient } from '../client/client.ts';
import type { QuoteSetResponse } from '../client/replies.ts';
import type { QuoteSetTicket } from '../client/signed-actions.ts';
import { formatRaw } from '../core/decimal.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  durationNs,
  EXIT,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf } from './signer-options.ts';
import { jsonLine } from './table.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  bid: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  set: { type: 'string', default: 'cli' },
  group: { type: 'string' },
  for: { type: 'string' },
  account: { type: 'string', default: '1' },
  margin: { type: 'boolean', default: false },
  end: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];
type Entry = QuoteSetTicket['bids'][number];

/** `2990.5:1.25`. @throws CliError 64. */
function entryOf(text: string): Entry {
  const [price = '', quantity = '', ...rest] = text.split(':');
  if (price === '' || quantity === '' || rest.length > 0) {
    throw usageError(`--bid and --ask take PRICE:QUANTITY, like 2990.5:1.25, not "${text}"`);
  }
  return [price, quantity];
}

/** In the order in which they are signed: bids fall, asks rise. */
function sorted(texts: readonly string[] | undefined, direction: 1 | -1): readonly Entry[] {
  return (texts ?? []).map(entryOf).toSorted(([a], [b]) => direction * (Number(a) - Number(b)));
}

function ticketOf(market: string, values: Values): QuoteSetTicket {
  const bids = sorted(values.bid, -1);
  const asks = sorted(values.ask, 1);
  const isEmpty = bids.length + asks.length === 0;
  if (values.end !== isEmpty) throw usageError('quote takes --bid and --ask, or --end, which cancels what the set has');
  const account = values.account === '0' ? 0 : positiveInteger(values.account, '--account');
  const lifetimeNs = durationNs(values.for);
  return {
    assetId: market,
    setId: values.set,
    bids,
    asks,
    target: { account, isSpot: !values.margin },
    ...(values.group === undefined ? {} : { protectionGroup: values.group }),
    ...(lifetimeNs === null ? {} : { goodUntilNs: BigInt(Date.now()) * 1_000_000n + lifetimeNs }),
  };
}

/** One line of what happened, and one for each entry that was left out. */
function textOf(response: QuoteSetResponse, priceDecimals: number): string {
  const { status, setId, reason, created, changed, kept, cancelled, refused, superseded } = response;
  const counts = `${created} created, ${changed} changed, ${kept} kept, ${cancelled} cancelled`;
  const why = reason === null ? '' : `: ${reason}, what it takes away was applied`;
  const late = superseded ? ', superseded by a newer one' : '';
  const lines = refused.map(
    ({ side, price, reason: left }) => `Refused    ${side} at ${formatRaw(price, priceDecimals)}: ${left}\n`,
  );
  return `${status.padEnd(10)} set ${setId}: ${counts}${late}${why}\n${lines.join('')}`;
}

export const quoteCommand: Command = {
  name: 'quote',
  summary: 'quote a market with one signature',
  help: `usage: ringbook quote MARKET --bid PRICE:QUANTITY… --ask PRICE:QUANTITY… (--as a|b | --key FILE) [options]
       ringbook quote MARKET --end …

Makes what rests of your quote set in the market exactly this, in one step: an entry whose price was there keeps its order,
one whose price is gone is cancelled. A quantity is what shall rest, not a total. Entries that would cross are left out.
Ends with 1 if what the set adds is refused as a whole.

  --bid P:Q          price and quantity of an entry; may be given 50 times
  --ask P:Q          the same on the other side
  --end              cancel all of the set
  --set NAME         name of the set, at most 4 in a market  (default cli)
  --group NAME       protection group of the set
  --for DURATION     then the set ends: 90s, 15m, 12h, 30d   (default 30d)
  --account N        sub-account            (default 1)
  --margin           quote a margin position instead of balances
  --json             the answer as one line of JSON
${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook quote ETH --bid 2990:1 --bid 2989:2 --ask 3010:1 --ask 3011:2 --as a
  ringbook quote ETH --end --as a
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const [market] = positionals;
    if (market === undefined || positionals.length > 1) {
      throw usageError('quote takes one MARKET: ringbook quote ETH --bid 2990:1 --ask 3010:1 --as a');
    }
    const ticket = ticketOf(market, values);
    const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
    try {
      const { priceDecimals } = await client.market(market);
      const response = await client.setQuotes(ticket);
      process.stdout.write(values.json ? jsonLine(response) : textOf(response, priceDecimals));
      return response.status === 'Received' ? EXIT.done : EXIT.fault;
    } finally {
      client.close();
    }
  },
};
