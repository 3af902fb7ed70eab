"""What several tests of signing keys share."""

from collections.abc import Sequence
from datetime import timedelta

from gateway.core.sessions import SigningKey
from gateway.core.storage import StoreUnavailable
from gateway.identity.signing_keys import new_signing_key
from gateway.security.sealing import Sealer
from tests.world.standing import NOON

SEALER = Sealer({"k": b"k" * 32}, "k")


class Register:
    """Keys that can be read any number of times; unavailable on demand."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = list(keys)
        self.asked = 0
        self.silent = False

    async def list(self) -> Sequence[SigningKey]:
        self.asked += 1
        if self.silent:
            raise StoreUnavailable
        return sorted(self.keys, key=lambda each: (each.signs_from, each.id))


def key(hours: float = 0) -> SigningKey:
    return new_signing_key(NOON, NOON + timedelta(hours=hours), SEALER)
