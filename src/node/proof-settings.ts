/** What the thread of proofs is started with, by the configuration (EVD-01). */
import { devLogSettings, loadLogKeys } from '../evidence/heads/log-keys.ts';
import type { ProofSettings } from '../evidence/proofs/proof-worker.ts';
import type { Leadership } from '../runtime/leadership.ts';
import type { NodeConfig } from './config.ts';

/**
 * Null where no evidence is kept, and in production and in a cluster without `evidence.log`: rows and tree are kept, and no head is signed.
 *
 * @throws ConfigError when keys or certificates are not what they should be.
 */
export function proofSettings(
  { evidence, dataDirectory, profile, cluster }: Pick<NodeConfig, 'evidence' | 'dataDirectory' | 'profile' | 'cluster'>,
  { memory }: Leadership,
): ProofSettings | null {
  if (evidence === null) return null;
  // Nodes of a cluster have one log: keys that each made by itself would give it several names.
  const isOwn = profile !== 'production' && cluster === null;
  const log = evidence.log ?? (isOwn ? devLogSettings(dataDirectory) : null);
  if (log === null) return null;
  // Here a fault is one line and the end of the start.
  loadLogKeys(log);
  return { dataDirectory, secret: evidence.secret ?? null, log, leadership: memory };
}
