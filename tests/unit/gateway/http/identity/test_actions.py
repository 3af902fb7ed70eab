"""The bodies of requests; what they do is tested where it is done."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.domain.identity.errors import NOT_FOUND
from gateway.http.identity.actions import AccountActions, RecoveryActions
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.identity.represent import public_id
from gateway.store.engine import open_store
from policies.validation.identity import ForgotBody, LinkBody
from tests.unit.refusals import refused
from tests.world.identity import EMAIL, HOME, PASSWORD, IdentityWorld, identity_world_on
from tests.world.standing import Clock


@pytest.fixture
async def identity_world(
    store_file: Path, tmp_path: Path, clock: Clock
) -> AsyncIterator[IdentityWorld]:
    """Identity with Maria behind it."""
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    opened = identity_world_on(store, clock)
    await opened.services.signing_keys.ensure()
    await opened.person()
    yield opened
    opened.hasher.close()
    await store.close()


@pytest.mark.parametrize("named", ["public", "own"])
async def test_a_session_is_ended_by_either_of_its_names(identity_world: IdentityWorld, named: str):
    came = await identity_world.sign_in()
    member = SignedInCaller(person=came.person, client=HOME)
    wanted = came.person.session_id if named == "own" else public_id(came.person.session_id)

    await AccountActions(identity_world.services).end_session(member, wanted)

    assert await identity_world.services.sessions.list(came.person) == []


async def test_a_name_of_nothing_is_not_found(identity_world: IdentityWorld):
    member = SignedInCaller(person=(await identity_world.sign_in()).person, client=HOME)

    for wanted in ("", "000000000000", member.person.session_id[:12]):
        with refused(NOT_FOUND):
            await AccountActions(identity_world.services).end_session(member, wanted)


async def test_a_link_is_asked_for_and_used(identity_world: IdentityWorld):
    ways, guest = RecoveryActions(identity_world.services), AnonymousCaller(HOME)
    await ways.forgot(guest, ForgotBody(email=EMAIL))
    await identity_world.services.reset_requests.answer()

    body = LinkBody(token=await identity_world.link(), password="outra frase bem comprida")
    await ways.reset(guest, body)

    assert await identity_world.services.sign_in.login(EMAIL, body.password, HOME)
    assert body.password != PASSWORD
