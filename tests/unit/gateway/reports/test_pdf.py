"""The printed report: every movement once, in order, on numbered pages."""

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.charges import Party
from gateway.domain.bank.statements import Direction
from gateway.domain.kernel.money import Money
from gateway.reports.paper import HEIGHT, WIDTH
from gateway.reports.pdf import write
from tests.unit.pdf_text import pages_of, texts_of
from tests.unit.reporting import DOCUMENT, ENTRY, document, entry
from tests.world.people import ACCOUNT
from tests.world.standing import NOON

LONG = Party(name="W" * 2_000, tax_number="11222333000181")
ROOT = Path(__file__).parents[4]
SANDBOX = "AMBIENTE DE TESTES (SANDBOX): SEM VALOR"


def many(number: int):
    """A report of so many movements, a minute apart."""
    return document(
        *(
            entry(provider_id=f"mov-{each}", created_at=NOON + timedelta(minutes=each))
            for each in range(number)
        )
    )


def numbers(content: bytes) -> list[str]:
    return [text for text in texts_of(content) if text.startswith("Página")]


def test_one_page_says_everything():
    texts = texts_of(write(DOCUMENT))

    assert texts[:4] == [
        "Extrato da conta",
        f"Identificador {ACCOUNT}",
        "Gerado em 20/11/2026 10:00. Horários de Brasília.",
        "Página 1 de 1",
    ]
    assert texts[4:6] == ["Titular", "Padaria São João Ltda"]
    assert texts[-11:] == [
        "20/11/2026 09:00",
        "1.234,56",
        "Pix recebido",
        "Maria da Conceição - 529.982.247-25",
        "pão",
        "E12345678202611201200abcdefghij1 / mov-1",
        "20/11/2026 09:01",
        "-2,50",
        "Tarifa",
        "Tarifa mensal",
        "mov-2",
    ]


def test_every_movement_stands_once_in_order():
    texts = texts_of(write(many(150)))

    identifiers = [text.split(" / ")[1] for text in texts if " / mov-" in text]

    assert identifiers == [f"mov-{number}" for number in range(150)]


def test_pages_are_numbered_and_each_has_its_head():
    pages = pages_of(write(many(150)))

    assert len(pages) > 5
    for number, page in enumerate(pages, 1):
        texts = [placed.text for placed in page]
        assert f"Página {number} de {len(pages)}" in texts
        assert {"Extrato da conta", "Data e hora", "Histórico", "Valor (R$)"} <= set(texts)


def test_nothing_stands_outside_the_margins_or_upon_another():
    cases = [many(80), document(entry(counterparty=LONG)), document(), document(holder=LONG)]

    for told in cases:
        for page in pages_of(write(told)):
            for placed in page:
                assert 42 <= placed.left <= WIDTH - 42
                assert 30 <= placed.up <= HEIGHT - 42
            places = [(round(placed.left), round(placed.up)) for placed in page]
            assert len(set(places)) == len(places)


def test_the_table_ends_above_the_foot():
    """Rows of one line fill a page to its end."""
    bare = entry(provider_id="", e2e_id="", description="", counterparty=Party())

    for page in pages_of(write(document(*[bare] * 150))):
        foot = next(placed.up for placed in page if placed.text.startswith("Gerado"))
        at_the_foot = {placed.text for placed in page if placed.up < foot + 20}

        assert {text.split()[0] for text in at_the_foot} == {"Gerado", "Página"}


def test_no_movement_is_a_page_that_says_so():
    content = write(document())

    assert "Nenhum lançamento no período." in texts_of(content)
    assert numbers(content) == ["Página 1 de 1"]


def test_a_report_of_the_sandbox_says_on_every_page_that_it_is_worth_nothing():
    for environment in Environment:
        told = document(*[ENTRY] * 40, environment=environment)

        pages = pages_of(write(told))

        marked = [SANDBOX in [placed.text for placed in page] for page in pages]
        assert marked == [environment is Environment.SANDBOX] * len(pages)


def test_what_the_font_lacks_is_seen():
    assert "a\u00bf\u00bfb" in texts_of(write(document(entry(description="a漢字b"))))


def test_a_debit_is_told_by_its_minus_and_not_by_colour_alone():
    told = document(entry(direction=Direction.DEBIT, value=Money(1)))

    assert "-0,01" in texts_of(write(told))


@pytest.mark.process
def test_another_process_writes_the_same_bytes():
    """No date, no random name, no order of a set gets into the file."""
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


def test_work_grows_with_the_rows_and_not_with_their_square():
    """Counted in calls; a table that is split again and again needs more."""
    write(many(1))  # fills the caches of fonts

    few, lots = (calls_of(partial(write, many(rows))) for rows in (40, 160))

    assert lots < 5 * few


def calls_of(work: Callable[[], object]) -> int:
    """Count calls and returns."""
    seen = count()
    sys.setprofile(lambda *_: next(seen))
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(seen)
