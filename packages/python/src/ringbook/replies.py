# Generated from src/codec/shapes by `npm run generate`. Do not edit.
"""Replies and events of the service, by their members on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonce:
    """What a login signs: its own UTF-8 bytes. Lives five minutes; the same until it is used."""

    value: str
    # Config_nonce of the multisig configuration.
    ce_nonce: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A session of 24 hours."""

    token: str
    expiry_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    # For `DELETE /sessions/{session_id}`; it opens nothing.
    id: str
    scope: Literal["full", "read"]
    created_ns: int
    last_used_ns: int
    # Of the client that logged in; null where addresses are not limited.
    address: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTime:
    """The clock by which orders expire and budgets refill."""

    now_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemStatus:
    """The running version, and whether orders are accepted."""

    name: Literal["ringbook"]
    version: str
    protocol_version: int
    # False once the service is stopping.
    takes_orders: bool
    # By asset id.
    markets: dict[str, Literal["Active", "CancelOnly", "Halted"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderLeader:
    node: str
    # The address for clients; null: it has none.
    oms: str | None
    # The address for clients; null: it has none.
    mds: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """Whether this process leads, and who does."""

    role: Literal["node", "replica"]
    state: Literal["starting", "joining", "following", "campaigning", "restoring", "leading", "stalled", "handing-over", "ended"]
    # Number of the leadership; 0 on one machine.
    epoch: int
    # The last applied record of the journal.
    sequence: int
    # Null on one machine, and while none is known.
    leader: LeaderLeader | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsCosts:
    # Units; at most three decimals.
    action: Decimal
    # Units; at most three decimals.
    cancel: Decimal
    # Units; at most three decimals.
    cancel_all: Decimal
    # Units; at most three decimals.
    bulk_item: Decimal
    # Units; at most three decimals.
    bulk_minimum: Decimal
    # Units; at most three decimals.
    history_page: Decimal
    # Units; at most three decimals.
    public_read: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsStreams:
    open: int
    cap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Your remaining budget."""

    tier: Literal["default", "market_maker"]
    # What is there now; a decimal.
    units: str
    # The most that can be there.
    capacity: int
    units_per_second: int
    costs: LimitsCosts
    streams: LimitsStreams


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketFeeSchedule:
    fee_account: str
    global_: tuple[str, ...]
    per_asset: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """A market has the id of its asset; prices and quantities of orders are integers: human × 10^decimals."""

    asset_id: str
    book_price_decimals: int
    book_quantity_decimals: int
    max_leverage: Decimal | None
    isolated_only: bool
    tick_size: Decimal
    min_order_size: Decimal
    fee_schedule: MarketFeeSchedule
    # 1e-6 of notional; negative is a rebate.
    maker_fee_rate: int
    # 1e-6 of notional.
    taker_fee_rate: int
    status: str
    self_trade_prevention: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPageSymbolMap:
    index: int
    symbol: str
    # The symbol unless the operator gave a name.
    name: str
    asset_class: str
    # Symbols of the tokens that deposit into this asset.
    representations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPage:
    """A page; the first is 0."""

    markets: tuple[Market, ...]
    # Rows on all pages.
    total_markets: int
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None
    # Every indexed asset that has a symbol.
    symbol_map: dict[str, MarketPageSymbolMap] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTiming:
    """When the action passed each hop, on the node's clock; null for one that it did not reach."""

    received_ns: int
    # Its signature was looked at.
    verified_ns: int | None
    sent_ns: int | None
    # Its market began with it.
    matched_ns: int | None
    answered_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionDetail:
    """The error envelope of REST for the same rejection."""

    # An error code.
    code: str
    field: str | None
    # For people; may change.
    message: str
    authorization_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResponse:
    """`Received`: the market has decided, the order rests or its fills are on their way. `Rejected` only in
    batches and on `/control`.
    """

    # As received.
    order_id: str
    status: Literal["Received", "Rejected"]
    reason: str | None
    processed_at_ns: int | None = None
    # Only for who asked for it.
    timing: ActionTiming | None = None
    # Why, in rejections on `/control`; beyond the wire contract.
    detail: RejectionDetail | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSetResponseRefused:
    side: Literal["Buy", "Sell"]
    price: int
    # PostOnlyWouldCross, or an error code in PascalCase.
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSetResponse:
    """`Received`: the market has applied the set. `Rejected` with a reason: what it adds was refused as a whole,
    what it takes away was applied. The counts are of entries.
    """

    # As received.
    set_id: str
    # As received; null where it could not be read.
    revision: int | None
    status: Literal["Received", "Rejected"]
    reason: str | None
    # New prices.
    created: int
    # Other quantities at prices that stay.
    changed: int
    kept: int
    # Prices that left.
    cancelled: int
    # Entries that were left out.
    refused: tuple[QuoteSetResponseRefused, ...]
    # It waited, and was skipped for a newer set of this id that has passed every check and gone to its market.
    superseded: bool
    processed_at_ns: int
    # Only for who asked for it.
    timing: ActionTiming | None = None
    # Why, in rejections on `/control`; beyond the wire contract.
    detail: RejectionDetail | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResponseResult:
    order_id: str
    status: Literal["Received", "Rejected"]
    reason: str | None
    # Only for who asked for it.
    timing: ActionTiming | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResponse:
    """One result an item, in the order of the request."""

    results: tuple[BatchResponseResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAllAfterResponse:
    """The timer as it runs now."""

    timeout_ms: int
    # On the node's clock; null when no timer runs.
    fires_at_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult1:
    success: Literal[True]
    # The same signed text was accepted before, and what it made is live; nothing moved.
    duplicate: Literal[True] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult2Details:
    code: str
    message: str
    retryable: bool
    field: str | None = None
    # Of INVALID_NONCE: the last one used.
    last_nonce: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult2:
    success: Literal[False]
    details: ActionResult2Details


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRiskAssetLong:
    # All positions of these accounts on this side.
    quantity: Decimal
    liquidation_price: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRiskAssetShort:
    # All positions of these accounts on this side.
    quantity: Decimal
    liquidation_price: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRiskAsset:
    long: AtRiskAssetLong
    short: AtRiskAssetShort


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRisk:
    """Positions of all accounts that borrow and have a maintenance surplus below a tenth of their maintenance
    requirement; assets without any are left out.
    """

    timestamp_ns: int
    assets: dict[str, AtRiskAsset]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """A protection group, its live orders, and its freeze."""

    # 1 to 16 characters of an order id.
    group: str
    window_ms: int
    # How long a trip freezes the group; 0: until it is reset.
    frozen_ms: int
    max_fills: int | None
    max_quantity: Decimal | None
    max_notional: Decimal | None
    min_fill_notional: Decimal
    # Those with undecided fills among them.
    live_orders: int
    is_frozen: bool
    frozen_until_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Protections:
    """Your groups in a market, in the order in which they were made."""

    groups: tuple[Protection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRecord:
    """An order as it stands, in human units. Limit: `limit_price`, `quantity`; market in base: `quantity`;
    market in quote: `amount`.
    """

    order_id: str
    base_asset: str
    side: Literal["Buy", "Sell"]
    limit_price: Decimal | None
    quantity: Decimal | None
    amount: Decimal | None
    max_sellable_amount: Decimal | None
    max_sellable_quantity: Decimal | None
    confirmed_filled_quantity: Decimal
    pending_filled_quantity: Decimal
    confirmed_filled_amount: Decimal
    pending_filled_amount: Decimal
    confirmed_trading_fees_amount: Decimal
    pending_trading_fees_amount: Decimal
    good_until_timestamp_ns: int | None
    timestamp_ns: int
    in_flight: bool
    canceled: bool
    status: str
    trigger_above_price: Decimal | None
    trigger_below_price: Decimal | None
    trigger_touched: bool | None
    parent_id: str | None
    last_update_timestamp_ns: int | None
    is_immediate_or_cancel: bool
    is_fill_or_kill: bool
    is_liquidation: bool
    is_auto_deleverage: bool
    is_reduce_only: bool = False
    trigger_enabled_quantity: Decimal | None
    # The quote set that the order is an entry of; only there for entries.
    quote_set_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPage:
    """A page; the first is 0."""

    orders: tuple[OrderRecord, ...]
    # Rows on all pages.
    total_orders: int
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOrderRecord:
    """An order as market data shows it: the record of the order service, its account, and its revision."""

    order_id: str
    base_asset: str
    side: Literal["Buy", "Sell"]
    limit_price: Decimal | None
    quantity: Decimal | None
    amount: Decimal | None
    max_sellable_amount: Decimal | None
    max_sellable_quantity: Decimal | None
    confirmed_filled_quantity: Decimal
    pending_filled_quantity: Decimal
    confirmed_filled_amount: Decimal
    pending_filled_amount: Decimal
    confirmed_trading_fees_amount: Decimal
    pending_trading_fees_amount: Decimal
    good_until_timestamp_ns: int | None
    timestamp_ns: int
    in_flight: bool
    canceled: bool
    status: str
    trigger_above_price: Decimal | None
    trigger_below_price: Decimal | None
    trigger_touched: bool | None
    parent_id: str | None
    last_update_timestamp_ns: int
    is_immediate_or_cancel: bool
    is_fill_or_kill: bool
    is_liquidation: bool
    is_auto_deleverage: bool
    is_reduce_only: bool = False
    trigger_enabled_quantity: Decimal | None
    # Sub-account index.
    account_index: int
    is_spot: bool
    authorization_revision: int | None
    # The quote set that the order is an entry of; only there for entries.
    quote_set_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOrderPage:
    """A page; the first is 0."""

    orders: tuple[UserOrderRecord, ...]
    # Rows on all pages.
    total_orders: int
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTrade:
    """One side of a trade. `Pending` at its match, then `Confirmed` once durable, or `Rollbacked`."""

    asset_id: str
    trade_id: int
    order_id: str
    price: Decimal
    quantity: Decimal
    # Time of the match.
    timestamp_ns: int
    is_maker: bool
    is_buyer: bool
    status: Literal["Pending", "Confirmed", "Rollbacked"]
    rollback_reason: str | None
    is_liquidation: bool = False
    is_auto_deleverage: bool = False
    # Sub-account index.
    sub_account: int = 0
    # USD; negative is a rebate.
    trading_fee: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTradePage:
    """A page; the first is 0."""

    trades: tuple[UserTrade, ...]
    # Rows on all pages.
    total_trades: int
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A margin position with its two legs; `closed` while only a quote rest is left."""

    asset_id: str
    # The sub-account's.
    name: str
    # Sub-account index.
    sub_account_index: int
    side: Literal["long", "short", "closed"]
    size: Decimal
    base_credits: Decimal
    base_liabilities: Decimal
    quote_credits: Decimal
    quote_liabilities: Decimal
    entry_price: Decimal | None = None
    mark_price: Decimal | None = None
    unrealized_pnl: Decimal | None = None
    margin: Decimal | None = None
    leverage: Decimal | None = None
    liquidation_price: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionPage:
    """A page; the first is 0."""

    positions: tuple[Position, ...]
    # Rows on all pages.
    total_positions: int
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseAllPreviewOrder:
    asset_id: str
    side: Literal["Buy", "Sell"]
    # Raw book units.
    quantity: int
    suggested_max_sellable_amount: int | None
    oracle_price: Decimal
    book_price_decimals: int
    book_quantity_decimals: int
    # Sub-account index.
    sub_account_index: int
    reduce_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseAllPreview:
    """The market orders that would close every position of a sub-account; an asset without a price stands under
    `errors`.
    """

    orders: tuple[CloseAllPreviewOrder, ...]
    errors: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """A change of one balance."""

    # The number of the row among all of your rows in the row log, of which orders and fills are others.
    n: int
    # The journal record that decided it.
    sequence: int
    # The time of that record.
    timestamp_ns: int
    # Sub-account index.
    sub_account: int
    # The asset of the balance, `0` for USD; `token@chain` for a lot that is kept apart.
    asset: str
    # The market whose position has this leg; null for a spot balance.
    leg: str | None
    # Why it changed.
    kind: Literal["opening", "trade", "trading_fee", "fee_income", "deposit", "withdrawal", "rebalancing_fee", "forced_withdrawal", "settlement", "transfer", "position_closed", "faucet", "lot_pooled", "take_over", "backstop_credit", "backstop_return", "netting", "auto_deleverage", "backstop_close", "withdrawal_reversed", "settlement_reversed", "pool_fill"]
    # Signed.
    amount: Decimal
    # Locks included, signed.
    balance_after: Decimal
    # What it belongs to, of a trade the market and the trade id.
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPage:
    """Changes of your balances, newest first: the sum of the amounts of a balance is the balance."""

    ledger: tuple[LedgerRow, ...]
    limit: int
    has_next_page: bool
    # `before` of the next page, which may be empty; null at the oldest row.
    next_before: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryAccountMarginBase:
    credits: Decimal
    liabilities: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryAccountMarginQuote:
    credits: Decimal
    liabilities: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryAccountMargin:
    base: InventoryAccountMarginBase
    quote: InventoryAccountMarginQuote


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryAccount:
    kind: str
    name: str
    # Isolated accounts only.
    asset: str | None = None
    spot: dict[str, Decimal]
    margins: dict[str, InventoryAccountMargin]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What is owned and not locked, by sub-account; order holds do not reduce it."""

    # A market maker.
    is_mm: bool
    accounts: dict[int, InventoryAccount]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginAccountPosition:
    asset_id: str
    side: Literal["Long", "Short"]
    size: Decimal
    notional_value: Decimal
    # Its part of `mm_requirement`.
    margin: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginAccount:
    account_equity: Decimal
    available_margin: Decimal
    utilized_margin: Decimal
    maintenance_margin_surplus: Decimal
    account_leverage: Decimal | None
    is_solvent: bool
    is_liquidatable: bool
    im_surplus: Decimal
    unrealized_pnl: Decimal
    positions: tuple[MarginAccountPosition, ...] | None = None
    total_upnl: Decimal
    mm_requirement: Decimal | None
    net_apy: Decimal | None
    margin_calls: tuple[str, ...]
    netting: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginWarning:
    # Sub-account index.
    sub_account: int
    code: str
    message: str
    asset: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """The margin accounts: equity at mark, the surpluses at the worse of oracle and mark. `available_margin` is
    trading capacity.
    """

    accounts: dict[int, MarginAccount]
    warnings: tuple[MarginWarning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvencyAccount:
    is_solvent: bool
    distance_from_liquidation: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Solvency:
    """How far every margin account is from liquidation, in USD."""

    accounts: dict[str, SolvencyAccount]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationPosition:
    asset_id: str
    side: Literal["Long", "Short"]
    size: Decimal
    notional_value: Decimal
    margin: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The margin account as it would be after the trade, and whether the trade would be admitted."""

    account_equity: Decimal
    available_margin: Decimal
    mm_surplus: Decimal
    account_leverage: Decimal | None
    utilized_margin: Decimal
    margin_required: Decimal
    margin_impact: Decimal
    is_solvent: bool
    trade_accepted: bool
    liquidation_price: Decimal | None = None
    positions: tuple[SimulationPosition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextNonces:
    """The next number that no live row holds: the `nonce` that the next withdrawal, and the next settlement of a
    sub-account, may sign.
    """

    withdrawal: int
    settlements: dict[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """The sub-account with its new name."""

    # Sub-account index.
    sub_account_index: int
    name: str
    # Sub-account index.
    account_index: int
    # The name before, the given or the default one.
    old_name: str
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWithdrawalStatus1:
    type: Literal["queued", "filled", "executed", "expired", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWithdrawalStatus2ApprovalInner:
    nonce: int
    # 65 bytes in hex.
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWithdrawalStatus2Approval:
    inner: QueuedWithdrawalStatus2ApprovalInner
    # `validUntil` of the vault call, seconds.
    expiry: int
    epoch_hash: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWithdrawalStatus2:
    type: Literal["approved"]
    approvals: tuple[QueuedWithdrawalStatus2Approval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWithdrawal:
    tplus_user: str
    asset: str
    # Hex of 18-decimal units: `"10"` is sixteen; decimal where the node has `amount_text` `decimal`.
    amount: str
    nonce: int
    # 64 hex digits, an address of 20 bytes first.
    target: str
    status: QueuedWithdrawalStatus1 | QueuedWithdrawalStatus2
    requested_at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementApprovalInner:
    nonce: int
    # 65 bytes in hex.
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementApproval:
    inner: SettlementApprovalInner
    # `validUntil` of the vault call, seconds.
    expiry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """The book: best first, asks ascending, bids descending."""

    # [price, quantity], human units, best first.
    asks: tuple[tuple[Decimal, Decimal], ...]
    # [price, quantity], human units, best first.
    bids: tuple[tuple[Decimal, Decimal], ...]
    sequence_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kline:
    """One bucket of trading, a second unless an interval was given; volume in quote."""

    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal
    open_timestamp_ns: int
    close_timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KlinePage:
    """A page; the first is 0."""

    items: tuple[Kline, ...]
    page: int
    # As applied.
    limit: int
    total_pages: int
    # Rows on this page.
    cursor_size: int
    has_next_page: bool
    next_page: int | None
    # The width served, in seconds; only with an `interval`.
    interval_s: int | None = None
    # Rows that open before it are missing; null when nothing older was traded; only with an `interval`.
    truncated_before_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TradePending:
    """A match, not yet durable."""

    TAG: ClassVar[str] = "Pending"
    asset_id: str
    trade_id: int
    price: Decimal
    quantity: Decimal
    timestamp_ns: int
    buyer_is_maker: bool
    status: Literal["Pending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeConfirmed:
    """A confirmed trade."""

    TAG: ClassVar[str] = "Confirmed"
    asset_id: str
    trade_id: int
    price: Decimal
    quantity: Decimal
    timestamp_ns: int
    buyer_is_maker: bool
    status: Literal["Confirmed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeRollbacked:
    """A match undone."""

    TAG: ClassVar[str] = "Rollbacked"
    asset_id: str
    trade_id: int
    price: Decimal
    quantity: Decimal
    timestamp_ns: int
    buyer_is_maker: bool
    status: Literal["Rollbacked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickerBestBid:
    price: Decimal
    size: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TickerBestAsk:
    price: Decimal
    size: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TickerOpenInterest:
    long: Decimal
    short: Decimal
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticker:
    """The last 24 hours, rolling; figures are null while nothing was traded in them."""

    asset_id: str
    last_price: Decimal | None
    open: Decimal | None
    high: Decimal | None
    low: Decimal | None
    # Quote.
    volume: Decimal
    price_change: Decimal | None
    price_change_percent: Decimal | None
    timestamp_ns: int
    # Equals `volume`.
    volume_24h: Decimal
    high_24h: Decimal | None
    low_24h: Decimal | None
    price_change_24h: Decimal | None
    price_change_pct_24h: Decimal | None
    # The last trade, or the oracle price when that is older than a minute.
    mark_price: Decimal | None
    # The oracle price; null when older than two hours.
    index_price: Decimal | None
    best_bid: TickerBestBid | None
    best_ask: TickerBestAsk | None
    # Null for a market that never had a position.
    open_interest: TickerOpenInterest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInterest:
    """Credits and borrows of the asset over all margin positions, asset units; null for a market that never had
    one.
    """

    asset_id: str
    long: Decimal | None
    short: Decimal | None
    timestamp_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthFrameData:
    asks: tuple[tuple[Decimal | str, Decimal | str], ...]
    bids: tuple[tuple[Decimal | str, Decimal | str], ...]
    sequence_number: int
    # Snapshots only: another part follows.
    more: bool | None = None
    # CRC-32C of the best ten levels of each side.
    checksum: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthFrame:
    """A snapshot or an update of depth; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["depth"]
    asset_id: str
    sequence: int
    timestamp_ns: int
    data: DepthFrameData


@dataclass(frozen=True, slots=True, kw_only=True)
class BboFrameDataBid:
    price: Decimal
    size: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class BboFrameDataAsk:
    price: Decimal
    size: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class BboFrameData:
    bid: BboFrameDataBid | None
    ask: BboFrameDataAsk | None
    sequence_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BboFrame:
    """A snapshot or an update of bbo; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["bbo"]
    asset_id: str
    sequence: int
    timestamp_ns: int
    data: BboFrameData


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTrade:
    """A confirmed trade."""

    asset_id: str
    trade_id: int
    price: Decimal
    quantity: Decimal
    timestamp_ns: int
    buyer_is_maker: bool
    status: Literal["Confirmed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TradesFrameData:
    trades: tuple[PublicTrade, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TradesFrame:
    """A snapshot or an update of trades; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["trades"]
    asset_id: str
    sequence: int
    timestamp_ns: int
    data: TradesFrameData


@dataclass(frozen=True, slots=True, kw_only=True)
class KlinesFrameData:
    items: tuple[Kline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KlinesFrame:
    """A snapshot or an update of klines; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["klines"]
    asset_id: str
    interval_s: int
    sequence: int
    timestamp_ns: int
    data: KlinesFrameData


@dataclass(frozen=True, slots=True, kw_only=True)
class TickerFrame:
    """A snapshot or an update of ticker; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["ticker"]
    asset_id: str
    sequence: int
    timestamp_ns: int
    data: Ticker


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesFrameData:
    mark_price: Decimal | None
    mark_source: Literal["trade", "oracle"] | None
    mark_timestamp_ns: int | None
    oracle_price: Decimal | None
    oracle_timestamp_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesFrame:
    """A snapshot or an update of prices; `sequence` counts the frames of the subscription."""

    type: Literal["snapshot", "update"]
    channel: Literal["prices"]
    asset_id: str
    sequence: int
    timestamp_ns: int
    data: PricesFrameData


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInForceGTC:
    TAG: ClassVar[str] = "GTC"
    post_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInForceGTD:
    TAG: ClassVar[str] = "GTD"
    post_only: bool
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInForceIOC:
    TAG: ClassVar[str] = "IOC"
    fill_or_kill: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDetailsLimit:
    TAG: ClassVar[str] = "Limit"
    limit_price: int
    quantity: int
    time_in_force: TimeInForceGTC | TimeInForceGTD | TimeInForceIOC


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDetailsMarketQuantityBaseAsset:
    TAG: ClassVar[str] = "BaseAsset"
    quantity: int
    max_sellable_amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDetailsMarketQuantityQuoteAsset:
    TAG: ClassVar[str] = "QuoteAsset"
    # USD as an integer of scale 10^-book_quantity_decimals.
    quantity: int
    max_sellable_quantity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDetailsMarket:
    TAG: ClassVar[str] = "Market"
    quantity: OrderDetailsMarketQuantityBaseAsset | OrderDetailsMarketQuantityQuoteAsset
    fill_or_kill: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerConditionPriceAbove:
    TAG: ClassVar[str] = "PriceAbove"
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerConditionPriceBelow:
    TAG: ClassVar[str] = "PriceBelow"
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Releases the order when its condition holds; with a parent also as the parent fills."""

    parent_order_id: str | None = None
    condition: TriggerConditionPriceAbove | TriggerConditionPriceBelow


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTarget:
    # Sub-account index.
    account: int
    # True moves balances, false a margin position.
    is_spot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The signed object of a create. Canonical bytes: compact JSON, members in this order, unset ones null."""

    signer: str
    order_id: str
    base_asset: str
    # The market's own.
    book_price_decimals: int
    # The market's own.
    book_quantity_decimals: int
    details: OrderDetailsLimit | OrderDetailsMarket
    side: Literal["Buy", "Sell"]
    trigger: Trigger | None = None
    creation_timestamp_ns: int
    target: OrderTarget
    reduce_only: bool
    # The most you pay, 1e-6 of notional; must cover the market’s rate.
    max_trading_fees_rate: int
    # Always 1.
    protocol_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCreated:
    TAG: ClassVar[str] = "Created"
    # As it was signed.
    user_order: Order
    signature: tuple[int, ...]
    book_timestamp_ns: int
    limit_overrides: None
    limit_overrides_signature: None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReplaced:
    TAG: ClassVar[str] = "Replaced"
    order_id: str
    asset_id: str
    user_id: str
    new_quantity: int
    new_price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderAmended:
    TAG: ClassVar[str] = "Amended"
    order_id: str
    asset_id: str
    user_id: str
    new_quantity: int
    # The total less what is filled, pending fills included.
    remaining_quantity: int
    # `timestamp_ns` of the amend; what the next one is to expect.
    authorization_revision: int
    book_quantity_decimals: int
    timestamp_ns: int
    operator_pubkey: None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTriggered:
    TAG: ClassVar[str] = "Triggered"
    order_id: str
    asset_id: str
    user_id: str
    timestamp_ns: int
    trigger_price: int
    # What this release activates.
    quantity: int | None = None
    trigger_touched: Literal[True]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProtectionTriggered:
    TAG: ClassVar[str] = "ProtectionTriggered"
    # The protection group whose orders were taken off the book; each gets its `Canceled`.
    group: str
    asset_id: str
    user_id: str
    limit: Literal["max_fills", "max_quantity", "max_notional"]
    frozen_until_ns: int | None
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCanceled:
    TAG: ClassVar[str] = "Canceled"
    order_id: str
    asset_id: str
    user_id: str
    timestamp_ns: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRemoved:
    TAG: ClassVar[str] = "Removed"
    order_id: str
    asset_id: str
    user_id: str
    timestamp_ns: int
    operator_pubkey: str | None
    # One of Filled, Expired, ImmediateOrCancel, FillOrKill, RolledBack.
    reason: str
    filled_quantity: int = 0
    confirmed_quantity: int = 0
    # USD as an integer of scale 10^-book_quantity_decimals, floored.
    filled_amount: int
    confirmed_amount: int
    book_quantity_decimals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCreateFailed:
    TAG: ClassVar[str] = "CreateFailed"
    order_id: str
    user_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReplaceFailed:
    TAG: ClassVar[str] = "ReplaceFailed"
    order_id: str
    user_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelFailed:
    TAG: ClassVar[str] = "CancelFailed"
    order_id: str
    user_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderAmendFailed:
    TAG: ClassVar[str] = "AmendFailed"
    order_id: str
    user_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSetApplied:
    TAG: ClassVar[str] = "QuoteSetApplied"
    set_id: str
    asset_id: str
    user_id: str
    revision: int
    created: int
    changed: int
    cancelled: int
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSetEnded:
    TAG: ClassVar[str] = "QuoteSetEnded"
    set_id: str
    asset_id: str
    user_id: str
    # One of UserRequested, SelfTradePrevented, AutoReduced, Liquidation, PostOnlyWouldCross, MarginInsufficient,
    # ReduceOnly, ParentCanceled, RollbackRestoreWouldCross, RateLimited, MarketMakerProtection; of an order that
    # was at fault in a rollback the word of the rollback: InsufficientMargin, InsufficientInventory,
    # PricingFailure, ProtocolCapBreach, InvalidSignature, InvalidOrder, Overfill, StaleMatch, ReduceOnlyViolation,
    # CounterpartyAtFault.
    reason: str
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDepositLanded:
    TAG: ClassVar[str] = "DepositLanded"
    user: str
    asset: str
    # 18-decimal units, 0x hex.
    amount: int
    chain_id: str
    deposit_nonce: int
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountWithdrawalCompleted:
    TAG: ClassVar[str] = "WithdrawalCompleted"
    user: str
    asset: str
    # 18-decimal units, 0x hex.
    amount: int
    chain_id: str
    withdrawal_nonce: int
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPositionCleared:
    TAG: ClassVar[str] = "PositionCleared"
    user: str
    asset: str
    # Sub-account index.
    sub_account_index: int
    timestamp_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSubAccountAssetTransferred:
    TAG: ClassVar[str] = "SubAccountAssetTransferred"
    user: str
    asset: str
    # 18-decimal units, 0x hex.
    amount: int
    # Sub-account index.
    source_sub_account_index: int
    # Sub-account index.
    target_sub_account_index: int
    timestamp_ns: int


ActionResult = (
    ActionResult1
    | ActionResult2
)


TradeEvent = (
    TradePending
    | TradeConfirmed
    | TradeRollbacked
)


OrderEvent = (
    OrderCreated
    | OrderReplaced
    | OrderAmended
    | OrderTriggered
    | OrderProtectionTriggered
    | OrderCanceled
    | OrderRemoved
    | OrderCreateFailed
    | OrderReplaceFailed
    | OrderCancelFailed
    | OrderAmendFailed
)


QuoteSetEvent = (
    QuoteSetApplied
    | QuoteSetEnded
)


AccountEvent = (
    AccountDepositLanded
    | AccountWithdrawalCompleted
    | AccountPositionCleared
    | AccountSubAccountAssetTransferred
)
