/** `ringbook cancel-all`: dispatches a cancel of every order, or of those in one market. */
import { RingbookClient } from '../client/client.ts';
import { parseAssetId } from '../core/ids.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddress,
  EXIT,
  parseOptions,
  usageError,
} from './command.ts';
import { KEY_HELP, KEY_OPTIONS, keyOf } from './user-key.ts';

export const cancelAllCommand: Command = {
  name: 'cancel-all',
  summary: 'cancel every order, or those in one market',
  help: `usage: ringbook cancel-all [MARKET] (--as a|b | --key FILE) [options]

${KEY_HELP}
${ADDRESS_HELP}

example:
  ringbook cancel-all --as a
  ringbook cancel-all 2 --as b
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, { ...ADDRESS_OPTIONS, ...KEY_OPTIONS });
    const [market] = positionals;
    if (positionals.length > 1 || (market !== undefined && parseAssetId(market) === null)) {
      throw usageError('cancel-all takes one market or none: ringbook cancel-all 2 --as a');
    }
    const client = new RingbookClient({ oms: checkAddress(values.oms, 'oms'), key: keyOf(values) });
    try {
      await client.cancelAll(market === undefined ? {} : { assetId: market });
      process.stdout.write(`Dispatched a cancel of all orders${market === undefined ? '' : ` in market ${market}`}\n`);
      return EXIT.done;
    } finally {
      client.close();
    }
  },
};
