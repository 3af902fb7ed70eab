"""Kill switches: payouts of a provider, account, company or credential are refused for a while."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, Struct

from gateway.domain.accounts.accounts import Account
from gateway.domain.accounts.credentials import Principal
from gateway.domain.requests.schemas import NAME, Moment

LONGEST_MIN: Final = 30 * 24 * 60
"""Every stop has an end, at most 30 days from its beginning."""


class StopScope(StrEnum):
    """What a stop holds for."""

    PROVIDER = "provider"
    ACCOUNT = "account"
    COMPANY = "company"
    CREDENTIAL = "credential"


class Stop(Struct, frozen=True, kw_only=True):
    """
    A stop that was not lifted. Reads are never stopped.

    Attributes:
        id: A UUID.
        subject: The provider's name, or the id of the account, company or credential.
        reason: For the operators who read it later.
        created_by: As the audit log names them.
        ends_at: When it ends by itself.
    """

    id: str
    scope: StopScope
    subject: str
    reason: str
    created_by: str
    created_at: Moment
    ends_at: Moment

    def holds(self, principal: Principal, account: Account, now: datetime) -> bool:
        """Say whether a payout of this caller from this account is stopped now."""
        subjects = {
            StopScope.PROVIDER: account.provider,
            StopScope.ACCOUNT: account.id,
            StopScope.COMPANY: account.company_id,
            StopScope.CREDENTIAL: principal.client_id,
        }
        return now < self.ends_at and subjects[self.scope] == self.subject


class StopRequest(Struct):
    """A new stop: of a provider by name, or of an account, company or credential by id."""

    scope: StopScope
    subject: Annotated[str, Meta(min_length=1, max_length=1024)]
    reason: Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema={"pattern": NAME})]
    minutes: Annotated[int, Meta(ge=1, le=LONGEST_MIN)] = 60
