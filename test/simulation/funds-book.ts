/**
 * A plain reference of what enters and leaves the vaults, over all lives of a node: which deposits were credited, which
 * withdrawals were paid and which approvals were signed, each with the chain that stood then. It has nothing of the watchers,
 * of clearing or of its tables: it reads the blocks of the chains' files and the journal, and adds up whole base units.
 *
 *   commands of chains ────▶ sent()      each is backed by the blocks that were written when it was sent
 *   journal ───────────────▶ noted()     each deposit is credited once, each payout booked once
 *   at rest ───────────────▶ check()     chain = journal = ledger
 */
import assert from 'node:assert/strict';
import { domainHash, settlementDigest, withdrawalDigest } from '../../src/chain/approval-digests.ts';
import { signerOf } from '../../src/chain/approval-signer.ts';
import { DEPOSITED_TOPIC, SETTLED_TOPIC, WITHDREW_TOPIC } from '../../src/chain/chain-events.ts';
import { PUBLIC_APPROVAL_ADDRESS } from '../../src/chain/key-file.ts';
import { settlementApprovalOf } from '../../src/chain/settlement-approvals.ts';
import type { ChainState } from '../../src/chain/simulated-chain.ts';
import { approvalOf } from '../../src/chain/withdrawal-approvals.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { Stopped } from '../../src/clearing/funds/chain-cursor.ts';
import type { Batch, OperatorCommand } from '../../src/clearing/inputs.ts';
import type { SettlementRow } from '../../src/clearing/rows.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId } from '../../src/core/ids.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import type { ChainDisk } from './chains.ts';
import { costOf, PROVIDERS, TOKENS, type TokenPlan, VAULTS, type VaultPlan, vaultAt, worthOf } from './vaults.ts';

const ADDRESS_DIGITS = 40;
const WORD = 64;
const SECOND_NS = 1_000_000_000n;
/** One signer is recovered in so many: each takes milliseconds. */
const SIGNATURES_PER_CHECK = 8;

/** `<chain>/<user>/<counter>`. */
type Place = string;

/** What a vault wrote of one deposit or payout. */
interface Moved {
  readonly place: Place;
  readonly user: string;
  readonly counter: number;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly units: bigint;
  readonly block: number;
}

interface Approval {
  readonly digest: string;
  /** Seconds. */
  readonly validUntil: bigint;
}

type Kind = 'deposit' | 'withdrawal';

/** What a vault gave and took by one settlement, as `<chain>/<user>/<sub-account>/<counter>`. */
interface Swapped {
  readonly place: Place;
  readonly user: string;
  readonly account: number;
  readonly tokenOut: string;
  readonly unitsOut: bigint;
  readonly tokenIn: string;
  readonly unitsIn: bigint;
  readonly block: number;
}

/** What a command is sent by. */
export interface Standing {
  readonly node: SimulatedNode;
  readonly disk: ChainDisk;
  readonly stopped: ReadonlySet<ChainId>;
}

function mustRun(chainId: ChainId, stopped: ReadonlySet<ChainId>): void {
  assert.equal(stopped.has(chainId), false, 'a stopped chain books and signs nothing');
}

/** Whether a majority of the providers has no fault: any other may hide what is there, or seem to show that it is gone. */
function isHonest(state: ChainState | null): boolean {
  const faults = Array.from({ length: PROVIDERS }, (_, index) => state?.providers[index]?.fault ?? 'none');
  return faults.filter((fault) => fault === 'none').length * 2 > PROVIDERS;
}

interface Moves {
  readonly deposit: readonly Moved[];
  readonly withdrawal: readonly Moved[];
}

/** Of states of files, which never change. */
const READ = new WeakMap<ChainState, Moves>();

/** What the vault of a chain wrote into the blocks of its file, oldest first. */
function movesOf(plan: VaultPlan, state: ChainState | null, kind: Kind): readonly Moved[] {
  if (state === null) return [];
  const moves = READ.get(state) ?? {
    deposit: readMoves(plan, state, 'deposit'),
    withdrawal: readMoves(plan, state, 'withdrawal'),
  };
  READ.set(state, moves);
  return moves[kind];
}

/** Those with the confirmations of the vault. */
function finalOf(plan: VaultPlan, disk: ChainDisk, kind: Kind): readonly Moved[] {
  const state = disk.state(plan.chainId);
  const last = (state?.head ?? 0) - plan.confirmations[kind] + 1;
  return movesOf(plan, state, kind).filter(({ block }) => block <= last);
}

/** The settlements of a vault, oldest first. */
function swapsOf({ chainId, address }: VaultPlan, state: ChainState | null): readonly Swapped[] {
  const swaps: Swapped[] = [];
  for (const { log, number: block } of state?.blocks ?? []) {
    if (log === null || log.address !== address.slice(0, ADDRESS_DIGITS) || log.topics[0] !== SETTLED_TOPIC) continue;
    const [, user = '', account = '', counter = ''] = log.topics;
    const word = (at: number): string => log.data.slice(at * WORD, (at + 1) * WORD);
    swaps.push({
      place: `${chainId}/${user}/${BigInt(`0x${account}`)}/${BigInt(`0x${counter}`)}`,
      user,
      account: Number(BigInt(`0x${account}`)),
      tokenOut: padded(word(0)),
      unitsOut: BigInt(`0x${word(1)}`),
      tokenIn: padded(word(2)),
      unitsIn: BigInt(`0x${word(3)}`),
      block,
    });
  }
  return swaps;
}

function isSameSwap(a: Swapped | undefined, b: Omit<Swapped, 'block' | 'place' | 'user' | 'account'>): boolean {
  if (a === undefined || a.tokenOut !== b.tokenOut || a.unitsOut !== b.unitsOut) return false;
  return a.tokenIn === b.tokenIn && a.unitsIn === b.unitsIn;
}

function readMoves({ chainId, address }: VaultPlan, state: ChainState, kind: Kind): readonly Moved[] {
  const moves: Moved[] = [];
  for (const { log, number } of state.blocks) {
    if (log === null || log.address !== address.slice(0, ADDRESS_DIGITS)) continue;
    const [topic, user = '', counter = '', token = ''] = log.topics;
    const place = `${chainId}/${user}/${BigInt(`0x${counter}`)}`;
    const found = { place, user, counter: Number(BigInt(`0x${counter}`)), block: number };
    if (kind === 'deposit' && topic === DEPOSITED_TOPIC) {
      moves.push({ ...found, token: padded(token), units: BigInt(`0x${log.data.slice(0, WORD)}`) });
    } else if (kind === 'withdrawal' && topic === WITHDREW_TOPIC) {
      const units = BigInt(`0x${log.data.slice(WORD, 2 * WORD)}`);
      moves.push({ ...found, token: padded(log.data.slice(0, WORD)), units });
    }
  }
  return moves;
}

/** The address in the last 20 bytes of a word, right-padded. */
function padded(word: string): string {
  return word.slice(WORD - ADDRESS_DIGITS).padEnd(WORD, '0');
}

function isSame(a: Moved | undefined, b: Pick<Moved, 'token' | 'units'> | undefined): boolean {
  return a !== undefined && b !== undefined && a.token === b.token && a.units === b.units;
}

export class FundsBook {
  /** Deposits that took their counter: credited, or unclaimed until an operator credits them. */
  readonly taken: Map<Place, Moved> = new Map();
  readonly #counters = new Map<string, number>();
  readonly credited: Map<Place, Moved> = new Map();
  readonly paid: Map<Place, Moved> = new Map();
  readonly settled: Map<Place, Swapped> = new Map();
  readonly #reversed: Swapped[] = [];
  /** `<kind> <place>` that an operator has accepted as gone. */
  readonly #accepted = new Set<string>();
  readonly #signed = new Map<Place, Approval[]>();
  /** Signatures whose signer is not yet recovered. */
  #signatures = 0;
  readonly #unchecked: { readonly digest: string; readonly signatures: readonly string[] }[] = [];

  // ---- commands, when they are sent

  sent(command: OperatorCommand, { node, disk, stopped }: Standing): void {
    switch (command.kind) {
      case 'deposit':
        mustRun(command.chainId, stopped);
        this.#isFinal('deposit', { ...command, counter: command.depositNonce }, disk);
        break;
      case 'withdrew':
        mustRun(command.chainId, stopped);
        this.#isFinal('withdrawal', { ...command, counter: command.nonce }, disk);
        break;
      case 'settled':
        mustRun(command.chainId, stopped);
        this.#isSettled(command, disk);
        break;
      case 'settlementSigned':
        mustRun(this.#settlementApproved(command, node), stopped);
        break;
      case 'settlementLapsed':
        mustRun(this.#settlementLapsed(command, node, disk), stopped);
        break;
      case 'vaultCheckpoint':
        mustRun(command.chainId, stopped);
        break;
      case 'approvalSigned':
        mustRun(this.#approved(command, node), stopped);
        break;
      case 'approvalLapsed':
        mustRun(this.#lapsed(command, node, disk), stopped);
        break;
      default:
        break;
    }
  }

  /** The chain's file has exactly this event, with the confirmations of its vault (DEP-07 to DEP-09, WDR-09). */
  #isFinal(
    kind: Kind,
    event: {
      readonly chainId: ChainId;
      readonly user: string;
      readonly counter: number;
      readonly token: string;
      readonly baseUnits: bigint;
    },
    disk: ChainDisk,
  ): void {
    const plan = vaultOf(event.chainId);
    const place = `${event.chainId}/${event.user}/${event.counter}`;
    const state = disk.state(event.chainId);
    const found = movesOf(plan, state, kind).find((move) => move.place === place);
    const name = `the ${kind} ${place}`;
    assert.ok(isSame(found, { token: event.token, units: event.baseUnits }), `${name} is on the chain as it was read`);
    const depth = (state?.head ?? 0) - (found?.block ?? 0) + 1;
    assert.ok(depth >= plan.confirmations[kind], `${name} is final when it is booked`);
  }

  #approved(command: Extract<OperatorCommand, { kind: 'approvalSigned' }>, node: SimulatedNode): ChainId {
    const rows = [...node.gateway.withdrawals.all()];
    const is = must(
      rows.find((row) => row.user === command.user && row.place === command.place && row.sequence === command.sequence),
      'what is signed was published',
    );
    const { address, chainId } = vaultOf(is.chainId);
    const digest = withdrawalDigest(domainHash(address, chainId), approvalOf(is));
    this.#signs(`${chainId}/${is.user}/${is.nonce}`, node, { digest, validUntil: BigInt(is.validUntil) });
    this.#willCheck(digest, command.signatures);
    return chainId;
  }

  /** The approval cannot be executed any more; whether it was, the vault's counter shows (WDR-10). */
  #lapsed(
    { user, place, sequence, counter, blockTime }: Extract<OperatorCommand, { kind: 'approvalLapsed' }>,
    node: SimulatedNode,
    disk: ChainDisk,
  ): ChainId {
    const rows = [...node.gateway.withdrawals.all()];
    const { chainId, validUntil } = must(
      rows.find((one) => one.user === user && one.place === place && one.sequence === sequence),
      'what lapses was published',
    );
    const state = must(disk.state(chainId), 'a chain with a withdrawal was written');
    assert.ok(BigInt(blockTime) <= state.headNs / SECOND_NS, 'the block that ends an approval was mined');
    const times = timesOf(state);
    const own = movesOf(vaultOf(chainId), state, 'withdrawal').filter((move) => move.user === user);
    const inTime = own.filter(({ block }) => must(times.get(block), 'a block has a time') <= BigInt(validUntil));
    assert.ok(counter >= inTime.length && counter <= own.length, 'the counter has every payout that was in time');
    return chainId;
  }

  /** The chain's file has exactly this settlement (STL-04). */
  #isSettled(event: Extract<OperatorCommand, { kind: 'settled' }>, disk: ChainDisk): void {
    const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn } = event;
    const place = `${chainId}/${user}/${subAccount}/${nonce}`;
    const found = swapsOf(vaultOf(chainId), disk.state(chainId)).find((swap) => swap.place === place);
    const seen = { tokenOut, unitsOut: baseUnitsOut, tokenIn, unitsIn: baseUnitsIn };
    assert.ok(isSameSwap(found, seen), `the settlement ${place} is on the chain as it was read`);
  }

  #settlementApproved(command: Extract<OperatorCommand, { kind: 'settlementSigned' }>, node: SimulatedNode): ChainId {
    const row = settlementRowOf(command, node);
    const { address, chainId } = vaultOf(row.chainId);
    const digest = settlementDigest(domainHash(address, chainId), settlementApprovalOf(row));
    this.#signs(`${chainId}/${row.user}/${row.subAccount}/${row.nonce}`, node, {
      digest,
      validUntil: BigInt(row.validUntil),
    });
    this.#willCheck(digest, [command.signature]);
    return chainId;
  }

  #settlementLapsed(
    command: Extract<OperatorCommand, { kind: 'settlementLapsed' }>,
    node: SimulatedNode,
    disk: ChainDisk,
  ): ChainId {
    const { chainId, user, subAccount, validUntil } = settlementRowOf(command, node);
    const state = must(disk.state(chainId), 'a chain with a settlement was written');
    assert.ok(BigInt(command.blockTime) <= state.headNs / SECOND_NS, 'the block that ends an approval was mined');
    const times = timesOf(state);
    const own = swapsOf(vaultOf(chainId), state).filter((swap) => swap.user === user && swap.account === subAccount);
    const inTime = own.filter(({ block }) => must(times.get(block), 'a block has a time') <= BigInt(validUntil));
    const { counter } = command;
    assert.ok(counter >= inTime.length && counter <= own.length, 'the counter has every settlement that was in time');
    return chainId;
  }

  /** Never two different approvals of one counter that can both still be executed. */
  #signs(place: Place, node: SimulatedNode, approval: Approval): void {
    const before = this.#signed.get(place) ?? [];
    const nowS = node.nowNs / SECOND_NS;
    for (const { digest, validUntil } of before) {
      assert.ok(digest === approval.digest || validUntil < nowS, `one approval of ${place} may live at a time`);
    }
    const isBooked = this.paid.has(place) || this.settled.has(place);
    assert.equal(isBooked, false, `${place} is signed again after it was executed`);
    this.#signed.set(place, [...before, approval]);
  }

  #willCheck(digest: string, signatures: readonly string[]): void {
    this.#signatures += 1;
    if (this.#signatures % SIGNATURES_PER_CHECK === 1) this.#unchecked.push({ digest, signatures });
  }

  // ---- the journal

  noted({ inputs }: Batch, effects: readonly Effect[]): void {
    for (const input of inputs) if (input.kind === 'deposit') this.#took(input);
    for (const effect of effects) {
      if (effect.kind === 'replied') {
        const input = inputs.find((one) => 'request' in one && one.request === effect.request);
        if (input !== undefined && effect.outcome.ok) this.#tookBack(input, effect.outcome.value['result']);
      } else if (effect.kind === 'depositLanded') {
        const { chainId, user, depositNonce, amount } = effect.row;
        const place = `${chainId}/${user}/${depositNonce}`;
        assert.equal(this.credited.has(place), false, `deposit ${place} is credited once`);
        const move = must(this.taken.get(place), 'what is credited was deposited');
        this.credited.set(place, move);
        assert.equal(amount, worthOf(tokenOf(chainId, move.token), move.units), `deposit ${place} is worth its units`);
      } else if (effect.kind === 'settlementChanged' && effect.row.status === 'executed') {
        this.#swapped(effect.row);
      } else if (effect.kind === 'withdrawalCompleted') {
        const { chainId, user, nonce, token, payout } = effect.row;
        const place = `${chainId}/${user}/${nonce}`;
        assert.equal(this.paid.has(place), false, `payout ${place} is booked once`);
        assert.equal(effect.amount, costOf(tokenOf(chainId, token), payout), `payout ${place} is worth its units`);
        this.paid.set(place, { place, user, counter: nonce, token, units: payout, block: 0 });
      }
    }
  }

  /** A payout or a settlement that is gone is booked no more, and its counter is free again (decision 0035). */
  #tookBack(input: Batch['inputs'][number], result: unknown): void {
    if (result === 'duplicate') return;
    if (input.kind === 'payoutVanished') {
      const { chainId, user, nonce } = input;
      const place = `${chainId}/${user}/${nonce}`;
      const payout = must(this.paid.get(place), 'what is taken back was paid');
      assert.ok(
        isSame(payout, { token: input.token, units: input.baseUnits }),
        `payout ${place} is taken back as paid`,
      );
      this.paid.delete(place);
      // Without its row its units stay booked.
      if (result === 'unknown') this.paid.set(`${place} of a row that is gone`, payout);
    } else if (input.kind === 'settlementVanished') {
      const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn } = input;
      const place = `${chainId}/${user}/${subAccount}/${nonce}`;
      const swap = must(this.settled.get(place), 'what is reversed was settled');
      const seen = { tokenOut, unitsOut: baseUnitsOut, tokenIn, unitsIn: baseUnitsIn };
      assert.ok(isSameSwap(swap, seen), `the settlement ${place} is reversed as booked`);
      this.settled.delete(place);
      if (result === 'unmatched') this.settled.set(`${place} that cannot be reversed`, swap);
      else this.#reversed.push(swap);
    }
  }

  /** Settlements that were reversed since the last call. */
  takeReversed(): readonly Swapped[] {
    return this.#reversed.splice(0);
  }

  #swapped(row: SettlementRow): void {
    const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn } = row;
    const place = `${chainId}/${user}/${subAccount}/${nonce}`;
    assert.equal(this.settled.has(place), false, `settlement ${place} is booked once`);
    const units = { tokenOut, unitsOut: baseUnitsOut, tokenIn, unitsIn: baseUnitsIn };
    this.settled.set(place, { place, user, account: subAccount, ...units, block: 0 });
  }

  /** A deposit takes the next counter of its user on its chain, and no other does (DEP-10). */
  #took({ chainId, user, depositNonce, token, baseUnits }: Extract<OperatorCommand, { kind: 'deposit' }>): void {
    const counter = this.#counters.get(`${chainId}/${user}`) ?? 0;
    if (depositNonce !== counter) return;
    this.#counters.set(`${chainId}/${user}`, counter + 1);
    const place = `${chainId}/${user}/${depositNonce}`;
    this.taken.set(place, { place, user, counter: depositNonce, token, units: baseUnits, block: 0 });
  }

  // ---- at rest

  /** @throws AssertionError where chain, journal and ledger differ. */
  check(ledger: ClearingState, disk: ChainDisk, stopped: ReadonlySet<ChainId>): void {
    for (const plan of VAULTS) {
      const state = disk.state(plan.chainId);
      if (stopped.has(plan.chainId) || !isHonest(state)) continue;
      const vanished = [...this.#vanishedOf(plan, state)].filter((place) => !this.#accepted.has(place));
      assert.deepEqual(vanished, [], `${plan.chainId} stops when what was booked is gone`);
      this.#checkChain(plan, disk, 'deposit', this.taken);
      this.#checkChain(plan, disk, 'withdrawal', this.paid);
      for (const swap of swapsOf(plan, state)) {
        const booked = this.settled.get(swap.place);
        assert.ok(booked !== undefined && isSameSwap(swap, booked), `the settlement ${swap.place} is booked`);
      }
    }
    for (const token of TOKENS) this.#checkToken(token, ledger, disk);
    this.#checkUnclaimed(ledger);
    checkLocks(ledger);
  }

  /** A chain is stopped only where something that was booked is gone, or a majority may hide that it is there. */
  stops(chainId: ChainId, { reason }: Stopped, disk: ChainDisk): void {
    const [plan, state] = [vaultOf(chainId), disk.state(chainId)];
    // Also one that was accepted: its counter may have been used again, and the node watches what has used it.
    const isGone = !this.#vanishedOf(plan, state).next().done || this.#isSettlementLost(plan, state);
    assert.ok(!isHonest(state) || (reason === 'reorg' && isGone), `${chainId} is stopped without a reason: ${reason}`);
  }

  /** Whether a booked settlement is not on the chain and no approval of it can be executed any more (decision 0035). */
  #isSettlementLost(plan: VaultPlan, state: ChainState | null): boolean {
    const onChain = new Map(swapsOf(plan, state).map((swap) => [swap.place, swap]));
    const nowS = (state?.headNs ?? 0n) / SECOND_NS;
    return [...this.settled].some(([place, swap]) => {
      const isOwn = place === swap.place && place.startsWith(plan.chainId);
      if (!isOwn || isSameSwap(onChain.get(place), swap)) return false;
      return (this.#signed.get(place) ?? []).every(({ validUntil }) => validUntil < nowS);
    });
  }

  /** The operator has resumed a chain: what is booked and not on it stays booked (AMB-74). */
  accept(chainId: ChainId, disk: ChainDisk): void {
    for (const place of this.#vanishedOf(vaultOf(chainId), disk.state(chainId))) this.#accepted.add(place);
  }

  /** What is booked and not on the chain as it was booked. */
  *#vanishedOf(plan: VaultPlan, state: ChainState | null): Generator<string> {
    for (const [kind, booked] of [['deposit', this.taken] as const, ['withdrawal', this.paid] as const]) {
      const places = new Map(movesOf(plan, state, kind).map((move) => [move.place, move]));
      for (const [place, move] of booked) {
        const isOwn = place === move.place && place.startsWith(plan.chainId);
        if (isOwn && !isSame(places.get(place), move)) yield `${kind} ${place}`;
      }
    }
  }

  /** What is final is booked as it is, unless its counter was used before a reorganisation. */
  #checkChain(plan: VaultPlan, disk: ChainDisk, kind: Kind, booked: ReadonlyMap<Place, Moved>): void {
    for (const move of finalOf(plan, disk, kind)) {
      const isBooked = isSame(move, booked.get(move.place));
      assert.ok(isBooked || this.#accepted.has(`${kind} ${move.place}`), `the final ${kind} ${move.place} is booked`);
    }
  }

  /** What took its counter and is not credited waits for an operator, and nothing else does. */
  #checkUnclaimed(ledger: ClearingState): void {
    const waiting = [...this.taken.keys()].filter((place) => !this.credited.has(place));
    const rows = [...ledger.unclaimed.values()];
    const shown = rows.map(({ chainId, user, counter }) => `${chainId}/${user}/${counter}`);
    assert.deepEqual(shown.sort(), waiting.sort(), 'what is unclaimed is what was deposited and not credited');
  }

  /** The ledger has of each vault what was booked; what is not booked, or not on the chain, is the rest of the vault's balance. */
  #checkToken({ token, vault }: TokenPlan, ledger: ClearingState, disk: ChainDisk): void {
    const plan = vaultAt(vault);
    const isIt = (move: Moved): boolean => move.token === token && move.place.startsWith(plan.chainId);
    const sum = (moves: Iterable<Moved>): bigint => [...moves].filter(isIt).reduce((all, { units }) => all + units, 0n);
    const units = ledger.vaultTokens.get(`${token}@${plan.chainId}`)?.baseUnits ?? 0n;
    const booked = sum(this.credited.values()) - sum(this.paid.values());
    const swapped = this.#swappedUnits(this.settled.values(), plan, token);
    assert.equal(units, booked + swapped, `units of ${token} are what was booked`);
    const state = disk.state(plan.chainId);
    const balance = new Map(state?.balances ?? []).get(`${token}/${plan.address}`) ?? 0n;
    const [into, outOf] = (['deposit', 'withdrawal'] as const).map((kind) => movesOf(plan, state, kind));
    const onChain = this.#swappedUnits(swapsOf(plan, state), plan, token);
    assert.equal(
      sum(into ?? []) - sum(outOf ?? []) + onChain,
      balance,
      `the vault has of ${token} what its events say`,
    );
  }

  /** Base units of a token that settlements brought to a vault, less what they took. */
  #swappedUnits(swaps: Iterable<Swapped>, { chainId }: VaultPlan, token: string): bigint {
    let sum = 0n;
    for (const { place, tokenIn, unitsIn, tokenOut, unitsOut } of swaps) {
      if (!place.startsWith(chainId)) continue;
      if (tokenIn === token) sum += unitsIn;
      if (tokenOut === token) sum -= unitsOut;
    }
    return sum;
  }

  /** What operators see of an asset is what final events of its vaults bring beyond what was booked, credited or unclaimed (AMB-116). */
  checkDeviations(seen: ReadonlyMap<AssetId, bigint>, disk: ChainDisk, stopped: ReadonlySet<ChainId>): void {
    const isPlain = VAULTS.every(({ chainId }) => {
      const faults = disk.state(chainId)?.providers ?? [];
      return !stopped.has(chainId) && faults.every(({ fault }) => fault === 'none');
    });
    if (!isPlain) return;
    const sums = new Map<AssetId, bigint>();
    for (const plan of TOKENS) {
      const { asset, token, vault } = plan;
      const { chainId } = vaultAt(vault);
      const isIt = (move: Moved): boolean => move.token === token && move.place.startsWith(chainId);
      const sum = (moves: Iterable<Moved>): bigint =>
        [...moves].filter(isIt).reduce((all, move) => all + move.units, 0n);
      const onChain = sum(finalOf(vaultAt(vault), disk, 'deposit')) - sum(finalOf(vaultAt(vault), disk, 'withdrawal'));
      const swapped = this.#swappedUnits(swapsOf(vaultAt(vault), disk.state(chainId)), vaultAt(vault), token);
      const isBooked = this.#swappedUnits(this.settled.values(), vaultAt(vault), token);
      const beyond = onChain + swapped - isBooked - (sum(this.taken.values()) - sum(this.paid.values()));
      const inUnits = beyond < 0n ? -worthOf(plan, -beyond) : worthOf(plan, beyond);
      sums.set(asset, (sums.get(asset) ?? 0n) + inUnits);
    }
    for (const [asset, sum] of sums) assert.equal(seen.get(asset), sum, `the deviation of asset ${asset}`);
  }

  /** Every signature is of the vault's administrator, over the row that was journaled (APR-01 to APR-04). */
  async checkSignatures(): Promise<void> {
    for (const { digest, signatures } of this.#unchecked.splice(0)) {
      assert.equal(signatures.length, 1, 'a quorum of one signs once');
      assert.equal(
        await signerOf(digest, signatures[0] ?? ''),
        PUBLIC_APPROVAL_ADDRESS,
        'the administrator has signed',
      );
    }
  }
}

/** Seconds, by number of a block with a transaction. */
function timesOf(state: ChainState): ReadonlyMap<number, bigint> {
  return new Map(state.blocks.map((block) => [block.number, block.timeNs / SECOND_NS]));
}

/** The published row that a command names. */
function settlementRowOf(
  { user, place, requestedNs }: Pick<SettlementRow, 'user' | 'place' | 'requestedNs'>,
  node: SimulatedNode,
): SettlementRow {
  const rows = [...node.gateway.settlements.all()];
  const found = rows.find((row) => row.user === user && row.place === place && row.requestedNs === requestedNs);
  return must(found, 'a settlement was published before it is signed or ends');
}

/** What is locked is what live rows lock, user by user and asset by asset (WDR-01, AMB-72). */
function checkLocks(ledger: ClearingState): void {
  const locks = new Map<string, bigint>();
  const lock = (key: string, amount: bigint): void => {
    locks.set(key, (locks.get(key) ?? 0n) + amount);
  };
  for (const { row } of ledger.withdrawals.all()) {
    if (!['queued', 'filled', 'signing', 'approved'].includes(row.status)) continue;
    lock(`${row.user} 0 ${row.asset}`, row.amount + row.fee - row.isolated);
    lock(`${row.user} 0 ${row.token}@${row.chainId}`, row.isolated);
  }
  for (const { user, subAccount, assetOut, amountOut } of ledger.settlements.all()) {
    lock(`${user} ${subAccount} ${assetOut}`, amountOut);
  }
  for (const { row, subAccounts } of ledger.users.values()) {
    for (const [index, { balances }] of subAccounts) {
      for (const [asset, { locked }] of balances) {
        const name = `what ${row.user.slice(0, 4)} has locked of ${asset} in ${index}`;
        assert.equal(locked, locks.get(`${row.user} ${index} ${asset}`) ?? 0n, name);
      }
    }
  }
}

function vaultOf(chainId: ChainId): VaultPlan {
  return must(
    VAULTS.find((vault) => vault.chainId === chainId),
    'a chain of the world',
  );
}

function tokenOf(chainId: ChainId, token: string): TokenPlan {
  return must(
    TOKENS.find((one) => one.token === token && vaultAt(one.vault).chainId === chainId),
    'a token of the world',
  );
}
