/** Entry of the thread that makes heads of the log of the evidence and reads proofs. */
import { runProofThread } from '../src/evidence/proofs/proof-worker.ts';

runProofThread();
