/** Values of the tables about accounts: users, sub-accounts, balances, totals, tallies, deposits. Fields in the order written. */
import type {
  AssetTotalsRow,
  BalanceRow,
  DepositRow,
  PositionRow,
  SubAccountKind,
  SubAccountRow,
  TallyName,
  TallyRow,
  UserRow,
} from '../clearing/rows.ts';
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import type { RowCodec } from './row-codecs.ts';

export const userCodec: RowCodec<UserRow> = {
  write(to, row) {
    to.hex(row.user, 32);
    to.flag(row.isMarketMaker);
    to.safe(row.configNonce);
    to.u64(row.transferNonce);
    to.u64(row.closePositionNonce);
  },
  read(from) {
    return {
      user: from.hex(32) as UserId,
      isMarketMaker: from.flag(),
      configNonce: from.safe(),
      transferNonce: from.u64(),
      closePositionNonce: from.u64(),
    };
  },
};

export const subAccountCodec: RowCodec<SubAccountRow> = {
  write(to, row) {
    to.hex(row.user, 32);
    to.u8(row.subAccount);
    to.text(row.kind);
    to.text(row.name);
    to.optional(row.asset, (asset) => to.text(asset));
  },
  read(from) {
    return {
      user: from.hex(32) as UserId,
      subAccount: from.u8(),
      kind: from.text() as SubAccountKind,
      name: from.text(),
      asset: from.optional(() => from.text() as AssetId),
    };
  },
};

export const balanceCodec: RowCodec<BalanceRow> = {
  write(to, row) {
    to.hex(row.user, 32);
    to.u8(row.subAccount);
    to.text(row.asset);
    to.i128(row.owned);
    to.i128(row.locked);
  },
  read(from) {
    return {
      user: from.hex(32) as UserId,
      subAccount: from.u8(),
      asset: from.text() as AssetId,
      owned: from.i128() as Amount18,
      locked: from.i128() as Amount18,
    };
  },
};

export const positionCodec: RowCodec<PositionRow> = {
  write(to, row) {
    to.hex(row.user, 32);
    to.u8(row.subAccount);
    to.text(row.asset);
    to.i128(row.base);
    to.i128(row.quote);
    to.integer(row.entry);
  },
  read(from) {
    return {
      user: from.hex(32) as UserId,
      subAccount: from.u8(),
      asset: from.text() as AssetId,
      base: from.i128() as Amount18,
      quote: from.i128() as Amount18,
      entry: from.integer() as Amount18,
    };
  },
};

export const totalsCodec: RowCodec<AssetTotalsRow> = {
  write(to, row) {
    to.text(row.asset);
    to.integer(row.vaultHoldings);
    to.integer(row.faucet);
  },
  read(from) {
    return {
      asset: from.text() as AssetId,
      vaultHoldings: from.integer() as Amount18,
      faucet: from.integer() as Amount18,
    };
  },
};

export const tallyCodec: RowCodec<TallyRow> = {
  write(to, row) {
    to.text(row.name);
    to.safe(row.count);
    to.hex(row.digest, 32);
    to.bytes(row.pending);
  },
  read(from) {
    return { name: from.text() as TallyName, count: from.safe(), digest: from.hex(32), pending: from.bytes() };
  },
};

export const depositCodec: RowCodec<DepositRow> = {
  write(to, row) {
    to.hex(row.chainId, 9);
    to.hex(row.tx, 32);
    to.u32(row.logIndex);
    to.hex(row.user, 32);
    to.text(row.asset);
    to.i128(row.amount);
    to.safe(row.depositNonce);
    to.u64(row.creditedNs);
  },
  read(from) {
    return {
      chainId: from.hex(9) as ChainId,
      tx: from.hex(32),
      logIndex: from.u32(),
      user: from.hex(32) as UserId,
      asset: from.text() as AssetId,
      amount: from.i128() as Amount18,
      depositNonce: from.safe(),
      creditedNs: from.u64() as TimestampNs,
    };
  },
};
