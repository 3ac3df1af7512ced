// tier: quick
/** What waits for clearing beside orders is bounded, and users' actions leave capacity for operators. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ActionReply } from '../../src/clearing/inputs.ts';
import { ACTIONS_UNANSWERED_MAX, AccountActions } from '../../src/gateway/actions/account-actions.ts';
import { ClearingClient } from '../../src/gateway/clearing-client.ts';
import { NO_CHAINS } from '../../src/gateway/queries/settlements.ts';
import { SignerQueries } from '../../src/gateway/queries/signers.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Publication } from '../../src/runtime/publication.ts';
import { createRing, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { ALICE } from '../support/names.ts';
import { NOW, OrderFixture } from '../support/order-fixture.ts';

const RING_BYTES = 16_777_216;
const RENAME = { user: ALICE, subAccount: 2, name: 'mine' };

/** The answer, if it has come by now. */
async function answerNow(reply: Promise<unknown>): Promise<ActionReply | null> {
  return (await Promise.race([
    reply,
    new Promise((resolve) => setImmediate(() => resolve(null))),
  ])) as ActionReply | null;
}

/** Before a clearing engine that answers nothing. */
function busyClearing(): ClearingClient {
  const writer = new RingWriter(createRing({ capacityBytes: RING_BYTES, reservedBytes: 0 }));
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  return new ClearingClient(
    new Publication(writer, bell, 'reject'),
    () => NOW,
    () => undefined,
  );
}

function actionsOf(clearing: ClearingClient): AccountActions {
  return new AccountActions({
    signatures: { verify: async () => null },
    signers: new SignerQueries(),
    charge: () => null,
    sessions: { refuseNonce: () => null, consumeNonce: () => undefined },
    setAsides: new OrderFixture().manager.setAsides,
    withdrawals: { form: 'hex' },
    settlements: { decided: async () => null, hasLive: () => false },
    chains: NO_CHAINS,
    registry: () => ({ configs: new Map(), tokenDecimals: new Map() }),
    assetOfToken: () => null,
    isKnown: () => true,
    hasAccount: () => true,
    nowNs: () => NOW,
    command: (command) => clearing.command(command),
    ask: (query) => clearing.ask(query),
  });
}

suite('what waits for clearing', () => {
  test('actions of users fill half of it, then they are refused and operators still have the other half', async () => {
    const clearing = busyClearing();
    const actions = actionsOf(clearing);
    for (let each = 0; each < ACTIONS_UNANSWERED_MAX; each += 1) void actions.rename(RENAME);
    const refused = await answerNow(actions.rename(RENAME));
    assert.ok(refused !== null && !refused.ok && refused.reject.code === 'SERVICE_UNAVAILABLE');
    for (let each = 0; each < 4_096 - ACTIONS_UNANSWERED_MAX; each += 1) {
      void clearing.command({ kind: 'patchUser', user: ALICE, isMarketMaker: false });
    }
    const full = await answerNow(clearing.command({ kind: 'patchUser', user: ALICE, isMarketMaker: false }));
    assert.ok(full !== null && !full.ok && full.reject.code === 'SERVICE_UNAVAILABLE');
    assert.equal(clearing.inFlight, 4_096);
    clearing.replied(1, { ok: true, value: {} });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await answerNow(actions.rename(RENAME)), null, 'an answer makes room: it waits for clearing');
  });
});
