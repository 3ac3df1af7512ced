"""Client of a ringbook exchange node: signed orders over REST and WebSocket, private streams, checksummed books."""

from .account import Account, MakerOrder, SignedFunds, sign_maker_order
from .actions import CoSigner, SignedAction, SignedQuotes, Signer, Terms, Trigger, fee_limit
from .addresses import LeaderAddress
from .book import Level, LocalBook, crc32c
from .canonical import canonical_text
from .client import Client
from .control import Control, raise_for_rejection
from .errors import RingbookError
from .feed import Feed, FeedBook, FeedFrame
from .keys import Key, dev_key
from .private import PrivateFeed, PrivateFrame
from .streams import EventStream
from .units import from_raw, lot_of, plain, price_down, price_up, quantity_down, raw_price, raw_quantity, to_raw

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Client",
    "CoSigner",
    "Control",
    "EventStream",
    "Feed",
    "FeedBook",
    "FeedFrame",
    "Key",
    "LeaderAddress",
    "Level",
    "LocalBook",
    "MakerOrder",
    "PrivateFeed",
    "PrivateFrame",
    "RingbookError",
    "SignedAction",
    "SignedFunds",
    "SignedQuotes",
    "Signer",
    "Terms",
    "Trigger",
    "canonical_text",
    "crc32c",
    "dev_key",
    "fee_limit",
    "from_raw",
    "lot_of",
    "plain",
    "price_down",
    "price_up",
    "quantity_down",
    "raise_for_rejection",
    "raw_price",
    "raw_quantity",
    "sign_maker_order",
    "to_raw",
]
