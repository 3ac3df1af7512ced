/**
 * A request of the SDK, checked by the shape of its action, and its signed text: members in the SDK's names become members in
 * those of the node, of which `canonicalText` makes the text.
 *
 *   shape ─▶ closures, built at first use ─▶ members that fit, or INVALID_ARGUMENT with the SDK's name of the one that does not
 */
import { canonicalText } from '../codec/canonical-text.ts';
import { alternativesOf, isOptional, nameInside, type Shape } from '../codec/shapes/shape-kit.ts';
import { invalidArgument } from './errors.ts';

/** The SDK's names of members that have another one in the node. */
const SDK_NAMES: Readonly<Record<string, string>> = {
  baseAsset: 'assetId',
  asset: 'assetId',
  transferAsset: 'assetId',
  bookPriceDecimals: 'priceDecimals',
  bookQuantityDecimals: 'quantityDecimals',
  creationNs: 'creationTimestampNs',
  newPriceLimit: 'newLimitPrice',
  newTrigger: 'trigger',
  parentOrderId: 'orderId',
  ceNonce: 'configNonce',
  condition: 'trigger',
  price: 'trigger',
  maxSellableAmount: 'maxAmount',
  maxSellableQuantity: 'maxQuantity',
};

/** A request has these members, null where they are unset: one that is forgotten would be signed as null. */
const GIVEN: ReadonlySet<string> = new Set([
  'newPriceLimit',
  'newQuantity',
  'expectedRevisionNs',
  'sessionDurationNs',
  'targetAccountType',
  'maxSellableAmount',
  'maxSellableQuantity',
]);

/** Returns a value, checked, with the names of the node; or throws. @param member the SDK's name of it. */
type Fit = (value: unknown, member: string | null) => unknown;

/** Of actions, built at first use. Shapes are constants, so they bound this map. */
const requests = new WeakMap<Shape, Fit>();

/**
 * Programs in plain JavaScript have no compiler that checks a request.
 *
 * @throws RingbookError INVALID_ARGUMENT with the SDK's name of the first member that does not fit.
 */
export function signedText(shape: Shape, request: object): string {
  let fit = requests.get(shape);
  if (fit === undefined) {
    fit = membersFor(shape);
    requests.set(shape, fit);
  }
  return canonicalText(shape, fit(request, null));
}

export function fitFor(shape: Shape): Fit {
  if (shape['x-as'] === 'signer key') return (key) => key;
  const alternatives = alternativesOf(shape).map((one) => ({ mayBe: mayBeFor(one), fit: membersFor(one) }));
  return (value, member) => {
    for (const { mayBe, fit } of alternatives) if (mayBe(value)) return fit(value, member);
    throw invalidArgument(`${member} ${String(value)} is not ${expected(shape)}`, member ?? undefined);
  };
}

/** A value that is no object is as it was given. */
function membersFor(shape: Shape): Fit {
  if (shape['type'] !== 'object') return (value) => value;
  const properties = Object.entries(shape['properties'] as Readonly<Record<string, Shape>>);
  const members = properties.map(([name, member]) => {
    const inside = nameInside(name, member) || name;
    const mayLack = isOptional(shape, name) && !GIVEN.has(inside);
    return { inside, sdkName: SDK_NAMES[inside] ?? inside, mayLack, fit: fitFor(member) };
  });
  return (value, within) => {
    const given = value as Readonly<Record<string, unknown>>;
    // Whatever does not fit of a time in force, it is the time in force that does not fit.
    const own = within === 'timeInForce' ? within : null;
    const all: Record<string, unknown> = {};
    for (const { inside, sdkName, mayLack, fit } of members) {
      const one = given[inside in given ? inside : sdkName];
      if (one !== undefined || !mayLack) all[inside] = fit(one, own ?? sdkName);
    }
    return all;
  };
}

/** What `mayBe` and `expected` heed of a shape. */
interface Bounds {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly 'x-as'?: string;
}

/** Whether a value is such a text or number, or an object with the members that the shape demands. */
function mayBeFor(shape: Shape): (value: unknown) => boolean {
  const { type, format, enum: words, pattern, minimum = 0, maximum = 0, required = [] } = shape as Bounds;
  switch (type) {
    case 'integer':
      if (format === 'uint64') return (value) => typeof value === 'bigint' && value >= 0n && value < 1n << 64n;
      return (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    case 'string': {
      if (words !== undefined) return (value) => words.includes(value);
      const form = new RegExp(pattern ?? '', 'u');
      return (value) => typeof value === 'string' && form.test(value);
    }
    case 'object': {
      const properties = shape['properties'] as Readonly<Record<string, Shape>>;
      const names = required.map((name) => nameInside(name, properties[name] as Shape));
      return (value) => typeof value === 'object' && value !== null && names.every((name) => name in value);
    }
    default:
      return (value) => (type === 'null' ? value === null : typeof value === type);
  }
}

function expected(shape: Shape): string {
  const { type, format, enum: words, minimum, maximum, 'x-as': as } = alternativesOf(shape)[0] as Bounds;
  if (words !== undefined) return `one of ${words.join(', ')}`;
  if (format === 'uint64') return 'a bigint from 0 to 2^64-1';
  return type === 'integer' ? `an integer from ${minimum} to ${maximum}` : `a valid ${as ?? type}`;
}
