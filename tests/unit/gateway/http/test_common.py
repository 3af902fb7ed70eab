"""The shapes of the answers, as OpenAPI shows them."""

from __future__ import annotations

import re
import typing
from typing import Any

import msgspec
import pytest

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.charges import documents as charges
from gateway.core import schemas
from gateway.core.schemas import CHOICES
from gateway.http import common
from gateway.payouts import documents
from gateway.pix_keys import documents as pix_keys
from gateway.statements import documents as statements

SHAPES = {
    each
    for module in (charges, common, documents, pix_keys, statements)
    for each in vars(module).values()
    if typing.is_typeddict(each) and each.__doc__
}


def pattern(kind: object) -> re.Pattern[str]:
    """Return the pattern a text type is documented with."""
    found: str = msgspec.json.schema(kind)["pattern"]
    return re.compile(found)


def described(shape: type) -> dict[str, Any]:
    """Return the schema of a shape."""
    found: dict[str, Any] = msgspec.json.schema(shape)["$defs"][shape.__name__]
    return found


@pytest.mark.parametrize(
    "shape", sorted(SHAPES, key=lambda each: each.__name__), ids=lambda shape: shape.__name__
)
def test_a_shape_can_be_described(shape: type):
    """Every field has a schema; no field is ever null."""
    properties = described(shape)["properties"]

    assert set(properties) == set(typing.get_type_hints(shape))
    assert "null" not in str(properties)


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        (schemas.Instant, "2026-09-22T13:40:11Z", True),
        (schemas.Instant, "", True),
        (schemas.Instant, "2026-09-22T13:40:11+00:00", False),
        (schemas.Instant, "2026-09-22 13:40", False),
        (schemas.Moment, "2026-09-22T13:40:11Z", True),
        (schemas.Moment, "2026-09-22T13:40:11.123Z", False),
        (schemas.Moment, "", False),
        (charges.Minute, "2026-09-22 13:40", True),
        (charges.Minute, "", True),
        (charges.Minute, "2026-09-22T13:40:11Z", False),
    ],
)
def test_times_have_their_form(kind: object, text: str, fits: bool):
    """Contract 2.1 and 2.4."""
    assert (pattern(kind).search(text) is not None) is fits


def test_a_failure_has_every_word_there_is():
    words = described(documents.FailureDocument)["properties"]["code"]["enum"]

    assert sorted(words) == sorted(each.value for each in FailureCode)


def test_a_payout_has_a_form_for_each_method():
    """The form says in ``method`` which it is, and shows where that method pays to."""
    choice = CHOICES[documents.PayoutDocument]

    told = [described(form)["properties"]["method"]["enum"] for form in choice.forms]
    assert told == [[each.value] for each in PayoutMethod]
    assert choice.discriminator == "method"


@pytest.mark.parametrize(
    ("shape", "optional"),
    [
        (charges.ChargeDocument, {"payer"}),
        (charges.TransactionDocument, {"payer"}),
        (documents.PayoutDocument, {"failure"}),
        (documents.PixPayoutDocument, {"failure"}),
        (documents.BankAccountPayoutDocument, {"failure"}),
        (documents.PixDestinationDocument, {"name"}),
        (documents.BankAccountDestinationDocument, {"name", "account_type"}),
        (statements.StatementDocument, set()),
    ],
)
def test_only_these_may_be_absent(shape: type, optional: set[str]):
    """Contract 2.4 to 2.6: an anonymous charge has no payer, only a failed payout a failure."""
    found = described(shape)

    assert set(found["properties"]) - set(found["required"]) == optional
