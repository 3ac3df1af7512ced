/**
 * Campaigns against the sockets of both listeners.
 *
 *   control    nearly right frames of actions on /control, v0 and v1: the socket lives, and answers the next frame
 *   frames     nearly right WebSocket frames on every stream: masks, opcodes, RSV bits, fragments, lengths, close
 *              codes, in pieces; the server may close, with a code of RFC 6455 if it sends one, and lives
 */
import type { Campaign, Case } from './campaign.ts';
import type { Dice } from './dice.ts';
import type { HttpTarget } from './http-campaigns.ts';
import { ANSWER_MS_MAX } from './http-target.ts';
import { hitBytes, mutatedJson } from './json-mutation.ts';
import { type FrameHead, frameBytes, OPCODE, RawSocket } from './raw-socket.ts';
import { FUZZ_KEY, seedFrames } from './seeds.ts';

const CONTROL_V0 = '/control';
const CONTROL_V1 = '/control v1';
/** A cancel that names its order and nothing else: answered in the correlated shape, so what came before was read. */
const SENTINEL = '{"CancelOrderRequest":{"cancel":{"order_id":"sentinel","asset_id":"2"}}}';
/** What a case comes to whose socket was closed without a frame. */
const SILENT = 'closed without a frame';
const SENTINEL_ANSWER = '"order_id":"sentinel"';

function credentials(target: HttpTarget): string[] {
  return [`Authorization: Bearer ${target.token()}`, `User-Id: ${FUZZ_KEY.id}`];
}

function openControl(target: HttpTarget, frame: string): Promise<RawSocket | null> {
  const offer = frame === CONTROL_V1 ? ['Sec-WebSocket-Protocol: svc.ws.v1'] : [];
  return RawSocket.open(target.ports().oms, '/control', [...credentials(target), ...offer]);
}

const saysOf = (socket: RawSocket): string => socket.frames.map(({ payload }) => payload.toString('utf8')).join('\n');

/** One socket per case would be a handshake per case, so each is used until it is closed for a good reason. */
export function controlCampaign(target: HttpTarget, parallel: number): Campaign {
  const seeds = seedFrames(target.bodies);
  const idle = new Map<string, RawSocket[]>([
    [CONTROL_V0, []],
    [CONTROL_V1, []],
  ]);
  const sendFrames = async ({ frame, pieces }: Case): Promise<string | null> => {
    const socket = idle.get(frame)?.pop() ?? (await openControl(target, frame));
    if (socket === null) return 'no socket';
    const before = socket.frames.length;
    for (const payload of [...pieces, Buffer.from(SENTINEL)]) {
      socket.write(frameBytes(payload, { opcode: OPCODE.text }));
    }
    const isAnswered = await socket.until(
      () => socket.frames.slice(before).some(({ payload }) => payload.includes(SENTINEL_ANSWER)),
      ANSWER_MS_MAX,
    );
    if (isAnswered && !socket.isClosed && before < 4_000) idle.get(frame)?.push(socket);
    else socket.destroy();
    if (isAnswered) return null;
    // A frame of another signer, and one that is no UTF-8, end the socket as the contract requires.
    const last = saysOf(socket);
    if (last.includes('UNAUTHORIZED') || !pieces.every((payload) => isUtf8(payload))) return null;
    if (socket.isClosed && socket.frames.length === before) return SILENT;
    return `no answer behind ${pieces.length} frames: ${last.slice(-300)}`;
  };
  return {
    name: 'control',
    parallel,
    make: (dice) => ({
      frame: dice.pick([CONTROL_V0, CONTROL_V1]),
      pieces: Array.from({ length: 1 + dice.below(4) }, () => mutatedJson(dice, dice.pick(seeds))),
    }),
    run: async (sent) => {
      const first = await sendFrames(sent);
      // A server that ends a socket with frames unread resets it, and the reset can overtake its last frame: a case without
      // any frame is sent again. A frame that ends the socket without a reason does so every time.
      return first === SILENT ? await sendFrames(sent) : first;
    },
    end: () => {
      for (const sockets of idle.values()) for (const socket of sockets.splice(0)) socket.destroy();
    },
  };
}

function isUtf8(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).equals(Buffer.from(Buffer.from(bytes).toString('utf8')));
}

// ---- frames

const PATHS: readonly (readonly ['oms' | 'mds', string])[] = [
  ...(['/orders', '/control', `/trades/user/events/${FUZZ_KEY.id}`, `/trades/user/${FUZZ_KEY.id}`] as const).map(
    (path) => ['oms', path] as const,
  ),
  ...(
    [
      '/ws',
      '/ws',
      '/marketdepth/diff/2',
      '/trades',
      '/trades/2',
      '/klines/diff/2',
      '/ticker/ws/2',
      '/tickers/ws',
    ] as const
  ).map((path) => ['mds', path] as const),
];
const CLOSE_CODES: readonly number[] = [
  0, 999, 1000, 1001, 1004, 1005, 1006, 1011, 1015, 1016, 2999, 3000, 4999, 5000, 65_535,
];
const TEXTS: readonly string[] = [
  '{"type":"ping"}',
  '{"type":"pong"}',
  '{"type":"subscribe","id":"s","channels":[{"name":"depth","asset_ids":["2","99"],"checksum_every":1,"numbers":"string"}]}',
  '{"type":"subscribe","channels":[{"name":"klines","asset_ids":["2"],"interval":"1m"},{"name":"prices","asset_ids":["0"]}]}',
  '{"type":"unsubscribe","channels":[{"name":"depth","asset_ids":["2"]}]}',
  '',
  '{',
  'é',
  '\u0000',
  SENTINEL,
  'x'.repeat(70_000),
];

function payloadOf(dice: Dice): Buffer {
  if (dice.once(4)) return dice.bytes(dice.below(200));
  return hitOrNot(dice, Buffer.from(dice.pick(TEXTS)));
}

function hitOrNot(dice: Dice, bytes: Buffer): Buffer {
  return dice.once(4) ? hitBytes(dice, bytes) : bytes;
}

function closePayload(dice: Dice): Buffer {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(dice.pick(CLOSE_CODES));
  const reason = dice.pick([
    Buffer.alloc(0),
    Buffer.from('bye'),
    Buffer.from([0xff, 0xfe]),
    Buffer.alloc(123, 'r'),
    Buffer.alloc(200, 'r'),
  ]);
  return dice.once(5) ? code.subarray(0, dice.below(2)) : Buffer.concat([code, reason]);
}

function headOf(dice: Dice, opcode: number): FrameHead {
  const head: FrameHead = {
    opcode,
    isFinal: !dice.once(5),
    reserved: dice.once(8) ? dice.below(8) : 0,
    isMasked: !dice.once(12),
  };
  if (dice.once(12))
    return { ...head, announced: dice.pick([0n, 125n, 126n, 65_536n, 1n << 31n, 1n << 32n, 1n << 63n]) };
  return dice.once(12) ? { ...head, lengthBits: dice.pick([16, 64]) } : head;
}

function strangeFrames(dice: Dice): Case {
  const [service, path] = dice.pick(PATHS);
  const frames: Buffer[] = [];
  for (let left = 1 + dice.below(5); left > 0; left -= 1) {
    const opcode = dice.pick([1, 1, 1, 2, 0, 8, 9, 10, 3, 7, 11, 15]);
    const payload = opcode === OPCODE.close ? closePayload(dice) : payloadOf(dice);
    frames.push(frameBytes(payload, headOf(dice, opcode)));
  }
  const bytes = Buffer.concat(frames);
  const cut = dice.below(bytes.length + 1);
  const pieces = dice.once(2) ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)];
  return { frame: `${service} ${path}`, pieces };
}

/** Codes that an endpoint may send (RFC 6455 7.4); 1005 and 1006 are never on the wire. */
function isLegalClose(payload: Buffer): boolean {
  if (payload.length === 0) return true;
  const code = payload.length < 2 ? 0 : payload.readUInt16BE(0);
  return (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
}

export function frameCampaign(target: HttpTarget, parallel: number): Campaign {
  return {
    name: 'frames',
    parallel,
    make: strangeFrames,
    run: async ({ frame, pieces }) => {
      const [service, path = ''] = frame.split(' ');
      const port = service === 'oms' ? target.ports().oms : target.ports().mds;
      const socket = await RawSocket.open(port, path, service === 'oms' ? credentials(target) : []);
      if (socket === null) return 'no socket';
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) await new Promise((resolve) => setTimeout(resolve, 1));
        socket.write(piece);
      }
      await socket.until(() => false, 15);
      socket.destroy();
      const closes = socket.frames.filter(({ opcode }) => opcode === OPCODE.close);
      if (closes.length > 1) return 'closed twice';
      if (socket.frames.some(({ opcode }) => ![1, 8, 9, 10].includes(opcode))) return 'a frame of no kind that is sent';
      return closes.every(({ payload }) => isLegalClose(payload))
        ? null
        : `close ${closes[0]?.payload.toString('hex')}`;
    },
    end: () => undefined,
  };
}
