/** The log of the evidence: its keys, heads, proofs, and the evidence of an order (evidence.md 3). */
import { COUNT, described, named, type Shape, TEXT } from './shape-kit.ts';
import { Type } from './type-builder.ts';

const BASE64: Shape<string> = described(TEXT, 'canonical base64 with padding');
const HASH: Shape<string> = described(TEXT, 'a hash of 32 bytes in base64');

export const LOG_KEYS: Shape = named(
  'LogKeys',
  'The keys of the log, and what the venue promises',
  Type.Object({
    origin: described(TEXT, 'the name of the log'),
    venue_key: described(TEXT, 'the verifier key of the venue (C2SP vkey): compare it with the one that you pinned'),
    notes: described(Type.Array(TEXT), 'certificates and ends of log keys, notes signed by the venue key'),
    witnesses: Type.Array(Type.Object({ name: TEXT, vkey: TEXT })),
    quorum: described(COUNT, 'how many witnesses the venue promises for a head'),
  }),
);

export const LOG_HEAD: Shape = named('LogHead', 'A C2SP checkpoint with its signatures', TEXT);
export const LOG_TILE: Shape = named('LogTile', 'Hashes of 32 bytes, one behind the other', TEXT);

export const CONSISTENCY: Shape = named(
  'ConsistencyProof',
  'That a tree continues an older one (RFC 6962 2.1.2)',
  Type.Object({ from: COUNT, to: COUNT, proof: Type.Array(HASH) }),
);

/** A record of the log with rows under it. */
const RECORD = Type.Object({
  leaf: described(BASE64, '111 bytes'),
  index: described(TEXT, 'in the tree, as a decimal'),
  path: Type.Array(HASH),
  entries: Type.Array(
    Type.Object({
      index: described(COUNT, 'in the record'),
      salt: HASH,
      row: described(BASE64, 'the bytes of the row'),
      path: Type.Array(HASH),
    }),
  ),
});

export const ORDER_EVIDENCE: Shape = named(
  'OrderEvidence',
  'What the log has of an order, with the proofs of it',
  Type.Object({
    v: described(COUNT, '1'),
    origin: TEXT,
    certificates: Type.Array(TEXT),
    checkpoint: described(TEXT, 'a note with cosignatures'),
    claim: Type.Object({ asset_id: TEXT, order_id: TEXT, user: TEXT }),
    records: Type.Array(RECORD),
    signed: Type.Array(
      Type.Object({
        entry: described(Type.Array(COUNT), 'its record and its entry in this file'),
        text: BASE64,
        signatures: described(BASE64, 'as they are stored: 64 bytes, or the form with co-signers'),
      }),
    ),
  }),
);

const STATED = {
  v: described(COUNT, '1'),
  origin: TEXT,
  certificates: Type.Array(TEXT),
  checkpoint: described(TEXT, 'a note with cosignatures'),
  note: described(TEXT, 'the statement, signed by a log key'),
  records: described(Type.Array(RECORD), 'the record with the row that has the hash of the statement'),
};

export const LIABILITIES: Shape = named('Liabilities', 'What the venue states that it owes', Type.Object(STATED));

export const OWN_LIABILITIES: Shape = named(
  'OwnLiabilities',
  'What the venue states that it owes, and every chunk of it that is owed to a user',
  Type.Object({
    ...STATED,
    user: TEXT,
    assets: Type.Array(
      Type.Object({
        asset_id: TEXT,
        chunks: Type.Array(
          Type.Object({
            amount: described(TEXT, 'an integer with 18 decimals'),
            nonce: HASH,
            sub: described(COUNT, 'the sub-account'),
            i: described(COUNT, 'its number among the chunks of the sub-account'),
            k: described(COUNT, 'how many these are'),
            n: described(COUNT, 'the last of your rows at the record of the statement; 0 for none'),
            last: described(HASH, 'the leaf hash of that row'),
            index: described(COUNT, 'of the leaf'),
            path: Type.Array(Type.Object({ sum: described(TEXT, 'an integer with 18 decimals'), hash: HASH })),
          }),
        ),
      }),
    ),
  }),
);
