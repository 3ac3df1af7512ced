"""The error of this package: a rejection by the service, or a failure to reach it.

Codes of the service are those of docs/errors.md. The package adds codes for errors on the client's side:

    UNREACHABLE         no connection could be made; nothing was sent
    CONNECTION_CLOSED   the connection ended before the reply: the outcome is unknown
    CLIENT_TIMEOUT      no reply in time: the outcome is unknown
    INVALID_RESPONSE    the service sent a reply that violates its contract
    INVALID_ARGUMENT    the request cannot be sent; `field` names the member
    UNSAFE_NONCE        the login nonce has an unexpected form, so it was not signed
    CONSUMER_TOO_SLOW   the reader of a stream was too slow, and the stream was closed
    TOO_MANY_IN_FLIGHT  as many requests as the connection may have await their answers; nothing was sent
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_UNKNOWN_OUTCOME = frozenset({"CONNECTION_CLOSED", "CLIENT_TIMEOUT", "TIMEOUT", "TIMEOUT_UNKNOWN_STATE"})


class RingbookError(Exception):
    """A rejection by the service, or a failure to reach it."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        # Whether the same request may succeed later.
        self.retryable = retryable
        # The HTTP status; None where the error did not come as an HTTP reply.
        self.status = status
        # Further members for programs, such as `order_id`, or `units_available` of RATE_LIMITED.
        self.details: Mapping[str, Any] = details or {}

    @property
    def field(self) -> str | None:
        """The member at fault, spelled as on the wire; None where it is not one member."""
        field = self.details.get("field")
        return field if isinstance(field, str) else None

    @property
    def outcome_unknown(self) -> bool:
        """Whether what was asked may have happened: read the state, or send the same bytes again with `resend`."""
        return self.code in _UNKNOWN_OUTCOME


def invalid_argument(message: str, field: str | None = None) -> RingbookError:
    return RingbookError("INVALID_ARGUMENT", message, details=None if field is None else {"field": field})


def invalid_response(what: str, reason: str) -> RingbookError:
    return RingbookError("INVALID_RESPONSE", f"{what}: {reason}")


def connection_closed(message: str) -> RingbookError:
    return RingbookError("CONNECTION_CLOSED", message, retryable=True)


def error_of(value: object, status: int | None = None) -> RingbookError | None:
    """The error of an envelope or of a stream's error frame; None for any other value."""
    error = value.get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        return None
    code, message, details = error.get("code"), error.get("message"), error.get("details")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return RingbookError(
        code,
        message,
        retryable=error.get("retryable") is True,
        status=status,
        details=details if isinstance(details, dict) else None,
    )
