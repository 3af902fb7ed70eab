"""OFX 2.2: what bookkeeping programs import."""

import re
import xml.etree.ElementTree as ET
from datetime import date, timedelta

import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.account import BankCoordinates, Environment
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.reports.ofx import StableIds, pieces
from tests.unit.reporting import DOCUMENT, ENTRY, FEE, document, entry, whole
from tests.world.people import ACCOUNT

HEAD = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    b'<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)

# What may stand in an aggregate, in the order of Open Financial Exchange 2.2; `!` must be there.
ORDER = {
    "OFX": "SIGNONMSGSRSV1! BANKMSGSRSV1!",
    "SIGNONMSGSRSV1": "SONRS!",
    "SONRS": "STATUS! DTSERVER! USERKEY TSKEYEXPIRE LANGUAGE! DTPROFUP DTACCTUP FI",
    "STATUS": "CODE! SEVERITY! MESSAGE",
    "FI": "ORG! FID",
    "BANKMSGSRSV1": "STMTTRNRS!",
    "STMTTRNRS": "TRNUID! STATUS! CLTCOOKIE STMTRS!",
    "STMTRS": "CURDEF! BANKACCTFROM! BANKTRANLIST BANKTRANLISTP LEDGERBAL! AVAILBAL",
    "BANKACCTFROM": "BANKID! BRANCHID ACCTID! ACCTTYPE! ACCTKEY",
    "LEDGERBAL": "BALAMT! DTASOF!",
    "STMTTRN": (
        "TRNTYPE! DTPOSTED! DTUSER DTAVAIL TRNAMT! FITID! CORRECTFITID CORRECTACTION SRVRTID"
        " CHECKNUM REFNUM SIC PAYEEID NAME! EXTDNAME BANKACCTTO MEMO"
    ),
}
# The longest text of an element, there too.
LONGEST = {
    "ORG": 32,
    "FID": 32,
    "BANKID": 9,
    "BRANCHID": 22,
    "ACCTID": 22,
    "TRNUID": 36,
    "FITID": 255,
    "REFNUM": 32,
    "NAME": 32,
    "MEMO": 255,
    "TRNAMT": 32,
}
TIME = re.compile(r"\d{14}\[-?\d{1,2}:BRT\]")
AMOUNT = re.compile(r"-?\d+\.\d\d")

LONG = Party(name="Comércio & Indústria " * 40, tax_number="11222333000181")
NASTY = entry(
    provider_id="",
    e2e_id="",
    description="<b>&amp;]]>\x00\x1b\ud800\uffff\u2028漢" * 30,
    counterparty=Party(name="a\x00<&>\n\u202e"),
)
NOWHERE = document(ENTRY, coordinates=BankCoordinates())
REPORTS = {
    "both": DOCUMENT,
    "empty": document(),
    "sandbox": document(ENTRY, environment=Environment.SANDBOX),
    "nowhere": NOWHERE,
    "long": document(entry(counterparty=LONG, description="x" * 900, e2e_id="E" * 90)),
    "nasty": document(NASTY),
    "long coordinates": document(
        coordinates=BankCoordinates(bank_number="1" * 30, branch="2" * 30, account="3" * 30)
    ),
}
every_report = pytest.mark.parametrize("told", REPORTS.values(), ids=REPORTS)


write = whole(pieces)


def read(told) -> ET.Element:
    content = write(told)
    assert content.startswith(HEAD)
    return ET.fromstring(content)  # noqa: S314 - our own bytes


def texts(tree: ET.Element, aggregate: str) -> dict[str, str]:
    return {child.tag: child.text for child in tree.find(f".//{aggregate}")}


def movements(tree: ET.Element) -> list[dict[str, str]]:
    return [{child.tag: child.text for child in each} for each in tree.iter("STMTTRN")]


@every_report
def test_ofx_elements_are_in_the_specified_order(told):
    for aggregate in read(told).iter():
        if not len(aggregate) or aggregate.tag == "BANKTRANLIST":
            continue
        order = ORDER[aggregate.tag].split()
        names = [name.rstrip("!") for name in order]
        found = [child.tag for child in aggregate]

        assert found == [name for name in names if name in found]
        assert {name.rstrip("!") for name in order if name.endswith("!")} <= set(found)


@every_report
def test_the_transaction_list_starts_with_its_dates(told):
    found = [child.tag for child in read(told).find(".//BANKTRANLIST")]

    assert found == ["DTSTART", "DTEND"] + ["STMTTRN"] * len(told.entries)


@every_report
def test_no_ofx_text_is_empty_or_too_long(told):
    for element in read(told).iter():
        if not len(element):
            assert 0 < len(element.text) <= LONGEST.get(element.tag, 60), element.tag
            assert element.text == element.text.strip()


@every_report
def test_ofx_times_and_amounts_have_the_specified_format(told):
    for element in read(told).iter():
        if element.tag.startswith("DT"):
            assert TIME.fullmatch(element.text)
        if element.tag.endswith("AMT"):
            assert AMOUNT.fullmatch(element.text)


@every_report
def test_each_ofx_element_is_one_ascii_line(told):
    """Some importers read lines instead of XML, and ASCII whatever the header says."""
    lines = write(told).decode("ascii").splitlines()

    element = re.compile(r"<(\w+)>[^<>]*</\1>|</?\w+>")

    assert [line for line in lines[2:] if not element.fullmatch(line)] == []


def test_the_account_is_named_by_bank_branch_and_number():
    assert texts(read(DOCUMENT), "BANKACCTFROM") == {
        "BANKID": "341",
        "BRANCHID": "0001",
        "ACCTID": "123456-7",
        "ACCTTYPE": "CHECKING",
    }


def test_an_account_without_a_number_is_identified_by_its_account_id():
    """An importer distinguishes accounts by it, so it may not be empty."""
    assert texts(read(NOWHERE), "BANKACCTFROM") == {
        "BANKID": "000",
        "ACCTID": ACCOUNT.replace("-", "")[:22],
        "ACCTTYPE": "CHECKING",
    }


def test_a_bank_without_a_compe_number_is_identified_by_its_ispb():
    told = document(coordinates=BankCoordinates(ispb="60701190", account="1"))

    assert texts(read(told), "BANKACCTFROM")["BANKID"] == "60701190"


def test_an_ofx_movement_has_every_field():
    shown = movements(read(DOCUMENT))

    assert shown[0] == {
        "TRNTYPE": "CREDIT",
        "DTPOSTED": "20261120090000[-3:BRT]",
        "TRNAMT": "1234.56",
        "FITID": StableIds(ACCOUNT).of(ENTRY),
        "REFNUM": "E12345678202611201200abcdefghij1",
        "NAME": "Maria da Conceicao",
        "MEMO": "Pix recebido - pao - 529.982.247-25",
    }
    assert shown[1] == {
        "TRNTYPE": "FEE",
        "DTPOSTED": "20261120090100[-3:BRT]",
        "TRNAMT": "-2.50",
        "FITID": StableIds(ACCOUNT).of(FEE),
        "REFNUM": "mov-2",
        "NAME": "Tarifa",
        "MEMO": "Tarifa - Tarifa mensal",
    }


def test_the_transaction_type_matches_the_sign():
    cases = [
        (MovementKind.PIX, Direction.CREDIT, "CREDIT"),
        (MovementKind.PIX, Direction.DEBIT, "DEBIT"),
        (MovementKind.TED, Direction.DEBIT, "DEBIT"),
        (MovementKind.FEE, Direction.DEBIT, "FEE"),
        (MovementKind.FEE, Direction.CREDIT, "CREDIT"),
    ]

    for kind, direction, word in cases:
        told = document(entry(kind=kind, direction=direction, value=Money(1)))

        shown = movements(read(told))[0]

        assert shown["TRNTYPE"] == word
        assert shown["TRNAMT"].startswith("-") == (direction is Direction.DEBIT)


def test_a_truncated_name_is_complete_in_the_memo():
    name = "Comércio de Alimentos Três Irmãos Limitada"

    shown = movements(read(document(entry(counterparty=Party(name=name), description=""))))[0]

    assert shown["NAME"] == "Comercio de Alimentos Tres Irmao"
    assert shown["MEMO"] == "Pix recebido - Comercio de Alimentos Tres Irmaos Limitada"


def test_a_truncated_memo_ends_at_a_word():
    told = document(entry(description="x" * 238, counterparty=Party(name="Maria", tax_number="1")))

    memo = movements(read(told))[0]["MEMO"]

    assert memo == "Pix recebido - " + "x" * 238


def test_identical_movements_have_different_identifiers():
    """An importer would skip the second one."""
    ids = [shown["FITID"] for shown in movements(read(document(ENTRY, ENTRY, ENTRY)))]

    assert len(set(ids)) == 3


def test_the_balance_has_the_time_it_was_read():
    """Also for a window in the past: it is the current balance, and says so."""
    told = document(window=Window(date(2026, 10, 1), date(2026, 10, 31)), closing=None)

    assert texts(read(told), "LEDGERBAL") == {
        "BALAMT": "2232.06",
        "DTASOF": "20261120100000[-3:BRT]",
    }


@pytest.mark.parametrize(
    ("ends", "end"),
    [
        (date(2026, 11, 20), "20261120100000[-3:BRT]"),
        (date(2026, 11, 19), "20261119210000[-3:BRT]"),
    ],
    ids=["still open", "over"],
)
def test_the_ofx_dates_are_those_of_the_report(ends: date, end: str):
    """An importer continues from ``DTEND``: unreported movements must be after it."""
    tree = read(document(window=Window(date(2026, 11, 1), ends)))

    assert tree.findtext(".//DTSTART") == "20261031210000[-3:BRT]"
    assert tree.findtext(".//DTEND") == end


def test_the_first_and_last_representable_days_can_be_reported():
    for day, start, end in (
        (date.min, "00010101000000[0:BRT]", "00010101205332[-4:BRT]"),
        (date.max, "99991230210000[-3:BRT]", "20261120100000[-3:BRT]"),
    ):
        tree = read(document(window=Window(day, day)))

        assert (tree.findtext(".//DTSTART"), tree.findtext(".//DTEND")) == (start, end)


def test_historical_daylight_saving_time_is_applied():
    """Brazil had it until 2019."""
    summer = ENTRY.created_at.replace(year=2018) + timedelta(days=1)

    shown = movements(read(document(entry(created_at=summer))))[0]

    assert shown["DTPOSTED"] == "20181121100000[-2:BRT]"


def test_sandbox_data_is_marked():
    """An importer shows ``ORG`` as the bank's name."""
    for environment in Environment:
        told = texts(read(document(environment=environment)), "FI")["ORG"]

        assert ("sandbox" in told) == (environment is Environment.SANDBOX)
