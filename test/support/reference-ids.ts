/** The ids of the reference book that no live order has: remembered ones, watermarks and held cancels (AMB-08, AMB-25). */

const LIFE_NS = 30n * 86_400n * 1_000_000_000n;

export interface Name {
  readonly user: string;
  readonly orderId: string;
}

export interface Remembered extends Name {
  readonly creationNs: bigint;
  readonly wasCancelled: boolean;
}

export function isNamed(a: Name): (b: Name) => boolean {
  return (b) => a.user === b.user && a.orderId === b.orderId;
}

export class ReferenceIds {
  remembered: Remembered[] = [];
  watermarks: Map<string, bigint> = new Map();
  holds: (Name & { readonly untilNs: bigint })[] = [];
  readonly #rememberedMax: number;

  constructor(rememberedPerUserMax: number) {
    this.#rememberedMax = rememberedPerUserMax;
  }

  copyFrom({ remembered, watermarks, holds }: ReferenceIds): void {
    this.remembered = [...remembered];
    this.watermarks = new Map(watermarks);
    this.holds = [...holds];
  }

  remember({ user, orderId, creationNs, wasCancelled }: Remembered): void {
    this.remembered.push({ user, orderId, creationNs, wasCancelled });
    const own = this.remembered.filter((id) => id.user === user);
    const first = own[0];
    if (own.length <= this.#rememberedMax || first === undefined) return;
    this.remembered = this.remembered.filter((id) => id !== first);
    const before = this.watermarks.get(user) ?? -1n;
    this.watermarks.set(user, before > first.creationNs ? before : first.creationNs);
  }

  /** An id counts for 30 days; until it is used again it keeps its place in the bounded memory. */
  rememberedOf(name: Name, nowNs: bigint): Remembered | undefined {
    const id = this.remembered.find(isNamed(name));
    return id !== undefined && id.creationNs + LIFE_NS > nowNs ? id : undefined;
  }

  /** It is used again. */
  take(name: Name): void {
    const isIt = isNamed(name);
    this.remembered = this.remembered.filter((id) => !isIt(id));
  }

  /** @returns whether a cancel was waiting for this create; it waits no more. */
  spendHold(name: Name): boolean {
    const at = this.holds.findIndex(isNamed(name));
    if (at >= 0) this.holds.splice(at, 1);
    return at >= 0;
  }
}
