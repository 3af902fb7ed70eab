"""Recipients paid before: chosen in the panel, filled in by the gateway, checked like any other."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from sqlalchemy import update

from gateway.store.tables.core import payouts
from tests.surfaces.panel.pages.payouts import ordered
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEW = "/panel/payouts/new"
WHOLE = ("52998224725", "529.982.247-25", "maria@example.com")
BANK = {
    "name": "João <b>",
    "tax_number": "529.982.247-25",
    "bank_number": "341",
    "branch": "0001",
    "account": "123456-7",
    "account_type": "checking",
}


def listed_at(world: World, text: str = "") -> str:
    account = world.demo["accounts"]["main"]["id"]
    return f"{NEW}/recipients?account_id={account}&text={text}"


async def paid(world: World, **more: object) -> str:
    reference = f"antes-{uuid4().hex[:8]}"
    await world.pay(order(reference, world.today(), **more))
    await world.settled(reference)
    return reference


def again(world: World, reference: str, **more: str) -> dict[str, str]:
    typed = ordered(world, key="", key_type="", tax_number="", again=reference, **more)
    return {name: value for name, value in typed.items() if value}


async def test_a_recipient_is_chosen_checked_and_ordered_without_a_whole_cpf_on_a_page(
    operator: Person, approver: Person, world: World
):
    reference = await paid(world)
    listed = await operator.open(listed_at(world))
    link = re.search(r'href="(/panel/payouts/new\?[^"]*again=[^"]*)"', listed.text)
    assert link, listed.text
    form = await operator.open(link[1].replace("&amp;", "&"))
    fields = again(world, reference, value="7,77")

    summary = await operator.send(NEW, fields)
    back = await operator.send(NEW, {**fields, "step": "correct"})
    told = {"owner_name": "Maria", "owner_tax_number": "***", "step": "send"}
    sent = await operator.send(NEW, {**fields, **told})
    approval = await approver.open(sent.location)

    for each in (listed, form, summary, back):
        assert each.status == 200, each.text
        assert "***.982.247-**" in each.text
        assert [whole for whole in WHOLE if whole in each.text] == []
    assert f'name="again" value="{reference}"' in back.text
    assert "Titular da chave" in summary.text
    assert sent.status == 303, sent.text
    assert "/panel/approvals/" in sent.location
    assert "529.982.247-25" in approval.text
    assert await world.executions(fields["reference"]) == []


async def test_a_chosen_recipient_cannot_be_changed_by_other_fields(
    operator: Person, approver: Person, world: World
):
    fields = again(world, await paid(world))
    theirs = {"key_type": "email", "key": "thief@example.com", "tax_number": "111.444.777-35"}
    told = {"owner_name": "Maria", "owner_tax_number": "***", "step": "send"}
    await operator.open(NEW)

    sent = await operator.send(NEW, {**fields, **theirs, **told})
    approval = await approver.open(sent.location)

    assert "maria@example.com" in approval.text
    assert "thief@example.com" not in approval.text


async def test_a_changed_owner_of_the_key_is_shown_before_the_order(operator: Person, world: World):
    reference = await paid(world)
    then = '{"name": "Outra Pessoa", "tax_number": "***.444.777-**", "bank": "", "reason": ""}'
    async with world.gateway.kernel.store.database.writing() as connection:
        named = update(payouts).where(payouts.c.reference == reference)
        await connection.execute(named.values(key_owner=then))
    await operator.open(NEW)

    summary = await operator.send(NEW, again(world, reference))

    assert "O que chama a atenção neste favorecido" in summary.text
    assert "a chave tem outro titular agora" in summary.text


async def test_a_bank_account_is_filled_in_and_its_names_are_escaped(
    operator: Person, world: World
):
    reference = await paid(world, method="bank_account", destination=BANK)
    await operator.open(NEW)

    listed = await operator.open(listed_at(world, "joao"))
    summary = await operator.send(NEW, {**again(world, reference), "method": "bank_account"})

    assert "João &lt;b&gt;" in listed.text
    assert "<b>123456-7</b>" in summary.text
    assert [whole for whole in WHOLE[:2] if whole in summary.text] == []


async def test_a_payout_that_was_not_paid_cannot_be_chosen(operator: Person, world: World):
    account = world.demo["accounts"]["main"]["id"]

    form = await operator.open(f"{NEW}?account_id={account}&again=nenhum")
    refused = await operator.send(NEW, again(world, "nenhum"))

    assert "Este favorecido não pode ser preenchido." in form.text
    assert 'name="key"' in form.text
    assert refused.status == 404


async def test_recipients_are_found_by_name_and_an_unknown_one_is_said(
    operator: Person, world: World
):
    await paid(world)

    none = await operator.open(listed_at(world, "ninguem+assim"))

    assert "Nenhum favorecido encontrado" in none.text
