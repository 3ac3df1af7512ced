"""Actions on orders: built of exact figures, signed once, and sent in any form: REST, `/control` in JSON or FlatBuffers.

A SignedAction holds the request of the contract (wire.md 7.4 to 7.6, wire-additions.md 3 and 4). What is signed is the
canonical text of one of its members.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .canonical import canonical_text
from .errors import RingbookError, invalid_argument
from .keys import Key
from .replies import Market
from .units import Number, raw_price, raw_quantity, to_raw

Side = Literal["Buy", "Sell"]
TimeInForce = Literal["GTC", "GTD", "IOC", "FOK"]
Kind = Literal["create", "replace", "cancel", "amend", "quotes"]

_FEE_RATE_MAX = 4_294_967_295


class CoSigner(Protocol):
    """One more key of the account that signs every action (wire.md 4.4)."""

    @property
    def signer(self) -> Mapping[str, list[int]]:
        """As on the wire: `{"Secp256k1": [33 integers]}`."""

    def sign(self, text: bytes) -> bytes: ...


@dataclass(frozen=True)
class Route:
    """Where an action goes: over REST, as a tag of `/control`, as a table of FlatBuffers."""

    method: str
    path: str
    tag: str
    table: str
    # The member that holds what is signed.
    member: str


ROUTES: Mapping[Kind, Route] = {
    "create": Route("POST", "/orders/create", "CreateOrder", "Create", "order"),
    "replace": Route("PATCH", "/orders/replace", "ReplaceOrder", "Replace", "request"),
    "cancel": Route("DELETE", "/orders/cancel", "CancelOrder", "Cancel", "cancel"),
    "amend": Route("PATCH", "/orders/amend", "AmendOrder", "Amend", "request"),
    "quotes": Route("PUT", "/orders/quotes", "QuoteSet", "QuoteSet", "quotes"),
}


@dataclass(frozen=True)
class SignedAction:
    """A request that can be sent once, or again byte for byte."""

    kind: Kind
    # As in the request.
    asset_id: str
    order_id: str
    request: Mapping[str, Any]

    @property
    def body(self) -> str:
        """The request as JSON."""
        return json.dumps(self.request, separators=(",", ":"))


@dataclass(frozen=True)
class SignedQuotes(SignedAction):
    """A quote set; `order_id` is its `set_id`."""


def now_ns() -> int:
    """The clock of signed times."""
    return time.time_ns()


def random_order_id() -> str:
    """24 characters of 16 random bytes."""
    return base64.urlsafe_b64encode(os.urandom(16)).decode()


def signing(key: Key | None, co_signers: tuple[CoSigner, ...], text: bytes) -> dict[str, Any]:
    """The members `signature` and `additional_signers` of a request over a text."""
    signed: dict[str, Any] = {"signature": [] if key is None else list(key.sign(text))}
    if co_signers:
        signed["additional_signers"] = [{"signer": one.signer, "signature": list(one.sign(text))} for one in co_signers]
    return signed


class Signer:
    """Signs the actions of one account."""

    def __init__(self, user_id: str, key: Key | None, co_signers: tuple[CoSigner, ...] = ()) -> None:
        self.user_id = user_id
        self.key = key
        self.co_signers = co_signers
        self._last_ns = 0

    def time_ns(self) -> int:
        """Nanoseconds, above those of every call before: revisions grow."""
        self._last_ns = max(now_ns(), self._last_ns + 1)
        return self._last_ns

    def signed(self, shape: str, member: str, content: Mapping[str, Any], **beside: object) -> dict[str, Any]:
        """A request whose `member` is signed. Raises RingbookError INVALID_ARGUMENT where it does not fit its shape."""
        text = canonical_text(shape, content)
        return {
            member: content,
            **beside,
            **signing(self.key, self.co_signers, text.encode("ascii")),
            "post_sign_timestamp": self.time_ns(),
        }

    def create(self, order: Mapping[str, Any], protection_group: str | None = None) -> SignedAction:
        """An order of the contract (`requests.Order`), and the group that protects it, which is not signed."""
        request = self.signed("Order", "order", order)
        if protection_group is not None:
            request["protection_group"] = protection_group
        return SignedAction("create", order["base_asset"], order["order_id"], request)

    def replace(self, terms: Mapping[str, Any], asset_id: str) -> SignedAction:
        """Changed terms of an order: complete ones (`requests.CompleteReplace`) name their market."""
        order_id = terms["order_id"]
        if "base_asset" in terms:
            request = self.signed("CompleteReplace", "request", terms, signer=self.user_id)
            return SignedAction("replace", terms["base_asset"], order_id, request)
        request = self.signed("Replace", "request", terms, signer=self.user_id, asset_id=asset_id)
        return SignedAction("replace", asset_id, order_id, request)

    def cancel(self, asset_id: str, order_id: str) -> SignedAction:
        content = {"order_id": order_id, "asset_id": asset_id, "signer": self.user_id, "protocol_version": 1}
        return SignedAction("cancel", asset_id, order_id, self.signed("Cancel", "cancel", content))

    def quotes(self, quotes: Mapping[str, Any]) -> SignedQuotes:
        """A quote set (`requests.QuoteSet`)."""
        request = self.signed("QuoteSet", "quotes", quotes)
        return SignedQuotes("quotes", quotes["base_asset"], quotes["set_id"], request)

    def amend(self, terms: Mapping[str, Any]) -> SignedAction:
        """A lower total (`requests.Amend`); nothing is signed."""
        canonical_text("Amend", terms)
        request = {"request": terms, "user_id": self.user_id}
        return SignedAction("amend", terms["base_asset"], terms["order_id"], request)


def fee_limit(market: Market, *, lasting: bool) -> int:
    """The limit of fees that is signed where none is given, 1e-6 of the notional (MON-15).

    What takes at once: the market's rate of a taker; what may rest or waits for a trigger: twice that, as rates may rise
    before it is filled.
    """
    limit = max(2 * market.taker_fee_rate, market.maker_fee_rate) if lasting else market.taker_fee_rate
    return min(_FEE_RATE_MAX, max(0, limit))


@dataclass(frozen=True)
class Trigger:
    """The condition that releases an order: a confirmed trade at the price or beyond it."""

    when: Literal["above", "below"]
    price: Number
    parent_order_id: str | None = None

    def condition(self, market: Market) -> dict[str, Any]:
        """The bare condition, as a replace signs it."""
        if self.when not in ("above", "below"):
            raise invalid_argument('`when` is "above" or "below"', "trigger")
        tag = "PriceAbove" if self.when == "above" else "PriceBelow"
        return {tag: {"price": raw_price(market, self.price)}}

    def of_order(self, market: Market) -> dict[str, Any]:
        return {"parent_order_id": self.parent_order_id, "condition": self.condition(market)}


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What limit and market orders have in common.

    `account` and `spot` say which of the user's sub-accounts trades, and whether it moves balances or a margin position.
    """

    order_id: str | None = None
    account: int = 1
    spot: bool = True
    reduce_only: bool = False
    trigger: Trigger | None = None
    # 1e-6 of the notional; by default that of `fee_limit`.
    max_trading_fees_rate: int | None = None
    # The group of the user in this market that protects the order; not signed.
    protection_group: str | None = None


def limit_order(
    signer: Signer,
    market: Market,
    side: Side,
    *,
    price: Number,
    quantity: Number,
    time_in_force: TimeInForce = "GTC",
    post_only: bool = False,
    good_until_ns: int | None = None,
    terms: Terms | None = None,
) -> SignedAction:
    """A limit order. Raises RingbookError INVALID_ARGUMENT where a figure is not exact."""
    if (time_in_force == "GTD") != (good_until_ns is not None):
        raise invalid_argument("GTD, and no other time in force, has `good_until_ns`", "good_until_ns")
    if post_only and time_in_force not in ("GTC", "GTD"):
        raise invalid_argument("only GTC and GTD orders can be post-only", "post_only")
    lasting: dict[TimeInForce, dict[str, Any]] = {
        "GTC": {"GTC": {"post_only": post_only}},
        "GTD": {"GTD": {"post_only": post_only, "timestamp_ns": good_until_ns}},
        "IOC": {"IOC": {"fill_or_kill": False}},
        "FOK": {"IOC": {"fill_or_kill": True}},
    }
    if time_in_force not in lasting:
        raise invalid_argument(f"a time in force is one of {', '.join(lasting)}", "time_in_force")
    details = {
        "limit_price": raw_price(market, price),
        "quantity": raw_quantity(market, quantity),
        "time_in_force": lasting[time_in_force],
    }
    is_lasting = time_in_force in ("GTC", "GTD")
    terms = terms or Terms()
    order = _order(signer, market, side, {"Limit": details}, terms, lasting=is_lasting)
    return signer.create(order, terms.protection_group)


def market_order(
    signer: Signer,
    market: Market,
    side: Side,
    *,
    quantity: Number | None = None,
    amount: Number | None = None,
    max_amount: Number | None = None,
    max_quantity: Number | None = None,
    fill_or_kill: bool = False,
    terms: Terms | None = None,
) -> SignedAction:
    """A market order of a quantity of the asset (at most for `max_amount` USD) or of an amount of USD."""
    if (quantity is None) == (amount is None):
        raise invalid_argument("a market order has a quantity or an amount", "quantity")
    if max_amount is not None and quantity is None:
        raise invalid_argument("`max_amount` limits an order of a quantity", "max_amount")
    if max_quantity is not None and amount is None:
        raise invalid_argument("`max_quantity` limits an order of an amount", "max_quantity")
    # Quote integers have the scale of quantities (G16).
    decimals = market.book_quantity_decimals
    size: dict[str, Any]
    if quantity is not None:
        cap = None if max_amount is None else to_raw(max_amount, decimals, "max_amount")
        size = {"BaseAsset": {"quantity": raw_quantity(market, quantity), "max_sellable_amount": cap}}
    else:
        assert amount is not None
        cap = None if max_quantity is None else raw_quantity(market, max_quantity)
        size = {"QuoteAsset": {"quantity": to_raw(amount, decimals, "amount"), "max_sellable_quantity": cap}}
    details = {"Market": {"quantity": size, "fill_or_kill": fill_or_kill}}
    terms = terms or Terms()
    return signer.create(_order(signer, market, side, details, terms, lasting=False), terms.protection_group)


def _order(
    signer: Signer, market: Market, side: Side, details: Mapping[str, Any], terms: Terms, *, lasting: bool
) -> dict[str, Any]:
    limit = terms.max_trading_fees_rate
    if limit is None:
        limit = fee_limit(market, lasting=lasting or terms.trigger is not None)
    return {
        "signer": signer.user_id,
        "order_id": terms.order_id if terms.order_id is not None else random_order_id(),
        "base_asset": market.asset_id,
        "book_price_decimals": market.book_price_decimals,
        "book_quantity_decimals": market.book_quantity_decimals,
        "details": details,
        "side": side,
        "trigger": None if terms.trigger is None else terms.trigger.of_order(market),
        "creation_timestamp_ns": signer.time_ns(),
        "target": {"account": terms.account, "is_spot": terms.spot},
        "reduce_only": terms.reduce_only,
        "max_trading_fees_rate": limit,
        "protocol_version": 1,
    }


def replace_order(
    signer: Signer,
    market: Market,
    order_id: str,
    *,
    price: Number | None = None,
    quantity: Number | None = None,
    trigger: Trigger | None = None,
    complete: bool = False,
) -> SignedAction:
    """Changed terms of an order; what is None stays. `quantity` is the new total, the filled part included.

    With `complete` the signature covers the market and both figures, and no trigger means that the order has none.
    """
    if complete and (price is None or quantity is None):
        missing = "price" if price is None else "quantity"
        raise invalid_argument(f"complete terms have a price and a quantity: {missing} is missing", missing)
    terms: dict[str, Any] = {"order_id": order_id}
    if complete:
        terms["base_asset"] = market.asset_id
    terms |= {
        "timestamp_ns": signer.time_ns(),
        "new_price_limit": None if price is None else raw_price(market, price),
        "new_quantity": None if quantity is None else raw_quantity(market, quantity),
        "new_trigger": None if trigger is None else trigger.condition(market),
        "book_quantity_decimals": market.book_quantity_decimals,
        "book_price_decimals": market.book_price_decimals,
        "protocol_version": 1,
    }
    return signer.replace(terms, market.asset_id)


def amend_order(
    signer: Signer, market: Market, order_id: str, *, quantity: Number, expected_revision_ns: int | None
) -> SignedAction:
    """A lower total of an order, refused unless the order has the revision: the time of its last replace or amend."""
    return signer.amend(
        {
            "order_id": order_id,
            "base_asset": market.asset_id,
            "new_quantity": raw_quantity(market, quantity),
            "book_quantity_decimals": market.book_quantity_decimals,
            "expected_authorization_revision": expected_revision_ns,
            "timestamp_ns": signer.time_ns(),
        }
    )


def quote_set(
    signer: Signer,
    market: Market,
    set_id: str,
    *,
    bids: Iterable[tuple[Number, Number]] = (),
    asks: Iterable[tuple[Number, Number]] = (),
    account: int = 1,
    spot: bool = True,
    max_trading_fees_rate: int | None = None,
    protection_group: str | None = None,
    good_until_ns: int | None = None,
) -> SignedQuotes:
    """What shall rest in a market under a name, in place of what does: one signature for up to 50 bids and 50 asks.

    Entries are (price, quantity) in any order; they are signed with the best price first. Without any the set ends.
    """
    sides = {
        "bids": _quotes(market, "bids", bids, descending=True),
        "asks": _quotes(market, "asks", asks, descending=False),
    }
    if sides["bids"] and sides["asks"] and sides["bids"][0][0] >= sides["asks"][0][0]:
        raise invalid_argument("bids: the best bid is not below the best ask", "bids")
    limit = fee_limit(market, lasting=True) if max_trading_fees_rate is None else max_trading_fees_rate
    return signer.quotes(
        {
            "signer": signer.user_id,
            "set_id": set_id,
            "base_asset": market.asset_id,
            "book_price_decimals": market.book_price_decimals,
            "book_quantity_decimals": market.book_quantity_decimals,
            "revision": signer.time_ns(),
            **sides,
            "target": {"account": account, "is_spot": spot},
            "max_trading_fees_rate": limit,
            "protection_group": protection_group,
            "good_until_timestamp_ns": good_until_ns,
            "protocol_version": 1,
        }
    )


def _quotes(
    market: Market, side: str, entries: Iterable[tuple[Number, Number]], *, descending: bool
) -> list[list[int]]:
    """Raw entries, the best price first. Raises RingbookError INVALID_ARGUMENT with the place of the entry at fault."""
    rows = []
    for index, (price, quantity) in enumerate(entries):
        try:
            rows.append([raw_price(market, price), raw_quantity(market, quantity)])
        except RingbookError as error:
            raise invalid_argument(f"{side}[{index}]: {error.message}", f"{side}[{index}].{error.field}") from error
    rows.sort(reverse=descending)
    twice = next((row for row, following in zip(rows, rows[1:], strict=False) if row[0] == following[0]), None)
    if twice is not None:
        raise invalid_argument(f"{side}: a price stands there twice", side)
    return rows
