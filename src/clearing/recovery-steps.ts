/** What a recovering thread does, and how far it is. */
export const RECOVERY_STEPS = ['loading', 'replaying', 'restoring'] as const;
export type RecoveryStep = (typeof RECOVERY_STEPS)[number];
/** Called now and then: rows loaded, records replayed, users and orders restored, of how many. */
export type RecoveryProgress = (step: RecoveryStep, done: number, of: number) => void;
