/**
 * Protection groups of a user (MMP-01): put, removed and reset by clearing, whose rows the gateway has and passes on to the
 * market (gateway.ts), and read from these.
 *
 * A group with orders is not removed: these are counted here, those on their way included, once what was sent before is answered and
 * decided, and until clearing has answered the group takes no more (protection-groups.ts). A reset names the last trip that is known here, as clearing may not have its
 * report yet.
 */

import type { ActionReply, OperatorCommand } from '../../clearing/inputs.ts';
import { frozenRefusal, isFrozen } from '../../clearing/protections.ts';
import type { ProtectionLimits, ProtectionRow } from '../../clearing/rows.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { ProtectionGroups } from '../orders/entry/protection-groups.ts';

const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');
const CLOSED: Reject = reject('SERVICE_UNAVAILABLE', 'the market is starting, try again');
const NO_GROUP: Reject = reject('NOT_FOUND', 'there is no such protection group', 'group');
const NO_USER: Reject = reject('INSUFFICIENT_INVENTORY', 'a protection group needs a user who owns something');
const IN_USE: Reject = reject('PROTECTION_IN_USE', 'orders of the group are live or have undecided fills', 'group');
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many actions wait for clearing, try again');
/** Requests that wait for clearing or a market at a time. */
const UNANSWERED_MAX = 256;

/** A group as its user sees it. */
interface ProtectionView extends ProtectionLimits {
  readonly group: string;
  readonly liveOrders: number;
  readonly isFrozen: boolean;
  readonly frozenUntilNs: TimestampNs | null;
}

interface ProtectionActionParts {
  readonly groups: ProtectionGroups;
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** Null: there is no such market. */
  readonly marketIndexOf: (asset: AssetId) => number | null;
  /** Whether the market takes orders: changes of groups reach it only then (gateway.ts). */
  readonly isOpen: (marketIndex: number) => boolean;
  /** When all that was sent to markets until now has come to its end in this one; null: it has. */
  readonly settled: (marketIndex: number) => Promise<void> | null;
  /** Whether clearing has a row of the user. */
  readonly isKnown: (user: UserId) => boolean;
  readonly nowNs: () => TimestampNs;
}

/** What names a group. */
interface GroupName {
  readonly user: UserId;
  readonly asset: AssetId;
  readonly group: string;
}

export class ProtectionActions {
  readonly #parts: ProtectionActionParts;
  #unanswered = 0;

  constructor(parts: ProtectionActionParts) {
    this.#parts = parts;
  }

  /** Requests without an answer. */
  get inFlight(): number {
    return this.#unanswered;
  }

  /** MARKET_NOT_FOUND. */
  list(user: UserId, asset: AssetId): Outcome<readonly ProtectionView[]> {
    const marketIndex = this.#parts.marketIndexOf(asset);
    if (marketIndex === null) return rejected(NO_MARKET);
    return accepted(this.#parts.groups.of(user, marketIndex).map((row) => this.#viewOf(row)));
  }

  /** MARKET_NOT_FOUND, INSUFFICIENT_INVENTORY of a user without a row, INVALID_REQUEST of a ninth group, SERVICE_UNAVAILABLE. */
  async put(name: GroupName, terms: ProtectionLimits): Promise<Outcome<ProtectionView>> {
    const market = this.#openMarket(name.asset);
    if (!market.ok) return market;
    if (!this.#parts.isKnown(name.user)) return rejected(NO_USER);
    const reply = await this.#send({ kind: 'putProtection', ...name, terms });
    return reply.ok ? this.#view(name) : reply;
  }

  /** MARKET_NOT_FOUND, NOT_FOUND, MMP_FROZEN, PROTECTION_IN_USE, SERVICE_UNAVAILABLE. */
  async remove(name: GroupName): Promise<Outcome<null>> {
    const { groups, nowNs, settled } = this.#parts;
    const known = this.#findOpen(name);
    if (!known.ok) return known;
    // The cancel of its last orders may be on its way, and clearing may not have it yet.
    // mutant: protection-behind-its-cancel
    const waits = settled(known.value.marketIndex);
    if (waits !== null) await this.#waited(waits);
    const found = this.#findOpen(name);
    if (!found.ok) return found;
    const row = found.value;
    if (isFrozen(row, nowNs())) return rejected(frozenRefusal(row));
    if (groups.isUsed(row)) return rejected(IN_USE);
    // mutant: protection-leaving
    groups.leaving(row);
    const reply = await this.#send({ kind: 'deleteProtection', ...name }).finally(() => groups.left(row));
    return reply.ok ? accepted(null) : reply;
  }

  /** MARKET_NOT_FOUND, NOT_FOUND, SERVICE_UNAVAILABLE. */
  async reset(name: GroupName): Promise<Outcome<ProtectionView>> {
    const found = this.#findOpen(name);
    if (!found.ok) return found;
    const reply = await this.#send({ kind: 'resetProtection', ...name, trip: found.value.trip });
    return reply.ok ? this.#view(name) : reply;
  }

  #openMarket(asset: AssetId): Outcome<number> {
    const marketIndex = this.#parts.marketIndexOf(asset);
    if (marketIndex === null) return rejected(NO_MARKET);
    // mutant: protection-of-a-closed-market
    return this.#parts.isOpen(marketIndex) ? accepted(marketIndex) : rejected(CLOSED);
  }

  #findOpen(name: GroupName): Outcome<ProtectionRow> {
    const market = this.#openMarket(name.asset);
    return market.ok ? this.#find(name) : market;
  }

  #find({ user, asset, group }: GroupName): Outcome<ProtectionRow> {
    const marketIndex = this.#parts.marketIndexOf(asset);
    if (marketIndex === null) return rejected(NO_MARKET);
    const row = this.#parts.groups.find(user, marketIndex, group);
    return row === undefined ? rejected(NO_GROUP) : accepted(row);
  }

  /** The row has come in front of the reply; another request may have removed it since. */
  #view(name: GroupName): Outcome<ProtectionView> {
    const found = this.#find(name);
    return found.ok ? accepted(this.#viewOf(found.value)) : found;
  }

  #viewOf(row: ProtectionRow): ProtectionView {
    const frozen = isFrozen(row, this.#parts.nowNs());
    const { group, windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional, frozenUntilNs } = row;
    return {
      ...{ group, windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional },
      liveOrders: this.#parts.groups.liveOrders(row),
      isFrozen: frozen,
      frozenUntilNs: frozen && frozenUntilNs !== 0n ? frozenUntilNs : null,
    };
  }

  /** One that cannot wait is judged as things are. */
  async #waited(settled: Promise<void>): Promise<void> {
    if (this.#unanswered >= UNANSWERED_MAX) return;
    await this.#counted(settled);
  }

  async #send(command: OperatorCommand): Promise<ActionReply> {
    if (this.#unanswered >= UNANSWERED_MAX) return rejected(BUSY);
    return this.#counted(this.#parts.command(command));
  }

  #counted<T>(waited: Promise<T>): Promise<T> {
    this.#unanswered += 1;
    return waited.finally(() => {
      this.#unanswered -= 1;
    });
  }
}
