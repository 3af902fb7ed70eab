"""Keyed digests of tax numbers."""

from __future__ import annotations

from gateway.security.tax_numbers import TaxNumberDigests

KEYS = {"new": b"n" * 32, "old": b"o" * 32}
CPF = "52998224725"


def test_a_tax_number_digest_depends_on_the_number_only():
    digests = TaxNumberDigests(KEYS)

    assert digests.digest(CPF) == digests.digest(CPF)
    assert digests.digest(CPF) != digests.digest("11222333000181")
    assert len(digests.digest(CPF)) == 16


def test_numbers_digested_with_an_older_key_are_still_found():
    before = TaxNumberDigests({"old": KEYS["old"]}).digest(CPF)

    every = TaxNumberDigests(KEYS).every(CPF)

    assert every == [TaxNumberDigests(KEYS).digest(CPF), before]
