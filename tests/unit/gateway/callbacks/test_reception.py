"""Callbacks: taken when they are proven, and once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.banks.port.provider_callbacks import CallbackKind, Notice
from gateway.banks.port.providers import Unavailable
from gateway.callbacks.model import (
    CallbackState,
)
from gateway.core import errors
from tests.unit.gateway.callbacks.hall import (
    PAYOUT,
    Hall,
)
from tests.unit.refusals import refused
from tests.world import registers
from tests.world.standing import Clock


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with registers.opened(tmp_path) as office:
        yield Hall(office, Clock())


async def test_a_proven_callback_is_stored_once(hall: Hall):
    for _ in range(3):
        await hall.take()

    (one,) = await hall.all()
    assert (one.event, one.subject, one.body) == ("e", "key", b"body")
    assert one.state is CallbackState.RECEIVED
    assert hall.counted == {"taken": 1, "repeated": 2}
    assert hall.rung == 1


async def test_an_event_without_an_id_is_identified_by_its_body(hall: Hall):
    hall.proof.notice = replace(PAYOUT, event="")

    await hall.take()
    await hall.take()

    (one,) = await hall.all()
    assert len(one.event) == 64


@pytest.mark.parametrize(("token", "provider"), [("wrong", "p"), ("right", "other")])
async def test_an_unproven_callback_is_counted_and_dropped(hall: Hall, token: str, provider: str):
    with refused(errors.CREDENTIALS_INVALID):
        await hall.take(token, provider)

    assert await hall.all() == []
    assert hall.counted == {"forged": 1}


async def test_a_previous_callback_address_is_still_accepted(hall: Hall):
    await hall.take("former")

    assert hall.counted == {"taken": 1}


async def test_a_known_path_suffix_is_accepted_and_no_other(hall: Hall):
    await hall.take(rest="pix")

    with refused(errors.ROUTE_UNKNOWN):
        await hall.take(rest="other")
    with refused(errors.CREDENTIALS_INVALID):
        await hall.take("wrong", rest="other")
    assert len(await hall.all()) == 1


async def test_several_notices_in_one_body_are_stored_separately(hall: Hall):
    """Each with its own part: the others may belong to another company."""
    one = Notice(event="", kind=CallbackKind.CHARGE, subject="r1", account="a", part=b"[1]")
    hall.proof.says = [
        one,
        replace(one, subject="r2", account="b", part=b"[2]"),
        replace(one, subject="r3", part=b""),
    ]

    await hall.take()
    await hall.take()

    kept = await hall.all()
    found = sorted((each.subject, each.account, each.body) for each in kept)
    assert found == [("r1", "a", b"[1]"), ("r2", "b", b"[2]"), ("r3", "a", b"")]
    assert len({each.event for each in kept}) == 3
    assert hall.counted == {"taken": 3, "repeated": 3}


async def test_an_empty_callback_is_accepted_and_not_stored(hall: Hall):
    """The test that some banks send at registration."""
    hall.proof.says = []

    await hall.take()

    assert await hall.all() == []
    assert hall.counted == {}


@pytest.mark.parametrize(
    "says",
    [
        Unavailable("timeout"),
        KeyError("canary"),
        ["canary"],
        [replace(PAYOUT, subject=7)],  # type: ignore[arg-type]
        [replace(PAYOUT, kind="payout")],  # type: ignore[arg-type]
        [PAYOUT, None],
    ],
    ids=["no-keys", "raises", "text", "number", "word", "one-of-two"],
)
async def test_a_proof_that_raises_counts_as_unproven(
    hall: Hall, says: object, caplog: pytest.LogCaptureFixture
):
    """The bank repeats it; no forgery is reported."""
    hall.proof.says = says

    with refused(errors.CREDENTIALS_INVALID):
        await hall.take()

    assert (await hall.all(), hall.counted) == ([], {"unproven": 1})
    assert "canary" not in caplog.text


@pytest.mark.parametrize("text", ["a\x00", "x" * 1025, "\ud800"])
async def test_a_text_that_cannot_be_stored_becomes_empty(hall: Hall, text: str):
    hall.proof.notice = replace(PAYOUT, event=text, subject=text, account=text)

    await hall.take()

    (one,) = await hall.all()
    assert (one.subject, one.account, len(one.event)) == ("", "", 64)
