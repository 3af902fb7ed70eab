"""Passwords looked at."""

import uuid
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.domain.browsers import KnownBrowser
from gateway.domain.errors import ServiceError
from gateway.operations.identity.proving import Proving
from tests.unit.door import EMAIL, HOME, PASSWORD


async def test_whose_address_and_password_they_are(door, maria):
    proving = Proving(door.parts)

    assert await proving.by_email(EMAIL, PASSWORD, HOME) == maria
    assert await proving.by_email(EMAIL, "wrong", HOME) is None
    assert await proving.by_email("nobody@example.com", PASSWORD, HOME) is None


async def test_the_same_work_is_done_for_nobody(door, maria, monkeypatch):
    """One look-up and one digest, whoever is asked for."""
    asked: list[str] = []
    matches, find = door.hasher.matches, door.store.identity.users.find_by_email

    async def noting(password, stored):
        asked.append("digest")
        return await matches(password, stored)

    async def finding(email):
        asked.append("find")
        return await find(email)

    monkeypatch.setattr(door.hasher, "matches", noting)
    monkeypatch.setattr(door.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, "nobody@example.com"):
        await Proving(door.parts).by_email(email, "wrong", HOME)

    assert asked == ["find", "digest"] * 2


async def test_a_browser_known_for_somebody_else_is_any_browser(door, maria):
    """What is tried there counts as a stranger's."""
    foreign = replace(HOME, known=KnownBrowser(user_id=str(uuid.uuid4()), id="ab"))
    for _ in range(5):
        await Proving(door.parts).by_email(EMAIL, "wrong", foreign)

    with pytest.raises(ServiceError) as refused:
        await Proving(door.parts).by_email(EMAIL, PASSWORD, foreign)

    assert refused.value.reason == "account_ip"


async def test_who_is_signed_in_is_not_shut_out_of_their_own_account_by_strangers(door, maria):
    """A new password takes the old one, whoever has guessed at it elsewhere."""
    caller = (await door.comes_in()).person
    for _ in range(6):
        with suppress(ServiceError):
            await Proving(door.parts).by_email(EMAIL, "wrong", HOME)

    assert await Proving(door.parts).by_caller(caller, PASSWORD, HOME) == maria
    assert await Proving(door.parts).by_caller(caller, "wrong", HOME) is None
