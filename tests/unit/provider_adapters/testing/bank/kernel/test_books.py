"""The books: identifiers of the right form, everything kept in the file."""

from __future__ import annotations

import re

from provider_adapters.testing.bank.kernel.books import open_books
from tests.unit.provider_adapters.testing.bank.conftest import counting


def test_an_end_to_end_id_has_the_central_banks_form(books):
    """``E``, ISPB, UTC minute, eleven letters or digits (API Pix 2.9)."""
    made = books.e2e_id(books.clock.micros())

    assert re.fullmatch(r"E[0-9A-Z]{8}[0-9]{12}[a-zA-Z0-9]{11}", made)
    assert made.startswith("E99999999202611201340")
    assert made != books.e2e_id(books.clock.micros())


def test_an_identifier_says_what_it_is_of(books):
    assert re.fullmatch(r"cob_[0-9a-f]{16}", books.identifier("cob"))


def test_the_delay_is_kept_in_microseconds(tmp_path, wall):
    books = open_books(
        str(tmp_path / "b"), now=wall, random_hex=counting(), settle_after_s=0.000_002
    )
    books.database.close()

    assert books.settle_after == 2
