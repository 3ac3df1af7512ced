/**
 * Margin accounts of a user: positions, figures, simulated trades, and their streams (wire.md 7.11 to 7.16, 9.3); and
 * what is at risk over the accounts of all users (G14).
 *
 *   const [position] = await client.margin.positions();
 *   const after = await client.margin.simulate({ subAccount: 1, assetId: '2', side: 'Buy', size: '1.5' });
 *
 * Amounts are decimal strings in human units, exactly as sent. Orders of a margin account are ordinary orders with
 * `target: { account: 1, isSpot: false }`, and `reduceOnly` where they may only reduce a position.
 */

import type { JsonValue } from '../codec/json-tree.ts';
import type {
  AtRisk,
  ClosePreview,
  MarginAccounts,
  MarginWarning,
  Position,
  Simulation,
} from '../codec/reply-types.ts';
import { AT_RISK, CLOSE_ALL_PREVIEW, MARGIN, SIMULATION, USER_POSITION } from '../codec/shapes/account-shapes.ts';
import { parseDecimal18 } from '../core/decimal.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { SideWord } from './canonical.ts';
import { invalidArgument } from './errors.ts';
import type { EventStream, Reconnect } from './event-stream.ts';
import type { HttpExchange } from './http-transport.ts';
import { readArray, readObject } from './read-members.ts';
import { replyReader } from './reply-reader.ts';

export type {
  AtRisk,
  CloseOrder,
  ClosePreview,
  MarginAccounts,
  MarginFigures,
  MarginWarning,
  Position,
  SideAtRisk,
  Simulation,
} from '../codec/reply-types.ts';

/** A position as it was booked, of the stream. */
export interface PositionChange extends Position {
  /** Time of the change. */
  readonly timestampNs: bigint;
}

/** Human decimals. */
export interface SimulateTicket {
  readonly subAccount: number;
  readonly assetId: string;
  readonly side: SideWord;
  readonly size: string;
  /** USD per unit; by default the higher of oracle and mark. */
  readonly price?: string;
  /** Default margin. */
  readonly isSpot?: boolean;
  /** Applied before the trade; negative for withdrawals. */
  readonly transfers?: readonly { readonly assetId: string; readonly amount: string }[];
}

/** The parts of the client that margin calls use. */
export interface MarginLink {
  readonly userId: () => UserId;
  readonly asset: (name: string) => Promise<AssetId>;
  readonly exchange: (exchange: HttpExchange) => Promise<JsonValue>;
  readonly stream: <T>(
    path: string,
    decode: (frame: JsonValue, timestampNs: bigint) => readonly T[],
    reconnect?: Reconnect,
  ) => Promise<EventStream<T>>;
}

export class MarginClient {
  readonly #link: MarginLink;

  constructor(link: MarginLink) {
    this.#link = link;
  }

  /** Open positions, and flat ones that can be closed; of one market or of all. The first 1,000. */
  async positions(assetId?: string): Promise<readonly Position[]> {
    const market = assetId === undefined ? '' : `/${await this.#link.asset(assetId)}`;
    const page = await this.#get(`/positions/${this.#link.userId()}${market}?limit=1000`);
    return readObject(page, 'positions', (reader) => reader.array('positions').map(readPosition));
  }

  /** Figures of every margin account. */
  async figures(): Promise<MarginAccounts> {
    return readFigures(await this.#get(`/margin/user/${this.#link.userId()}`));
  }

  /** Orders that would close all positions of a sub-account; sends nothing. */
  async closePreview(subAccount: number): Promise<ClosePreview> {
    const reply = await this.#get(`/positions/close-all/${this.#link.userId()}/${subAccount}`);
    return readPreview(reply);
  }

  /** The account after a hypothetical trade; changes nothing. @throws RingbookError INVALID_REQUEST above 50M USD. */
  async simulate(ticket: SimulateTicket): Promise<Simulation> {
    const asset = await this.#link.asset(ticket.assetId);
    const transfers = (ticket.transfers ?? []).map(async ({ assetId, amount }) => ({
      asset: await this.#link.asset(assetId),
      amount: amount18(amount),
    }));
    const body = JSON.stringify({
      sub_account: ticket.subAccount,
      trade: {
        asset,
        is_buy: ticket.side === 'Buy',
        size: amount18(ticket.size),
        limit_price: ticket.price === undefined ? null : amount18(ticket.price),
        trade_type: ticket.isSpot === true ? 'spot' : 'margin',
      },
      pending_transfers: await Promise.all(transfers),
    });
    const path = `/account/simulate/${this.#link.userId()}`;
    return readSimulation(await this.#link.exchange({ method: 'POST', path, body }));
  }

  /** Changed positions, as soon as they are booked; a removed one a last time as `closed`. */
  positionStream(reconnect?: Reconnect): Promise<EventStream<PositionChange>> {
    const changesOf = (frame: JsonValue, timestampNs: bigint): readonly PositionChange[] =>
      readArray(frame, 'positions', (row) => ({ ...readPosition(row), timestampNs }));
    return this.#link.stream(`/positions/ws/${this.#link.userId()}`, changesOf, reconnect);
  }

  /** Figures of accounts that changed, at most ten times a second each. */
  figureStream(reconnect?: Reconnect): Promise<EventStream<MarginAccounts>> {
    return this.#link.stream(`/account/stats/${this.#link.userId()}`, (frame) => [readFigures(frame)], reconnect);
  }

  /** What is at risk over all accounts: now, if anything is, and after each change, at most once a second. */
  atRiskStream(reconnect?: Reconnect): Promise<EventStream<AtRisk>> {
    return this.#link.stream('/liquidation/at_risk/ws', (frame) => [readAtRisk(frame)], reconnect);
  }

  #get(path: string): Promise<JsonValue> {
    return this.#link.exchange({ method: 'GET', path });
  }
}

/** A human decimal as an integer string of 18 decimals. */
function amount18(text: string): string {
  const amount = parseDecimal18(text);
  if (amount === null) throw invalidArgument(`${JSON.stringify(text)} is not a decimal with at most 18 decimals`);
  return amount.toString();
}

const readMargin = replyReader('margin', MARGIN);
const readPosition = replyReader('position', USER_POSITION);
const readPreview = replyReader('preview', CLOSE_ALL_PREVIEW);
const readSimulation = replyReader('simulation', SIMULATION);
const readAtRisk = replyReader('at risk', AT_RISK);

export function readFigures(value: JsonValue): MarginAccounts {
  const { accounts, warnings } = readMargin(value);
  const warningsOf = (index: number): readonly MarginWarning[] =>
    warnings.flatMap(({ subAccount, ...warning }) => (subAccount === index ? [warning] : []));
  return new Map([...accounts].map(([index, figures]) => [index, { ...figures, warnings: warningsOf(index) }]));
}
