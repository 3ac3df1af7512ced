/**
 * `ringbook cosign`: shows an action that waits for co-signers, signs it with a co-signer's key, and sends it.
 *
 *   one machine      ringbook withdraw … --key me.key --request pay.json
 *   another          ringbook cosign pay.json --co-signer phone.key
 *   the first again  ringbook cosign pay.json --send --key me.key
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { RingbookClient } from '../client/client.ts';
import { type CosignRequest, cosignFile, merged, readCosignFile, withCoSigner } from '../client/cosign-file.ts';
import { withoutByteOrderMark } from '../core/byte-order-mark.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  EXIT,
  type ExitCode,
  parseOptions,
  usageError,
} from './command.ts';
import { accountOf, coSignersOf, describe, SIGNER_HELP, SIGNER_OPTIONS, signersOf } from './signer-options.ts';
import { withdrawalForm } from './withdraw-command.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  send: { type: 'boolean', default: false },
  'amount-text': { type: 'string', default: 'hex' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

/** Sends what the files have together. */
async function send(request: CosignRequest, values: Values): Promise<ExitCode> {
  const signers = signersOf(values);
  if (accountOf(signers) !== request.action.user)
    throw usageError('the file is of another account than the one that logs in');
  const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signers });
  try {
    const response = await client.sendSigned(request.action, request.signatures);
    const isRefused = response?.status === 'Rejected';
    process.stdout.write(isRefused ? `Rejected: ${response.reason}\n` : 'sent\n');
    return isRefused ? EXIT.fault : EXIT.done;
  } finally {
    client.close();
  }
}

/** Replaces the file as a whole: a half-written one is never there. */
function rewrite(path: string, content: string): void {
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, content, { flag: 'wx' });
  renameSync(part, path);
}

export const cosignCommand: Command = {
  name: 'cosign',
  summary: 'show, co-sign and send an action that others sign too',
  help: `usage: ringbook cosign FILE [--co-signer KEYFILE]… [options]
       ringbook cosign FILE… --send (--as a|b | --key KEYFILE | --user USER_ID --co-signer KEYFILE) [options]

FILE is written by "ringbook withdraw" or "ringbook signers add" with --request. Shown is what the text that is signed means,
not the description in the file; a file with another description is refused. With --co-signer the signature of that key is
added to FILE. With --send the action is sent, with the signatures of all FILEs: they are of one action, signed on different machines.

  --send             sends the action; the other options name the signers of the session
  --amount-text hex  how the node writes amounts: decimal where its setting amount_text is  (default hex)
${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook cosign pay.json --co-signer phone.key
  ringbook cosign pay.json --send --key me.key
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const amountText = withdrawalForm(values);
    const [path, ...others] = positionals;
    if (path === undefined) throw usageError('cosign takes a FILE: ringbook cosign pay.json --co-signer phone.key');
    const read = (name: string): CosignRequest =>
      readCosignFile(withoutByteOrderMark(readFileSync(name)), { amountText });
    const request = others.map(read).reduce(merged, read(path));
    if (values.send) {
      process.stdout.write(`${describe(request)}\n`);
      return send(request, values);
    }
    if (others.length > 0) throw usageError('several files go with --send');
    const signed = coSignersOf(values).reduce(withCoSigner, request);
    process.stdout.write(`${describe(signed)}\n`);
    if (signed !== request) {
      rewrite(path, cosignFile(signed));
      process.stdout.write(`signed; ${path} has the signature, and "ringbook cosign ${path} --send" sends it\n`);
    }
    return EXIT.done;
  },
};
