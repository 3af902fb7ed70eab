"""What rows of management share."""

from __future__ import annotations

import pytest

from gateway.domain.accounts.permissions import Action
from gateway.domain.identity.errors import NOT_POSSIBLE
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice import calls
from gateway.http.backoffice.callers import Staff
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from tests.unit.gateway.http.backoffice.registers import person
from tests.unit.refusals import refused
from tests.unit.standing import Clock


def staff(*companies: str) -> Staff:
    return Staff(person(*companies), AuditContext("x", Clock().now))


def test_what_is_not_possible_is_told_as_a_sentence():
    text = "there is no company 7"

    with pytest.raises(ServiceError) as told, calls.explained():
        raise RuleViolation(text)

    assert told.value.error is NOT_POSSIBLE
    assert told.value.detail == "There is no company 7."


def test_a_field_that_is_wrong_is_told_in_the_words_of_its_reason():
    """The line for the command line may repeat what was typed; over HTTP nothing is repeated."""
    text = "there is no company 7"

    with pytest.raises(ServiceError) as told, calls.explained():
        raise RuleViolation(text, "company_unknown", field="company_id")

    assert (told.value.reason, told.value.field) == ("company_unknown", "company_id")
    assert told.value.detail == ""


def test_what_is_taken_is_a_conflict():
    text = "it exists already"

    with refused(errors.ALREADY_IN_USE), calls.explained():
        raise RuleViolation(text, "taken")


def test_another_problem_is_nobodys():
    with pytest.raises(KeyError), calls.explained():
        raise KeyError


def test_rights_are_named_by_their_action():
    assert calls.reading(Area.STOP) == Right(Area.STOP, Action.READ)
    assert calls.writing(Area.STOP) == Right(Area.STOP, Action.WRITE)
    assert calls.managing(Area.STOP) == Right(Area.STOP, Action.MANAGE)


def test_nothing_is_shown_of_what_is_done():
    assert calls.done(None, staff()).content is None
