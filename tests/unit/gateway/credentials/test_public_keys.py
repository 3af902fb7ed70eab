"""Public keys of credentials: which orders wait, and what they leave behind."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest

from gateway.core.approvals import Approval, ApprovalKind, Outcome
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.public_keys import MOST_KEYS
from gateway.credentials.model import Credential, PublicKeyBody
from gateway.credentials.public_keys import PublicKeys
from tests.unit.gateway.credentials.two_people import TwoPeople
from tests.world.signing import Signer

KEYS = [Signer(number) for number in range(1, MOST_KEYS + 2)]
FIRST, SECOND, THIRD, *_ = KEYS


@pytest.fixture
def keys(people: TwoPeople) -> PublicKeys:
    made = PublicKeys(people.credentials)
    people.approvals.executors[ApprovalKind.CREDENTIAL_KEY] = made
    return made


def body(signer: Signer) -> PublicKeyBody:
    return PublicKeyBody(signer.pem)


async def held(people: TwoPeople) -> list[str]:
    [stored] = await people.every()
    return [each.key_id for each in stored.public_keys]


async def registered(people: TwoPeople, keys: PublicKeys, *signers: Signer) -> str:
    """Issue a credential with these keys, on the command line; return its client id."""
    made = await people.issue()
    for each in signers:
        await keys.add(people.office.staff, made.client_id, body(each))
    return made.client_id


async def refusal(deed: Awaitable[object]) -> tuple[str, str]:
    with pytest.raises(RuleViolation) as problem:
        await deed
    return problem.value.reason, problem.value.field


async def test_adding_a_public_key_needs_approval(people: TwoPeople, keys: PublicKeys):
    client_id, who = await registered(people, keys), people.staff("maria")

    for number, signer in enumerate((FIRST, SECOND)):
        waiting = await keys.add(who, client_id, body(signer))
        assert isinstance(waiting, Approval)
        assert len(await held(people)) == number
        shown = (await people.approvals.get(people.staff("joao"), waiting.id)).order
        assert (shown["client_id"], shown["name"]) == (client_id, "ERP")
        assert shown["public_key"].key_id == signer.public.key_id
        await people.approve(waiting)

    assert await held(people) == [FIRST.public.key_id, SECOND.public.key_id]
    [stored] = await people.every()
    assert stored.principal.public_keys == stored.public_keys


async def test_removing_a_public_key_is_immediate_unless_it_is_the_last(
    people: TwoPeople, keys: PublicKeys
):
    client_id = await registered(people, keys, FIRST, SECOND)
    who = people.staff("maria")

    ended = await keys.remove(who, client_id, FIRST.public.key_id)
    waiting = await keys.remove(who, client_id, SECOND.public.key_id)
    before = await held(people)
    await people.approve(waiting)

    assert isinstance(ended, Credential)
    assert isinstance(waiting, Approval)
    assert before == [SECOND.public.key_id]
    assert await held(people) == []
    acts = [(each.action, each.actor) for each in await people.office.acts()]
    assert [each for each in acts if each[0].startswith("credential.key")][-2:] == [
        ("credential.key_removed", "user:maria@example.com"),
        ("credential.key_removed", "user:maria@example.com"),
    ]


async def test_an_order_executed_twice_changes_the_keys_once(people: TwoPeople, keys: PublicKeys):
    client_id, who = await registered(people, keys, FIRST), people.staff("maria")
    waiting = await keys.add(who, client_id, body(SECOND))
    assert isinstance(waiting, Approval)
    await people.approve(waiting)
    before = await people.office.acts()
    text = people.approvals.text(waiting)

    assert await keys.check_again(waiting, text) == ""
    assert await keys.carry_out(waiting, text) is Outcome.DONE

    assert await held(people) == [FIRST.public.key_id, SECOND.public.key_id]
    assert await people.office.acts() == before


async def test_an_impossible_change_is_refused(people: TwoPeople, keys: PublicKeys):
    client_id = await registered(people, keys, *KEYS[:MOST_KEYS])
    who = people.office.staff

    found = [
        await refusal(keys.add(who, client_id, PublicKeyBody("key"))),
        await refusal(keys.add(who, client_id, body(FIRST))),
        await refusal(keys.add(who, client_id, body(KEYS[-1]))),
        await refusal(keys.remove(who, client_id, "unknown")),
    ]

    assert found == [
        ("public_key_form", "public_key"),
        ("key_known", "public_key"),
        ("too_many_keys", "public_key"),
        ("key_unknown", "public_key_id"),
    ]


async def test_an_order_is_void_after_another_change_of_the_keys(
    people: TwoPeople, keys: PublicKeys
):
    """A waiting key must not follow keys that were removed meanwhile."""
    client_id, who = await registered(people, keys, FIRST, SECOND), people.staff("maria")
    office = people.office.staff
    waiting = await keys.add(who, client_id, body(THIRD))
    assert isinstance(waiting, Approval)
    await keys.remove(office, client_id, FIRST.public.key_id)

    with pytest.raises(ServiceError) as refused:
        await people.approve(waiting)

    assert refused.value.reason == "void"
    text = people.approvals.text(waiting)
    assert await refusal(keys.carry_out(waiting, text)) == ("changed_meanwhile", "")
    assert await held(people) == [SECOND.public.key_id]


async def test_the_keys_of_a_revoked_credential_cannot_be_changed(
    people: TwoPeople, keys: PublicKeys
):
    client_id = await registered(people, keys, FIRST)
    waiting = await keys.remove(people.staff("maria"), client_id, FIRST.public.key_id)
    await people.office.revoke(client_id)

    assert await refusal(people.approve(waiting)) == ("revoked", "")
