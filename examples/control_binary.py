"""Orders over `/control` in FlatBuffers, with the registry's `flatbuffers` package (pip install flatbuffers==25.9.23).

    python3 examples/control_binary.py [http://127.0.0.1:3032] [SEED, 64 hex digits]

Logs in, creates an order and cancels it, then sends one whose signature is over another text, and prints the three
answers. Without a seed it trades as user `a` of the dev profile. It signs with the `cryptography` package where that is
installed, else with the `openssl` command.

Here the tables of schemas/control.fbs are written and read by their slots; a larger program uses the code that
`flatc --python schemas/control.fbs` generates.
"""

import base64
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from urllib.parse import urlsplit

import flatbuffers
from flatbuffers import number_types as N
from flatbuffers.table import Table

PROTOCOL = "ringbook.fbs.v1"
DEV_SEED = "01" * 32
CREATE, CANCEL, ANSWER, FAILURE = 1, 3, 6, 8
LIMIT, BUY, GTC, RECEIVED = 1, 1, 1, 1


# ---- signatures


class Key:
    """An Ed25519 key made from its 32-byte seed."""

    def __init__(self, seed):
        # RFC 8410: the fixed head of a private key of 32 bytes.
        self._der = bytes.fromhex("302e020100300506032b657004220420") + seed
        try:
            from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

            self._key = load_der_private_key(self._der, None)
            self.public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        except ImportError:
            self._key = None
            self.public = self._openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER")[-32:]

    def sign(self, message):
        if self._key is not None:
            return self._key.sign(message)
        with tempfile.NamedTemporaryFile() as text:
            text.write(message)
            text.flush()
            return self._openssl("pkeyutl", "-sign", "-keyform", "DER", "-rawin", "-in", text.name)

    def _openssl(self, command, *options):
        with tempfile.NamedTemporaryFile() as key:
            key.write(self._der)
            key.flush()
            place = "-inkey" if command == "pkeyutl" else "-in"
            return subprocess.run(["openssl", command, place, key.name, *options], check=True, capture_output=True).stdout


# ---- tables: `slot` is the number of a field in its table, from 0


def build_create(builder, key, order, signature):
    signer = builder.CreateByteVector(key.public)
    order_id = builder.CreateString(order["order_id"])
    base_asset = builder.CreateString(order["base_asset"])
    signed = builder.CreateByteVector(signature)
    builder.StartObject(5)  # Limit
    builder.PrependUint64Slot(0, order["limit_price"], 0)
    builder.PrependUint64Slot(1, order["quantity"], 0)
    builder.PrependUint8Slot(2, GTC, 0)
    limit = builder.EndObject()
    builder.StartObject(18)  # Create
    builder.PrependUOffsetTRelativeSlot(0, signer, 0)
    builder.PrependUOffsetTRelativeSlot(1, order_id, 0)
    builder.PrependUOffsetTRelativeSlot(2, base_asset, 0)
    builder.PrependInt8Slot(3, order["price_decimals"], 0)
    builder.PrependInt8Slot(4, order["quantity_decimals"], 0)
    builder.PrependUint8Slot(5, LIMIT, 0)
    builder.PrependUOffsetTRelativeSlot(6, limit, 0)
    builder.PrependUint8Slot(7, BUY, 0)
    builder.PrependUint64Slot(9, order["creation_ns"], 0)
    builder.PrependUint16Slot(10, order["account"], 0)
    builder.PrependBoolSlot(11, True, False)
    builder.PrependUint32Slot(13, order["fee_rate"], 0)
    builder.PrependUOffsetTRelativeSlot(15, signed, 0)
    builder.PrependUint64Slot(17, time.time_ns(), 0)
    return builder.EndObject()


def build_cancel(builder, key, order, signature):
    order_id = builder.CreateString(order["order_id"])
    asset_id = builder.CreateString(order["base_asset"])
    signer = builder.CreateByteVector(key.public)
    signed = builder.CreateByteVector(signature)
    builder.StartObject(7)  # Cancel
    builder.PrependUOffsetTRelativeSlot(0, order_id, 0)
    builder.PrependUOffsetTRelativeSlot(1, asset_id, 0)
    builder.PrependUOffsetTRelativeSlot(2, signer, 0)
    builder.PrependUOffsetTRelativeSlot(4, signed, 0)
    builder.PrependUint64Slot(6, time.time_ns(), 0)
    return builder.EndObject()


def frame(request_id, kind, build):
    builder = flatbuffers.Builder(512)
    body = build(builder)
    builder.StartObject(4)  # Frame
    builder.PrependUint64Slot(0, request_id, 0)
    builder.PrependUint8Slot(2, kind, 0)
    builder.PrependUOffsetTRelativeSlot(3, body, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


class Fields(Table):
    """Reads fields of a table by slot."""

    def scalar(self, slot, flags):
        at = self.Offset(4 + 2 * slot)
        return self.Get(flags, self.Pos + at) if at else 0

    def text(self, slot):
        at = self.Offset(4 + 2 * slot)
        return self.String(self.Pos + at).decode() if at else None

    def table(self, slot):
        return Fields(self.Bytes, self.Indirect(self.Pos + self.Offset(4 + 2 * slot)))


def read_frame(data):
    """(request id, the answer or the failure as a dictionary)."""
    root = Fields(bytearray(data), flatbuffers.encode.Get(N.UOffsetTFlags.packer_type, data, 0))
    request_id, kind = root.scalar(0, N.Uint64Flags), root.scalar(2, N.Uint8Flags)
    if kind == ANSWER:
        body = root.table(3)
        return request_id, {
            "order_id": body.text(2),
            "status": "Received" if body.scalar(1, N.Uint8Flags) == RECEIVED else "Rejected",
            "processed_at_ns": body.scalar(4, N.Uint64Flags),
            "code": body.scalar(5, N.Uint16Flags),
            "message": body.text(7),
            "field": body.text(8),
        }
    if kind == FAILURE:
        body = root.table(3)
        return request_id, {"error": body.scalar(0, N.Uint16Flags), "message": body.text(2)}
    return request_id, {"kind": kind}


# ---- what is signed: canonical JSON (docs/trading.md)


def order_text(user, order):
    return (
        f'{{"signer":"{user}","order_id":"{order["order_id"]}","base_asset":"{order["base_asset"]}",'
        f'"book_price_decimals":{order["price_decimals"]},"book_quantity_decimals":{order["quantity_decimals"]},'
        f'"details":{{"Limit":{{"limit_price":{order["limit_price"]},"quantity":{order["quantity"]},'
        f'"time_in_force":{{"GTC":{{"post_only":false}}}}}}}},"side":"Buy","trigger":null,'
        f'"creation_timestamp_ns":{order["creation_ns"]},"target":{{"account":{order["account"]},"is_spot":true}},'
        f'"reduce_only":false,"max_trading_fees_rate":{order["fee_rate"]},"protocol_version":1}}'
    ).encode()


def cancel_text(user, order):
    return (
        f'{{"order_id":"{order["order_id"]}","asset_id":"{order["base_asset"]}","signer":"{user}","protocol_version":1}}'
    ).encode()


# ---- session and socket


def exchange(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def login(base, key):
    nonce = exchange(f"{base}/nonce/{key.public.hex()}")["value"]
    signature = list(key.sign(nonce.encode()))
    return exchange(f"{base}/auth", {"user_id": key.public.hex(), "nonce": nonce, "signature": signature})["token"]


class WebSocket:
    """As much of RFC 6455 as this program needs: whole messages, and pings."""

    def __init__(self, base, path, headers):
        address = urlsplit(base)
        self._socket = socket.create_connection((address.hostname, address.port), timeout=10)
        self._file = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {address.netloc}", "Connection: Upgrade", "Upgrade: websocket"]
        lines += ["Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", f"Sec-WebSocket-Protocol: {PROTOCOL}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = self._file.readline()
        while self._file.readline() not in (b"\r\n", b""):
            pass
        if b" 101 " not in status:
            raise ConnectionError(status.decode().strip())

    def send(self, payload, opcode=2):
        mask = os.urandom(4)
        length = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._socket.sendall(struct.pack("!B", 0x80 | opcode) + length + mask + masked)

    def receive(self):
        while True:
            opcode, length = self._file.read(2)
            if length == 126:
                (length,) = struct.unpack("!H", self._file.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._file.read(8))
            payload = self._file.read(length)
            if opcode & 0xF == 9:
                self.send(payload, opcode=10)
            elif opcode & 0xF == 8:
                raise ConnectionError(f"closed with {struct.unpack('!H', payload[:2])[0]}")
            else:
                return payload

    def close(self):
        self.send(struct.pack("!H", 1000), opcode=8)
        self._socket.close()


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:3032"
    key = Key(bytes.fromhex(sys.argv[2] if len(sys.argv) > 2 else DEV_SEED))
    user = key.public.hex()
    control = WebSocket(base, "/control", {"Authorization": f"Bearer {login(base, key)}", "User-Id": user})
    market = exchange(f"{base}/market/2")
    order = {
        "order_id": base64.urlsafe_b64encode(os.urandom(12)).decode(),
        "base_asset": "2",
        "price_decimals": market["book_price_decimals"],
        "quantity_decimals": market["book_quantity_decimals"],
        "limit_price": 1000 * 10 ** market["book_price_decimals"],
        "quantity": 10 ** market["book_quantity_decimals"],
        "creation_ns": time.time_ns(),
        "account": 1,
        "fee_rate": 50_000,
    }

    def ask(request_id, kind, build, text):
        signature = key.sign(text)
        control.send(frame(request_id, kind, lambda builder: build(builder, key, order, signature)))
        answered, reply = read_frame(control.receive())
        assert answered == request_id, (answered, request_id)
        print(json.dumps(reply))

    ask(1, CREATE, build_create, order_text(user, order))
    ask(2, CANCEL, build_cancel, cancel_text(user, order))
    ask(3, CREATE, build_create, b"another text")
    control.close()


if __name__ == "__main__":
    main()
