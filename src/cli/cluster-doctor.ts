/** What `ringbook doctor` finds of the servers of a cluster (cluster.md 2, 7.1): reachable, fit, with the streams, and with this machine's time. */
import { ClusterAdmin } from '../cluster/cluster-admin.ts';
import { fitnessOf } from '../cluster/server-fitness.ts';
import type { ClusterConfig } from '../node/cluster-config.ts';
import { DATA_VERSION } from '../storage/environment.ts';
import type { Finding } from './command.ts';

/** Leases are of one second and a half; a clock that is further away is not kept by NTP. */
const CLOCK_MS_MAX = 1_000;
const INFO_TRIES = 20;
const PAUSE_MS = 250;

export async function clusterFindings(cluster: ClusterConfig): Promise<readonly Finding[]> {
  const { monitoring, role } = cluster;
  const servers = await Promise.all(monitoring.map(serverFindings));
  const isUnverified = monitoring.length === 0 && role === 'node';
  const unverified: Finding = {
    what: 'servers',
    isGood: false,
    detail: 'sync_interval, version and max_payload are not verified: give "cluster.monitoring"',
  };
  const stream = role === 'node' ? [await streamFinding(cluster)] : [];
  return [...(isUnverified ? [unverified] : servers.flat()), ...stream];
}

async function serverFindings(address: string): Promise<readonly Finding[]> {
  const { name, version, faults, clockMs } = await fitnessOf(address);
  const what = `server ${name ?? address}`;
  const fitness =
    faults.length === 0
      ? { what, isGood: true, detail: `fit, version ${version}` }
      : { what, isGood: false, detail: `${faults.join('; ')}: see docs/cluster.md, "Set up three machines"` };
  if (clockMs === null) return [fitness];
  const isGood = Math.abs(clockMs) <= CLOCK_MS_MAX;
  const detail = isGood
    ? 'of this machine'
    : `${clockMs} ms away from the clock of this machine: look at NTP of both machines`;
  return [fitness, { what: `clock of ${name ?? address}`, isGood, detail }];
}

async function streamFinding({ name, node, servers, credentialsFile, tls }: ClusterConfig): Promise<Finding> {
  const what = 'journal stream';
  let admin: ClusterAdmin;
  try {
    admin = await ClusterAdmin.connect({
      ...{ cluster: name, node: `${node}-doctor`, servers, credentialsFile, tls },
      dataVersion: String(DATA_VERSION),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { what, isGood: false, detail: `no server takes a connection (${reason}): ${servers.join(', ')}` };
  }
  try {
    for (let tries = 0; tries < INFO_TRIES; tries += 1) {
      const { isThere, info } = await admin.journal();
      if (!isThere) return { what, isGood: false, detail: 'is not there: make it with "ringbook cluster init"' };
      if (info === null) {
        await new Promise((done) => setTimeout(done, PAUSE_MS));
        continue;
      }
      const behind = info.others.filter(({ isCurrent }) => !isCurrent).map((server) => server.name);
      const detail = `records ${info.first} to ${info.end} on ${info.others.length + 1} servers, led by ${info.leader}`;
      if (behind.length === 0) return { what, isGood: true, detail };
      return { what, isGood: false, detail: `${detail}; not current: ${behind.join(', ')}` };
    }
    return { what, isGood: false, detail: 'does not answer: two of three servers are needed' };
  } finally {
    await admin.close();
  }
}
