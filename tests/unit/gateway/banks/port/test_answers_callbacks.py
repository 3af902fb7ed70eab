"""Checks of callbacks: notices, registrations and missed events of other types are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.banks.port.answers import (
    WrongAnswer,
    missed_events,
    notice,
    registered,
    registrations,
)
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    MissedEvent,
    Notice,
    RegisteredCallback,
)

NOTICE = Notice(event="e", kind=CallbackKind.OTHER, subject="s")
WRONG_NOTICES = [
    None,
    "canary",
    replace(NOTICE, event=7),  # type: ignore[arg-type]
    replace(NOTICE, subject=None),  # type: ignore[arg-type]
    replace(NOTICE, kind="payout"),  # type: ignore[arg-type]
    replace(NOTICE, named_by="key"),  # type: ignore[arg-type]
    replace(NOTICE, part="canary"),  # type: ignore[arg-type]
]


def test_a_notice_with_fields_of_other_types_is_refused():
    for wrong in WRONG_NOTICES:
        assert notice(NOTICE) is NOTICE
        with pytest.raises(WrongAnswer) as refused:
            notice(wrong)

        assert "canary" not in str(refused.value)
        event: Any = MissedEvent(id="1", notice=wrong, body=b"")  # type: ignore[arg-type]
        with pytest.raises(WrongAnswer):
            missed_events([event], 1)


def test_a_registration_with_another_address_is_refused():
    order = CallbackOrder(url="https://us.example/c")
    made = RegisteredCallback(id="1", url=order.url)

    assert registered(made, order) == made
    assert registrations([made]) == [made]
    for wrong in (None, replace(made, url="https://other.example"), replace(made, id="1\n")):
        with pytest.raises(WrongAnswer):
            registered(wrong, order)


def test_missed_events_are_validated():
    cases = [
        None,
        [MissedEvent(id="", notice=NOTICE, body=b"")],
        [MissedEvent(id="1", notice=NOTICE, body="")],  # type: ignore[arg-type]
        [MissedEvent(id="1", notice=NOTICE, body=b"")] * 2,
    ]

    for wrong in cases:
        with pytest.raises(WrongAnswer):
            missed_events(wrong, 1)
