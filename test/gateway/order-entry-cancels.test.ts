// tier: quick
/** Cancels without a waiting sender, at nearly full rings (docs/safety.md, "When your connection or program may fail"). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { AutomaticCancels } from '../../src/gateway/actions/automatic-cancels.ts';
import { DisconnectGroup, Membership } from '../../src/gateway/orders/entry/disconnect-group.ts';
import { CommandRing, EntryWorld } from '../support/entry-world.ts';
import { ALICE } from '../support/names.ts';
import { createRequest, MARKET, mustPass, NOW } from '../support/order-fixture.ts';

const OTHER = { ...MARKET, marketIndex: 4, assetId: '13' as AssetId };

suite('cancels in advance at the rings', () => {
  test('a full market holds up no other, and nothing is lost or sent twice', () => {
    const [even, odd] = [new CommandRing(1_024, 0), new CommandRing(1_024, 0)];
    const world = new EntryWorld([even, odd]);
    const { fixture, openMarkets } = world;
    fixture.manager.onMarketChanged(OTHER);
    let wakeUps = 0;
    const wakeUp = (): void => {
      wakeUps += 1;
    };
    const cancels = new AutomaticCancels({ cancels: world.cancels, holderOf: () => 'user', nowNs: () => NOW, wakeUp });
    const group = new DisconnectGroup();
    const create = (id: string, asset: AssetId): void => {
      const request = createRequest({ id, quantity: 10 }, { baseAsset: { id: asset, text: asset } });
      const checked = mustPass(fixture.manager.requests.checkCreate(request, { user: ALICE, now: NOW, looksUp: true }));
      fixture.manager.requests.join(
        mustPass(fixture.manager.requests.reserveCreate(checked, NOW)).requestId,
        new Membership(group),
      );
    };
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    for (const id of ids) create(id, MARKET.assetId);
    create('closed', OTHER.assetId);

    cancels.connectionEnded(group);
    cancels.sendWaiting();
    const sent = [...idsOf(odd)];
    assert.ok(sent.length > 0 && sent.length < 10, `${sent.length} found room`);
    const turns = wakeUps;
    odd.fill();
    cancels.sendWaiting();
    assert.deepEqual(
      [turns, wakeUps],
      [2, 2],
      'where nothing was sent no turn is asked for: the ring rings when it has room',
    );
    openMarkets.add(4);
    odd.fill();
    cancels.sendWaiting();
    assert.deepEqual(idsOf(even), ['closed'], 'the full ring of the other market does not matter');
    for (let turn = 0; turn < 10; turn += 1) {
      sent.push(...idsOf(odd));
      cancels.sendWaiting();
    }
    assert.deepEqual([sent, cancels.size], [ids, 0]);
  });
});

function idsOf(ring: CommandRing): readonly string[] {
  return ring.read().map(({ word }) => word);
}
