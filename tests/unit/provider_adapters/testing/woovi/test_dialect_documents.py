"""How the simulated Woovi shows what it keeps."""

from __future__ import annotations

from provider_adapters.testing.bank.pix.destinations import Owner
from provider_adapters.testing.woovi import dialect
from tests.unit.provider_adapters.testing.woovi.conftest import World


def test_an_owner_is_masked_by_the_bank_itself():
    found = Owner(
        key="a@b.c", type="email", name="Maria", tax_number="52998224725", ispb="60701190",
        bank="341", bank_name="Itaú", branch="0001", account="12345",
    )  # fmt: skip

    shown = dialect.owner(found)["owner"]

    assert shown == {
        "name": "Maria", "taxID": "529.***.***-25", "psp": "60701190", "branch": "****",
        "account": "****45",
    }  # fmt: skip


async def test_a_charge_says_that_it_expired(world: World):
    await world.ask("POST", "/charge", {"correlationID": "c", "value": 1, "expiresIn": 300})
    await world.passes(301)

    _, said = await world.ask("GET", "/charge/c")

    assert said["charge"]["status"] == "EXPIRED"
    assert "customer" not in said["charge"]


async def test_a_statement_tells_direction_and_nothing_else(world: World):
    await world.control.post(
        "accounts", world.account, "movements", body={"kind": "fee", "value": 5}
    )

    _, lines = await world.ask("GET", "/statement")

    assert [(line["type"], line["value"]) for line in lines] == [
        ("DEBIT", 500), ("CREDIT", 1_000_000)
    ]  # fmt: skip
    assert "endToEndId" not in lines[0]


def test_an_id_is_of_the_form_that_people_see():
    assert dialect.global_id("Charge", "1") == "Q2hhcmdlOjE="
