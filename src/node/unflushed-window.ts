/**
 * How long a market's word has been waiting for the flush that makes it durable: the window that a kill could take
 * from optimistic acknowledgements (AMB-110, `ringbook_unflushed_seconds`).
 */
export class UnflushedWindow {
  private readonly seen = new Map<number, number>();
  private readonly decided = new Map<number, number>();
  private sinceMs: number | null = null;

  /** A market said something; it is not flushed yet. */
  heard(marketIndex: number, sequence: number, nowMs: number): void {
    if (sequence > (this.seen.get(marketIndex) ?? 0)) this.seen.set(marketIndex, sequence);
    if (this.sinceMs === null && !this.isCovered()) this.sinceMs = nowMs;
  }

  /** Everything of the market up to `sequence` is flushed. What came after it has waited since this moment at most. */
  flushed(marketIndex: number, sequence: number, nowMs: number): void {
    this.decided.set(marketIndex, sequence);
    this.sinceMs = this.isCovered() ? null : nowMs;
  }

  seconds(nowMs: number): number {
    return this.sinceMs === null ? 0 : (nowMs - this.sinceMs) / 1000;
  }

  private isCovered(): boolean {
    for (const [market, sequence] of this.seen) if ((this.decided.get(market) ?? 0) < sequence) return false;
    return true;
  }
}
