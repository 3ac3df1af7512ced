"""A real node for tests that need one: RINGBOOK_START is its command as a JSON list. Without it those tests are skipped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx
import pytest

from ringbook.replies import Market, MarketFeeSchedule
from ringbook.units import to_raw

_READY_S = 60.0
_OPERATOR_TOKEN = "ringbook-dev"


@dataclass
class Node:
    """A node of the dev profile, which keeps its ports and its data over a kill."""

    command: list[str]
    data: Path
    ports: dict[str, int]
    process: subprocess.Popen[str] | None = None
    _drains: list[threading.Thread] = field(default_factory=list)

    @property
    def oms(self) -> str:
        return f"http://127.0.0.1:{self.ports['OMS']}"

    @property
    def mds(self) -> str:
        return f"http://127.0.0.1:{self.ports['MDS']}"

    def start(self) -> None:
        own = {f"RINGBOOK_{name}_PORT": str(port) for name, port in self.ports.items()}
        environment = {**os.environ, **own, "RINGBOOK_DATA_DIR": str(self.data), "RINGBOOK_DEMO": "0"}
        environment.pop("RINGBOOK_START", None)
        self.process = subprocess.Popen(
            self.command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        errors: list[str] = []
        timer = threading.Timer(_READY_S, self.process.kill)
        timer.start()
        self._drain(self.process.stderr, errors)
        line = self.process.stdout.readline()
        timer.cancel()
        assert '"ready"' in line, "".join(errors)
        self._drain(self.process.stdout, [])
        self._lift_budgets()

    def _lift_budgets(self) -> None:
        """Tests ask for more than a user does; the token is that of the dev profile."""
        lifted = {"units_per_second": 1_000_000_000}
        limits = {"default": lifted, "market_maker": lifted, "global": lifted}
        headers = {"authorization": f"Bearer {_OPERATOR_TOKEN}"}
        url = f"http://127.0.0.1:{self.ports['OPS']}/operator/rate-limits"
        httpx.put(url, json=limits, headers=headers, timeout=10).raise_for_status()

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            for drain in self._drains:
                drain.join()
            self._drains.clear()
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()
            self.process = None

    def _drain(self, stream: IO[str], lines: list[str]) -> None:
        def read() -> None:
            for line in stream:
                lines.append(line)
                del lines[:-100]

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        self._drains.append(thread)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _started(data: Path) -> Iterator[Node]:
    command = os.environ.get("RINGBOOK_START")
    if command is None:
        pytest.skip("RINGBOOK_START, the command of a node as a JSON list, is not set")
    node = Node(json.loads(command), data, {name: _free_port() for name in ("OMS", "MDS", "OPS")})
    node.start()
    try:
        yield node
    finally:
        node.kill()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node for all tests."""
    yield from _started(tmp_path_factory.mktemp("data"))


@pytest.fixture
def mortal_node(tmp_path: Path) -> Iterator[Node]:
    """A node for one test, which may kill it."""
    yield from _started(tmp_path)


@pytest.fixture
def market() -> Market:
    """Two decimals of price, four of quantity."""
    from decimal import Decimal

    assert to_raw("1", 2, "price") == 100
    return Market(
        asset_id="12",
        book_price_decimals=2,
        book_quantity_decimals=4,
        max_leverage=None,
        isolated_only=False,
        tick_size=Decimal("0.05"),
        min_order_size=Decimal("0.001"),
        fee_schedule=MarketFeeSchedule(fee_account="", global_=(), per_asset=()),
        maker_fee_rate=100,
        taker_fee_rate=450,
        status="Active",
        self_trade_prevention=False,
    )
