/**
 * What a supervisor's SIGHUP makes a node read again: the tokens of the operator API and the TLS files of the public listeners (MCH-03,
 * LDG-03). Open sockets stay, and so does whatever is faulty: as it was, with a line in the log.
 */
import type { Logger } from 'pino';
import { ConfigError } from '../core/config-error.ts';
import { certificateEndS, tlsFault, tlsOf } from '../http/public-listeners.ts';
import type { OperatorToken } from '../operator/operator-tokens.ts';
import { type NodeConfig, readTokens, refuseProductionToken } from './config.ts';
import type { Environment } from './environment.ts';
import { type CertificateMessage, peerChannel } from './peer-channel.ts';

interface Reloaded {
  readonly config: NodeConfig;
  readonly log: Logger;
  /** Of the node: the market-data thread serves its listener's new certificate. */
  readonly peerName: string;
  readonly replaceTokens: (tokens: readonly OperatorToken[]) => void;
  /** Of the order listener, where there is one. */
  readonly readCertificateAgain: () => Promise<unknown>;
  readonly certificateEnds: (endS: number) => void;
}

/** Rejects when the port of a listener could not be opened again: then the node has to end. */
export async function reload(environment: Environment, parts: Reloaded): Promise<void> {
  const { log } = parts;
  const names = reloadTokens(environment, parts);
  const endS = await reloadCertificate(parts);
  const certificateEnds = endS === null ? null : new Date(endS * 1_000).toISOString();
  log.warn(
    { event: 'reloaded', operators: names, certificate_ends: certificateEnds },
    'tokens and TLS files were read again',
  );
}

/** @returns the names that are in force; null when a fault leaves the tokens as they were. */
function reloadTokens(environment: Environment, { config, log, replaceTokens }: Reloaded): readonly string[] | null {
  try {
    const read = readTokens(environment, config);
    if (config.profile === 'production') refuseProductionToken(read);
    replaceTokens(read.operatorTokens);
    return read.operatorTokens.map(({ name, role }) => `${name} (${role})`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ event: 'not-reloaded', reason: error.message }, 'the operator tokens stay as they were');
    return null;
  }
}

/** @returns when the certificate ends, in seconds of Unix time; null without TLS, and when a fault leaves it as it was. */
async function reloadCertificate({
  config,
  log,
  peerName,
  readCertificateAgain,
  certificateEnds,
}: Reloaded): Promise<number | null> {
  const tls = tlsOf(config.publicListeners);
  if (tls === null) return null;
  const fault = tlsFault(tls);
  if (fault !== null) {
    log.error({ event: 'not-reloaded', reason: fault }, 'the certificate stays as it was');
    return null;
  }
  const channel = peerChannel<CertificateMessage>(`${peerName} certificate`);
  channel.post('read-again');
  channel.close();
  await readCertificateAgain();
  const endS = certificateEndS(tls);
  certificateEnds(endS);
  return endS;
}
