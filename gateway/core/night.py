"""The night in São Paulo, and its limits for credentials without limits of their own for it."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Final, NamedTuple

import msgspec

from gateway.core.money import Money
from gateway.core.permissions import UNLIMITED, CredentialLimits
from gateway.core.windows import LOCAL

_DAY = timedelta(days=1)


class NightSpan(NamedTuple):
    """One night, in UTC; ``until`` is not included."""

    since: datetime
    until: datetime


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """
    The hours of a night, and the default limits in them.

    Attributes:
        begins, ends: Times of day in São Paulo; a night that ends before it begins ends on the
            next day.
        per_payout: The most that one payout may be at night.
        per_night: The most that all payouts of a night may sum up to.
    """

    begins: time = time(20)
    ends: time = time(6)
    per_payout: Money | None = None
    per_night: Money | None = None

    def span_of(self, at: datetime) -> NightSpan | None:
        """Return the night that contains an instant; None by day."""
        today = at.astimezone(LOCAL).date()
        lasts = _DAY * (self.ends <= self.begins)
        for day in (today, today - _DAY):
            span = NightSpan(
                datetime.combine(day, self.begins, LOCAL).astimezone(UTC),
                datetime.combine(day + lasts, self.ends, LOCAL).astimezone(UTC),
            )
            if span.since <= at < span.until:
                return span
        return None

    def limits(self, own: CredentialLimits) -> CredentialLimits:
        """Return limits in force: the default ones of the night where a credential has none."""
        return msgspec.structs.replace(
            own,
            per_payout_at_night=own.per_payout_at_night or self.per_payout,
            per_night=own.per_night or self.per_night,
        )

    def applies(self, own: CredentialLimits, at: datetime) -> bool:
        """Return whether a payout of a credential at an instant has any limit."""
        if own != UNLIMITED:
            return True
        has_default = self.per_payout is not None or self.per_night is not None
        return has_default and self.span_of(at) is not None


NIGHT: Final = Night()
"""The night as long as no setting says otherwise: without default limits."""
