"""The body of a payout request, checked in the one order there is (contract 2.6)."""

import itertools
import json
from datetime import date
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.payouts.bodies import REFUSES, PayoutReader
from gateway.payouts.model import PayoutRequest
from tests.unit.refusals import refusal_of, refused
from tests.world.people import posted

PIX = {
    "name": "Maria Silva",
    "tax_number": "529.982.247-25",
    "key_type": "email",
    "key": "Maria@Example.com",
}
BANK = {
    "name": "Maria Silva",
    "tax_number": "52998224725",
    "bank_number": "341",
    "branch": "0001",
    "account": "123456-7",
    "account_type": "savings",
}
BODY = {
    "method": "pix",
    "reference": "order-1042",
    "value": 10.5,
    "date": "2026-11-20",
    "description": "pão",
    "destination": PIX,
}
GONE = object()
RAW = "\x00raw\x00"
"""Stands for a number as it is written; ``json`` would write it in its own way."""

MISSING, INVALID, DATE = errors.FIELD_MISSING, errors.PAYLOAD_INVALID, errors.DATE_INVALID
METHOD, AMOUNT = errors.PAYOUT_METHOD_INVALID, errors.AMOUNT_NOT_POSITIVE
NO_KEY, NO_BANK = errors.PIX_KEY_INCOMPLETE, errors.BANK_ACCOUNT_INCOMPLETE


def changed(fields: dict[str, Any], **changes: object) -> dict[str, Any]:
    """The fields with others; ``GONE`` leaves one out."""
    return {name: v for name, v in (fields | changes).items() if v is not GONE}


def pix(**changes: object) -> dict[str, Any]:
    return changed(BODY, destination=changed(PIX, **changes))


def bank(**changes: object) -> dict[str, Any]:
    return changed(BODY, method="bank_account", destination=changed(BANK, **changes))


def read(body: dict[str, Any] | str) -> PayoutRequest:
    text = body if isinstance(body, str) else json.dumps(body)
    return PayoutReader()(posted(text))


def valued(number: str) -> str:
    """The body with a value as it is written."""
    return json.dumps(changed(BODY, value=RAW)).replace(json.dumps(RAW), number)


def test_a_payout_to_a_pix_key_is_read_into_its_normal_form():
    assert read(BODY) == PayoutRequest(
        reference="order-1042",
        method=PayoutMethod.PIX,
        value=Money(1050),
        date=date(2026, 11, 20),
        description="pão",
        destination=PixDestination(
            name="Maria Silva",
            tax_number="52998224725",
            key_type=PixKeyType.EMAIL,
            key="maria@example.com",
        ),
        destination_sent=PIX,
    )


def test_a_payout_to_a_bank_account_is_read_into_its_normal_form():
    found = read(bank())

    assert found.method is PayoutMethod.BANK_ACCOUNT
    assert found.destination == BankDestination(
        name="Maria Silva",
        tax_number="52998224725",
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.SAVINGS,
    )
    assert found.destination_sent == BANK


@pytest.mark.parametrize("nothing", [GONE, None, ""], ids=["absent", "null", "empty"])
def test_name_description_and_account_type_are_optional(nothing: object):
    found = read(bank(name=nothing, account_type=nothing) | {"description": None})

    assert found.description == ""
    assert found.destination.name == ""
    assert isinstance(found.destination, BankDestination)
    assert found.destination.account_type is AccountType.CHECKING


@pytest.mark.parametrize(
    "method", ["qrcode", "PIX", "Pix", " pix", "ted", 1, True, [], {}, ["pix"]]
)
def test_an_invalid_method_has_its_own_code(method: object):
    """``qrcode`` is known and refused; so are all values that are not text."""
    with refused(METHOD):
        read(changed(BODY, method=method))


@pytest.mark.parametrize("nothing", [GONE, None, ""], ids=["absent", "null", "empty"])
@pytest.mark.parametrize("field", ["method", "reference", "value", "date", "destination"])
def test_required_fields_are_required(field: str, nothing: object):
    with refused(MISSING):
        read(changed(BODY, **{field: nothing}))


@pytest.mark.parametrize(
    ("number", "centavos"),
    [("10.50", 1050), ("10.5", 1050), ("10", 1000), ("0.01", 1), ("9999999999999.99", 10**15 - 1)],
)
def test_an_amount_is_read_exactly(number: str, centavos: int):
    assert read(valued(number)).value == Money(centavos)


@pytest.mark.parametrize("number", ["0", "0.00", "-0", "-0.0", "-0.01", "-10.50"])
def test_an_amount_that_is_not_above_zero_is_refused(number: str):
    with refused(AMOUNT):
        read(valued(number))


@pytest.mark.parametrize(
    "number",
    [
        "10.505",
        "1e1",
        "1E+1",
        "1e400",
        "1e308",
        "1e999999999",
        "10000000000000",
        "-1.005",
        "0.10000000000000000555",
        "9007199254740993.01",
        "9" * 5000,
        '"10.50"',
        "true",
        "[10]",
        "{}",
        "false",
        "NaN",
        "Infinity",
        "01",
        "1_0",
        ".5",
    ],
    ids=lambda number: number[:24],
)
def test_an_inexact_number_of_reais_is_refused(number: str):
    with refused(INVALID):
        read(valued(number))


@pytest.mark.parametrize(
    "day",
    [
        "2026-1-20",
        "20261120",
        "20/11/2026",
        "2026-02-30",
        "hoje",
        "2026-11-20T00:00:00Z",
        20261120,
        True,
        [],
        {},
        "2026-11-2٠",
        "2026-11-20\n",
    ],
    ids=ascii,
)
def test_a_date_of_another_form_or_type_is_refused(day: object):
    """A wrong type has the date's code too."""
    with refused(DATE):
        read(changed(BODY, date=day))


@pytest.mark.parametrize("day", ["2020-01-01", "2099-12-31"])
def test_any_existing_date_is_accepted_by_the_reader(day: str):
    """The stored answer is returned whatever the date; "today" is checked after the reference."""
    assert read(changed(BODY, date=day)).date == date.fromisoformat(day)


BAD_TEXTS = ["a" * 1025, "a\nb", "\0", "\x85", "\x7f", 5, 1.5, True, [], {}, ["a"]]
LONG = "🜁" * 1024


@pytest.mark.parametrize("bad", BAD_TEXTS, ids=lambda bad: ascii(bad)[:20])
@pytest.mark.parametrize("field", ["reference", "description"])
def test_texts_that_are_long_or_have_control_characters_are_refused(field: str, bad: object):
    with refused(INVALID) as refusal:
        read(changed(BODY, **{field: bad}))
    assert refusal.value.field == field


@pytest.mark.parametrize("field", list(dict.fromkeys([*PIX, *BANK])))
def test_texts_of_the_destination_have_the_same_limits(field: str):
    for bad in BAD_TEXTS:
        body = pix(**{field: bad}) if field in PIX else bank(**{field: bad})

        with refused(INVALID) as refusal:
            read(body)
        assert refusal.value.field == f"destination.{field}", ascii(bad)


def test_texts_of_1024_code_points_are_accepted():
    found = read(pix(name=LONG) | {"reference": LONG, "description": LONG})

    assert (found.reference, found.description, found.destination.name) == (LONG, LONG, LONG)


@pytest.mark.parametrize("reference", [".", ".."])
def test_a_dot_segment_is_refused_as_reference(reference: str):
    with refused(INVALID):
        read(changed(BODY, reference=reference))


@pytest.mark.parametrize("destination", [[], "maria", 5, True, [PIX]], ids=ascii)
def test_a_destination_that_is_no_object_is_refused(destination: object):
    with refused(INVALID):
        read(changed(BODY, destination=destination))


BROKEN: list[tuple[dict[str, Any], ErrorCode]] = [
    (changed(BODY, destination={}), MISSING),
    (pix(tax_number=GONE), MISSING),
    (pix(tax_number=None), MISSING),
    (pix(tax_number=""), MISSING),
    (pix(tax_number="52998224726"), INVALID),
    (pix(tax_number="111.111.111-11"), INVALID),
    (pix(tax_number="12ABC34501DE36"), INVALID),
    (pix(tax_number="٥٢٩٩٨٢٢٤٧٢٥"), INVALID),
    (pix(tax_number="./-"), INVALID),
    (pix(key=GONE), NO_KEY),
    (pix(key=""), NO_KEY),
    (pix(key_type=None), NO_KEY),
    (pix(key_type="EMAIL"), INVALID),
    (pix(key_type="iban"), INVALID),
    (pix(key_type="cpf"), INVALID),
    (pix(key_type="phone"), INVALID),
    (changed(BODY, destination=BANK), NO_KEY),
    (bank(bank_number=GONE), NO_BANK),
    (bank(branch=""), NO_BANK),
    (bank(account=None), NO_BANK),
    (changed(BODY, method="bank_account"), NO_BANK),
    *((bank(bank_number=bad), INVALID) for bad in ("34", "3411", "1234567", "34a", "34\u0661")),
    *((bank(branch=bad), INVALID) for bad in ("00011", "1-9", "a", " 1")),
    *((bank(account=bad), INVALID) for bad in ("1" * 21, "1-", "-1", "1-23", "1 2", "1-é", "x")),
    (bank(account_type="CHECKING"), INVALID),
    (bank(account_type="current"), INVALID),
]


@pytest.mark.parametrize(("body", "error"), BROKEN, ids=lambda each: ascii(each)[-60:])
def test_each_error_of_a_destination_has_its_code(body: dict[str, Any], error: ErrorCode):
    with refused(error):
        read(body)


@pytest.mark.parametrize("number", ["341", "60701190"])
@pytest.mark.parametrize("account", ["1", "1" * 20, "123456-7", "1-X", "1-x"])
def test_accounts_are_accepted_with_either_bank_number(number: str, account: str):
    found = read(bank(bank_number=number, account=account)).destination

    assert isinstance(found, BankDestination)
    assert (found.bank_number, found.account) == (number, account)


def test_letters_of_a_tax_number_become_capitals():
    both = pix(tax_number="12.ABC.345/01DE-35", key_type="cnpj", key="12abc34501de35")

    found = read(both).destination

    assert (found.tax_number, found.key) == ("12ABC34501DE35", "12ABC34501DE35")


# One mistake for each check, in the order of the checks; each is made of the bodies of those
# behind it, so that every earlier one has to win over every later one.
ORDER: list[tuple[str, dict[str, Any], dict[str, Any], ErrorCode]] = [
    ("method missing", {"method": None}, {}, MISSING),
    ("method", {"method": "qrcode"}, {}, METHOD),
    ("required", {"reference": None}, {}, MISSING),
    ("value's form", {"value": "10.50"}, {}, INVALID),
    ("value", {"value": 0}, {}, AMOUNT),
    ("date's form", {"date": "x"}, {}, DATE),
    ("text", {"description": "\0"}, {}, INVALID),
    ("destination's text", {}, {"name": "\0"}, INVALID),
    ("tax number missing", {}, {"tax_number": ""}, MISSING),
    ("tax number", {}, {"tax_number": "1"}, INVALID),
    ("incomplete", {}, {"key": "", "account": ""}, NO_KEY),
    ("form", {}, {"key_type": "x", "branch": "x"}, INVALID),
]


@pytest.mark.parametrize("method", ["pix", "bank_account"])
def test_of_two_errors_the_earlier_check_answers(method: str):
    """All pairs of checks."""
    wrong = {
        (ORDER[first][0], ORDER[second][0]): found
        for first, second in itertools.combinations(range(len(ORDER)), 2)
        if (found := refusal_of(partial(read, mistaken(method, second, first))))
        is not expected(ORDER[first][3], method)
    }

    assert wrong == {}


def mistaken(method: str, *places: int) -> dict[str, Any]:
    """Return a body with these mistakes."""
    good, destination = {**BODY, "method": method}, {**PIX, **BANK}
    for place in places:
        good |= ORDER[place][1]
        destination |= ORDER[place][2]
    return good | {"destination": destination}


def expected(error: ErrorCode, method: str) -> ErrorCode:
    """Return the error as this method has it."""
    return NO_BANK if error is NO_KEY and method == "bank_account" else error


def test_media_type_and_json_are_checked_before_the_fields():
    with refused(INVALID) as refusal:
        PayoutReader()(posted(b"{", content_type="text/plain"))
    assert refusal.value.reason == "media_type"
    with refused(INVALID) as refusal:
        read('{"method": "qrcode", "method": "qrcode"}')
    assert refusal.value.reason == "json"


def test_unknown_fields_are_ignored_counted_and_not_kept():
    """Such as a bank field in a payout to a key."""
    extra = pix(branch="x" * 2000, colour=1) | {"callback": "http://x", "pin": None}
    asked = posted(extra)

    found = PayoutReader()(asked)

    assert found == read(BODY)
    assert asked.unknown_fields == 4


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from([*BODY, "x"]), ANYTHING),
    st.dictionaries(st.sampled_from([*PIX, *BANK, "x"]), ANYTHING),
    st.sampled_from(["pix", "bank_account"]),
)
def test_any_values_are_accepted_or_refused_with_a_listed_code(
    fields: dict[str, object], destination: dict[str, object], method: str
):
    body = {**BODY, "method": method, "destination": {**PIX, **BANK, **destination}, **fields}

    assert refusal_of(lambda: read(body)) in {None, *REFUSES}


@pytest.mark.parametrize(
    ("method", "destination"), [(PayoutMethod.PIX, PIX), (PayoutMethod.BANK_ACCOUNT, BANK)]
)
@pytest.mark.parametrize("said", [{}, {"method": "qrcode"}], ids=["absent", "another"])
def test_a_method_given_by_the_path_is_not_read_from_the_body(
    method: PayoutMethod, destination: dict[str, str], said: dict[str, str]
):
    body = {"reference": "a", "value": 1, "date": "2026-11-20", "destination": destination, **said}

    found = PayoutReader(method=method)(posted(body))

    assert found.method is method


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        (changed(BODY, method=GONE), "method", "missing"),
        (changed(BODY, method="qrcode"), "method", "payout_method"),
        (changed(BODY, value=GONE, date=GONE), "value", "missing"),
        (changed(BODY, destination=None), "destination", "missing"),
        (changed(BODY, value="10.50"), "value", "amount_form"),
        (changed(BODY, value=0), "value", "not_positive"),
        (changed(BODY, date="20-11-2026"), "date", "date_form"),
        (changed(BODY, reference="."), "reference", "reference_form"),
        (changed(BODY, description=7), "description", "text_form"),
        (changed(BODY, destination=[]), "destination", "object"),
        (pix(name="a\nb"), "destination.name", "text_form"),
        (pix(tax_number=GONE), "destination.tax_number", "missing"),
        (pix(tax_number="52998224724"), "destination.tax_number", "tax_number_form"),
        (pix(key_type=""), "destination.key_type", "missing_for_pix"),
        (pix(key=None), "destination.key", "missing_for_pix"),
        (pix(key_type="mail"), "destination.key_type", "key_type"),
        (pix(key="nobody"), "destination.key", "email_key_form"),
        (bank(bank_number=GONE), "destination.bank_number", "missing_for_bank_account"),
        (bank(branch=GONE, account=""), "destination.branch", "missing_for_bank_account"),
        (bank(bank_number="34"), "destination.bank_number", "bank_number_form"),
        (bank(branch="00001"), "destination.branch", "branch_form"),
        (bank(account="x"), "destination.account", "account_form"),
        (bank(account_type="gold"), "destination.account_type", "account_type"),
    ],
)
def test_an_invalid_field_is_named_by_its_path(body: dict[str, Any], field: str, reason: str):
    """The first one in the order of the checks; unknown names are not repeated."""
    with pytest.raises(ServiceError) as refusal:
        read(body | {"someones field": 1})

    assert (refusal.value.field, refusal.value.reason) == (field, reason)
