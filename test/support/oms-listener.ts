/**
 * An order service's listener in front of a scripted node, open while the tests of the calling file or suite run. It ends
 * with a law of its own: no handler has thrown.
 */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { OmsServer } from '../../src/http/oms-server.ts';
import type { ScriptedOms } from './scripted-oms.ts';

export interface OmsListener {
  readonly server: OmsServer;
  /** Loopback; 0 until the tests run. */
  readonly port: number;
}

export function listenTo(oms: ScriptedOms): OmsListener {
  const failures: unknown[] = [];
  const server = new OmsServer({
    backend: oms,
    observer: { answered: () => undefined, failed: (_, error) => failures.push(error), lagged: () => undefined },
  });
  oms.streams = server.streams;
  let port = 0;
  before(async () => {
    port = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => {
    server.close();
    assert.deepEqual(failures, []);
  });
  return {
    server,
    get port() {
      return port;
    },
  };
}
