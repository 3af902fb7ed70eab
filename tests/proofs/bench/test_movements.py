"""Statements: what the stub says is what the sandbox bank would, and is read as it was written."""

import asyncio
import json

import pytest

from bench import movements
from bench.load import Order, ask
from bench.partner import write_request
from provider_adapters.sandbox import documents


@pytest.mark.parametrize("number", [0, 1, 100])
def test_a_page_has_the_bank_s_form(number: int):
    page = documents.EXTRATO.decode(movements.as_bank(number))

    assert len(page.lancamentos) == number
    assert sorted({each.criado_em for each in page.lancamentos}, reverse=True) == [
        each.criado_em for each in page.lancamentos
    ]


def test_what_a_partner_reads_has_the_bank_s_amounts():
    said = json.loads(movements.as_bank(3))["lancamentos"]
    read = json.loads(movements.as_gateway(3, b"{}"))["data"]

    assert [round(each["value"] * 100) for each in read] == [
        each["valor_centavos"] for each in said
    ]


async def test_a_day_has_as_many_movements_as_its_place_in_the_year(bank_port: int):
    path = f"/v1/contas/bench/extrato?de={movements.day_of(7)}T03%3A00%3A00Z&limite=200"

    said = await asyncio.to_thread(
        ask, Order(port=bank_port, request=write_request(path, "Bearer any"))
    )

    assert said.partition("\n\n")[2] == movements.as_bank(7).decode()
