/** What the child of the journal's keeper is given of a cluster: a text, as it is another process. Secrets stay in their files. */
import type { ClusterConfig } from './cluster-config.ts';

export type SharingSettings = Pick<
  ClusterConfig,
  'name' | 'node' | 'servers' | 'credentialsFile' | 'tls' | 'snapshots'
>;

export function sharingText({ name, node, servers, credentialsFile, tls, snapshots }: ClusterConfig): string {
  const settings: SharingSettings = { name, node, servers, credentialsFile, tls, snapshots };
  return JSON.stringify(settings);
}
