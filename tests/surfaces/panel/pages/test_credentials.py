"""Pages of credentials: found, issued, rotated, ended; a secret is in one answer and no other."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import update

from gateway.credentials.model import Issued
from gateway.store.tables.core import credentials, payouts
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World, pair_of
from tests.world.gateway.world import order as order_of_a_payout
from tests.world.signing import Signer

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = re.compile(r"gws_[\w-]{20,}")


def order(world: World, **more: str) -> dict[str, str]:
    return {
        "name": "ERP novo",
        "reach": f"account:{world.demo['accounts']['main']['id']}",
        "may_balance": "read",
        "ends": "never",
        **more,
    }


async def issued(keeper: Person, world: World, **more: str) -> str:
    """Issue one by the form; return its client id."""
    await keeper.open("/panel/credentials/new")
    seen = await keeper.send("/panel/credentials/new", order(world, **more))
    assert seen.status == 200, seen.text
    return re.search(r"cli_\w+", seen.text)[0]


async def test_a_new_secret_is_shown_in_one_uncached_answer(keeper: Person, world: World):
    await keeper.open("/panel/credentials/new")

    seen = await keeper.send("/panel/credentials/new", order(world))

    secret = SECRET.search(seen.text)[0]
    client_id = re.search(r"cli_\w+", seen.text)[0]
    assert seen.headers["Cache-Control"] == "no-store"
    assert "Content-Encoding" not in seen.headers
    for path in ("/panel/credentials", f"/panel/credentials/{client_id}", "/panel/credentials/new"):
        assert secret not in (await keeper.open(path)).text


async def test_a_paying_credential_awaits_approval_by_a_second_person(keeper: Person, world: World):
    await keeper.open("/panel/credentials/new")

    seen = await keeper.send("/panel/credentials/new", order(world, may_withdraw="write"))

    assert seen.status == 303
    assert seen.location.startswith("/panel/approvals/")


async def test_a_secret_is_rotated(keeper: Person, world: World):
    client_id = await issued(keeper, world)
    await keeper.open(f"/panel/credentials/{client_id}/rotate")

    seen = await keeper.send(f"/panel/credentials/{client_id}/rotate", {"overlap_s": "3600"})

    shown = await keeper.open(f"/panel/credentials/{client_id}")

    assert SECRET.search(seen.text)
    assert "vale até" in seen.text
    assert f"{ORIGIN}/baas/v1" in seen.text
    assert "Segredo anterior" in shown.text
    assert "Último uso: " in shown.text


async def test_limits_are_set_at_once_and_loosening_them_needs_approval(
    keeper: Person, world: World
):
    path = f"/panel/credentials/{await issued(keeper, world, may_balance='read')}"
    await keeper.open(path)

    mistyped = await keeper.send(f"{path}/limits", {"limit_per_payout": "1.5"})
    tightened = await keeper.send(
        f"{path}/limits", {"limit_per_payout": "1.234,56", "limit_per_day": "5.000,00"}
    )
    shown = (await keeper.open(path)).text
    loosened = await keeper.send(f"{path}/limits", {"limit_per_payout": "1.234,56"})

    assert (mistyped.status, 'value="1.5"' in mistyped.text) == (400, True)
    assert (tightened.status, tightened.location) == (303, path)
    assert 'value="1.234,56"' in shown
    assert 'value="5.000,00"' in shown
    assert "limites definidos" in shown
    assert (loosened.status, loosened.location.startswith("/panel/approvals/")) == (303, True)


async def test_the_proposed_daily_limit_is_set_at_once_and_raising_to_it_needs_approval(
    keeper: Person, world: World
):
    made = await world.issue()
    path = f"/panel/credentials/{made.credential.client_id}"
    young = (await keeper.open(path)).text
    await grow_old(world, made)

    first = await keeper.open(path)
    limited = await keeper.send(f"{path}/limits", fields_of(first.text, "proposal"))
    at_limit = (await keeper.open(path)).text
    await keeper.send(f"{path}/limits", {"limit_per_payout": "1,00", "limit_per_day": "10,00"})
    lower = await keeper.open(path)
    raised = await keeper.send(f"{path}/limits", fields_of(lower.text, "proposal"))

    assert "Limite diário proposto" not in young
    assert (limited.status, limited.location) == (303, path)
    assert "Este já é o limite." in at_limit
    assert "uma segunda pessoa decide" in lower.text
    assert raised.location.startswith("/panel/approvals/")
    order = (await keeper.open(raised.location)).text
    assert "31,50" in order


async def grow_old(world: World, made: Issued) -> None:
    """Let a credential be two months old, and have paid R$ 10.50 yesterday."""
    client_id = made.credential.client_id
    paid = await world.pay(order_of_a_payout("of-yesterday", world.today()), pair=pair_of(made))
    assert paid.status == 200
    now = world.gateway.kernel.now()
    yesterday = now - timedelta(days=1)
    was = {"created_at": yesterday, "date": yesterday.date()}
    old = {"created_at": now - timedelta(days=60)}
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(
            update(credentials).values(**old).where(credentials.c.client_id == client_id)
        )
        await connection.execute(
            update(payouts).values(**was).where(payouts.c.client_id == client_id)
        )


def fields_of(text: str, card: str) -> dict[str, str]:
    """Return the hidden fields of a card's form, as a browser sends them."""
    part = text.partition(f'id="{card}"')[2].partition("</section>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', part))


async def test_networks_are_narrowed_at_once_and_widening_them_needs_approval(
    keeper: Person, world: World
):
    path = f"/panel/credentials/{await issued(keeper, world, networks='192.0.2.0/24')}"
    await keeper.open(path)

    mistyped = await keeper.send(f"{path}/callers", {"networks": "0.0.0.0/0"})
    tightened = await keeper.send(f"{path}/callers", {"networks": "192.0.2.7\r\n192.0.2.9"})
    shown = (await keeper.open(path)).text
    widened = await keeper.send(f"{path}/callers", {"anywhere": "yes"})

    assert (mistyped.status, "0.0.0.0/0</textarea>" in mistyped.text) == (400, True)
    assert (tightened.status, tightened.location) == (303, path)
    assert "192.0.2.7/32\n192.0.2.9/32</textarea>" in shown
    assert "redes definidas" in shown
    assert widened.location.startswith("/panel/approvals/")
    order = (await keeper.open(widened.location)).text
    assert "Redes de uma credencial" in order
    assert "qualquer lugar" in order


async def test_a_public_key_is_registered_and_removing_the_last_needs_approval(
    keeper: Person, world: World
):
    client_id = await issued(keeper, world)
    path, key = f"/panel/credentials/{client_id}", Signer().public.key_id
    await keeper.open(path)

    mistyped = await keeper.send(f"{path}/public-keys", {"public_key": "PRIVATE KEY"})
    ordered = await keeper.send(f"{path}/public-keys", {"public_key": Signer().pem})
    order = (await keeper.open(ordered.location)).text
    await world.register_key(client_id, Signer().pem)
    shown = (await keeper.open(path)).text
    await keeper.send(f"{ordered.location}/withdraw", {"reason": "registered already"})
    removed = await keeper.send(f"{path}/public-keys/{key}/remove", {})

    assert (mistyped.status, "PRIVATE KEY" in mistyped.text) == (400, False)
    assert ordered.location.startswith("/panel/approvals/")
    assert "Chave pública de uma credencial" in order
    assert key in order
    assert key in shown
    assert "cada pagamento é assinado" in shown
    assert "chave pública cadastrada" in shown
    assert removed.location.startswith("/panel/approvals/")


@pytest.mark.parametrize("words", ["", "erp novo", "ERP novo "])
async def test_a_credential_is_revoked_by_its_typed_name_alone(
    keeper: Person, world: World, words: str
):
    client_id = await issued(keeper, world)
    path = f"/panel/credentials/{client_id}/revoke"
    await keeper.open(path)

    wrong = await keeper.send(path, {"words": words, "reason": "fim do contrato"})
    right = await keeper.send(path, {"words": "ERP novo", "reason": "fim do contrato"})

    trimmed = words.strip() == "ERP novo"
    assert wrong.status == (303 if trimmed else 400)
    assert right.status == (400 if trimmed else 303)
    page = await keeper.open(f"/panel/credentials/{client_id}")
    assert "revogada" in page.text
    assert "fim do contrato" in page.text
