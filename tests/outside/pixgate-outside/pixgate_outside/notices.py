"""What a callback says, once it is proven: a reason to look, never a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from gateway.banks.port.provider_callbacks import CallbackKind, Notice

KINDS: Final[Mapping[str, CallbackKind]] = {
    "payout": CallbackKind.PAYOUT,
    "payout_returned": CallbackKind.RETURN,
    "charge": CallbackKind.CHARGE,
}
"""TODO: the bank's events. Any other is kept, and nothing is looked up for it."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A callback's body. TODO: the bank's fields."""

    event: str = ""
    kind: str = ""
    subject: str = ""
    account: str = ""


_SAID: Final = msgspec.json.Decoder(Said)


def read_notices(body: bytes) -> Sequence[Notice]:
    """Read a proven body; what cannot be read is still a callback of the bank."""
    try:
        said = _SAID.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        said = Said()
    return (
        Notice(
            event=said.event,
            kind=KINDS.get(said.kind, CallbackKind.OTHER),
            subject=said.subject,
            account=said.account,
        ),
    )
