// tier: full, 15 s
/** The fuzzer's share of frames: what is in them, and how they are framed (see fuzz.test.ts). */
import { after, before, suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { FuzzNode } from './fuzz-node.ts';
import { controlCampaign, frameCampaign } from './socket-campaigns.ts';

const CONTROL = shareOf('frames of control');
const FRAMES = shareOf('frames of streams');

suite('a node under nearly right frames', () => {
  let fuzzed: FuzzNode;

  before(async () => {
    fuzzed = await FuzzNode.start();
  });
  after(() => fuzzed?.stop());

  test('nearly right frames on /control leave the socket alive and answered (CTL-02, CTL-03, AMB-95)', () =>
    fuzzed.survives(controlCampaign(fuzzed.target, 4), CONTROL));

  test('nearly right WebSocket frames on every stream close it lawfully or not at all (WS-08, AMB-95)', () =>
    fuzzed.survives(frameCampaign(fuzzed.target, 16), FRAMES));
});
