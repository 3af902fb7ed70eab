"""The sandbox provider's part of ``config.yaml``."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec

from gateway.domain.bank.provider_options import Option
from gateway.domain.bank.providers import Capabilities, Repeat
from gateway.net.client.tls import TlsFiles
from provider_adapters._shared.limits import ClientLimits

# The bank carries a payout out the moment it has read it, before it answers or hangs. Once the
# lease is over the connection is long closed, so a request not seen by then is never carried
# out; the seconds are for a machine that stood still.
_ABSENT_AFTER_S = 5.0


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the sandbox bank is, and what this provider pretends to be.

    All but the address, the limits and TLS lessen what the bank can do, so that
    every kind of provider can be tried. ``repeat`` must be what the bank's account is set to.

    Attributes:
        base_url: On this machine only.
        payouts: False makes its accounts read-only.
        lacks: Names of optional operations that it does not offer.
        absent_after_s: Null when nothing proves that a payout is absent.
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
