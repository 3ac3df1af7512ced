"""A second implementation of the tree of evidence.md, of Python's standard library alone, written from RFC 6962 as it stands:
recursive, over lists of leaves. Reads one JSON object from standard input and prints the results as JSON."""
import hashlib
import hmac
import json
import struct
import sys

H = lambda data: hashlib.sha256(data).digest()
LEAF = lambda data: H(b"\x00" + data)
NODE = lambda left, right: H(b"\x01" + left + right)


def split(n):
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def root(d):
    if not d:
        return H(b"")
    if len(d) == 1:
        return d[0]
    k = split(len(d))
    return NODE(root(d[:k]), root(d[k:]))


def path(m, d):
    if len(d) == 1:
        return []
    k = split(len(d))
    if m < k:
        return path(m, d[:k]) + [root(d[k:])]
    return path(m - k, d[k:]) + [root(d[:k])]


def subproof(m, d, whole):
    if m == len(d):
        return [] if whole else [root(d)]
    k = split(len(d))
    if m <= k:
        return subproof(m, d[:k], whole) + [root(d[k:])]
    return subproof(m - k, d[k:], False) + [root(d[:k])]


def salt(secret, sequence, index):
    return hmac.new(secret, b"ringbook/salt/v1\n" + struct.pack(">QI", sequence, index), hashlib.sha256).digest()


def record(secret, r):
    s = r["sequence"]
    rows = [row.encode("utf-8") for row in r["rows"]]
    entries = [LEAF(b"ringbook/entry/v1\n" + struct.pack(">QI", s, i) + salt(secret, s, i) + row) for i, row in enumerate(rows)]
    raw = H(b"ringbook/raw/v1\n" + salt(secret, s, 0xFFFFFFFF) + bytes.fromhex(r["hash"]))
    head = struct.pack(">QQQI", s, r["epoch"], int(r["time_ns"]), len(rows))
    data = b"ringbook/record/v1\n" + head + root(entries) + raw
    assert len(data) == 111
    return {"leaf": data.hex(), "entries": [e.hex() for e in entries], "paths": [[p.hex() for p in path(i, entries)] for i in range(len(entries))]}


asked = json.load(sys.stdin)
leaves = [LEAF(b"leaf %d" % i) for i in range(asked["size"])]
secret = bytes.fromhex(asked["secret"])
json.dump(
    {
        "roots": [root(leaves[:n]).hex() for n in asked["roots"]],
        "inclusion": [[p.hex() for p in path(m, leaves[:n])] for m, n in asked["inclusion"]],
        "consistency": [[p.hex() for p in subproof(m, leaves[:n], True)] if m else [] for m, n in asked["consistency"]],
        "records": [record(secret, r) for r in asked["records"]],
    },
    sys.stdout,
)
