"""What the printed report says, in Portuguese."""

from dataclasses import replace

import msgspec
import pytest

from gateway.domain.accounts.accounts import BankCoordinates
from gateway.domain.bank.charges import Party
from gateway.domain.bank.statements import Balance, Direction
from gateway.domain.kernel.money import Money
from gateway.reports.pdf import Line, facts, row
from tests.unit.reporting import DOCUMENT, ENTRY, FEE, document, entry


def whole(text: str) -> list[str]:
    """A column of any width."""
    return [text] if text else []


def told(of) -> dict[str, str]:
    return {fact.label: "|".join(fact.lines) for fact in facts(of, whole)}


def test_it_tells_whose_account_what_it_held_and_what_moved():
    assert told(DOCUMENT) == {
        "Titular": "Padaria São João Ltda",
        "CPF/CNPJ": "11.222.333/0001-81",
        "Banco": "341 / ISPB 60701190",
        "Agência": "0001",
        "Conta": "123456-7",
        "Período": "01/11/2026 a 20/11/2026 (dias contados em UTC)",
        "Saldo inicial (calculado)": "R$ 1.000,00",
        "Saldo final": "R$ 2.232,06",
        "Saldo em 20/11/2026 10:00": "R$ 2.232,06",
        "Total de créditos (1)": "R$ 1.234,56",
        "Total de débitos (1)": "R$ 2,50",
    }


def test_what_is_not_known_is_not_made_up():
    shown = told(document(opening=None, closing=None, coordinates=BankCoordinates()))

    assert not {"Saldo inicial (calculado)", "Saldo final"} & shown.keys()
    assert {shown[label] for label in ("Banco", "Agência", "Conta")} == {"não informado"}
    assert shown["Saldo em 20/11/2026 10:00"] == "R$ 2.232,06"


@pytest.mark.parametrize(
    ("coordinates", "bank"),
    [
        (BankCoordinates(bank_number="341"), "341"),
        (BankCoordinates(ispb="60701190"), "ISPB 60701190"),
    ],
)
def test_a_bank_goes_by_what_is_known_of_it(coordinates: BankCoordinates, bank: str):
    assert told(document(coordinates=coordinates))["Banco"] == bank


@pytest.mark.parametrize("blocked", [Money(0), None])
def test_nothing_is_told_of_what_is_not_blocked_or_not_known(blocked: Money | None):
    balance = Balance(balance=Money(5), blocked=blocked, updated_at=None)

    assert "Valor bloqueado" not in told(document(balance=balance))


def test_what_is_blocked_and_what_is_owed_is_told():
    balance = Balance(balance=Money(-5), blocked=Money(700), updated_at=None)

    shown = told(document(balance=balance))

    assert shown["Valor bloqueado"] == "R$ 7,00"
    assert shown["Saldo em 20/11/2026 10:00"] == "-R$ 0,05"


def test_a_long_name_has_several_lines():
    holder = Party(name="Padaria São João", tax_number="")

    found = list(facts(replace(DOCUMENT, holder=holder), str.split))

    assert found[0].lines == ["Padaria", "São", "João"]


def test_a_movement_tells_what_with_whom_why_and_under_which_identifiers():
    shown = row(ENTRY, whole, whole)

    assert (shown.when, shown.amount, shown.owed) == ("20/11/2026 09:00", "1.234,56", False)
    assert shown.lines == (
        Line("Pix recebido"),
        Line("Maria da Conceição - 529.982.247-25"),
        Line("pão"),
        Line("E12345678202611201200abcdefghij1 / mov-1", small=True),
    )


def test_a_fee_leaves_out_what_it_has_not():
    shown = row(FEE, whole, whole)

    assert (shown.amount, shown.owed) == ("-2,50", True)
    assert shown.lines == (Line("Tarifa"), Line("Tarifa mensal"), Line("mov-2", small=True))


def test_one_identifier_under_two_names_stands_once():
    shown = row(entry(provider_id="E1", e2e_id="E1"), whole, whole)

    assert shown.lines[-1] == Line("E1", small=True)


def test_a_movement_of_no_words_has_a_line_still():
    bare = entry(provider_id="", e2e_id="", description="\n", counterparty=Party())

    shown = row(
        msgspec.structs.replace(bare, direction=Direction.DEBIT, value=Money(0)), whole, whole
    )

    assert (shown.lines, shown.amount) == ((Line("Pix enviado"),), "0,00")
