"""The bank's documents, as its SDK has them."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel.statement import Entry
from provider_adapters.testing.bank.pix.destinations import Owner
from provider_adapters.testing.starkbank import dialect
from tests.world.tables import cases


@cases(
    ("key", "tax_number", "shown"),
    [
        ("maria@example.com", "***.982.247-**", "***.***.***-**"),
        ("owner@example.com", "***.000.001-**", "***.000.001-**"),
        ("loja@example.com", "52998224725", "***.982.247-**"),
        ("loja@example.com", "11222333000181", "11.222.333/0001-81"),
    ],
)
def test_a_person_s_tax_number_is_masked(key: str, tax_number: str, shown: str):
    """Of invented people at other banks nothing is known."""
    found = Owner(
        key=key, type="email", name="M", tax_number=tax_number, ispb="88888888", bank="888",
        bank_name="B", branch="0001", account="1-1",
    )  # fmt: skip

    assert dialect.owner(found)["taxId"] == shown


@cases(
    ("text", "shown"),
    [("52998224725", "529.982.247-25"), ("11222333000181", "11.222.333/0001-81"), ("a", "a")],
)
def test_tax_numbers_have_their_punctuation(text: str, shown: str):
    assert dialect.punctuated(text) == shown


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("ted_in", "deposit/trf_1"),
        ("pix_out", "transfer/trf_1"),
        ("pix_returned", "transfer/trf_1/chargeback"),
        ("fee", "self"),
        ("boleto_out", "boleto-payment/trf_1"),
    ],
)
def test_a_movement_names_its_source(books, kind: str, source: str):
    entry = Entry(
        account_id="a", kind=kind, centavos=-5, at=0, e2e_id="E1", payout_id="trf_1", seq=7
    )

    shown = dialect.movement(books, entry)

    assert (shown["source"], shown["amount"]) == (source, -5)
    assert shown["created"] == "1970-01-01T00:00:00.000000+00:00"


def test_tags_are_kept_in_lower_case(books, account):
    dialect.keep_tags(books, account.id, "1", ["Shoes", "n1"])

    assert dialect.tags_of(books, "1") == ["shoes", "n1"]
    assert dialect.tags_of(books, "3") == []
