"""Lists of the back office, each cut and counted for the companies its reader may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts.accounts import Company
from gateway.domain.accounts.credentials import Credential
from gateway.domain.identity.users import User
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.stops import Stop


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A page of a list, for one reader.

    Attributes:
        companies: The only companies the reader may see; empty for all.
    """

    paging: Paging
    companies: frozenset[str] = frozenset()


class Lists(Protocol):
    """Pages, oldest first, each with how many there are in all."""

    async def companies(self, shown: Shown) -> tuple[Sequence[Company], int]:
        """List companies."""
        ...

    async def credentials(
        self, shown: Shown, company_id: str | None
    ) -> tuple[Sequence[Credential], int]:
        """List credentials, ended ones too; ``company_id`` None is every company's."""
        ...

    async def people(self, shown: Shown) -> tuple[Sequence[User], int]:
        """List people; who is limited to companies sees those who see nothing beyond."""
        ...

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these people last signed in, as far as it is on record."""
        ...

    async def stops(self, shown: Shown, at: datetime) -> tuple[Sequence[Stop], int]:
        """List the stops that hold at an instant; a provider's concern everybody."""
        ...

    async def reviews(self, shown: Shown) -> tuple[Sequence[Payout], int]:
        """List the payouts that wait for people."""
        ...
