"""The funds of a user: transfers between sub-accounts, withdrawals, settlements, names (wire.md 7.12 to 7.19).

    withdrawal = await client.account.withdrawal(TOKEN, CHAIN, "25", target=ADDRESS)
    await client.account.send(withdrawal)

An action is signed once and may be sent again: after CLIENT_TIMEOUT, CONNECTION_CLOSED or TIMEOUT_UNKNOWN_STATE send the same
one, which happens once. Amounts are exact units of the asset, with at most 18 decimals.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import quote

from .actions import Signer, random_order_id, signing
from .canonical import canonical_text
from .errors import RingbookError, invalid_argument, invalid_response
from .keys import Key
from .reading import checked, read
from .replies import NextNonces, QueuedWithdrawal, Renamed, SettlementApproval
from .units import Number, decimal_of, scaled

FundsKind = Literal["transfer", "close-position", "withdrawal", "withdrawal-cancel", "settlement"]
# How a node reads amounts of withdrawals and settlements, its setting `amount_text`.
AmountText = Literal["hex", "decimal"]

_PATHS: Mapping[FundsKind, str] = {
    "transfer": "/account/transfer/sub-account",
    "close-position": "/account/transfer/close-position",
    "withdrawal": "/withdrawal/init",
    "withdrawal-cancel": "/withdrawal/cancel",
    "settlement": "/settlement/init",
}
_ADDRESS_FORM = re.compile(r"(?:0x)?([0-9a-f]{40}|[0-9a-f]{64})")
_CHAIN_FORM = re.compile(r"(?:0x)?([0-9a-f]{18})")
_CANCELLABLE = ("queued", "filled")


class Exchange(Protocol):
    """A protected call."""

    def __call__(self, method: str, path: str, body: str | None = None) -> Awaitable[Any]: ...


@dataclass(frozen=True)
class SignedFunds:
    """An action on funds that can be sent once, or again byte for byte."""

    kind: FundsKind
    request: Mapping[str, Any]

    @property
    def body(self) -> str:
        """The request as JSON."""
        return json.dumps(self.request, separators=(",", ":"))


@dataclass(frozen=True)
class MakerOrder:
    """A market maker's order: it is attached to one settlement through its settler, before it expires."""

    maker: str
    settler: str
    expires_ns: int
    signature: bytes


def sign_maker_order(key: Key, settler: str, expires_ns: int) -> MakerOrder:
    """What the maker of a delegated settlement signs."""
    content = {"mm_pubkey": key.user_id, "settler": settler, "expires_at": expires_ns}
    signature = key.sign(canonical_text("MakerOrder", content).encode("ascii"))
    return MakerOrder(key.user_id, settler, expires_ns, signature)


class Account:
    """The calls about funds of one user; `client.account`."""

    def __init__(self, signer: Signer, exchange: Exchange, resolve: Callable[[str], Awaitable[str]]) -> None:
        self._signer = signer
        self._exchange = exchange
        self._resolve = resolve
        self._last_nonce = 0

    # ---- signing

    async def transfer(
        self,
        asset: str,
        amount: Number,
        *,
        source: int,
        target: int,
        opens: Literal["Spot", "CrossMargin"] | None = None,
        isolated: str | None = None,
        nonce: int | None = None,
    ) -> SignedFunds:
        """Of an asset between two sub-accounts. A target that does not exist is made: of the kind `opens`, or as an isolated
        margin account of the asset `isolated`.
        """
        if opens is not None and isolated is not None:
            raise invalid_argument("a new account has one kind", "isolated")
        kind = opens if isolated is None else {"Isolated": {"asset": await self._resolve(isolated)}}
        return self._signed(
            "transfer",
            "Transfer",
            {
                "user": self._signer.user_id,
                "source_index": source,
                "target_index": target,
                "transfer_asset": await self._resolve(asset),
                "transfer_amount": str(_amount(amount)),
                "target_account_type": kind,
                "nonce": self._nonce() if nonce is None else nonce,
            },
        )

    async def close_position(self, asset: str, *, account: int, nonce: int | None = None) -> SignedFunds:
        """Folds what is left of a position without base into spot USD."""
        content = {
            "user": self._signer.user_id,
            "account": account,
            "asset_identifier": await self._resolve(asset),
            "nonce": self._nonce() if nonce is None else nonce,
        }
        return self._signed("close-position", "ClosePosition", content)

    async def withdrawal(
        self,
        token: str,
        chain_id: str,
        amount: Number,
        *,
        target: str,
        nonce: int | None = None,
        request_id: str | None = None,
        amount_text: AmountText = "hex",
    ) -> SignedFunds:
        """From account 0 to an address of a chain; by default with the next nonce of the chain and a random request id.

        `amount_text` is the setting of the node.
        """
        if nonce is None:
            nonce = (await self.next_nonces(chain_id)).withdrawal
        content = {
            "tplus_user": self._signer.user_id,
            "asset": _asset(token, chain_id),
            "amount": _amount_text(amount, amount_text),
            "nonce": nonce,
            "target": _address(target, "target"),
            "request_id": random_order_id() if request_id is None else request_id,
        }
        return self._signed("withdrawal", "Withdrawal", content)

    async def withdrawal_cancel(
        self, token: str, chain_id: str, nonce: int, *, requested_at_ns: int | None = None
    ) -> SignedFunds:
        """Of a withdrawal that is queued or filled: by default of the one that has the nonce now, and of no later one."""
        asset = _asset(token, chain_id)
        if requested_at_ns is None:
            rows = [row for row in await self.withdrawals() if (row.asset, row.nonce) == (asset, nonce)]
            live = [row.requested_at_ns for row in rows if row.status.type in _CANCELLABLE]
            # Without such a row there is nothing to name, and the node says so.
            requested_at_ns = live[0] if live else None
        content: dict[str, Any] = {"tplus_user": self._signer.user_id, "asset_address": asset, "nonce": nonce}
        if requested_at_ns is not None:
            content["requested_at_ns"] = requested_at_ns
        return self._signed("withdrawal-cancel", "WithdrawalCancel", content)

    async def settlement(
        self,
        chain_id: str,
        *,
        account: int,
        token_in: str,
        amount_in: Number,
        token_out: str,
        amount_out: Number,
        mode: Literal["spot", "margin"] = "spot",
        settler: str | None = None,
        expires_ns: int | None = None,
        vault: str | None = None,
        nonce: int | None = None,
        request_id: str | None = None,
        maker_order: MakerOrder | None = None,
        amount_text: AmountText = "hex",
    ) -> SignedFunds:
        """An exchange with the vault of a chain: `token_in` comes and `token_out` leaves. Send it with `settle`.

        By default with the next nonce of the sub-account on the chain, and a random request id. `expires_ns` is needed with a
        `maker_order`, of a delegated settlement.
        """
        if nonce is None:
            nonce = (await self.next_nonces(chain_id)).settlements.get(account)
        content: dict[str, Any] = {
            "tplus_user": self._signer.user_id,
            "sub_account_index": account,
            "settler": settler,
            "mode": mode,
            "asset_in": _address(token_in, "token_in"),
            "amount_in": _amount_text(amount_in, amount_text, "amount_in"),
            "asset_out": _address(token_out, "token_out"),
            "amount_out": _amount_text(amount_out, amount_text, "amount_out"),
            "chain_id": _chain(chain_id),
            "expires_at": expires_ns,
            "mm_pubkey": None if maker_order is None else maker_order.maker,
            "request_id": random_order_id() if request_id is None else request_id,
        }
        # These are left out of the text where they are not given.
        content |= {} if nonce is None else {"nonce": nonce}
        content |= {} if vault is None else {"vault": _address(vault, "vault")}
        signed = self._signed("settlement", "Settlement", content)
        if maker_order is None:
            return signed
        inner = {
            "mm_pubkey": maker_order.maker,
            "settler": maker_order.settler,
            "expires_at": maker_order.expires_ns,
        }
        order = {"inner": inner, "signature": list(maker_order.signature)}
        return SignedFunds("settlement", {**signed.request, "maker_order": order})

    def _signed(self, kind: FundsKind, shape: str, content: Mapping[str, Any]) -> SignedFunds:
        signer = self._signer
        text = canonical_text(shape, content)
        signed = signing(signer.key, signer.co_signers, text.encode("ascii"))
        return SignedFunds(kind, {"inner": content, "additional_signers": [], **signed})

    def _nonce(self) -> int:
        """Milliseconds, above those of every call before."""
        self._last_nonce = max(time.time_ns() // 1_000_000, self._last_nonce + 1)
        return self._last_nonce

    # ---- sending

    async def send(self, action: SignedFunds) -> bool:
        """Sends an action. Returns False where the same text was accepted before: nothing moved once more.

        Raises RingbookError with the code of a refusal, such as INSUFFICIENT_INVENTORY, or INVALID_NONCE.
        """
        if action.kind == "settlement":
            raise invalid_argument("a settlement is sent by `settle`, which returns its approval")
        reply = await self._sent(action)
        return reply.get("duplicate") is not True

    async def settle(self, action: SignedFunds) -> SettlementApproval:
        """Sends a settlement: what leaves is locked at once. Returns the arguments of the vault's call.

        Raises RingbookError with the code of a refusal; after TIMEOUT_UNKNOWN_STATE it is locked, and its approval will be in
        `settlement_signatures`.
        """
        if action.kind != "settlement":
            raise invalid_argument(f"a {action.kind} is sent by `send`")
        reply = await self._sent(action)
        return read(SettlementApproval, reply.get("approval"), "settlement")

    async def _sent(self, action: SignedFunds) -> dict[str, Any]:
        reply = checked(await self._exchange("POST", _PATHS[action.kind], action.body), action.kind)
        if reply.get("success") is True:
            return reply
        details = reply.get("details")
        if not isinstance(details, dict):
            raise invalid_response(action.kind, "it neither succeeded nor was refused")
        beside = {name: value for name, value in details.items() if name not in ("code", "message", "retryable")}
        retryable = details.get("retryable") is True
        raise RingbookError(str(details.get("code")), str(details.get("message")), retryable=retryable, details=beside)

    # ---- reads and names

    async def next_nonces(self, chain_id: str) -> NextNonces:
        """The next numbers of a chain that no live row of the user holds."""
        path = f"/account/nonces/{self._signer.user_id}/{_chain(chain_id)}"
        return read(NextNonces, await self._exchange("GET", path))

    async def withdrawals(self) -> tuple[QueuedWithdrawal, ...]:
        """Those that live or ended within a day, oldest first; an approved one has the signatures for its vault."""
        reply = await self._exchange("GET", f"/withdrawal/queue/{self._signer.user_id}")
        return read(tuple[QueuedWithdrawal, ...], reply, "withdrawals")

    async def settlement_signatures(self) -> tuple[SettlementApproval, ...]:
        """Approvals that were neither executed nor expired, by chain, sub-account and nonce."""
        reply = await self._exchange("GET", f"/settlement/signatures/{self._signer.user_id}")
        return read(tuple[SettlementApproval, ...], reply, "settlement signatures")

    async def rename(self, account: int, name: str) -> Renamed:
        """Names a sub-account that the user created: 1 to 32 characters."""
        path = f"/account/{quote(self._signer.user_id)}/sub-account/{account}/name"
        return read(Renamed, await self._exchange("PATCH", path, json.dumps({"name": name})))


def _amount(amount: Number, field: str = "amount") -> int:
    """18-decimal units, above 0."""
    numerator, denominator = scaled(decimal_of(amount, field), 18)
    units, rest = divmod(numerator, denominator)
    if rest != 0 or units <= 0:
        raise invalid_argument(f"{field}: {amount} is not above 0 with at most 18 decimals", field)
    return units


def _amount_text(amount: Number, form: AmountText, field: str = "amount") -> str:
    if form not in ("hex", "decimal"):
        raise invalid_argument('`amount_text` is "hex" or "decimal"', "amount_text")
    units = _amount(amount, field)
    return f"{units:x}" if form == "hex" else str(units)


def _address(text: str, field: str) -> str:
    """64 hex digits: an address of 20 bytes first, then zeros."""
    match = _ADDRESS_FORM.fullmatch(text.lower())
    if match is None:
        raise invalid_argument(f"{field}: {text[:80]!r} is no address of 40 or 64 hex digits", field)
    return match[1].ljust(64, "0")


def _chain(text: str) -> str:
    match = _CHAIN_FORM.fullmatch(text.lower())
    if match is None:
        raise invalid_argument(f"chain_id: {text[:80]!r} is no chain id of 18 hex digits", "chain_id")
    return match[1]


def _asset(token: str, chain_id: str) -> str:
    return f"{_address(token, 'token')}@{_chain(chain_id)}"
