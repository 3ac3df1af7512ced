// tier: quick, 5 s
/** Bodies of operators are read by their shapes as the readers by hand read them, which are the judges here: value, code and member. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { SimulatedOperations } from '../../src/chain/chain-operations.ts';
import type { JsonValue } from '../../src/codec/json-tree.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import { readBody } from '../../src/operator/body-reader.ts';
import { COMMAND_BODIES, type OperatorRequest, REJECT_FILL, readRequest } from '../../src/operator/commands.ts';
import { CONFIG_BODIES } from '../../src/operator/config-bodies.ts';
import { CHAIN_HOOKS } from '../../src/operator/operator-chain-routes.ts';
import { REGISTRY_BODIES } from '../../src/operator/registry-bodies.ts';
import { OLD_CHAIN_READERS } from '../judges/operator/chain-bodies.ts';
import { readRejectFill, readRequest as readRequestByHand } from '../judges/operator/commands.ts';
import { propertyParameters } from '../support/property.ts';
import { damaged, fitting } from '../support/shape-arbitrary.ts';

const CHAIN = '000000000000007a69' as ChainId;
const USER = 'ab'.repeat(32) as UserId;
const ASSET = '2' as AssetId;

/** A value as the listener gives it to a reader. */
function plain(value: JsonValue): unknown {
  if (value instanceof Map) {
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, member] of value) object[name] = plain(member as JsonValue);
    return object;
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => plain(item));
  return value;
}

/** A bigint is another value than a number; the order of members is none of a value. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`;
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = member instanceof Map ? [...member] : Object.entries(member);
    return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  });
}

function outcomeText(outcome: Outcome<unknown>): string {
  if (outcome.ok) return textOf(outcome.value);
  return `${outcome.reject.code} ${outcome.reject.field ?? ''}`;
}

interface Case {
  readonly shape: Shape;
  readonly old: (body: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
  readonly now: (body: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
}

function requested(shape: Shape, request: (body: unknown) => OperatorRequest): Case {
  return { shape, old: (body) => readRequestByHand(request(body)), now: (body) => readRequest(request(body)) };
}

function config(kind: keyof typeof CONFIG_BODIES, key: string): Case {
  const method = kind === 'settings' ? 'patch' : 'put';
  return requested(CONFIG_BODIES[kind], (body) => ({ kind: 'putConfig', config: kind, key, method, body }));
}

/** What the chains were asked. */
let asked: unknown[] = [];
const CHAINS = new Proxy(
  {},
  {
    get:
      (_, name) =>
      (...given: unknown[]) => {
        asked.push(name, given);
        return Promise.resolve(accepted({ balances: [] }));
      },
  },
) as SimulatedOperations;

function hook(name: string): Case {
  const old = OLD_CHAIN_READERS[name] ?? assert.fail(name);
  const { body: shape, ask } = CHAIN_HOOKS[name] ?? assert.fail(name);
  const through =
    (reader: typeof old) =>
    async (body: unknown): Promise<Outcome<unknown>> => {
      asked = [];
      const done = await reader(CHAINS, CHAIN, { body: body as Record<string, unknown> });
      return done.ok ? accepted(asked) : done;
    };
  return { shape, old: through(old), now: through(ask) };
}

const CASES: Readonly<Record<string, Case>> = {
  asset: requested(REGISTRY_BODIES.asset, (body) => ({ kind: 'putAsset', method: 'put', assetId: ASSET, body })),
  'risk parameters': requested(REGISTRY_BODIES.risk, (body) => ({
    kind: 'putRisk',
    method: 'patch',
    assetId: ASSET,
    body,
  })),
  market: requested(REGISTRY_BODIES.market, (body) => ({ kind: 'putMarket', method: 'patch', assetId: ASSET, body })),
  user: requested(COMMAND_BODIES.user, (body) => ({ kind: 'patchUser', user: USER, body })),
  prices: requested(COMMAND_BODIES.prices, (body) => ({ kind: 'setPrices', body })),
  faucet: requested(COMMAND_BODIES.faucet, (body) => ({ kind: 'faucet', body })),
  chain: config('chain', CHAIN),
  'chain of another routing id': config('chain', `7${CHAIN.slice(1)}`),
  vault: config('vault', `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`),
  settler: config('settler', USER),
  'withdrawal delay': config('withdrawal-delay', ''),
  settings: config('settings', ''),
  'fault of a fill': { shape: REJECT_FILL, old: readRejectFill, now: (body) => readBody(REJECT_FILL, body) },
  deposit: hook('deposits'),
  withdrawal: hook('withdrawals/execute'),
  settlement: hook('settlements/execute'),
  mine: hook('mine'),
  reorganisation: hook('reorg'),
  provider: hook('providers'),
  escape: hook('escape'),
  'forced withdrawal': hook('force-withdraw'),
  replay: hook('logs/replay'),
  mint: hook('tokens/mint'),
};

/** A body, and the same with one member damaged or as in another body. */
function changed([value, other]: [JsonValue, JsonValue]): fc.Arbitrary<[JsonValue, JsonValue]> {
  return fc.oneof(damaged(value), crossed(value, other)).map((after): [JsonValue, JsonValue] => [value, after]);
}

/** One member of an object in place of its own. */
function crossed(value: JsonValue, other: JsonValue): fc.Arbitrary<JsonValue> {
  assert.ok(value instanceof Map && other instanceof Map);
  // Another kind has other members: many faults at once.
  const names = [...other.keys()].filter((name) => name !== 'kind');
  if (names.length === 0) return fc.constant(value);
  return fc.constantFrom(...names).map((name) => new Map([...value, [name, other.get(name)]]) as JsonValue);
}

suite('bodies of operators', () => {
  for (const [name, { shape, old, now }] of Object.entries(CASES)) {
    const agree = async (value: JsonValue): Promise<void> => {
      const body = plain(value);
      assert.equal(outcomeText(await now(body)), outcomeText(await old(body)), textOf(body));
    };
    // Two faults at once may be named in another order, so damage begins at a body that is taken.
    const taken = async (value: JsonValue): Promise<boolean> => (await old(plain(value))).ok;
    test(`${name}: random bodies are taken or refused alike, and read alike`, () =>
      fc.assert(
        fc.asyncProperty(fitting(shape), async (value) => {
          const body = plain(value);
          const [mine, theirs] = [await now(body), await old(body)];
          assert.equal(mine.ok, theirs.ok, textOf(body));
          if (mine.ok) assert.equal(outcomeText(mine), outcomeText(theirs));
        }),
        { ...propertyParameters(300), endOnFailure: true },
      ));
    test(`${name}: a damaged body is refused alike, with the same code and member`, () =>
      fc.assert(
        fc.asyncProperty(fc.tuple(fitting(shape), fitting(shape)).chain(changed), async ([value, other]) => {
          if (await taken(value)) await agree(other);
        }),
        { ...propertyParameters(300), endOnFailure: true },
      ));
  }
});
