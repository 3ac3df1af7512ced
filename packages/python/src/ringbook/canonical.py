"""The signed text of an action, derived from its shape (wire.md 4.1): compact JSON, members in the order of the shape.

An unset member with a default signs as that, one that may be null as null, and any other is left out, as is one with
`x-unset`. A value is checked against its shape: the error names the member at fault by its path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .contract import signed_shapes
from .errors import RingbookError, invalid_argument

# Visible ASCII without `"` and `\`: it needs no escape and has none of the bytes that are deleted before signing.
_SIGNED_STRING = re.compile(r"[!#-\[\]-~]*")

_Write = Callable[[object, str], str]
_Shape = Mapping[str, Any]


def canonical_text(name: str, value: Mapping[str, Any]) -> str:
    """The text of a signed object, by its name in requests.py.

    Raises RingbookError INVALID_ARGUMENT with the path of the member that does not fit.
    """
    return _writer_of(name)(value, "")


@cache
def _writer_of(name: str) -> _Write:
    return _writer(signed_shapes()[name])


def _writer(shape: _Shape) -> _Write:
    alternatives = shape.get("anyOf") or shape.get("oneOf")
    if alternatives is not None:
        return _union(alternatives)
    if "const" in shape:
        return _constant(shape["const"])
    kind = shape.get("type")
    if kind == "object":
        return _object(shape)
    if kind == "array":
        return _array(shape)
    if kind == "string":
        return _string(shape)
    if kind == "integer":
        return _integer(shape)
    if kind == "boolean":
        return _boolean
    if kind == "null":
        return _null
    raise AssertionError(f"nothing signed is a {kind}")


def _union(alternatives: Sequence[_Shape]) -> _Write:
    writers = [(one, _writer(one)) for one in alternatives]

    def write(value: object, path: str) -> str:
        fault: RingbookError | None = None
        for shape, one in writers:
            try:
                return one(value, path)
            except RingbookError as error:
                # The fault of the alternative that is meant: the one of the tag, or the one that is not null.
                if fault is None or _is_meant(shape, value):
                    fault = error
        assert fault is not None
        raise fault

    return write


def _is_meant(shape: _Shape, value: object) -> bool:
    members = shape.get("properties", {})
    return isinstance(value, Mapping) and bool(members) and all(name in value for name in shape.get("required", ()))


def _object(shape: _Shape) -> _Write:
    required = frozenset(shape.get("required", ()))
    properties: Mapping[str, _Shape] = shape["properties"]
    members = [
        (name, f"{json.dumps(name)}:", _writer(member), _unset(name, member, name in required))
        for name, member in properties.items()
    ]

    def write(value: object, path: str) -> str:
        if not isinstance(value, Mapping):
            raise invalid_argument(_about(path, "an object is expected"), path or None)
        unknown = next((name for name in value if name not in properties), None)
        if unknown is not None:
            raise invalid_argument(_about(_join(path, unknown), "there is no such member"), _join(path, unknown))
        parts = []
        for name, lead, one, unset in members:
            member = value.get(name)
            if member is None and unset is not None:
                if unset != "":
                    parts.append(unset)
            else:
                parts.append(lead + one(member, _join(path, name)))
        return "{" + ",".join(parts) + "}"

    return write


def _unset(name: str, member: _Shape, is_required: bool) -> str | None:
    """The text of an unset member; empty for one that is left out, None for one that must be set."""
    if is_required:
        return None
    if "default" in member:
        return f"{json.dumps(name)}:{_writer(member)(member['default'], name)}"
    if "x-unset" in member or not _may_be_null(member):
        return ""
    return f"{json.dumps(name)}:null"


def _may_be_null(shape: _Shape) -> bool:
    alternatives = shape.get("anyOf") or shape.get("oneOf")
    return shape.get("type") == "null" if alternatives is None else any(_may_be_null(one) for one in alternatives)


def _array(shape: _Shape) -> _Write:
    item = _writer(shape["items"])
    least, most = shape.get("minItems", 0), shape.get("maxItems")

    def write(value: object, path: str) -> str:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise invalid_argument(_about(path, "a list is expected"), path)
        if len(value) < least or (most is not None and len(value) > most):
            bound = f"{least} to {most}" if most is not None else f"at least {least}"
            raise invalid_argument(_about(path, f"a list of {bound} items is expected"), path)
        return "[" + ",".join(item(one, f"{path}[{index}]") for index, one in enumerate(value)) + "]"

    return write


def _string(shape: _Shape) -> _Write:
    words = shape.get("enum")
    pattern = re.compile(shape["pattern"]) if "pattern" in shape else None
    least, most = shape.get("minLength", 0), shape.get("maxLength")

    def write(value: object, path: str) -> str:
        if not isinstance(value, str) or _SIGNED_STRING.fullmatch(value) is None:
            raise invalid_argument(_about(path, "a text of visible ASCII is expected"), path)
        if words is not None and value not in words:
            raise invalid_argument(_about(path, f"one of {', '.join(words)} is expected"), path)
        if pattern is not None and pattern.search(value) is None:
            raise invalid_argument(_about(path, f"{value} has not the form {pattern.pattern}"), path)
        if len(value) < least or (most is not None and len(value) > most):
            raise invalid_argument(_about(path, f"{least} to {most} characters are expected"), path)
        return f'"{value}"'

    return write


def _integer(shape: _Shape) -> _Write:
    least, most, excluded = shape.get("minimum"), shape.get("maximum"), shape.get("not")
    if most is None and shape.get("format") in (None, "uint64"):
        most = 2**64 - 1

    def write(value: object, path: str) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            raise invalid_argument(_about(path, "an integer is expected"), path)
        if (least is not None and value < least) or (most is not None and value > most):
            raise invalid_argument(_about(path, f"{value} is not between {least} and {most}"), path)
        if excluded is not None and excluded["minimum"] <= value <= excluded["maximum"]:
            raise invalid_argument(_about(path, f"{value} is not a time in nanoseconds"), path)
        return str(value)

    return write


def _boolean(value: object, path: str) -> str:
    if not isinstance(value, bool):
        raise invalid_argument(_about(path, "True or False is expected"), path)
    return "true" if value else "false"


def _null(value: object, path: str) -> str:
    if value is not None:
        raise invalid_argument(_about(path, "None is expected"), path)
    return "null"


def _constant(constant: object) -> _Write:
    def write(value: object, path: str) -> str:
        if value != constant or isinstance(value, bool) != isinstance(constant, bool):
            raise invalid_argument(_about(path, f"{constant!r} is expected"), path)
        return json.dumps(value)

    return write


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _about(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message
