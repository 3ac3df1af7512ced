# Generated from src/codec/shapes by `npm run generate`. Do not edit.
"""What is signed, by its members on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class TimeInForceGTCGTC(TypedDict):
    post_only: bool


class TimeInForceGTC(TypedDict):
    GTC: TimeInForceGTCGTC


class TimeInForceGTDGTD(TypedDict):
    post_only: bool
    timestamp_ns: int


class TimeInForceGTD(TypedDict):
    GTD: TimeInForceGTDGTD


class TimeInForceIOCIOC(TypedDict):
    fill_or_kill: bool


class TimeInForceIOC(TypedDict):
    IOC: TimeInForceIOCIOC


class OrderDetailsLimitLimit(TypedDict):
    limit_price: int
    quantity: int
    time_in_force: TimeInForceGTC | TimeInForceGTD | TimeInForceIOC


class OrderDetailsLimit(TypedDict):
    Limit: OrderDetailsLimitLimit


class OrderDetailsMarketMarketQuantityBaseAssetBaseAsset(TypedDict):
    quantity: int
    max_sellable_amount: NotRequired[int | None]


class OrderDetailsMarketMarketQuantityBaseAsset(TypedDict):
    BaseAsset: OrderDetailsMarketMarketQuantityBaseAssetBaseAsset


class OrderDetailsMarketMarketQuantityQuoteAssetQuoteAsset(TypedDict):
    # USD as an integer of scale 10^-book_quantity_decimals.
    quantity: int
    max_sellable_quantity: NotRequired[int | None]


class OrderDetailsMarketMarketQuantityQuoteAsset(TypedDict):
    QuoteAsset: OrderDetailsMarketMarketQuantityQuoteAssetQuoteAsset


class OrderDetailsMarketMarket(TypedDict):
    quantity: OrderDetailsMarketMarketQuantityBaseAsset | OrderDetailsMarketMarketQuantityQuoteAsset
    fill_or_kill: bool


class OrderDetailsMarket(TypedDict):
    Market: OrderDetailsMarketMarket


class TriggerConditionPriceAbovePriceAbove(TypedDict):
    price: int


class TriggerConditionPriceAbove(TypedDict):
    PriceAbove: TriggerConditionPriceAbovePriceAbove


class TriggerConditionPriceBelowPriceBelow(TypedDict):
    price: int


class TriggerConditionPriceBelow(TypedDict):
    PriceBelow: TriggerConditionPriceBelowPriceBelow


class Trigger(TypedDict):
    """Releases the order when its condition holds; with a parent also as the parent fills."""

    parent_order_id: NotRequired[str | None]
    condition: TriggerConditionPriceAbove | TriggerConditionPriceBelow


class OrderTarget(TypedDict):
    # Sub-account index.
    account: int
    # True moves balances, false a margin position.
    is_spot: bool


class Order(TypedDict):
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
    trigger: NotRequired[Trigger | None]
    creation_timestamp_ns: int
    target: OrderTarget
    reduce_only: bool
    # The most you pay, 1e-6 of notional; must cover the market’s rate.
    max_trading_fees_rate: int
    # Always 1.
    protocol_version: int


class ReplaceNewTriggerPriceAbovePriceAbove(TypedDict):
    price: int


class ReplaceNewTriggerPriceAbove(TypedDict):
    PriceAbove: ReplaceNewTriggerPriceAbovePriceAbove


class ReplaceNewTriggerPriceBelowPriceBelow(TypedDict):
    price: int


class ReplaceNewTriggerPriceBelow(TypedDict):
    PriceBelow: ReplaceNewTriggerPriceBelowPriceBelow


class Replace(TypedDict):
    """The signed object of a replace; null leaves a member unchanged. Quantity decimals stand before price
    decimals.
    """

    order_id: str
    # A replace older than the last one applied is refused.
    timestamp_ns: int
    new_price_limit: NotRequired[int | None]
    new_quantity: NotRequired[int | None]
    new_trigger: NotRequired[ReplaceNewTriggerPriceAbove | ReplaceNewTriggerPriceBelow | Trigger | None]
    book_quantity_decimals: int
    book_price_decimals: int
    # Always 1.
    protocol_version: int


class CompleteReplaceNewTriggerPriceAbovePriceAbove(TypedDict):
    price: int


class CompleteReplaceNewTriggerPriceAbove(TypedDict):
    PriceAbove: CompleteReplaceNewTriggerPriceAbovePriceAbove


class CompleteReplaceNewTriggerPriceBelowPriceBelow(TypedDict):
    price: int


class CompleteReplaceNewTriggerPriceBelow(TypedDict):
    PriceBelow: CompleteReplaceNewTriggerPriceBelowPriceBelow


class CompleteReplace(TypedDict):
    """The signed object of a replace with complete terms, its market among them; no trigger: the order has none."""

    order_id: str
    base_asset: str
    # A replace older than the last one applied is refused.
    timestamp_ns: int
    new_price_limit: int
    # The new total, the filled part included.
    new_quantity: int
    new_trigger: NotRequired[CompleteReplaceNewTriggerPriceAbove | CompleteReplaceNewTriggerPriceBelow | None]
    book_quantity_decimals: int
    book_price_decimals: int
    # Always 1.
    protocol_version: NotRequired[int | None]


class Cancel(TypedDict):
    """The signed object of a cancel."""

    order_id: str
    asset_id: str
    signer: str
    # Always 1.
    protocol_version: int


class Amend(TypedDict):
    order_id: str
    base_asset: str
    # The new total, the filled part included; below the total in force.
    new_quantity: int
    # The market's own.
    book_quantity_decimals: int
    expected_authorization_revision: NotRequired[int | None]
    # Above the revision, at most 60 s old; becomes the revision.
    timestamp_ns: int
    source: NotRequired[Literal["User"] | None]


class QuoteSetTarget(TypedDict):
    # Sub-account index.
    account: int
    # True moves balances, false a margin position.
    is_spot: bool


class QuoteSet(TypedDict):
    """The signed object of a quote set: what shall rest in one market, in place of what the set has there. Both
    sides empty: the set ends.
    """

    signer: str
    # 1 to 40 of A-Z a-z 0-9 + / = _ - . and not sys-…; its entries are the orders <set_id>:<n>.
    set_id: str
    base_asset: str
    # The market's own.
    book_price_decimals: int
    # The market's own.
    book_quantity_decimals: int
    # Above that of the set before; at most 60 s old, 5 s ahead.
    revision: int
    # `[price, quantity]` each, raw; the best price first, no price twice. The quantity is what shall rest.
    bids: Sequence[Sequence[int]]
    # `[price, quantity]` each, raw; the best price first, no price twice. The quantity is what shall rest.
    asks: Sequence[Sequence[int]]
    target: QuoteSetTarget
    # The most you pay, 1e-6 of notional; must cover the market’s rate.
    max_trading_fees_rate: int
    protection_group: NotRequired[str | None]
    good_until_timestamp_ns: NotRequired[int | None]
    # Always 1.
    protocol_version: int


class TransferTargetAccountTypeSpot(TypedDict):
    Spot: None


class TransferTargetAccountTypeCrossMargin(TypedDict):
    CrossMargin: None


class TransferTargetAccountTypeIsolatedIsolated(TypedDict):
    asset: str


class TransferTargetAccountTypeIsolated(TypedDict):
    Isolated: TransferTargetAccountTypeIsolatedIsolated


class Transfer(TypedDict):
    """The signed object of a transfer. A target that does not exist is created with the kind
    `target_account_type`, else null.
    """

    user: str
    # Sub-account index.
    source_index: int
    # Sub-account index.
    target_index: int
    transfer_asset: str
    # Integer of 18-decimal units, as a string.
    transfer_amount: str
    target_account_type: NotRequired[Literal["Spot", "CrossMargin"] | TransferTargetAccountTypeSpot | TransferTargetAccountTypeCrossMargin | TransferTargetAccountTypeIsolated | None]
    # Strictly growing per user and kind of action; the SDK uses milliseconds.
    nonce: int


class ClosePosition(TypedDict):
    """The signed object of a close-position: folds what is left of a flat position into the spot balance."""

    user: str
    # Sub-account index.
    account: int
    asset_identifier: str
    # Strictly growing per user and kind of action; the SDK uses milliseconds.
    nonce: int


class Withdrawal(TypedDict):
    """The signed object of a withdrawal from account 0. Without a nonce the smallest one that is free; it signs
    as null.
    """

    tplus_user: str
    # `<token>@<chain id>`: an index names no token.
    asset: str
    # Hex of 18-decimal units: `"10"` is sixteen; decimal where the node has `amount_text` `decimal`.
    amount: str
    nonce: NotRequired[int | None]
    # Who is paid; not the zero address, a vault or a token of the exchange.
    target: str
    # Tells the request from an equal one: a signed text is accepted once. Signed, the last member.
    request_id: NotRequired[str | None]


class WithdrawalCancel(TypedDict):
    """The signed object of a withdrawal cancel."""

    tplus_user: str
    # `<token>@<chain id>`: an index names no token.
    asset_address: str
    nonce: int
    # Of the row in the queue: that row and no later one with its nonce. Signed, the last member.
    requested_at_ns: NotRequired[int | None]


class Settlement(TypedDict):
    """The signed object of a settlement, in this order. `asset_in` enters the vault, `asset_out` leaves it."""

    tplus_user: str
    # Sub-account index.
    sub_account_index: int
    settler: NotRequired[str | None]
    # Margin settles in a margin account.
    mode: NotRequired[Literal["margin", "spot"] | None]
    # 64 hex digits, an address of 20 bytes first.
    asset_in: str
    # Hex of 18-decimal units: `"10"` is sixteen; decimal where the node has `amount_text` `decimal`.
    amount_in: str
    # 64 hex digits, an address of 20 bytes first.
    asset_out: str
    # Locked in the sub-account, and bound in the vault, until the settlement ends.
    amount_out: str
    # Chain id, 18 hex digits.
    chain_id: str
    nonce: NotRequired[int | None]
    expires_at: NotRequired[int | None]
    mm_pubkey: NotRequired[str | None]
    vault: NotRequired[str | None]
    # Tells the request from an equal one: a signed text is accepted once. Signed, the last member.
    request_id: NotRequired[str | None]


class MakerOrder(TypedDict):
    mm_pubkey: str
    settler: str
    expires_at: int
