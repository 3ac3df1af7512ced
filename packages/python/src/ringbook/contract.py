"""The contract as data: shapes of what is signed, and the tables of `/control` in FlatBuffers.

Both files are written by `npm run generate` of the repository, from the sources of the node.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


def _load(name: str) -> Any:  # noqa: ANN401
    return json.loads((resources.files("ringbook") / "_contract" / name).read_text("utf-8"))


@cache
def signed_shapes() -> dict[str, dict[str, Any]]:
    """JSON Schema by the name of the signed object; members are in the order of the signed text."""
    shapes: dict[str, dict[str, Any]] = _load("signed.json")
    return shapes


@cache
def control_tables() -> dict[str, Any]:
    """Enums, structs, unions and tables of schemas/control.fbs, fields in the order of their slots."""
    tables: dict[str, Any] = _load("control.json")
    return tables
