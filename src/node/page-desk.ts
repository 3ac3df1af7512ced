/**
 * Pages of orders and trades at the front door, a little of one in each turn of the event loop:
 *
 *   plan (what memory has) ─▶ history thread ─▶ print, some rows a turn ─▶ page
 *   └──── one page a turn ────┘                 └──── one page a turn ────┘
 *
 * Bounded: what is being read or printed, beyond which a page is refused. So however many pages are asked for, orders
 * wait behind one plan or some rows at most.
 */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Page, PagePlan } from '../orders/pages.ts';
import type { PageReader } from './history-thread.ts';

const PAGES_MAX = 512;
/** Rows printed in one turn: well below a millisecond. */
const ROWS_PER_TURN = 50;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many pages are being read, try again');

export class PageDesk {
  private readonly reader: PageReader;
  /** Whose turn ends last. */
  private lastTurn: Promise<void> = Promise.resolve();
  private pages = 0;

  constructor(reader: PageReader) {
    this.reader = reader;
  }

  /** @param plan takes what memory has, when its turn has come. @returns SERVICE_UNAVAILABLE when too many are asked for. */
  async page(plan: () => PagePlan<string>): Promise<Outcome<Page<string>>> {
    if (this.pages >= PAGES_MAX) return rejected(BUSY);
    this.pages += 1;
    try {
      const { ask, finish } = await this.inTurn(async () => plan());
      const answer = ask === null ? accepted(null) : await this.reader.read(ask);
      if (!answer.ok) return answer;
      return accepted(await this.inTurn(() => print(finish(answer.value))));
    } finally {
      this.pages -= 1;
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.lastTurn.then(work);
    this.lastTurn = done.then(nextTurn, nextTurn);
    return done;
  }
}

async function print({ rows, total }: Page<() => string>): Promise<Page<string>> {
  const printed: string[] = [];
  for (const row of rows) {
    if (printed.length > 0 && printed.length % ROWS_PER_TURN === 0) await nextTurn();
    printed.push(row());
  }
  return { rows: printed, total };
}

/** What came in meanwhile is served first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
