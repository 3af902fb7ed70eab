"""The printed report, in Portuguese: every movement once, in order, on numbered pages."""

import io
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import pytest
from pypdf import PdfReader

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Balance, Direction
from gateway.core.account import BankCoordinates, Environment
from gateway.core.money import Money
from gateway.reports.document import Document
from gateway.reports.pdf import MOST_CHARACTERS, WriterMissing, facts, row, write
from tests.unit.reporting import DOCUMENT, ENTRY, FEE, document, entry
from tests.world.people import ACCOUNT
from tests.world.standing import NOON

LONG = Party(name="W" * 2_000, tax_number="11222333000181")
ROOT = Path(__file__).parents[4]
SANDBOX = "AMBIENTE DE TESTES (SANDBOX): SEM VALOR"


def many(number: int) -> Document:
    """A report of so many movements, a minute apart."""
    return document(
        *(
            entry(provider_id=f"mov-{each}", created_at=NOON + timedelta(minutes=each))
            for each in range(number)
        )
    )


def pages_of(told: Document) -> Sequence[Sequence[str]]:
    """The lines of every page."""
    reader = PdfReader(io.BytesIO(write(told)))
    return [page.extract_text().split("\n") for page in reader.pages]


def test_a_report_on_one_page_has_the_expected_lines():
    [lines] = pages_of(DOCUMENT)

    assert lines[:7] == [
        "Extrato da conta",
        f"Identificador {ACCOUNT}",
        "Gerado em 20/11/2026 10:00. Horários de Brasília.",
        "Página 1 de",
        "1",
        "Titular",
        "Padaria São João Ltda",
    ]
    assert [line for line in lines if line][-11:] == [
        "20/11/2026 09:00",
        "Pix recebido",
        "Maria da Conceição - 529.982.247-25",
        "pão",
        "E12345678202611201200abcdefghij1 / mov-1",
        "1.234,56",
        "20/11/2026 09:01",
        "Tarifa",
        "Tarifa mensal",
        "mov-2",
        "-2,50",
    ]


def test_every_movement_is_printed_once_in_order_on_numbered_pages():
    pages = pages_of(many(150))

    found = [line.split(" / ")[1] for page in pages for line in page if " / mov-" in line]
    assert found == [f"mov-{number}" for number in range(150)]
    assert len(pages) > 5
    for number, page in enumerate(pages, 1):
        assert page[page.index(f"Página {number} de") + 1] == str(len(pages))
        assert {"Extrato da conta", "Data e hora", "Histórico", "Valor (R$)"} <= set(page)


def test_nothing_is_printed_outside_the_margins():
    bare = entry(provider_id="", e2e_id="", description="", counterparty=Party())
    cases = [many(80), document(entry(counterparty=LONG)), document(), document(holder=LONG)]
    outside = []

    def look(text: str, place: Sequence[float], at: Sequence[float], *_: object) -> None:
        left, up = place[4] + at[4], place[5] + at[5]
        if text.strip() and not (42 <= left <= 595 - 42 and 30 <= up <= 842 - 42):
            outside.append((text, left, up))

    for told in [*cases, document(*[bare] * 150)]:
        for page in PdfReader(io.BytesIO(write(told))).pages:
            page.extract_text(visitor_text=look)

    # the number of pages is a form of its own, which a page places
    assert [each for each in outside if not each[0].strip().isdigit()] == []


def test_a_report_without_movements_has_a_note():
    [lines] = pages_of(document())

    assert "Nenhum lançamento no período." in lines


def test_a_sandbox_report_is_marked_on_every_page():
    for environment in Environment:
        pages = pages_of(document(*[ENTRY] * 40, environment=environment))

        assert [SANDBOX in page for page in pages] == [environment is Environment.SANDBOX] * len(
            pages
        )


def test_a_missing_pdf_library_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch):
    """PDF is an extra: the other formats work without it."""
    monkeypatch.setitem(sys.modules, "reportlab", None)

    with pytest.raises(WriterMissing, match=r"pip install 'pixgate\[pdf\]'"):
        write(DOCUMENT)


@pytest.mark.process
def test_another_process_writes_the_same_bytes():
    """The file depends on no date, random name or set order."""
    code = (
        "import sys, hashlib; from tests.unit.reporting import DOCUMENT;"
        "from gateway.reports.pdf import write;"
        "print(hashlib.sha256(write(DOCUMENT)).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "TZ": zone},
            cwd=ROOT,
        ).stdout
        for seed, zone in [("1", "UTC"), ("2", "Asia/Tokyo")]
    }

    assert len(seen) == 1


def test_the_work_grows_linearly_with_the_rows():
    """Counted in calls; a table that is split repeatedly needs more."""
    write(many(1))  # registers the fonts

    few, lots = (calls_of(partial(write, many(rows))) for rows in (40, 160))

    assert lots < 5 * few


def calls_of(work: Callable[[], object]) -> int:
    seen = count()
    sys.setprofile(lambda *_: next(seen))
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(seen)


def test_the_report_head_shows_holder_account_balances_and_totals():
    assert dict(facts(DOCUMENT)) == {
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


def test_an_unknown_value_is_not_invented():
    shown = dict(facts(document(opening=None, closing=None, coordinates=BankCoordinates())))

    assert not {"Saldo inicial (calculado)", "Saldo final"} & shown.keys()
    assert {shown[label] for label in ("Banco", "Agência", "Conta")} == {"não informado"}
    assert shown["Saldo em 20/11/2026 10:00"] == "R$ 2.232,06"


def test_a_bank_is_named_by_its_known_fields():
    cases = {
        "341": BankCoordinates(bank_number="341"),
        "ISPB 60701190": BankCoordinates(ispb="60701190"),
    }

    shown = {
        bank: dict(facts(document(coordinates=coordinates)))["Banco"]
        for bank, coordinates in cases.items()
    }

    assert all(bank == told for bank, told in shown.items())


def test_blocked_and_negative_amounts_are_printed():
    shown = {}
    for blocked in (None, 0, 700):
        known = None if blocked is None else Money(blocked)
        balance = Balance(balance=Money(-5), blocked=known, updated_at=None)
        shown[blocked] = dict(facts(document(balance=balance)))

    assert shown[700]["Valor bloqueado"] == "R$ 7,00"
    assert shown[700]["Saldo em 20/11/2026 10:00"] == "-R$ 0,05"
    assert [blocked for blocked in (None, 0) if "Valor bloqueado" in shown[blocked]] == []


def test_a_printed_movement_has_operation_counterparty_description_and_ids():
    shown = row(ENTRY)

    assert (shown.when, shown.amount, shown.owed) == ("20/11/2026 09:00", "1.234,56", False)
    assert shown.lines == ["Pix recebido", "Maria da Conceição - 529.982.247-25", "pão"]
    assert shown.identifiers == "E12345678202611201200abcdefghij1 / mov-1"


def test_a_movement_leaves_out_empty_fields():
    fee, same = row(FEE), row(entry(provider_id="E1", e2e_id="E1"))
    bare = entry(provider_id="", e2e_id="", description="\n", counterparty=Party())
    sent = row(msgspec.structs.replace(bare, direction=Direction.DEBIT, value=Money(0)))

    assert (fee.amount, fee.owed, fee.identifiers) == ("-2,50", True, "mov-2")
    assert fee.lines == ["Tarifa", "Tarifa mensal"]
    assert same.identifiers == "E1"
    assert (sent.lines, sent.amount) == (["Pix enviado"], "0,00")


def test_an_overlong_text_is_truncated_visibly():
    shown = row(entry(description="x" * 100_000))

    assert shown.lines[-1] == "x" * MOST_CHARACTERS + "..."
