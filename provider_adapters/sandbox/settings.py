"""The sandbox provider's part of ``config.yaml``."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec

from gateway.domain.bank.provider_options import Option
from gateway.domain.bank.providers import Capabilities, Repeat
from gateway.net.client.tls import TlsFiles
from provider_adapters._shared.limits import ClientLimits

# The bank executes a payout as soon as it has read it, before it answers or hangs. When the
# lease is over the connection has long been closed, so a payout not seen by then will never be
# executed. The seconds allow for a machine that stood still.
_ABSENT_AFTER_S = 5.0


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the sandbox bank is, and what kind of provider it acts as.

    All but the address, the limits and TLS restrict what the bank can do, so
    that every kind of provider can be tried. ``repeat`` must match the setting
    of the bank's account.

    Attributes:
        base_url: On this machine only.
        payouts: False makes its accounts read-only.
        lacks: Optional operations that it does not offer.
        absent_after_s: Null if nothing can prove a payout absent.
    """

    base_url: str = "http://127.0.0.1:8090"
    payouts: bool = True
    lacks: frozenset[Option] = frozenset()
    repeat: Repeat = Repeat.SAME_ANSWER
    lookup_by_key: bool = True
    absent_after_s: Annotated[float, msgspec.Meta(ge=0)] | None = _ABSENT_AFTER_S
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()

    def capabilities(self) -> Capabilities:
        """Return what the provider declares."""
        absent = self.absent_after_s
        return Capabilities(
            operations=frozenset(option.value for option in frozenset(Option) - self.lacks),
            payouts=self.payouts,
            repeat=self.repeat,
            lookup_by_key=self.lookup_by_key,
            absent_after=None if absent is None else timedelta(seconds=absent),
            account_credentials=True,
        )
