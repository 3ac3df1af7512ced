"""JSON of the service as values: exact numbers, and dataclasses filled by their type hints.

Members that a class does not have are skipped, as a newer service may send more. A Decimal is read of a text or of a
JSON number, an int of an integer, a text of digits or of `0x` and hex.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Literal, TypeVar

from . import replies
from .errors import RingbookError, invalid_response

T = TypeVar("T")
_WHOLE = re.compile(r"-?[0-9]{1,100}|0x[0-9a-f]{1,100}")
_Read = Callable[[Any], Any]


class _MisfitError(Exception):
    """A value that does not fit; its message has the path."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def parse(text: str | bytes, what: str) -> Any:  # noqa: ANN401
    """JSON with exact numbers: fractions are Decimals. Raises RingbookError INVALID_RESPONSE."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise invalid_response(what, f"it is no JSON ({error})") from error


def read(cls: type[T], value: object, what: str = "reply") -> T:
    """A value of the class or of the type hint. Raises RingbookError INVALID_RESPONSE with the path of the member."""
    try:
        result: T = _reader(typing.cast("typing.Hashable", cls))(value)
    except _MisfitError as misfit:
        raise invalid_response(what, str(misfit)) from None
    return result


def read_event(union: object, value: object, what: str) -> Any:  # noqa: ANN401
    """A tagged event; None for a tag that this version does not have."""
    tags = {one.TAG for one in typing.get_args(union)}
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) not in tags:
        return None
    return read(typing.cast("type[Any]", union), value, what)


@cache
def _reader(hint: Any) -> _Read:  # noqa: ANN401
    if hint is Any:
        return lambda value: value
    if hint is Decimal:
        return _decimal
    if hint is int:
        return _int
    if hint is str or hint is bool or hint is type(None):
        return _exact(hint)
    if is_dataclass(hint):
        return _dataclass_reader(typing.cast("type[Any]", hint))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _one_of(frozenset(arguments))
    if origin is tuple:
        return _many(_reader(arguments[0])) if arguments[-1] is Ellipsis else _row([_reader(one) for one in arguments])
    if origin is dict:
        return _map(arguments[0], _reader(arguments[1]))
    if origin in (types.UnionType, typing.Union):
        return _any_of(arguments)
    raise TypeError(f"nothing is read as {hint}")


def _decimal(value: Any) -> Decimal:  # noqa: ANN401
    if isinstance(value, Decimal):
        return value
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        try:
            number = Decimal(value)
        except InvalidOperation:
            raise _MisfitError("a decimal is expected") from None
        if number.is_finite():
            return number
    raise _MisfitError("a decimal is expected")


def _int(value: Any) -> int:  # noqa: ANN401
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value) is not None:
        return int(value, 16) if value.startswith("0x") else int(value)
    raise _MisfitError("an integer is expected")


def _exact(kind: type[Any]) -> _Read:
    def read_exact(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, kind):
            raise _MisfitError(f"{kind.__name__} is expected")
        return value

    return read_exact


def _one_of(words: frozenset[Any]) -> _Read:
    def read_word(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, (str, int)) or value not in words:
            raise _MisfitError(f"one of {', '.join(map(str, words))} is expected")
        return value

    return read_word


def _many(item: _Read) -> _Read:
    def read_list(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
        if not isinstance(value, list):
            raise _MisfitError("a list is expected")
        return tuple(_at(f"[{index}]", item, one) for index, one in enumerate(value))

    return read_list


def _row(items: list[_Read]) -> _Read:
    def read_row(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
        if not isinstance(value, list) or len(value) != len(items):
            raise _MisfitError(f"a list of {len(items)} items is expected")
        return tuple(_at(f"[{index}]", item, value[index]) for index, item in enumerate(items))

    return read_row


def _map(key: type[Any], item: _Read) -> _Read:
    def read_map(value: Any) -> dict[Any, Any]:  # noqa: ANN401
        if not isinstance(value, dict):
            raise _MisfitError("an object is expected")
        return {(_int(name) if key is int else name): _at(f".{name}", item, one) for name, one in value.items()}

    return read_map


def _any_of(hints: tuple[Any, ...]) -> _Read:
    tagged = {one.TAG: _reader(one) for one in hints if hasattr(one, "TAG")}
    others = [_reader(one) for one in hints if not hasattr(one, "TAG")]

    def read_any(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, dict) and len(value) == 1:
            ((tag, content),) = value.items()
            if tag in tagged:
                return _at(f".{tag}", tagged[tag], content)
        fault = _MisfitError("an unknown tag")
        for one in others:
            try:
                return one(value)
            except _MisfitError as misfit:
                # That of the deepest alternative: a null fits no object, and says little.
                fault = misfit if len(str(misfit)) > len(str(fault)) else fault
        raise fault

    return read_any


def _dataclass_reader(cls: type[Any]) -> _Read:
    hints = typing.get_type_hints(cls, vars(replies) | {"ClassVar": typing.ClassVar})
    members = [
        (one.name, one.name.removesuffix("_"), _reader(hints[one.name]), one.default is MISSING) for one in fields(cls)
    ]

    def read_object(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            raise _MisfitError("an object is expected")
        given = {}
        for name, wire, one, is_required in members:
            if wire in value:
                given[name] = _at(f".{wire}", one, value[wire])
            elif is_required:
                raise _MisfitError(f".{wire} is missing")
        return cls(**given)

    return read_object


def _at(place: str, one: _Read, value: Any) -> Any:  # noqa: ANN401
    try:
        return one(value)
    except _MisfitError as misfit:
        text = str(misfit)
        raise _MisfitError(f"{place}{text}" if text.startswith((".", "[")) else f"{place}: {text}") from None


def checked(value: object, what: str) -> dict[str, Any]:
    """An object. Raises RingbookError INVALID_RESPONSE."""
    if isinstance(value, dict):
        return value
    raise invalid_response(what, "an object is expected")


__all__ = ["RingbookError", "checked", "parse", "read", "read_event"]
