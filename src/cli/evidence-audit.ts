/** `ringbook evidence audit`: replays a journal and compares the evidence with it (EVD-05). */
import { EXIT, type ExitCode, parseOptions, usageError } from './command.ts';
import { PROGRESS_OPTION, withProgress } from './data-command.ts';

const OPTIONS = { ...PROGRESS_OPTION, from: { type: 'string' }, secret: { type: 'string' } } as const;

export async function audit(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  const [directory, ...more] = positionals;
  if (directory === undefined || more.length > 0) throw usageError('audit takes one data directory');
  const { auditEvidence } = await import('../tools/audit-evidence.ts');
  const { storedSecret } = await import('../evidence/evidence-files.ts');
  const secret = storedSecret(directory, values.secret ?? null);
  const done = await withProgress(values.progress, (progress) =>
    auditEvidence(directory, { snapshot: values.from ?? null, secret }, progress),
  );
  process.stdout.write(`${JSON.stringify(done)}\n`);
  return EXIT.done;
}
