/**
 * What a venue owes at one place of its journal: the trees of all assets, the text of the statement, and the part of each user (LIA-03 to LIA-05).
 * The same ledger, secret and place give the same bytes.
 */
import type { LiabilityFile } from './liability-file.ts';
import { chunksOf, type Owed, type OwedChunk, OwedTree, owedContext } from './owed-tree.ts';
import { type LiabilityStatement, statementText, type VaultHolding } from './statement.ts';

/** One asset of the ledger (clearing/owed.ts). Amounts have 18 decimals. */
interface OwedOfAsset {
  readonly asset: string;
  readonly accounts: readonly { readonly user: string; readonly subAccount: number; readonly amount: bigint }[];
  readonly negative: bigint;
  readonly own: bigint;
  readonly longs: bigint;
  readonly shorts: bigint;
}

/** The last row of a user in the row log. */
interface LastRow {
  readonly n: number;
  /** Its leaf hash, 32 bytes. */
  readonly hash: Uint8Array;
}

interface LedgerAt {
  readonly origin: string;
  /** The journal record behind which the ledger was taken. */
  readonly sequence: number;
  readonly timeNs: bigint;
  /** The evidence secret, 32 bytes. */
  readonly secret: Uint8Array;
  readonly assets: readonly OwedOfAsset[];
  /** Null for a user without a row. */
  readonly lastRowOf: (user: string) => LastRow | null;
  readonly vaults: readonly VaultHolding[];
}

interface AssetTree {
  readonly assetId: string;
  readonly tree: OwedTree;
}

const NO_ROW: LastRow = { n: 0, hash: new Uint8Array(32) };

export class Liabilities {
  readonly statement: LiabilityStatement;
  readonly #trees: readonly AssetTree[];
  readonly #byUser = new Map<string, Map<string, OwedChunk[]>>();
  readonly #accounts: (Owed & { readonly asset: number })[] = [];

  constructor({ origin, sequence, timeNs, secret, assets, lastRowOf, vaults }: LedgerAt) {
    this.#trees = assets.map(({ asset: assetId, accounts }, asset) => {
      const context = owedContext(origin, sequence, assetId);
      const chunks = accounts.flatMap((account) => {
        const { n, hash: last } = lastRowOf(account.user) ?? NO_ROW;
        const own = chunksOf(secret, context, { ...account, n, last });
        this.#add(account.user, assetId, own);
        this.#accounts.push({ ...account, n, last, asset });
        return own;
      });
      return { assetId, tree: new OwedTree(context, chunks) };
    });
    const stated = assets.map(({ asset: assetId, negative, own, longs, shorts }, at) => {
      const { tree } = this.#trees[at] as AssetTree;
      const { sum: owed, hash: root } = tree.root;
      return { assetId, leaves: tree.leaves, root, owed, negative, own, longs, shorts };
    });
    this.statement = { origin, sequence, timeNs, assets: stated, vaults };
  }

  #add(user: string, assetId: string, chunks: readonly OwedChunk[]): void {
    const assets = this.#byUser.get(user) ?? new Map<string, OwedChunk[]>();
    this.#byUser.set(user, assets);
    assets.set(assetId, [...(assets.get(assetId) ?? []), ...chunks]);
  }

  /** Trees in the order of the assets of the statement. */
  get trees(): readonly AssetTree[] {
    return this.#trees;
  }

  /** Every amount with the number of its asset, in the order of users, assets and sub-accounts. */
  get accounts(): readonly (Owed & { readonly asset: number })[] {
    const byUser = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
    return this.#accounts.sort(
      (one, other) => byUser(one.user, other.user) || one.asset - other.asset || one.subAccount - other.subAccount,
    );
  }

  /** What is signed. */
  get text(): string {
    return statementText(this.statement);
  }

  /** Every chunk of a user with its path, by asset; empty for one that is owed nothing. */
  partOf(user: string): LiabilityFile['assets'] {
    const own = this.#byUser.get(user) ?? new Map<string, OwedChunk[]>();
    return this.#trees.flatMap(({ assetId, tree }) => {
      const chunks = own.get(assetId) ?? [];
      if (chunks.length === 0) return [];
      return [
        {
          assetId,
          chunks: chunks.map(({ user: _, ...chunk }, at) => ({ ...chunk, ...tree.proofOf(chunks[at] as OwedChunk) })),
        },
      ];
    });
  }
}
