"""`/control` in FlatBuffers (schemas/control.fbs), by the tables of the contract as data.

Frames are written with the `flatbuffers` package (`pip install ringbook[binary]`) and read by hand: what a damaged frame
refers to lies in the frame, or it is INVALID_RESPONSE.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from .actions import ROUTES, SignedAction
from .contract import control_tables
from .errors import RingbookError, invalid_argument, invalid_response

_FORMATS = {"bool": "?", "byte": "b", "ubyte": "B", "ushort": "H", "uint": "I", "ulong": "Q"}
_PARTS = ("tables", "enums", "unions", "structs")
_BUILDER_BYTES = 1024
_DEPTH_MAX = 8


def _builder() -> Any:  # noqa: ANN401
    try:
        import flatbuffers
    except ImportError as error:
        raise invalid_argument(
            "frames in FlatBuffers need an extra: pip install ringbook[binary]", "version"
        ) from error
    return flatbuffers.Builder(_BUILDER_BYTES)


def ensure_available() -> None:
    """Raises RingbookError INVALID_ARGUMENT where the `flatbuffers` package is missing."""
    _builder()


@cache
def _format_of(kind: str) -> str | None:
    enum = control_tables()["enums"].get(kind)
    return _FORMATS.get(kind if enum is None else enum["type"])


# ---- requests


def encode(request_id: int, action: SignedAction) -> bytes:
    """One action as a frame."""
    return _frame(request_id, ROUTES[action.kind].table, _fields(action))


def encode_table(request_id: int, table: str, fields: Mapping[str, Any]) -> bytes:
    """A request that is not signed, by its table and its fields."""
    if table not in control_tables()["tables"]:
        raise invalid_argument(f"FlatBuffers have no table {table}", "version")
    return _frame(request_id, table, fields)


def encode_batch(request_id: int, actions: Sequence[SignedAction]) -> bytes:
    """Creates or replaces as one frame."""
    is_create = actions[0].kind == "create"
    member = "orders" if is_create else "requests"
    return _frame(
        request_id, "BatchCreate" if is_create else "BatchReplace", {member: [_fields(one) for one in actions]}
    )


def _frame(request_id: int, table: str, fields: Mapping[str, Any]) -> bytes:
    builder = _builder()
    builder.Finish(_write(builder, "Frame", {"request_id": request_id, "body": (table, fields)}))
    return bytes(builder.Output())


def _fields(action: SignedAction) -> dict[str, Any]:
    """The members of a request as the fields of its table: those of what is signed, and those beside it."""
    request = dict(action.request)
    content = dict(request.pop(ROUTES[action.kind].member))
    if action.kind == "create":
        content |= content.pop("target")
        content["details"] = _details(content["details"])
        content["trigger"] = _trigger(content.get("trigger"))
    if action.kind == "replace":
        trigger = content.get("new_trigger")
        content["new_trigger"] = _trigger(trigger)
        content["new_trigger_form"] = "Wrapped" if trigger is not None and "condition" in trigger else "Bare"
        if "base_asset" in content:
            content |= {"asset_id": content.pop("base_asset"), "complete": True}
    if action.kind == "amend":
        content.pop("source", None)
    if action.kind == "quotes":
        content |= content.pop("target")
    signers = request.pop("additional_signers", [])
    beside = {name: member for name, member in request.items() if name != "target"}
    return {**content, **beside, "additional_signers": [_co_signer(one) for one in signers] or None}


def _details(details: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if "Limit" in details:
        limit = dict(details["Limit"])
        ((name, tif),) = limit.pop("time_in_force").items()
        is_fok = name == "IOC" and tif["fill_or_kill"]
        lasting = {key: value for key, value in tif.items() if key != "fill_or_kill"}
        return "Limit", {**limit, **lasting, "time_in_force": "FOK" if is_fok else name}
    market = details["Market"]
    ((unit, size),) = market["quantity"].items()
    table = "MarketBase" if unit == "BaseAsset" else "MarketQuote"
    return table, {**size, "fill_or_kill": market["fill_or_kill"]}


def _trigger(trigger: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if trigger is None:
        return None
    ((condition, content),) = trigger.get("condition", trigger).items()
    return {
        "parent_order_id": trigger.get("parent_order_id"),
        "condition": condition,
        "price": content["price"],
    }


def _co_signer(signer: Mapping[str, Any]) -> dict[str, Any]:
    ((scheme, key),) = signer["signer"].items()
    return {"scheme": scheme, "key": key, "signature": signer["signature"]}


def _write(builder: Any, table: str, values: Mapping[str, Any]) -> int:  # noqa: ANN401
    """Writes a table behind what it refers to; fields that are unset, or have their initial value, stay absent."""
    tables, enums, unions, structs = (control_tables()[part] for part in _PARTS)
    known = {field["name"] for field in tables[table]}
    unknown = next((name for name, value in values.items() if name not in known and value is not None), None)
    if unknown is not None:
        raise invalid_argument(f"{unknown} has no place in the FlatBuffers table {table}", unknown)
    scalars: list[tuple[int, str, Any, int]] = []
    references: list[tuple[int, int]] = []
    slot = 0
    for field in tables[table]:
        name, kind, initial = field["name"], field["type"], field["initial"]
        value = values.get(name)
        union = unions.get(kind)
        if union is not None:
            if value is not None:
                scalars.append((slot, "B", union.index(value[0]) + 1, 0))
                references.append((slot + 1, _write(builder, value[0], value[1])))
            slot += 2
            continue
        if value is not None:
            form = _format_of(kind)
            if field["list"] and kind == "ubyte":
                content = bytes.fromhex(value) if isinstance(value, str) else bytes(value)
                if content:
                    references.append((slot, builder.CreateByteVector(content)))
            elif field["list"] and kind in structs:
                if value:
                    references.append((slot, _structs(builder, value)))
            elif field["list"]:
                if value:
                    references.append((slot, _vector(builder, [_write(builder, kind, one) for one in value])))
            elif kind == "string":
                references.append((slot, builder.CreateString(value)))
            elif form is None:
                references.append((slot, _write(builder, kind, value)))
            else:
                number = enums[kind]["values"][value] if isinstance(value, str) else value
                scalars.append((slot, form, number, initial))
        slot += 1
    builder.StartObject(slot)
    for at, referred in references:
        builder.PrependUOffsetTRelativeSlot(at, referred, 0)
    for at, form, number, initial in scalars:
        _PREPEND[form](builder, at, number, initial)
    offset: int = builder.EndObject()
    return offset


def _structs(builder: Any, rows: Sequence[Sequence[int]]) -> int:  # noqa: ANN401
    """Structs of uint64, such as an entry of a quote set."""
    width = len(rows[0])
    builder.StartVector(8 * width, len(rows), 8)
    for row in reversed(rows):
        for number in reversed(row):
            builder.PrependUint64(number)
    end: int = builder.EndVector()
    return end


def _vector(builder: Any, offsets: Sequence[int]) -> int:  # noqa: ANN401
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    end: int = builder.EndVector()
    return end


_PREPEND: Mapping[str, Any] = {
    "?": lambda builder, *rest: builder.PrependBoolSlot(*rest),
    "b": lambda builder, *rest: builder.PrependInt8Slot(*rest),
    "B": lambda builder, *rest: builder.PrependUint8Slot(*rest),
    "H": lambda builder, *rest: builder.PrependUint16Slot(*rest),
    "I": lambda builder, *rest: builder.PrependUint32Slot(*rest),
    "Q": lambda builder, *rest: builder.PrependUint64Slot(*rest),
}


# ---- replies


def decode(data: bytes) -> dict[str, Any]:
    """A frame of the node: `request_id`, `timestamp_ns`, `body` as (table, fields). Raises RingbookError."""
    try:
        (root,) = struct.unpack_from("<I", data, 0)
        return _read(data, root, "Frame", 0)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise invalid_response("control frame", f"it is no sound FlatBuffers message ({error})") from error


def _read(data: bytes, at: int, table: str, depth: int) -> dict[str, Any]:
    if depth > _DEPTH_MAX:
        raise ValueError("tables are nested too deep")
    tables, enums, unions, structs = (control_tables()[part] for part in _PARTS)
    (back,) = struct.unpack_from("<i", data, at)
    vtable = _inside(data, at - back)
    (vtable_bytes,) = struct.unpack_from("<H", data, vtable)

    def place(slot: int) -> int:
        entry = 4 + 2 * slot
        if entry + 2 > vtable_bytes:
            return 0
        (offset,) = struct.unpack_from("<H", data, vtable + entry)
        return at + offset if offset else 0

    values: dict[str, Any] = {}
    slot = 0
    for field in tables[table]:
        name, kind = field["name"], field["type"]
        union = unions.get(kind)
        if union is not None:
            type_at, body_at = place(slot), place(slot + 1)
            number = data[type_at] if type_at else 0
            # A newer node may have more tables.
            if body_at and 1 <= number <= len(union):
                values[name] = (union[number - 1], _read(data, _referred(data, body_at), union[number - 1], depth + 1))
            slot += 2
            continue
        here = place(slot)
        slot += 1
        form = _format_of(kind)
        if field["list"]:
            values[name] = _items(data, here, kind, depth) if here else []
        elif kind == "string":
            values[name] = _bytes(data, _referred(data, here)).decode() if here else None
        elif kind in structs:
            values[name] = _struct(data, here, structs[kind]) if here else None
        elif form is None:
            values[name] = _read(data, _referred(data, here), kind, depth + 1) if here else None
        else:
            number = struct.unpack_from(f"<{form}", data, here)[0] if here else field["initial"]
            names = _names_of(kind) if kind in enums else {}
            values[name] = names.get(number, number)
    return values


@cache
def _names_of(enum: str) -> dict[int, str]:
    return {value: word for word, value in control_tables()["enums"][enum]["values"].items()}


def _inside(data: bytes, at: int) -> int:
    if not 0 <= at < len(data):
        raise ValueError("an offset leads out of the frame")
    return at


def _referred(data: bytes, at: int) -> int:
    (offset,) = struct.unpack_from("<I", data, at)
    return _inside(data, at + int(offset))


def _bytes(data: bytes, at: int) -> bytes:
    (length,) = struct.unpack_from("<I", data, at)
    end = at + 4 + int(length)
    if end > len(data):
        raise ValueError("a vector leads out of the frame")
    return data[at + 4 : end]


def _items(data: bytes, here: int, kind: str, depth: int) -> Any:  # noqa: ANN401
    at = _referred(data, here)
    if kind == "ubyte":
        return _bytes(data, at)
    names = control_tables()["structs"].get(kind)
    (count,) = struct.unpack_from("<I", data, at)
    if at + 4 + (4 if names is None else 8 * len(names)) * int(count) > len(data):
        raise ValueError("a vector leads out of the frame")
    if names is not None:
        return [_struct(data, at + 4 + 8 * len(names) * index, names) for index in range(count)]
    return [_read(data, _referred(data, at + 4 + 4 * index), kind, depth + 1) for index in range(count)]


def _struct(data: bytes, at: int, names: Sequence[str]) -> dict[str, int]:
    return dict(zip(names, struct.unpack_from(f"<{len(names)}Q", data, at), strict=True))


def failure(body: Mapping[str, Any]) -> RingbookError:
    """The error of a `Failure`."""
    details = {one["name"]: one["value"] for one in body["details"]}
    if body["field"] is not None:
        details["field"] = body["field"]
    return RingbookError(str(body["code"]), body["message"] or "", retryable=body["retryable"], details=details)
