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

import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { parseDecimal18 } from '../core/decimal.ts';
import type { UserId } from '../core/ids.ts';
import type { SideWord } from './canonical.ts';
import { invalidArgument, invalidResponse } from './errors.ts';
import type { EventStream, Reconnect } from './event-stream.ts';
import type { HttpExchange } from './http-transport.ts';
import { readArray, readObject, stringOrNull } from './replies.ts';

export interface Position {
  readonly assetId: string;
  readonly subAccount: number;
  readonly side: 'long' | 'short' | 'closed';
  readonly size: string;
  /** USD: proceeds of sells minus costs of buys, including fees. */
  readonly quoteCredits: string;
  readonly quoteLiabilities: string;
  readonly entryPrice: string | null;
  readonly markPrice: string | null;
  readonly unrealizedPnl: string | null;
  readonly margin: string | null;
  readonly leverage: string | null;
  readonly liquidationPrice: string | null;
}

/** A position as it was booked, of the stream. */
export interface PositionChange extends Position {
  /** Time of the change. */
  readonly timestampNs: bigint;
}

export interface MarginFigures {
  readonly equity: string;
  /** Available for more risk, after subtracting open orders. */
  readonly available: string;
  readonly utilized: string;
  readonly maintenanceSurplus: string;
  readonly leverage: string | null;
  readonly isSolvent: boolean;
  readonly isLiquidatable: boolean;
  /** Of the initial requirement. */
  readonly initialSurplus: string;
  readonly unrealizedPnl: string;
  /** Null while a price is missing. */
  readonly maintenanceRequirement: string | null;
  /** Why figures of this account are not complete; empty when they are. */
  readonly warnings: readonly MarginWarning[];
}

/** A price that is missing, or that is too old, so that the last stored one counts. */
export interface MarginWarning {
  readonly code: string;
  /** For people; may change. */
  readonly message: string;
  readonly assetId: string | null;
}

/** By sub-account. */
export type MarginAccounts = ReadonlyMap<number, MarginFigures>;

/** One order that would close a position: raw book units, to be signed as a reduce-only market order. */
export interface CloseOrder {
  readonly assetId: string;
  readonly side: SideWord;
  readonly quantity: number;
  readonly oraclePrice: string;
  readonly subAccount: number;
}

export interface ClosePreview {
  readonly orders: readonly CloseOrder[];
  /** Assets without a price, with the reason. */
  readonly errors: ReadonlyMap<string, string>;
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

export interface Simulation {
  readonly equity: string;
  readonly available: string;
  readonly maintenanceSurplus: string;
  readonly leverage: string | null;
  readonly marginRequired: string;
  readonly marginImpact: string;
  readonly isSolvent: boolean;
  /** Whether the service would accept the order. */
  readonly isAccepted: boolean;
  readonly liquidationPrice: string | null;
}

/** One side of an asset over all accounts close to liquidation. */
export interface SideAtRisk {
  readonly quantity: string;
  /** Average by quantity; null when no price above zero liquidates one of the accounts. */
  readonly liquidationPrice: string | null;
}

export interface AtRisk {
  readonly timestampNs: bigint;
  /** By asset; those with nothing at risk are left out. */
  readonly assets: ReadonlyMap<string, { readonly long: SideAtRisk; readonly short: SideAtRisk }>;
}

/** The parts of the client that margin calls use. */
export interface MarginLink {
  readonly userId: () => UserId;
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
    const market = assetId === undefined ? '' : `/${assetId}`;
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
    return readObject(reply, 'preview', (reader) => ({
      orders: reader.array('orders').map(readCloseOrder),
      errors: textsOf(reader.object('errors')),
    }));
  }

  /** The account after a hypothetical trade; changes nothing. @throws RingbookError INVALID_REQUEST above 50M USD. */
  async simulate(ticket: SimulateTicket): Promise<Simulation> {
    const body = JSON.stringify({
      sub_account: ticket.subAccount,
      trade: {
        asset: ticket.assetId,
        is_buy: ticket.side === 'Buy',
        size: amount18(ticket.size),
        limit_price: ticket.price === undefined ? null : amount18(ticket.price),
        trade_type: ticket.isSpot === true ? 'spot' : 'margin',
      },
      pending_transfers: (ticket.transfers ?? []).map(({ assetId, amount }) => ({
        asset: assetId,
        amount: amount18(amount),
      })),
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

function readPosition(value: JsonValue): Position {
  return readObject(value, 'position', (reader) => ({
    assetId: reader.string('asset_id'),
    subAccount: reader.integer('sub_account_index', 0, 255),
    side: wordOf(reader.string('side'), ['long', 'short', 'closed']),
    size: reader.string('size'),
    quoteCredits: reader.string('quote_credits'),
    quoteLiabilities: reader.string('quote_liabilities'),
    entryPrice: stringOrNull(reader, 'entry_price'),
    markPrice: stringOrNull(reader, 'mark_price'),
    unrealizedPnl: stringOrNull(reader, 'unrealized_pnl'),
    margin: stringOrNull(reader, 'margin'),
    leverage: stringOrNull(reader, 'leverage'),
    liquidationPrice: stringOrNull(reader, 'liquidation_price'),
  }));
}

export function readFigures(value: JsonValue): MarginAccounts {
  const { accounts, warnings } = readObject(value, 'margin', (reader) => ({
    accounts: reader.object('accounts'),
    // A service of before has none.
    warnings: reader.has('warnings') ? reader.array('warnings').map(readWarning) : [],
  }));
  return new Map(
    [...accounts].map(([index, account]) => {
      const own = warnings.filter(({ subAccount }) => subAccount === Number(index));
      return [
        Number(index),
        readAccount(
          account,
          own.map(({ warning }) => warning),
        ),
      ];
    }),
  );
}

function readWarning(value: JsonValue): { readonly subAccount: number; readonly warning: MarginWarning } {
  return readObject(value, 'margin warning', (reader) => ({
    subAccount: reader.integer('sub_account', 0, 255),
    warning: {
      code: reader.string('code'),
      message: reader.string('message'),
      assetId: stringOrNull(reader, 'asset'),
    },
  }));
}

function readAccount(value: JsonValue, warnings: readonly MarginWarning[]): MarginFigures {
  return readObject(value, 'margin account', (reader) => ({
    equity: reader.string('account_equity'),
    available: reader.string('available_margin'),
    utilized: reader.string('utilized_margin'),
    maintenanceSurplus: reader.string('maintenance_margin_surplus'),
    leverage: stringOrNull(reader, 'account_leverage'),
    isSolvent: reader.boolean('is_solvent'),
    isLiquidatable: reader.boolean('is_liquidatable'),
    initialSurplus: reader.string('im_surplus'),
    unrealizedPnl: reader.string('unrealized_pnl'),
    maintenanceRequirement: stringOrNull(reader, 'mm_requirement'),
    warnings,
  }));
}

function readAtRisk(value: JsonValue): AtRisk {
  return readObject(value, 'at risk', (reader) => ({
    timestampNs: reader.u64('timestamp_ns'),
    assets: new Map([...reader.object('assets')].map(([asset, sides]) => [asset, readSides(sides)])),
  }));
}

function readSides(value: JsonValue): { readonly long: SideAtRisk; readonly short: SideAtRisk } {
  const side = (sideValue: JsonValue): SideAtRisk =>
    readObject(sideValue, 'side at risk', (reader) => ({
      quantity: reader.string('quantity'),
      liquidationPrice: stringOrNull(reader, 'liquidation_price'),
    }));
  return readObject(value, 'asset at risk', (reader) => ({
    long: side(reader.object('long')),
    short: side(reader.object('short')),
  }));
}

function readCloseOrder(value: JsonValue): CloseOrder {
  return readObject(value, 'close order', (reader) => ({
    assetId: reader.string('asset_id'),
    side: wordOf(reader.string('side'), ['Buy', 'Sell']),
    quantity: reader.integer('quantity', 1, Number.MAX_SAFE_INTEGER),
    oraclePrice: reader.string('oracle_price'),
    subAccount: reader.integer('sub_account_index', 0, 255),
  }));
}

function readSimulation(value: JsonValue): Simulation {
  return readObject(value, 'simulation', (reader) => ({
    equity: reader.string('account_equity'),
    available: reader.string('available_margin'),
    maintenanceSurplus: reader.string('mm_surplus'),
    leverage: stringOrNull(reader, 'account_leverage'),
    marginRequired: reader.string('margin_required'),
    marginImpact: reader.string('margin_impact'),
    isSolvent: reader.boolean('is_solvent'),
    isAccepted: reader.boolean('trade_accepted'),
    liquidationPrice: stringOrNull(reader, 'liquidation_price'),
  }));
}

function wordOf<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw invalidResponse('margin', `${JSON.stringify(text)} is none of ${words.join(', ')}`);
  return word;
}

function textsOf(members: JsonObject): ReadonlyMap<string, string> {
  if (!isJsonObject(members)) throw invalidResponse('preview', 'errors is an object');
  return new Map([...members].map(([name, text]) => [name, String(text)]));
}
