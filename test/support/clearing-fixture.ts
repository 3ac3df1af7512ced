/** A node as its simulated chains see it: a real clearing state, its registry, and a data directory that outlives them. */

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { ChainActor } from '../../src/chain/chain-actor.ts';
import type { ChainTransaction } from '../../src/chain/chain-operations.ts';
import { type ChainFiles, ChainStore } from '../../src/chain/chain-store.ts';
import { PUBLIC_APPROVAL_ADDRESS } from '../../src/chain/key-file.ts';
import { openSharedChains } from '../../src/chain/shared-chains.ts';
import { approvalsOfHour } from '../../src/clearing/funds/signed-approvals.ts';
import { knownDeviations } from '../../src/clearing/funds/vault-deviations.ts';
import type { ActionReply, OperatorCommand } from '../../src/clearing/inputs.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { SEED_ASSETS, SEED_CHAINS, SEED_USER_A } from '../../src/operator/seed-data.ts';
import { createLogs } from '../../src/runtime/log-buffer.ts';
import type { Asked } from './asked.ts';
import { acceptedValue, ClearingWorld, effectsOf, reply } from './clearing-world.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const USER = SEED_USER_A as UserId;

export class ClearingFixture {
  readonly world: ClearingWorld = new ClearingWorld();
  directory: string = temporaryDirectory();
  readonly failures: string[] = [];
  readonly stops: (readonly [ChainId, string | null])[] = [];
  readonly deviations: (readonly [AssetId, bigint])[] = [];
  readonly approvalStops: [string, string, bigint, boolean][] = [];
  acceptsEscape: readonly string[] = [];
  chains: ChainActor;
  /** What stands between the chains and clearing; null lets everything through. */
  fault: ((command: OperatorCommand) => Promise<ActionReply> | null) | null = null;
  deposits = 0;

  static async seeded(autoMine = false, minesByItself = false): Promise<ClearingFixture> {
    const fixture = new ClearingFixture(minesByItself);
    await fixture.chains.start();
    for (const { chainId, confirmations, blockTimeMs } of SEED_CHAINS) {
      const counts = { deposit: confirmations, withdrawal: confirmations, settlement: 0 };
      const body = { kind: 'simulated', block_time_ms: blockTimeMs, auto_mine: autoMine, confirmations: counts };
      await fixture.put('chain', chainId, body);
    }
    for (const { chainId, vault } of SEED_CHAINS) {
      await fixture.put('vault', `${vault}@${chainId}`, { administrators: [PUBLIC_APPROVAL_ADDRESS], quorum: 1 });
    }
    for (const [asset, body] of Object.entries(SEED_ASSETS)) {
      const command = { kind: 'putAsset', method: 'put', assetId: asset as AssetId, body } as const;
      acceptedValue(await fixture.command(command));
    }
    while (fixture.chains.isBusy()) await turn();
    return fixture;
  }

  constructor(minesByItself: boolean) {
    this.chains = this.#newActor(minesByItself);
  }

  #newActor(
    minesByItself = false,
    files: ChainFiles = new ChainStore(this.directory),
    leads?: () => boolean,
  ): ChainActor {
    return new ChainActor({
      directory: this.directory,
      files,
      leads,
      clock: { nowNs: () => this.world.nowNs },
      minesByItself,
      command: (command) => this.fault?.(command) ?? this.command(command),
      registry: () => this.world.state,
      fail: (reason) => this.failures.push(reason),
      withdrawals: () => [...this.world.state.withdrawals.all()].map(({ row }) => row),
      settlements: () => [...this.world.state.settlements.all()],
      approvalsOfHour: async (from) => approvalsOfHour(this.world.state, from, this.world.nowNs),
      evm: {
        entry: new URL('file:///none'),
        logLevel: 'error',
        logs: createLogs(),
        approvalKeys: null,
        approvalLimits: new Map(),
        cursorPage: async (chainId, event, from) => this.world.state.chainCursors.page({ chainId, event }, from),
        died: (reason) => this.failures.push(reason),
        refused: (_chain, reason) => this.failures.push(reason),
      },
      acceptsEscape: this.acceptsEscape,
      escaped: () => undefined,
      withdrawables: async () => null,
      holdings: {
        booked: async () => {
          const { state } = this.world;
          const tokens = [...state.vaultTokens.values(), ...state.unclaimed.values()];
          return { tokens, deviations: knownDeviations(state) };
        },
        approvals: (chain, asset, missing, isStopped) =>
          void this.approvalStops.push([chain, asset, missing, isStopped]),
        changed: (asset, deviation) => void this.deviations.push([asset, deviation]),
      },
      stopped: (chain, stopped) => this.stops.push([chain, stopped?.reason ?? null]),
    });
  }

  async put(config: 'chain' | 'vault', key: string, body: unknown): Promise<void> {
    acceptedValue(await this.command({ kind: 'putConfig', config, key, method: 'put', body }));
  }

  async command(command: Asked): Promise<ActionReply> {
    if (command.kind === 'deposit') this.deposits += 1;
    const effects = this.world.send({ ...command, request: this.world.request() });
    for (const news of effectsOf(effects, 'registryChanged')) this.chains.onClearingEvent(news);
    for (const news of effectsOf(effects, 'withdrawalChanged')) this.chains.onClearingEvent(news);
    await turn();
    return reply(effects);
  }

  /** Another process on the same directory; the old one, whose file is written, never appears again. */
  async restart(): Promise<void> {
    // A call that a fault keeps waiting is what the kill is about.
    while (this.fault === null && this.chains.isBusy()) await turn();
    this.fault = null;
    this.chains = this.#newActor();
    await this.chains.start();
  }

  /** The leader of an epoch opens the chains that all nodes share; that of before lives on, as one that was stopped and goes on. */
  async takeOver(epoch: number, leads: () => boolean): Promise<void> {
    this.chains = this.#newActor(false, await openSharedChains(this.directory, epoch), leads);
    await this.chains.start();
  }

  usd(user: UserId = USER): bigint {
    return this.world.owned(user, '0' as AssetId);
  }
}

export function mined(outcome: Outcome<ChainTransaction>): ChainTransaction {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.reject.message);
  return outcome.value;
}

export function refusal(outcome: Outcome<unknown>): string | null {
  return outcome.ok ? null : outcome.reject.code;
}
