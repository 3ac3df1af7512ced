// tier: quick
/** Signatures of settlements and approvals that lapse: what is repeated, what a refusal ends, what waits. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Signed } from '../../src/chain/approval-signer.ts';
import { SettlementApprovals } from '../../src/chain/settlement-approvals.ts';
import type { OperatorCommand } from '../../src/clearing/inputs.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { accepted } from '../../src/core/outcome.ts';
import type { Amount18, TimestampNs } from '../../src/core/units.ts';

const CHAIN = '000000000000007a69' as ChainId;
const SIGNED: Signed = { kind: 'signed', signatures: ['11'.repeat(65)] };
const REFUSED: Signed = { kind: 'refused', reason: 'too many approvals in an hour' };
const VALID_UNTIL = 5_000;

const ROW = {
  user: 'a1'.repeat(32) as UserId,
  place: 0,
  subAccount: 0,
  chainId: CHAIN,
  mode: 'spot',
  tokenOut: '6b'.repeat(32),
  assetOut: '2' as AssetId,
  amountOut: 1n as Amount18,
  baseUnitsOut: 1n,
  tokenIn: '5a'.repeat(32),
  assetIn: '0' as AssetId,
  amountIn: 1n as Amount18,
  baseUnitsIn: 1n,
  settler: '5e'.repeat(32) as UserId,
  nonce: 3,
  status: 'locked',
  requestedNs: 7n as TimestampNs,
  validFrom: 1_000,
  validUntil: VALID_UNTIL,
  signature: '',
} as const;

class Fixture {
  readonly commands: OperatorCommand['kind'][] = [];
  answer: Signed | null = SIGNED;
  blockTime = 0;
  counter = 3;
  isStopped = false;
  isHidden = false;
  readonly approvals = new SettlementApprovals({
    command: async (command) => {
      this.commands.push(command.kind);
      return accepted({});
    },
    vault: () => (this.isStopped ? null : { key: '', address: '', administrators: [], quorum: 1 }),
    sign: async () => this.answer,
    progress: () => ({ stopped: this.isStopped ? {} : null, blockTime: this.blockTime }),
    settlementCount: async () => ({ blockTime: this.blockTime, counter: this.counter }),
    isHidden: () => this.isHidden,
    refused: () => undefined,
    isTimed: () => true,
  });

  async rest(): Promise<readonly string[]> {
    do await new Promise(setImmediate);
    while (this.approvals.isBusy);
    return this.commands.splice(0);
  }
}

suite('approvals of settlements on a chain', () => {
  test('STL-01: a locked row is signed at once; one that is not signed now is signed later', async () => {
    const fixture = new Fixture();
    fixture.approvals.start([]);
    fixture.approvals.changed(ROW);
    assert.deepEqual(await fixture.rest(), ['settlementSigned']);
    for (const wait of [() => (fixture.answer = null), () => (fixture.isStopped = true)]) {
      wait();
      fixture.approvals.tick();
      assert.deepEqual(await fixture.rest(), []);
      fixture.answer = SIGNED;
      fixture.isStopped = false;
      fixture.approvals.tick();
      assert.deepEqual(await fixture.rest(), ['settlementSigned']);
    }
    await fixture.approvals.stop();
  });

  test('a refusal ends what was never signed; a row of before the start may have been signed, and waits', async () => {
    const fixture = new Fixture();
    fixture.answer = REFUSED;
    fixture.approvals.start([ROW]);
    assert.deepEqual(await fixture.rest(), []);
    const fresh = { ...ROW, place: 1 };
    fixture.approvals.changed(fresh);
    assert.deepEqual(await fixture.rest(), ['settlementRefused']);
    fixture.answer = SIGNED;
    fixture.approvals.changed({ ...fresh, status: 'refused' });
    fixture.approvals.tick();
    assert.deepEqual(await fixture.rest(), ['settlementSigned'], 'the one of before, later');
    await fixture.approvals.stop();
  });

  test('AMB-82: an approval lapses behind its time, unless the counter of the vault has passed it or the chain is stopped', async () => {
    const fixture = new Fixture();
    fixture.approvals.start([{ ...ROW, status: 'approved' }]);
    const lapses = async (): Promise<readonly string[]> => {
      fixture.approvals.tick();
      return fixture.rest();
    };
    fixture.blockTime = VALID_UNTIL;
    assert.deepEqual(await lapses(), []);
    fixture.blockTime = VALID_UNTIL + 1;
    fixture.counter = ROW.nonce + 1;
    assert.deepEqual(await lapses(), [], 'it was executed');
    fixture.isHidden = true;
    assert.deepEqual(await lapses(), ['settled'], 'and no majority shows its event (CHN-04)');
    fixture.counter = ROW.nonce - 1;
    fixture.isStopped = true;
    assert.deepEqual(await lapses(), []);
    fixture.isStopped = false;
    assert.deepEqual(await lapses(), ['settlementLapsed'], 'also where an earlier counter is still to be used');
    await fixture.approvals.stop();
  });
});
