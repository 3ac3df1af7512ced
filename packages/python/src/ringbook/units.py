"""Exact numbers: human decimals and the raw integers of a book, ticks and lots.

A figure is given as a text, an int or a Decimal. Floats are refused: 0.1 is not one tenth. Nothing here rounds but the
functions that say so by their names, and none of them depends on the decimal context of the caller.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeAlias

from .errors import invalid_argument
from .replies import Market

Number: TypeAlias = "Decimal | int | str"

_FORM = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_DIGITS_MAX = 100
_RAW_MAX = 2**53 - 1


def decimal_of(value: Number, field: str) -> Decimal:
    """The exact value. Raises RingbookError INVALID_ARGUMENT with the field."""
    if isinstance(value, str):
        if len(value) > _DIGITS_MAX or _FORM.fullmatch(value) is None:
            raise invalid_argument(f"{field}: {value[:_DIGITS_MAX]!r} is no plain decimal", field)
        return Decimal(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Decimal) and value.is_finite():
        return value
    raise invalid_argument(f"{field}: {value!r} is not exact; give a text, an int or a Decimal", field)


def scaled(value: Decimal, decimals: int) -> tuple[int, int]:
    """`value` × 10^decimals as a fraction: numerator and denominator, a power of ten."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    if not -_DIGITS_MAX <= exponent <= _DIGITS_MAX:
        raise invalid_argument(f"{value} is out of range")
    whole = int("".join(map(str, digits)))
    shift = exponent + decimals
    whole = -whole if sign else whole
    return (whole * 10**shift, 1) if shift >= 0 else (whole, 10**-shift)


def to_raw(value: Number, decimals: int, field: str) -> int:
    """A raw integer of the book, exactly. Raises RingbookError INVALID_ARGUMENT with the field."""
    numerator, denominator = scaled(decimal_of(value, field), decimals)
    raw, rest = divmod(numerator, denominator)
    if rest != 0:
        raise invalid_argument(f"{field}: {value} has more than {decimals} decimals", field)
    if not 1 <= raw <= _RAW_MAX:
        raise invalid_argument(f"{field}: {value} is not between 1 and 2^53-1 raw units", field)
    return raw


def from_raw(raw: int, decimals: int) -> Decimal:
    """The human decimal of a raw integer, exactly."""
    return Decimal((int(raw < 0), tuple(int(digit) for digit in str(abs(raw))), -decimals))


def plain(value: Decimal) -> str:
    """The shortest exact form without an exponent, as in checksums and on the wire."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def step_down(value: Number, step: Decimal, field: str = "value") -> Decimal:
    """The highest multiple of `step` that is not above the value."""
    return _stepped(decimal_of(value, field), step, up=False)


def step_up(value: Number, step: Decimal, field: str = "value") -> Decimal:
    """The lowest multiple of `step` that is not below the value."""
    return _stepped(decimal_of(value, field), step, up=True)


def _stepped(value: Decimal, step: Decimal, *, up: bool) -> Decimal:
    if step <= 0:
        raise invalid_argument(f"a step is above 0, not {step}", "step")
    exponent = step.as_tuple().exponent
    assert isinstance(exponent, int)
    decimals = max(0, -exponent)
    numerator, denominator = scaled(value, decimals)
    unit, _ = scaled(step, decimals)
    count = -(-numerator // (denominator * unit)) if up else numerator // (denominator * unit)
    return from_raw(count * unit, decimals)


def lot_of(market: Market) -> Decimal:
    """The step of quantities: one raw unit."""
    return from_raw(1, market.book_quantity_decimals)


def price_down(market: Market, price: Number) -> Decimal:
    """The highest price on a tick that is not above this one: for a bid."""
    return step_down(price, market.tick_size, "price")


def price_up(market: Market, price: Number) -> Decimal:
    """The lowest price on a tick that is not below this one: for an ask."""
    return step_up(price, market.tick_size, "price")


def quantity_down(market: Market, quantity: Number) -> Decimal:
    """The highest quantity of whole lots that is not above this one; 0 where that is below the minimum of an order."""
    whole = step_down(quantity, lot_of(market), "quantity")
    return whole if whole >= market.min_order_size else Decimal(0)


def raw_price(market: Market, price: Number) -> int:
    """The raw integer of a price. Raises RingbookError INVALID_ARGUMENT where it is not on a tick."""
    raw = to_raw(price, market.book_price_decimals, "price")
    tick, rest = scaled(market.tick_size, market.book_price_decimals)
    if rest == 1 and tick > 0 and raw % tick != 0:
        raise invalid_argument(f"price: {price} is not a multiple of the tick {plain(market.tick_size)}", "price")
    return raw


def raw_quantity(market: Market, quantity: Number) -> int:
    """The raw integer of a quantity. Raises RingbookError INVALID_ARGUMENT where it is no whole number of lots."""
    return to_raw(quantity, market.book_quantity_decimals, "quantity")
