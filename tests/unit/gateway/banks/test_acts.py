"""Acts at a bank are on record before it is asked, and with their ending."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from gateway.banks.acts import BankAct, recorded
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    WHY,
    BadReply,
    CredentialsRefused,
    NotFound,
    OutcomeUnknown,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from tests.unit.offering import Log, acting
from tests.world.people import ACCOUNT, COMPANY, account
from tests.world.standing import NOON

ACT = BankAct(
    acting=acting(),
    account=account(),
    action="charge.create",
    subject=f"account:{ACCOUNT}",
    details={"value": "10.50"},
)


async def test_an_act_is_ordered_and_done():
    log = Log()

    async with recorded(log, ACT):
        assert log.actions == ["charge.create.ordered"]

    ordered, done = log.events
    assert done.action == "charge.create.done"
    assert ordered.details == done.details == {"account": ACCOUNT, "value": "10.50"}
    assert (ordered.actor, ordered.at, ordered.subject) == (
        "user:maria",
        NOON,
        f"account:{ACCOUNT}",
    )


@pytest.mark.parametrize("subject", [f"account:{ACCOUNT}", "pix_key:1", "refund:1"])
async def test_an_act_names_the_company_of_its_account(subject: str):
    """Keys and refunds are not stored here, so limited users could not see their acts otherwise."""
    log = Log()

    async with recorded(log, replace(ACT, subject=subject)):
        pass

    assert [each.companies for each in log.events] == [{COMPANY}, {COMPANY}]


@pytest.mark.parametrize(
    ("problem", "ending"),
    [
        (NotFound("absent"), "absent"),
        (Unreachable("connect_failed"), "not_sent"),
        (Unavailable("timeout"), "unknown"),
        (BadReply("not_json"), "unknown"),
        (OutcomeUnknown("timeout"), "unknown"),
        (CredentialsRefused("credentials_refused"), "refused"),
        (RateLimited("rate_limited"), "refused"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_failure_is_reported_and_continues(problem: ProviderError, ending: str):
    log = Log()

    with pytest.raises(type(problem)):
        async with recorded(log, ACT):
            raise problem

    assert log.actions == ["charge.create.ordered", f"charge.create.{ending}"]
    assert log.events[1].details["reason"] == problem.reason


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        (IN_USE, errors.ALREADY_IN_USE),
        (CHARGE_PAID, errors.BANK_REFUSED),
        ("refused", errors.BANK_REFUSED),
    ],
)
async def test_a_refusal_of_the_bank_is_mapped_to_our_code(reason: str, error: ErrorCode):
    log = Log()

    with pytest.raises(ServiceError) as refused:
        async with recorded(log, ACT):
            raise Refused(reason)

    assert (refused.value.error, refused.value.reason) == (error, reason)
    assert refused.value.detail == WHY.get(reason, "")
    assert log.actions[1] == "charge.create.refused"


async def test_the_bank_is_not_called_when_the_act_cannot_be_recorded():
    asked = []

    with pytest.raises(StoreUnavailable):
        async with recorded(Log(fails_from=0), ACT):
            asked.append("the bank")

    assert asked == []


async def test_an_act_succeeds_when_its_end_cannot_be_recorded(caplog: pytest.LogCaptureFixture):
    """The bank has executed it, so reporting a failure would be untrue."""
    log = Log(fails_from=1)

    with caplog.at_level(logging.WARNING):
        async with recorded(log, ACT):
            pass

    assert log.actions == ["charge.create.ordered"]
    assert "audit_ending_lost action=charge.create.done" in caplog.text


async def test_an_unexpected_error_leaves_an_act_without_an_end():
    """An act without an end is unknown, whatever ended the process."""
    log = Log()

    with pytest.raises(ZeroDivisionError):
        async with recorded(log, ACT):
            raise ZeroDivisionError

    assert log.actions == ["charge.create.ordered"]
