/** Every limit of the node, with the relations between them asserted at load. Sources in brackets. */
import { assert } from './assert.ts';

/**
 * Body of the operator API, and of a batch of signed actions; a frame: a longer inbound one closes its socket [AMB-124,
 * AMB-95].
 */
export const BODY_BYTES_MAX = 1_048_576;
/** Bodies of public routes are limited to their longest legal content. This limit applies to logins, ids and names. */
export const SMALL_BODY_BYTES_MAX = 16_384;
/** Body of one signed action. The longest legal one has sixteen co-signers of 24,576 bytes and is below 103,000 bytes. */
export const ACTION_BYTES_MAX = 106_496;
/** Body of an asset look-up: a thousand assets in their longest spelling are below 93,000 bytes. */
export const ASSETS_BODY_BYTES_MAX = 131_072;
/** A malformed frame of `/control` up to this length is searched for the order ids it contains. */
export const SALVAGED_BYTES_MAX = 65_536;
/** Values in the body of a cold request: no legal one has half as many. */
export const COLD_VALUES_MAX = 4_096;
/** Buffered request bodies of a listener, in total, and the frames that wait to be read: per socket, and in total. */
export const BODIES_HELD_MAX = 134_217_728;
export const FRAMES_WAITING_PER_SOCKET_MAX = 4_194_304;
export const FRAMES_WAITING_MAX = 134_217_728;
/** The same as a number of frames: several times a user's whole budget of cancels [LIM-09, AMB-104]. */
export const FRAME_COUNT_WAITING_PER_SOCKET_MAX = 4_096;
export const FRAME_COUNT_WAITING_MAX = 16_384;
/**
 * After this many frames of all sockets in one pass of the event loop, a socket with more than this many waiting frames
 * is closed.
 */
export const FRAMES_CROWD = 8_192;
export const FRAME_COUNT_WAITING_IN_CROWD_MAX = 64;
/**
 * Frames without work: pings, pongs, frames of one-way streams, frames too short for an action. Limits per socket and
 * pass of the event loop, the same in a pass with many such frames in total, at once, and per second. A socket beyond
 * one of them is closed.
 */
export const IDLE_FRAMES_PER_TURN_MAX = 256;
export const IDLE_FRAMES_PER_CROWDED_TURN_MAX = 16;
export const IDLE_FRAMES_CROWD = 2_048;
export const IDLE_FRAMES_BURST = 1_024;
export const IDLE_FRAMES_PER_SECOND = 64;
/** The shortest signed action: its signature alone has 128 characters. */
export const ACTION_BYTES_MIN = 64;
/**
 * Error replies that wait to be written before their connection is closed; beyond it a connection is closed without
 * reply.
 */
export const CLOSING_REPLIES_MAX = 1_024;
/** Bytes of unread replies of a listener; beyond it the connections with the longest are closed. */
export const UNREAD_REPLIES_MAX = 67_108_864;
/** Time within which a client must read its reply, and the number of bytes that add a second to it. */
export const UNREAD_REPLY_MS = 10_000;
export const UNREAD_REPLY_BYTES_PER_SECOND = 16_384;
/** Bytes parsed in one pass of the event loop; a longer text gets a pass of its own. */
export const READ_PER_TURN = 65_536;
/**
 * Work items (requests, error replies, frames) of one pass of a listener's event loop, and milliseconds spent on them.
 */
export const WORK_PER_TURN_MAX = 256;
export const WORK_MS_PER_TURN = 2;
/** Longer texts are processed after the shorter ones. */
export const QUICK_TEXT_BYTES_MAX = 16_384;
/** Frames that wait are looked at when they arrive, for cancels among them, up to this length. */
export const PREVIEWED_BYTES_MAX = 4_096;
/** Previews in one pass of the event loop: one takes up to some 20 µs. */
export const PREVIEWS_PER_TURN_MAX = 2_048;
/** Nesting and digits accepted by the JSON reader [hazards: JSON attacks]. */
export const JSON_DEPTH_MAX = 16;
export const JSON_DIGITS_MAX = 80;
/** Items of a batch [wire.md 7.7]. */
export const BATCH_ITEMS_MAX = 50;
/** An order id [AMB-07]. */
export const ORDER_ID_BYTES_MAX = 64;
/** The canonical text of one signed order or replace. The longest legal one is below 900 bytes. */
export const SIGNED_TEXT_BYTES_MAX = 1_024;
/** The canonical text of one signed set of quotes: 100 entries of at most 36 bytes, and below 700 bytes around them [QTE-01]. */
export const QUOTE_TEXT_BYTES_MAX = 4_608;
/** Any signed text that a verifier takes. */
export const VERIFIED_TEXT_BYTES_MAX: number = Math.max(SIGNED_TEXT_BYTES_MAX, QUOTE_TEXT_BYTES_MAX);
/** Entries of a side of a quote set, and the length of a set's id [QTE-01, QTE-06]. */
export const QUOTES_PER_SIDE_MAX = 50;
export const QUOTE_SET_ID_BYTES_MAX = 40;
/** The name of a protection group [MMP-01]. */
export const PROTECTION_GROUP_BYTES_MAX = 16;
/** Live orders per sub-account and market [AMB-124]. */
export const OPEN_ORDERS_MAX = 1_000;
/** Children per parent: each fill of the parent is work for all of them. */
export const CHILDREN_PER_PARENT_MAX = 16;
/** Groups that protect a market maker: of a user and market, live orders in one, the largest limit of fills, the times (MMP-01, MMP-02). */
export const PROTECTION_GROUPS_MAX = 8;
export const PROTECTED_ORDERS_MAX = 400;
export const PROTECTION_WINDOW_MS_MIN = 10;
export const PROTECTION_WINDOW_MS_MAX = 60_000;
export const PROTECTION_FROZEN_MS_MAX = 600_000;
export const PROTECTED_FILLS_MAX = 1_000;
export const OPEN_ORDERS_MARKET_MAKER_MAX = 20_000;
/** Live orders of a user, of a market maker, and of all users: about 3 KiB of memory each [AMB-124]. */
export const OPEN_ORDERS_USER_MAX = 20_000;
export const OPEN_ORDERS_USER_MARKET_MAKER_MAX = 200_000;
export const OPEN_ORDERS_NODE_MAX = 2_000_000;
/** Default of the free space under the data directory below which new orders are refused, in MiB [MCH-04]. */
export const DISK_RESERVE_MIB = 512;
/** Default of a market's minimum notional for orders that may rest: USD with 18 decimals [AMB-124]. */
export const MINIMUM_NOTIONAL = 10_000_000_000_000_000n;
/** Lifetime of orders [ORD-20], signing windows [AMB-10], age of stale fills [FIL-16]; nanoseconds. */
export const ORDER_LIFE_NS = 2_592_000_000_000_000n;
export const CLOCK_SKEW_NS = 5_000_000_000n;
export const POST_SIGN_AGE_MAX_NS = 60_000_000_000n;
/** Default of `mark_band_age_ms`: an oracle price older than this binds no mark [MON-06]. */
export const MARK_BAND_AGE_NS = 120_000_000_000n;
// mutant: stale-match-age
export const STALE_MATCH_NS = 300_000_000_000n;
/** Sessions [SES-03, SES-05, SES-09, AMB-87]. */
export const NONCE_LIFE_NS = 300_000_000_000n;
export const NONCE_RENEW_NS = 10_000_000_000n;
export const TOKEN_LIFE_NS = 86_400_000_000_000n;
/** Tokens of each key that signs for the user (MON-13). */
export const TOKENS_PER_USER_MAX = 32;
/** Unused nonces: about 20 MiB. */
export const NONCES_MAX = 100_000;
/** Live sessions, and those among them of users without a balance or a position: about 0.7 KiB each. */
export const SESSIONS_MAX = 250_000;
export const SESSIONS_PUBLIC_MAX = 150_000;
/** Concurrent OMS streams [LIM-19, LIM-20]. */
export const STREAMS_PER_USER = 10;
export const STREAMS_PER_MARKET_MAKER = 20;
/** Assets in a frame of what is at risk: about 300 bytes each, so that a frame is below 1 MiB [AMB-95]. */
export const AT_RISK_ASSETS_MAX = 2_000;
/** Public trades kept for each market [PTR-02, AMB-101]. */
export const TAPE_TRADES_MAX = 10_000;

/** Parked cancels [AMB-25]. */
export const PARKED_CANCEL_NS = 5_000_000_000n;
export const PARKED_CANCELS_PER_USER_MAX = 1_000;
/** Stored finished orders, and remembered order ids [AMB-17, AMB-08]. */
export const FINISHED_ORDERS_PER_USER_MAX = 100_000;
export const REMEMBERED_IDS_PER_USER_AND_MARKET_MAX = 1_000_000;
/** For all users: with the longest ids this takes two thirds of the addressable words. */
export const REMEMBERED_IDS_PER_MARKET_MAX: number = 2 ** 26;
/**
 * Users with a dead-man timer, each with something to cancel: 30 MiB; and its longest duration in milliseconds; 0
 * disarms.
 */
export const DEAD_MAN_TIMERS_MAX = 262_144;
export const DEAD_MAN_MS_MIN = 1_000;
export const DEAD_MAN_MS_MAX = 86_400_000;
/** Signed creates remembered for idempotent retries: number, over all users, and duration. */
export const RETRIED_CREATES_MAX = 16_384;
/** The same per user. */
export const RETRIED_CREATES_PER_USER_MAX = 2_048;
export const RETRY_WINDOW_NS = 600_000_000_000n;
/** Pages [wire.md 6.1]. */
export const PAGE_LIMIT_DEFAULT = 100;
export const PAGE_LIMIT_MAX = 1_000;
/** Rows beyond the default, or bytes, for which a public read of market data costs one more unit [LIM-14]. */
export const READ_ROWS_PER_PRICE = 100;
export const READ_BYTES_PER_PRICE = 65_536;
/** Assets in one look-up of decimals (the registry has at most 65,536), and in one refresh [wire.md 7.1]. */
export const DECIMALS_ASKED_MAX = 1_000;
export const DECIMALS_REFRESHED_MAX = 100;
/** Accounts with signers that were configured before clearing had a row of their user: a kilobyte each, for ever. */
export const UNFUNDED_SIGNERS_MAX = 16_384;
/** Sub-accounts of a user: indices 0 to 255 [AMB-63]. */
export const SUB_ACCOUNTS_MAX = 256;
/** Raw prices and quantities [wire.md 2.2]. */
export const RAW_MAX: number = Number.MAX_SAFE_INTEGER;
/** The largest amount an account can hold; it fits a signed 128-bit field: 1.7e20 whole units. */
export const AMOUNT18_MAX: bigint = (1n << 127n) - 1n;
/** Lag of a socket: queued bytes or messages at which it must resync [AMB-94]. */
export const SOCKET_LAG_BYTES_MAX = 4_194_304;
export const SOCKET_LAG_MESSAGES_MAX = 4_096;
/** The same of the stream of pending settlements [WS-17]. */
export const PENDING_SETTLEMENTS_MAX = 256;
/**
 * Queued bytes of all sockets of a listener: above the first a socket lags at a sixteenth of its limit; above the
 * second the sockets with the longest queues are closed.
 */
export const SOCKETS_LAG_BYTES_PRESSED = 134_217_728;
export const SOCKETS_LAG_BYTES_MAX = 268_435_456;
/** Interval of pings to every socket [WS-07], and the time without any received data after which a socket is closed. */
export const SOCKET_PING_MS = 20_000;
export const SOCKET_SILENT_SECONDS = 36;
/**
 * Replay buffers of private streams: frames and bytes of one, bytes of all, and how long one is kept after its last
 * reader.
 */
export const REPLAY_FRAMES_MAX = 1_024;
export const REPLAY_RING_BYTES_MAX = 1_048_576;
export const REPLAY_BYTES_MAX = 67_108_864;
/** Replay buffers without a reader. Those with one are fewer than the sockets. */
export const REPLAYS_IDLE_MAX = 16_384;
export const REPLAY_IDLE_MS = 120_000;
/**
 * A thread that hangs for this long stops the node (runtime/hang-detection.ts: time without a CPU does not count);
 * interval of the checks.
 */
export const HEARTBEAT_LOST_MS = 2_000;
export const WATCH_MS = 100;
/** Time hung or blocked in the kernel, for example by a stalled disk, after which the node ends too. */
export const BLOCKED_MAX_MS = 10_000;
/** Time for threads to end by themselves, and then to terminate, before the process ends [AMB-111]. */
export const FAIL_STOP_HALT_MS = 200;
export const FAIL_STOP_TERMINATE_MS = 300;
/** Longest time from the hang of a thread to the end of the process, where threads get a CPU. */
export const FREEZE_TO_END_MS = 3_000;
/**
 * Jump of market sequences and trade ids after an unclean stop, over those that may have been published but not
 * flushed.
 */
export const RESTART_SEQUENCE_GAP = 1_000_000;

assert(SMALL_BODY_BYTES_MAX < ACTION_BYTES_MAX && ACTION_BYTES_MAX < BODY_BYTES_MAX, 'more items, more bytes');
assert(SESSIONS_PUBLIC_MAX < SESSIONS_MAX, 'strangers leave room for sessions of users with funds');
assert(FRAME_COUNT_WAITING_PER_SOCKET_MAX < FRAME_COUNT_WAITING_MAX, 'one socket does not fill what all have');
assert(FRAME_COUNT_WAITING_PER_SOCKET_MAX < FRAMES_CROWD, 'one socket is no crowd');
assert(IDLE_FRAMES_PER_CROWDED_TURN_MAX < IDLE_FRAMES_PER_TURN_MAX, 'a crowd has less room for each');
assert(IDLE_FRAMES_PER_TURN_MAX < IDLE_FRAMES_BURST, 'a burst spans several turns');
assert(BODY_BYTES_MAX < UNREAD_REPLIES_MAX, 'one reply does not fill what all have');
assert(16 * SOCKET_LAG_BYTES_MAX < SOCKETS_LAG_BYTES_PRESSED, 'a few slow readers do not reach the shared limit');
assert(SOCKETS_LAG_BYTES_PRESSED < SOCKETS_LAG_BYTES_MAX, 'sockets lag earlier before the longest queues are cut off');
assert(SOCKET_PING_MS < SOCKET_SILENT_SECONDS * 1_000, 'a socket that answers pings is never silent too long');
assert(NONCE_RENEW_NS < NONCE_LIFE_NS, 'a renewed nonce is still within its life');
assert(PARKED_CANCEL_NS < POST_SIGN_AGE_MAX_NS, 'a parked cancel ends before its create could be too old');
assert(
  HEARTBEAT_LOST_MS + 4 * WATCH_MS + FAIL_STOP_HALT_MS + FAIL_STOP_TERMINATE_MS < FREEZE_TO_END_MS,
  'a frozen thread is seen and the process ended in time',
);
assert(REPLAY_FRAMES_MAX < SOCKET_LAG_MESSAGES_MAX, 'a replay alone is no lag');
assert(REPLAY_RING_BYTES_MAX < SOCKET_LAG_BYTES_MAX, 'a replay alone is no lag');
assert(OPEN_ORDERS_MAX < OPEN_ORDERS_MARKET_MAKER_MAX, 'market makers may have more open orders');
assert(
  OPEN_ORDERS_MARKET_MAKER_MAX <= OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  'a market alone stays below the bound of a user',
);
assert(OPEN_ORDERS_USER_MAX < OPEN_ORDERS_USER_MARKET_MAKER_MAX, 'market makers may have more open orders');
