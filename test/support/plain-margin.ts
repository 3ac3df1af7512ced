/**
 * Margin by the formulas of the service spec, in fractions: every leg an exact fraction, rounded once at the end of the
 * leg. Slow and written from the requirements alone: the judge of src/risk.
 */

/** n / d, d above zero. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

const E18 = 10n ** 18n;
export const ONE: Fraction = { n: 1n, d: 1n };
export const ZERO: Fraction = { n: 0n, d: 1n };

export function amount(raw: bigint): Fraction {
  return { n: raw, d: E18 };
}
export function times(...factors: readonly Fraction[]): Fraction {
  return factors.reduce((a, b) => ({ n: a.n * b.n, d: a.d * b.d }), ONE);
}
export function plus(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}
export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, { n: -b.n, d: b.d });
}
/** Whole units of 10^-18, the rest dropped. Of what is not negative. */
function dropRest({ n, d }: Fraction): bigint {
  return (n * E18) / d;
}
/** Whole units of 10^-18, one more when there is a rest. Of what is not negative. */
export function takeRest({ n, d }: Fraction): bigint {
  const whole = (n * E18) / d;
  return whole * d === n * E18 ? whole : whole + 1n;
}

/** An asset with its row and its prices now. Percent and millionths as the registry has them. */
export interface PlainAsset {
  readonly cf: number;
  readonly lf: number;
  readonly clamps: readonly number[];
  readonly factors: readonly number[];
  /** null for none. */
  readonly spotCap: bigint | null;
  readonly credits: bigint;
  readonly borrows: bigint;
  readonly oracle: bigint;
  readonly mark: bigint;
  readonly broken: boolean;
}

export function factorOf(asset: PlainAsset): Fraction {
  const { clamps, factors, spotCap, credits, borrows } = asset;
  const read = (at: number): Fraction => {
    const millionths = factors[at] ?? 0;
    return millionths === 999_999 ? ONE : { n: BigInt(millionths), d: 1_000_000n };
  };
  if (asset.broken) return read(factors.length - 1);
  if (spotCap === null) return read(0);
  const net = credits < borrows ? borrows - credits : credits - borrows;
  let reached = 0;
  clamps.forEach((clamp, at) => {
    if (BigInt(clamp) * spotCap <= net * 1_000_000n) reached = at;
  });
  return read(reached);
}

function percent(value: number): Fraction {
  return { n: BigInt(value), d: 100n };
}
export function collateralFactor(asset: PlainAsset): Fraction {
  return asset.broken ? ZERO : percent(asset.cf);
}
export function liabilityWeight(asset: PlainAsset): Fraction {
  return percent(200 - asset.lf);
}
function twoLess(factor: Fraction): Fraction {
  return minus({ n: 2n, d: 1n }, factor);
}

/** A leg is an amount of an asset, or of USD when the asset is null. */
export interface PlainLeg {
  readonly asset: PlainAsset | null;
  readonly raw: bigint;
}

type Weight = (asset: PlainAsset) => Fraction;

/** Σ credits × their weight × price, floored, less Σ borrows × theirs, ceiled. */
function surplus(legs: readonly PlainLeg[], credit: Weight, borrow: Weight): bigint {
  let sum = 0n;
  for (const { asset, raw } of legs) {
    if (asset === null) sum += raw;
    else if (raw >= 0n) sum += dropRest(times(amount(raw), credit(asset)));
    else sum -= takeRest(times(amount(-raw), borrow(asset)));
  }
  return sum;
}

function higher(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

export function maintenance(legs: readonly PlainLeg[]): bigint {
  return surplus(
    legs,
    (asset) => times(collateralFactor(asset), amount(higher(asset.oracle, asset.mark))),
    (asset) => times(liabilityWeight(asset), amount(-higher(-asset.oracle, -asset.mark))),
  );
}

export function initial(legs: readonly PlainLeg[], at: 'oracle' | 'mark'): bigint {
  return surplus(
    legs,
    (asset) => times(collateralFactor(asset), factorOf(asset), amount(asset[at])),
    (asset) => times(liabilityWeight(asset), twoLess(factorOf(asset)), amount(asset[at])),
  );
}

export function equity(legs: readonly PlainLeg[], at: 'oracle' | 'mark'): bigint {
  return surplus(
    legs,
    (asset) => (asset.broken ? ZERO : amount(asset[at])),
    (asset) => amount(asset[at]),
  );
}

/** Equity as if no price were too old: what it is worth at the last price. */
export function lastWorth(legs: readonly PlainLeg[], at: 'oracle' | 'mark'): bigint {
  return surplus(
    legs,
    (asset) => amount(asset[at]),
    (asset) => amount(asset[at]),
  );
}

/** An order as far as it may press: lots at a price each, in one book of one lot size. */
export interface PlainOpenOrder {
  readonly buys: boolean;
  readonly lots: number;
  readonly price: bigint;
}

/** Pressure of one side of one book, from lots one by one: each lot either reduces the position or counts. */
export function pressure(
  asset: PlainAsset,
  buys: boolean,
  orders: readonly PlainOpenOrder[],
  book: { readonly base: bigint; readonly lot: bigint; readonly takerRate: number },
): bigint {
  let reducible = buys ? -book.base : book.base;
  let counted = ZERO;
  for (const order of orders) {
    if (order.buys !== buys) continue;
    let lots = order.lots;
    while (lots > 0 && reducible >= book.lot) {
      lots -= 1;
      reducible -= book.lot;
    }
    counted = plus(counted, times({ n: BigInt(lots), d: 1n }, amount(book.lot), amount(order.price)));
  }
  const share = buys
    ? minus(ONE, times(collateralFactor(asset), factorOf(asset)))
    : minus(times(liabilityWeight(asset), twoLess(factorOf(asset))), ONE);
  const fee: Fraction = { n: BigInt(book.takerRate), d: 1_000_000n };
  return takeRest(times(counted, plus(share, fee)));
}
