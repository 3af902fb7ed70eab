"""Banks by number and name."""

import pytest

from gateway.banks.port.payout_orders import FailureCode
from provider_adapters.kit import banks
from provider_adapters.kit.outcomes import NeverSendable
from tests.world.tables import cases

KNOWN = [("001", "00000000", "BRASIL"), ("341", "60701190", "ITAÚ"), ("260", "18236120", "NU")]


@cases(("compe", "ispb", "name"), KNOWN)
def test_a_bank_is_found_by_either_number(compe: str, ispb: str, name: str):
    found = banks.by_compe(compe)

    assert found is not None
    assert found == banks.by_ispb(ispb)
    assert name in found.name
    assert found.pix == "direct"


def test_leading_zeros_may_be_missing():
    assert banks.by_compe("1") == banks.by_compe("001")


@cases("number", ["", "999", "0001", "x01", "60701190"])
def test_an_unknown_bank_number_finds_no_bank(number: str):
    assert banks.by_compe(number) is None


@cases("number", ["341", "60701190"])
def test_an_order_may_name_its_bank_by_either_number(number: str):
    assert banks.ispb_of(number) == "60701190"


@cases("number", ["999", "99999998", ""])
def test_an_order_to_an_unknown_bank_can_never_be_sent(number: str):
    with pytest.raises(NeverSendable) as never:
        banks.ispb_of(number)

    assert never.value.failure is FailureCode.ACCOUNT_INVALID


@cases("text", ["341", "60701190", "itaú unibanco s.a", "ITAU UNI", " 341 "])
def test_a_bank_search_accepts_a_number_or_part_of_the_name(text: str):
    assert "341" in [bank.compe for bank in banks.search(text)]


@cases("text", ["", "   ", "no such bank"])
def test_an_empty_bank_search_finds_nothing(text: str):
    assert banks.search(text) == []


def test_bank_numbers_are_complete_and_unique():
    everyone = banks.search("A") + banks.search("S") + banks.search("E") + banks.search("O")
    every = {bank.compe: bank for bank in everyone}

    assert len(every) > 500
    assert all(len(bank.compe) == 3 and len(bank.ispb) == 8 for bank in every.values())
    assert len({bank.ispb for bank in every.values()}) == len(every)
