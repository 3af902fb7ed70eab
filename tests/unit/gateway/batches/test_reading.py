"""A file of payouts is read strictly: what could mean two things is refused with its row."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import AccountType, BankDestination, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.batches.reading import MOST_BYTES, MOST_ROWS, TEMPLATE, ReadFile, read_file
from gateway.core.money import Money
from tests.world.standing import TODAY

HEAD = "referencia;valor;cpf_cnpj;tipo_chave;chave"
CPF = "529.982.247-25"


def read(*rows: str, head: str = HEAD) -> ReadFile:
    return read_file("\r\n".join([head, *rows]).encode(), TODAY)


def row(value: str = "10,50", reference: str = "a-1") -> str:
    return f"{reference};{value};{CPF};email;maria@example.com"


def problems(found: ReadFile) -> list[tuple[int, str, str]]:
    assert not found.payouts, "a file with a problem is never taken in part"
    return [(each.number, each.field, each.reason) for each in found.problems]


def test_the_template_is_read():
    found = read_file(TEMPLATE, TODAY)

    by_key, to_account = (found.payouts[number].destination for number in (2, 3))
    assert isinstance(by_key, PixDestination)
    assert isinstance(to_account, BankDestination)
    assert (by_key.name, by_key.key) == ("Maria Silva", "maria@example.com")
    assert (to_account.account, to_account.account_type) == ("123456-7", AccountType.CHECKING)
    assert [each.value for each in found.payouts.values()] == [Money(123_456), Money(98_000)]


@pytest.mark.parametrize(
    ("text", "centavos"),
    [
        ("1234,56", 123_456),
        ("1.234,56", 123_456),
        ("1.234.567,89", 123_456_789),
        ("R$ 1.234,56", 123_456),
        ("R$\xa010,00", 1000),
        ("1234.56", 123_456),
        ("1,234.56", 123_456),
        ("1234", 123_400),
        ("007", 700),
        ("0,01", 1),
    ],
)
def test_an_amount_that_means_one_thing_is_read(text: str, centavos: int):
    found = read(row(f'"{text}"'))

    assert [each.value for each in found.payouts.values()] == [Money(centavos)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,234", "amount_two_ways"),
        ("1.234", "amount_two_ways"),
        ("12.345", "amount_two_ways"),
        ("1.234.567", "amount_in_file"),
        ("12,5", "amount_in_file"),
        ("12.345,6", "amount_in_file"),
        ("1,23,45", "amount_in_file"),
        ("1E+03", "amount_in_file"),
        ("-1,00", "amount_in_file"),
        ("1R$00", "amount_in_file"),
        ("10R$ ,00", "amount_in_file"),
        ("\u0661,\u0660\u0660", "amount_in_file"),
        ("0,00", "not_positive"),
        ("", "missing"),
    ],
)
def test_an_amount_that_may_mean_two_things_or_none_is_refused(text: str, reason: str):
    assert problems(read(row(f'"{text}"'))) == [(2, "value", reason)]


def test_a_file_has_one_decimal_mark():
    found = read(row("1,50", "a"), row("2", "b"), row("2.50", "c"))

    assert problems(found) == [(4, "value", "amount_other_mark")]


def test_two_rows_of_one_reference_are_refused():
    found = read(row(reference="a"), row(reference="b"), row(reference="a"))

    assert problems(found) == [(4, "reference", "reference_twice")]


def test_every_bad_row_is_named_by_its_number_in_the_spreadsheet():
    found = read(row("x", "a"), "", row("1,00", "b"), f"c;1,00;123;email;{CPF}")

    assert problems(found) == [
        (2, "value", "amount_in_file"),
        (5, "destination.tax_number", "tax_number_form"),
    ]


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ("email;a@b.com;341;0001;1-2", ("destination", "two_destinations")),
        (";;;;", ("destination", "no_destination")),
        ("email;;;;", ("destination.key", "missing_for_pix")),
        (";;341;;1-2", ("destination.branch", "missing_for_bank_account")),
        ("fax;a@b.com;;;", ("destination.key_type", "key_type")),
        (";;341;0001;1-2;corrente;mais", ("", "row_columns")),
    ],
)
def test_a_row_names_one_destination_that_is_complete(cells: str, problem: tuple[str, str]):
    head = f"{HEAD};banco;agencia;conta;tipo_conta"
    found = read(f"a;1,00;{CPF};{cells}", head=head)

    assert problems(found) == [(2, *problem)]


def test_portuguese_words_and_telephones_are_read_as_the_payout_form_takes_them():
    found = read(
        f"a;1,00;{CPF};telefone;(11) 98888-7777",
        f"b;1,00;;cpf;{CPF}",
        f"c;1,00;{CPF};Aleatória;6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e",
    )

    to = [each.destination for each in found.payouts.values()]
    assert all(isinstance(each, PixDestination) for each in to)
    keys = [(each.key_type, each.key) for each in to if isinstance(each, PixDestination)]
    assert keys[:2] == [(PixKeyType.PHONE, "+5511988887777"), (PixKeyType.CPF, "52998224725")]
    assert keys[2][0] is PixKeyType.EVP
    assert {each.tax_number for each in to} == {"52998224725"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("delimiter", [";", ","])
def test_encodings_and_delimiters_of_spreadsheets_are_read(encoding: str, delimiter: str):
    head = "Referência;Valor;CPF/CNPJ;Tipo chave;Chave;Descrição".replace(";", delimiter)
    cells = ["a", '"1.234,56"', CPF, "email", "maria@example.com", '"pão; ""doce"", já"']
    text = f"{head}\n{delimiter.join(cells)}\n"

    found = read_file(text.encode(encoding), TODAY)

    assert [each.description for each in found.payouts.values()] == ['pão; "doce", já']
    assert [each.value for each in found.payouts.values()] == [Money(123_456)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", (1, "reference", "missing")),
        (HEAD.encode(), (0, "", "file_empty")),
        (b"referencia;valor;Senha\na;1,00;x", (1, "senha", "file_columns")),
        (b"referencia;valr \xc3\xa7;valor\na;1,00;x", (1, "valr_c", "file_columns")),
        (b"referencia;;valor\na;1,00;x", (1, "column 2", "file_columns")),
        (b"referencia;<b>529.982.247-25;valor\na;1,00;x", (1, "column 2", "file_columns")),
        (b"referencia;valor;" + b"x" * 99 + b"\na;1,00;x", (1, "column 3", "file_columns")),
        (b"referencia;valor;valor\na;1,00;2,00", (1, "value", "file_column_twice")),
        (b"valor\n1,00", (1, "reference", "missing")),
        (f"{HEAD}\n{row()}".encode("utf-16"), (0, "", "file_encoding")),
        (f'{HEAD}\na;"1,00"x;b'.encode(), (2, "", "file_quotes")),
        (b"x" * (MOST_BYTES + 1), (0, "", "file_large")),
    ],
)
def test_a_file_that_is_no_table_of_payouts_is_refused(
    content: bytes, problem: tuple[int, str, str]
):
    assert problems(read_file(content, TODAY)) == [problem]


def test_a_file_has_at_most_a_thousand_payouts():
    rows = [row(reference=f"a-{number}") for number in range(MOST_ROWS + 1)]

    assert len(read(*rows[:-1]).payouts) == MOST_ROWS
    assert problems(read(*rows)) == [(0, "", "file_rows_many")]


def test_control_characters_are_refused():
    found = read(f'a;1,00;{CPF};email;"maria\n@example.com"')

    assert problems(found) == [(2, "destination.key", "text_form")]
