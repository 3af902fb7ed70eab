"""What every administrative act shares."""

from contextvars import copy_context

import pytest

from gateway.core import trace
from gateway.core.audit_context import AuditContext, RuleViolation, identifier, name
from tests.world.registers import NOON


def test_an_event_has_time_actor_action_and_subject():
    event = AuditContext("cli:maria", lambda: NOON).event(
        "company.created", "company:1", {"name": "A"}
    )

    assert (event.at, event.actor, event.action) == (NOON, "cli:maria", "company.created")
    assert (event.subject, event.details) == ("company:1", {"name": "A"})


def test_an_event_has_the_trace_id_of_its_request():
    acting = AuditContext("user:maria@example.com", lambda: NOON)

    def served() -> str:
        trace.begin("t-1")
        return acting.event("company.created", "company:1").trace_id

    assert copy_context().run(served) == "t-1"
    assert acting.event("company.created", "company:1").trace_id == ""


def test_surrounding_space_of_a_name_is_removed():
    assert name("  Loja do João ") == "Loja do João"


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "a\x00", "x" * 201, "\ud800"])
def test_an_unusable_name_is_refused(text: str):
    with pytest.raises(RuleViolation):
        name(text)


def test_an_identifier_is_read_in_any_letter_case():
    read = identifier("0B7D7E4A-9E0E-4A3C-8F5E-3C1F0A9B2C01", "account")

    assert read == "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"


@pytest.mark.parametrize("text", ["", "1", "0b7d7e4a9e0e4a3c8f5e3c1f0a9b2c01", "{}"])
def test_an_invalid_identifier_is_refused(text: str):
    with pytest.raises(RuleViolation, match="account"):
        identifier(text, "account")
