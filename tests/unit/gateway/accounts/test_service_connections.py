"""What a bank says when it is asked whether it accepts us, in our words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from gateway.accounts.model import Connected, Connection
from gateway.accounts.service import SENTENCES, AccountBanks
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    NotFound,
    NotSupported,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from tests.world.payouts import CAREFUL, OneBank, ScriptedBank, account
from tests.world.standing import Clock


class Kept:
    def __init__(self) -> None:
        self.events: list[AuditEvent] = []

    async def append(self, event: AuditEvent) -> None:
        self.events.append(event)

    async def verify(self) -> int:
        return len(self.events)


class Balances(ScriptedBank):
    """A bank that fails to return a balance, or returns one."""

    failure: ProviderError | None = None

    async def get_balance(self, _account: object) -> None:  # type: ignore[override]
        if self.failure is not None:
            raise self.failure


async def tried(banks: OneBank) -> tuple[Connection, Kept]:
    kept, nothing = Kept(), cast("Any", None)
    service = AccountBanks(accounts=nothing, wait=nothing, takes_two=True, banks=banks, audit=kept)
    who = Staff(AuditContext("user:ana@example.com", Clock().now))
    return await service.test(who, account()), kept


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (None, Connected.WORKS),
        (CredentialsRefused("x"), Connected.CREDENTIALS_REFUSED),
        (CredentialsRefused("credentials_unfit"), Connected.NO_CREDENTIALS),
        (Unreachable("certificate_expired"), Connected.NO_CERTIFICATE),
        (Unreachable("certificate_missing"), Connected.NO_CERTIFICATE),
        (Unreachable("certificate_refused"), Connected.CREDENTIALS_REFUSED),
        (Unavailable("certificate_refused"), Connected.CREDENTIALS_REFUSED),
        (NotFound("x"), Connected.ACCOUNT_UNKNOWN),
        (Refused("x"), Connected.REFUSED),
        (NotSupported("x"), Connected.NOT_OFFERED),
        (RateLimited("x"), Connected.BUSY),
        (Unreachable("x"), Connected.UNREACHABLE),
        (Unavailable("x"), Connected.NO_ANSWER),
        (BadReply("x"), Connected.NOT_UNDERSTOOD),
        (ProviderError("x"), Connected.NOT_UNDERSTOOD),
    ],
)
async def test_every_outcome_of_a_connection_test_is_returned_and_audited(
    failure: ProviderError | None, outcome: Connected
):
    """With the user who requested it."""
    bank = Balances()
    bank.failure = failure

    came, kept = await tried(OneBank(bank))

    assert came == Connection(outcome is Connected.WORKS, outcome, SENTENCES[outcome])
    [event] = kept.events
    assert (event.actor, event.action) == ("user:ana@example.com", "account.provider_tested")
    assert event.details["outcome"] == outcome


async def test_testing_without_a_bank_or_credentials_makes_no_call():
    bank = Balances()
    bank.capabilities = replace(CAREFUL, account_credentials=True)

    assert (await tried(OneBank(bank, is_there=False)))[0].outcome is Connected.NO_PROVIDER
    assert (await tried(OneBank(bank)))[0].outcome is Connected.NO_CREDENTIALS


def test_every_outcome_has_a_sentence():
    assert SENTENCES.keys() == set(Connected)
