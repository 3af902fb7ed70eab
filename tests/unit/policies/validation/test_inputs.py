"""What routes take is documented as it is read."""

import pytest

from gateway.banks.port.payout_orders import AccountType
from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.money import Money
from gateway.payouts import bodies as payout
from policies.validation.inputs import (
    KEY_ID,
    NOTHING,
    REFERENCE,
    SEARCH,
)
from tests.unit.refusals import refusal_of
from tests.world.people import ACCOUNT, posted

PAYOUT = {
    "method": "pix",
    "reference": "order-1",
    "value": 10.5,
    "date": "2026-11-20",
    "destination": {"tax_number": "12ABC34501DE35", "key_type": "evp", "key": ACCOUNT},
}


def test_a_route_without_input_ignores_query_and_body():
    assert NOTHING.read(RawRequest(path={}, query={"x": ["1"]}, body=b"{")) is None


def test_path_parameters_are_read_by_their_names():
    asked = RawRequest(path={"key_id": ACCOUNT.upper(), "reference": " x "})

    assert KEY_ID.read(asked) == ACCOUNT
    assert REFERENCE.read(asked) == " x "


def test_search_parameters_are_documented_in_the_order_of_their_checks():
    assert [(each.name, each.required) for each in SEARCH.parameters] == [
        ("init", True),
        ("ends", True),
        ("page", False),
        ("limit", False),
    ]


@pytest.mark.parametrize("name", ["page", "limit"])
def test_the_documented_bounds_of_page_and_limit_are_enforced(name: str):
    schema = next(each.schema for each in SEARCH.parameters if each.name == name)
    days = {"init": ["2026-01-01"], "ends": ["2026-01-01"]}

    def refused_at(number: int) -> bool:
        asked = RawRequest(path={}, query={**days, name: [str(number)]})
        return refusal_of(lambda: SEARCH.read(asked)) is not None

    assert not refused_at(schema["minimum"])
    assert refused_at(schema["minimum"] - 1)
    if "maximum" in schema:
        assert not refused_at(schema["maximum"])
        assert refused_at(schema["maximum"] + 1)
    default = SEARCH.read(RawRequest(path={}, query=days)).paging
    assert getattr(default, name) == schema["default"]


def test_an_alphanumeric_cnpj_is_accepted_in_a_payout():
    assert payout.PAYOUT.read(posted(PAYOUT)).value == Money(1050)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (KEY_ID, {errors.IDENTIFIER_INVALID}),
        (REFERENCE, {errors.PAYLOAD_INVALID}),
        (
            SEARCH,
            {
                errors.FIELD_MISSING,
                errors.DATE_INVALID,
                errors.WINDOW_INVALID,
                errors.NUMBER_INVALID,
            },
        ),
        (payout.PAYOUT, set(payout.REFUSES)),
    ],
    ids=["key_id", "reference", "search", "payout"],
)
def test_each_input_declares_its_errors(taken: Input[object], expected: set[object]):
    assert set(taken.refuses) == expected


def test_the_account_types_match_the_contract():
    assert [each.value for each in AccountType] == ["checking", "savings", "salary", "payment"]
