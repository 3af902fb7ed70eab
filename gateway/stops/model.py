"""Kill switches: payouts of a scope, from one credential to everything, are refused for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from gateway.core import fields
from gateway.core.account import Account
from gateway.core.company_scope import WIDE, StopScope
from gateway.core.fields import meaning
from gateway.core.permissions import Principal
from gateway.core.schemas import NAME, Moment, OptionalMoment

GUARD: Final = "system:outflow"
"""The actor of stops that the outflow guard made."""
LONGEST_MIN: Final = 30 * 24 * 60
"""Every stop has an end, at most 30 days from its beginning."""


Subject = Annotated[
    str,
    meaning(
        "The provider's name, or the id of the account, company or credential; "
        "empty for everything.",
        fields.ID,
    ),
]


class Stop(Struct, frozen=True, kw_only=True):
    """
    A stop that was not lifted. Reads are never stopped.

    Attributes:
        id: A UUID.
        subject: The provider's name, or the id of the account, company or credential; empty where
            everything is stopped.
        reason: For the operators who read it later.
        created_by: As the audit log names them.
        ends_at: When it ends by itself.
    """

    id: fields.Id
    scope: StopScope
    subject: Subject
    reason: fields.Reason
    created_by: Annotated[str, meaning("Who created it.", "user:ana@example.com")]
    created_at: Moment
    ends_at: Moment

    @property
    def is_wide(self) -> bool:
        """Return whether it covers more than one company."""
        return self.scope in WIDE

    def holds(self, principal: Principal, account: Account, now: datetime) -> bool:
        """Return whether a payout of this caller from this account is stopped now."""
        concerns = self.concerns(
            account.company_id, account.id, account.provider, principal.client_id
        )
        return now < self.ends_at and concerns

    def concerns(
        self, company_id: str, account_id: str = "", provider: str = "", client_id: str = ""
    ) -> bool:
        """Return whether it stops a company, or one of its accounts at a bank, for a credential."""
        subjects = {
            StopScope.PROVIDER: provider,
            StopScope.ACCOUNT: account_id,
            StopScope.COMPANY: company_id,
            StopScope.CREDENTIAL: client_id,
            StopScope.EVERYTHING: "",
        }
        return subjects[self.scope] == self.subject


class EndedStop(Stop, frozen=True, kw_only=True):
    """A stop that ended by itself, or was lifted: then by whom, as the audit log names them."""

    lifted_by: Annotated[
        str, meaning("Who lifted it; empty where it ended by itself.", "user:ana@example.com")
    ]
    lifted_at: OptionalMoment


class StopRequest(Struct):
    """
    A new stop: of a provider by name, or of an account, company or credential by id.

    One of everything names no subject.
    """

    scope: StopScope
    reason: Annotated[
        str,
        Meta(
            description="Why; for people who read it later.",
            min_length=1,
            max_length=500,
            extra_json_schema={"example": "asked for by telephone", "pattern": NAME},
        ),
    ]
    subject: Annotated[Subject, Meta(max_length=1024)] = ""
    minutes: Annotated[int, Meta(ge=1, le=LONGEST_MIN)] = 60
