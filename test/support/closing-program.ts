/**
 * A program that opens everything that a client has, closes the client, and then has nothing left to do: it ends by itself, or
 * something of the client keeps it running. Arguments: the address of a service, and `healthy`, `lost` or `silent`.
 */
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';

const [base = '', mode] = process.argv.slice(2);
const client = new RingbookClient({ oms: base, mds: base, key: devKey('a') });
const endings: string[] = [];
const note =
  (name: string) =>
  (error: unknown): void =>
    void endings.push(`${name} ${error instanceof RingbookError ? error.code : String(error)}`);

if (mode === 'silent') {
  // Neither a request nor a handshake is ever answered.
  client.markets().catch(note('request'));
  client.depthDiffs('12').catch(note('handshake'));
} else {
  const control = await client.control();
  const events = await client.orderEvents({ resume: true });
  await client.userTrades();
  await client.tradeStream('12', {});
  await client.liveBook('12');
  await client.marketFeed();
  void events.next().then(({ done }) => endings.push(`events ${done}`));
  control.send(client.signCancel('12', 'unanswered')).catch(note('action'));
}
if (mode === 'lost') {
  // The service ends all of it, and takes nothing new: everything waits to connect again.
  await fetch(`${base}/lose`);
}
setTimeout(() => {
  client.close();
  client.markets().catch(note('after'));
  process.once('exit', () => process.stdout.write(`${endings.join(', ')}\n`));
}, 300);
