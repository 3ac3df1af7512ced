/** The stored settings as markets and market data use them (operator-api.md 4.10); what is not stored has its default. */
import { PARKED_CANCEL_NS, PARKED_CANCELS_PER_USER_MAX } from '../../core/limits.ts';
import { MILLISECOND_NS } from '../../core/units.ts';
import { parseSettings, type Settings } from './settings.ts';

/** Cancels that wait for their creates (AMB-25). */
export interface ParkedCancelSettings {
  /** How long one waits. */
  readonly ns: bigint;
  /** How many of one user in one market wait at most. */
  readonly perUserMax: number;
}

export const DEFAULT_PARKED_CANCELS: ParkedCancelSettings = {
  ns: PARKED_CANCEL_NS,
  perUserMax: PARKED_CANCELS_PER_USER_MAX,
};

export function readParkedCancelSettings(json: string): ParkedCancelSettings {
  const { held_cancel_ms: ms, held_cancels_per_user: perUserMax } = parseSettings(json);
  return { ns: BigInt(ms) * MILLISECOND_NS, perUserMax };
}

/** How old an oracle price may be that binds a mark (MON-06). */
export function readMarkBandAge(json: string): bigint {
  return markBandAgeNs(parseSettings(json));
}

export function markBandAgeNs({ mark_band_age_ms: ms }: Pick<Settings, 'mark_band_age_ms'>): bigint {
  return BigInt(ms) * MILLISECOND_NS;
}

/** Public trades that are kept of each market (PTR-02, AMB-101). */
export function readTapeTrades(json: string): number {
  return parseSettings(json).public_trade_cache;
}
