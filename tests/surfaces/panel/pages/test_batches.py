"""Pages of files of payouts: upload, order, and what another person sees."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import update

from gateway.store.tables.backoffice import batches
from gateway.store.tables.core import payouts
from tests.surfaces.panel.pages.person import Person, age_factors
from tests.world.gateway.world import World
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEW = "/panel/batches/new"
HEAD = "referencia;valor;nome;cpf_cnpj;tipo_chave;chave"


def sheet(*rows: str) -> bytes:
    return "\r\n".join([HEAD, *rows]).encode("cp1252")


def row(value: str = "12,34", reference: str = "") -> str:
    reference = reference or f"folha-{uuid4().hex[:8]}"
    return f"{reference};{value};Jo\u00e3o <b>;529.982.247-25;email;maria@example.com"


async def uploaded(person: Person, world: World, *rows: str) -> str:
    """Upload a file as Windows writes it; return the path of its page."""
    await person.open(NEW)
    account = {"account_id": world.demo["accounts"]["main"]["id"]}
    seen = await person.send_file(NEW, account, "folha <b>.csv", sheet(*rows))
    assert seen.status == 303, seen.text
    return seen.location


async def ended(person: Person, path: str) -> None:
    """Wait until the page of a file says that it is done."""

    async def is_done() -> bool:
        return "concluído" in (await person.open(path)).text

    await until(is_done)


async def test_a_file_is_uploaded_ordered_approved_by_its_sum_and_paid(
    operator: Person, approver: Person, world: World
):
    path = await uploaded(operator, world, row("12,34"), row("7,66"))
    draft = await operator.open(path)
    ordered = await operator.send(f"{path}/order")
    waiting = await approver.open(ordered.location)
    wrong = await approver.send(f"{ordered.location}/approve", {"value": "12,34"})
    agreed = await approver.send(f"{ordered.location}/approve", {"value": "20,00"})

    await ended(operator, path)
    result = await operator.open(f"{path}/result")

    assert "Jo\u00e3o &lt;b&gt;" in draft.text
    assert "nunca pago antes" not in draft.text
    assert "nunca pago antes" in waiting.text or "mesmo valor" in waiting.text
    assert "/panel/approvals/" in ordered.location
    assert "Digite a soma de todos os pagamentos" in waiting.text
    assert "folha &lt;b&gt;.csv" in waiting.text
    assert (wrong.status, agreed.status) == (400, 303)
    assert result.headers["Content-Type"].startswith("text/csv")
    assert "20,00" not in result.text
    assert "12,34" in result.text


async def test_a_payout_in_review_keeps_its_file_open_and_leads_to_its_opinions(
    operator: Person, approver: Person, viewer: Person, world: World
):
    path = await uploaded(operator, world, row("5,55", reference := f"folha-{uuid4().hex[:8]}"))
    await operator.open(path)
    ordered = await operator.send(f"{path}/order")
    await approver.open(ordered.location)
    await approver.send(f"{ordered.location}/approve", {"value": "5,55"})

    await ended(operator, path)  # so that no worker is at the file any more
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(
            update(payouts).where(payouts.c.reference == reference).values(review=True)
        )
        batch = update(batches).where(batches.c.id == path.rpartition("/")[2])
        await connection.execute(batch.values(state="ordered", ended_at=None))
    decides, reads = await approver.open(path), await viewer.open(path)

    account = world.demo["accounts"]["main"]["id"]
    link = f"/panel/unresolved?account={account}&amp;reference={reference}"
    for each in (decides, reads):
        assert "aguarda pareceres" in each.text
        assert "resultados em aberto" in each.text
        assert "concluído" not in each.text
    assert link in decides.text


async def test_a_wrong_file_is_shown_with_its_rows_and_nothing_of_it_is_taken(
    operator: Person, world: World
):
    path = await uploaded(operator, world, row(), row("1,234"))

    seen = await operator.open(path)

    assert "1 linha est\u00e1 errada" in seen.text
    assert "pode ser lido de dois modos" in seen.text
    assert "1,234" not in seen.text
    assert f"{path}/order" not in seen.text
    assert '<span hidden data-line="">Linha;Motivo</span>' in seen.text


async def test_a_file_that_is_no_table_is_wrong_as_a_whole(operator: Person, world: World):
    await operator.open(NEW)
    account = {"account_id": world.demo["accounts"]["main"]["id"]}

    sent = await operator.send_file(NEW, account, "folha.csv", b"%PDF-1.7")
    seen = await operator.open(sent.location)

    assert "Há um erro no arquivo" in seen.text
    assert "linha está errada" not in seen.text


async def test_the_same_open_file_is_refused_and_said(operator: Person, world: World):
    rows = [row()]
    path = await uploaded(operator, world, *rows)
    await operator.open(NEW)

    account = {"account_id": world.demo["accounts"]["main"]["id"]}
    again = await operator.send_file(NEW, account, "outra.csv", sheet(*rows))
    await operator.open(path)
    stopped = await operator.send(f"{path}/stop", {"reason": "arquivo errado"})

    assert again.status == 409
    assert "O mesmo arquivo j\u00e1 foi enviado" in again.text
    assert stopped.status == 303


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 100, b"a" * 300_000])
async def test_anything_but_a_file_of_payouts_is_refused_without_an_echo(
    operator: Person, world: World, content: bytes
):
    await operator.open(NEW)
    account = {"account_id": world.demo["accounts"]["main"]["id"]}

    seen = await operator.send_file(NEW, account, "x.csv", content)

    assert seen.status in {303, 400, 413}, seen.text


async def test_an_account_at_a_read_only_bank_is_not_offered(operator: Person, world: World):
    accounts = world.demo["accounts"]

    seen = await operator.open(NEW)

    assert f'value="{accounts["main"]["id"]}"' in seen.text
    assert accounts["read_only"]["id"] not in seen.text


async def test_an_upload_asks_for_a_code_before_the_file_is_chosen(operator: Person, world: World):
    await age_factors(world, timedelta(minutes=6))
    seen = await operator.open(NEW)

    assert 'name="code"' in seen.text


async def test_the_template_is_a_file_that_is_taken(operator: Person, world: World):
    template = await operator.open("/panel/batches/template")
    await operator.open(NEW)
    account = {"account_id": world.demo["accounts"]["main"]["id"]}
    seen = await operator.send_file(NEW, account, "modelo.csv", template.text.encode())
    shown = await operator.open(seen.location)

    assert re.search("folha-2026-11-001", shown.text)


async def test_a_file_is_found_by_the_reference_of_a_row(operator: Person, world: World):
    reference = f"achada-{uuid4().hex[:8]}"
    path = await uploaded(operator, world, row(reference=reference))

    found = await operator.open(f"/panel/batches?text={reference}")
    other = await operator.open("/panel/batches?text=nenhuma")

    assert path in found.text
    assert path not in other.text


async def test_a_viewer_uploads_nothing(viewer: Person, operator: Person, world: World):
    path = await uploaded(operator, world, row())

    seen = await viewer.open(path)
    new = await viewer.open(NEW)

    assert new.status == 403
    assert "/order" not in seen.text
    assert "529.982.247-25" not in seen.text
