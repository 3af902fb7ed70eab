"""Comma-separated values: for programs, and for spreadsheets in Portuguese (RFC 4180)."""

import csv
import io
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction
from gateway.core.money import Money
from gateway.reports import csv as table
from tests.unit.reporting import DOCUMENT, document, entry, whole

EVIL = "=HYPERLINK(1)"


write, write_brazilian = whole(table.pieces), whole(table.brazilian_pieces)


def read(content: bytes, delimiter: str = ",") -> list[dict[str, str]]:
    text = content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_the_plain_csv_is_exact():
    assert write(DOCUMENT).decode() == (
        "created_at,operation,type,amount,description,"
        "counterparty_name,counterparty_tax_number,id,e2e_id\r\n"
        "2026-11-20T12:00:00Z,Pix In,credit,1234.56,pão,"
        "Maria da Conceição,52998224725,mov-1,E12345678202611201200abcdefghij1\r\n"
        "2026-11-20T12:01:00Z,fee,debit,-2.50,Tarifa mensal,,,mov-2,\r\n"
    )


def test_the_brazilian_csv_is_exact():
    """Excel detects UTF-8 by the byte order mark; semicolons allow decimal commas."""
    assert (
        write_brazilian(DOCUMENT)
        == b"\xef\xbb\xbf"
        + (
            "Data e hora (Brasília);Operação;Natureza;Valor;Descrição;"
            "Contraparte;CPF/CNPJ;Identificador;ID da transação (E2E)\r\n"
            "20/11/2026 09:00;Pix recebido;Crédito;1.234,56;pão;"
            "Maria da Conceição;529.982.247-25;mov-1;E12345678202611201200abcdefghij1\r\n"
            "20/11/2026 09:01;Tarifa;Débito;-2,50;Tarifa mensal;;;mov-2;\r\n"
        ).encode()
    )


def test_an_empty_report_has_only_its_header():
    assert (write(document()).count(b"\r\n"), write_brazilian(document()).count(b"\r\n")) == (1, 1)


def test_csv_text_round_trips():
    """Quoted as in RFC 4180 (2.6, 2.7)."""
    for text in ['a "b", c', "a;b", "one\r\ntwo", "one\ntwo", "'", "漢😀"]:
        told = document(entry(description=text))

        plain, brazilian = read(write(told)), read(write_brazilian(told), ";")

        assert (plain[0]["description"], brazilian[0]["Descrição"]) == (text, text)


@pytest.mark.parametrize("writer", [write, write_brazilian])
def test_foreign_text_never_becomes_a_csv_formula(writer):
    """Every column with text that is not ours."""
    told = document(
        entry(
            description=EVIL,
            counterparty=Party(name=EVIL, tax_number=EVIL),
            provider_id=EVIL,
            e2e_id=EVIL,
        )
    )

    rows = writer(told).decode()

    assert rows.count(EVIL) == rows.count(f"'{EVIL}") == 5


@pytest.mark.parametrize(
    ("writer", "delimiter", "column", "text"),
    [(write, ",", "amount", "-0.01"), (write_brazilian, ";", "Valor", "-0,01")],
)
def test_our_own_numbers_are_not_escaped(writer, delimiter: str, column: str, text: str):
    """An apostrophe before a debit would make every sum wrong."""
    told = document(entry(value=Money(1), direction=Direction.DEBIT))

    assert read(writer(told), delimiter)[0][column] == text


@pytest.mark.parametrize("writer", [write, write_brazilian])
def test_an_unencodable_character_is_replaced(writer):
    assert "a\ufffd" in writer(document(entry(description="a\ud800"))).decode()


SEPARATORS = ",;|\t"
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe62"
UNSEEN = " \u00a0\u2009\u200b\u2060\ufeff\u00ad\x00\u3164\u2800\u2423"
QUOTED = st.text(alphabet=f"{SEPARATORS}{SIGNS}{UNSEEN}\"'\n\r\x85ax1", max_size=20)


def readings(text: str) -> list[str]:
    """Read a file as every reader may: any separator, quotation marks heeded or not."""
    ways = product(
        SEPARATORS, (csv.QUOTE_MINIMAL, csv.QUOTE_NONE), (True, False), (True, False), (True, False)
    )
    return [
        cell
        for separator, quoting, doubled, skips, by_lines in ways
        for row in csv.reader(
            text.splitlines() if by_lines else io.StringIO(text, newline=""),
            delimiter=separator,
            quoting=quoting,
            doublequote=doubled,
            skipinitialspace=skips,
        )
        for cell in row
    ]


@given(description=QUOTED, name=QUOTED)
@example(description="x;\"=cmd|'/C calc'!A0;y,\"=cmd|'/C calc'!A0,z", name="@SUM(1)")
@example(description='x;""=1', name="x,'=1")
@example(description='a\n"=1', name='a;"\u200b"\uff1d1')
@example(description="\t=1", name='"\r\n+1')
def test_no_csv_reader_finds_a_formula(description: str, name: str):
    """With any separators and quotation marks; minus signs of amounts are ours."""
    told = document(entry(description=description, counterparty=Party(name=name, tax_number="")))
    ours = {"-2.50", "-2,50"}

    cells = [cell for form in (write, write_brazilian) for cell in readings(form(told).decode())]

    seen = [cell.lstrip(UNSEEN + '"\x85\n\r') for cell in cells if cell not in ours]
    assert [each for each in seen if each.startswith(tuple(SIGNS))] == []
