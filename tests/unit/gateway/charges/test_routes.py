"""The row that lists charges as they are on record."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.banks.port.providers import NotFound, Unavailable
from gateway.charges.model import ChargePage, ChargeState
from gateway.charges.routes import page
from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import PageStart
from policies.validation.backoffice import inputs
from tests.unit.gateway.http.surface import STAFF, becomes, gate_of, line
from tests.world.stores.charges import charge
from tests.world.stores.samples import NOW


def test_the_row_is_the_one_decided():
    assert line("charges") == ("GET", "/charges", "qrcode:read", 200)


def test_a_charge_is_shown_as_it_stands_now():
    late = charge(expires_at=NOW - timedelta(seconds=1), centavos=None)

    (shown,) = page(ChargePage([late], 25, None, NOW), STAFF)["data"]

    assert (shown.status, shown.paid_at) == ("Expired", None)
    assert late.state is ChargeState.ACTIVE


def test_the_next_page_is_named_as_it_is_read():
    start = PageStart(NOW, charge().id)

    shown = page(ChargePage([charge()], 1, start, NOW), STAFF)["meta"]

    assert inputs.page_start(shown["next"]) == start
    assert page(ChargePage([], 1, None, NOW), STAFF)["meta"] == {"limit": 1, "next": ""}


def test_a_store_that_is_away_is_told_as_such():
    assert becomes("charges", StoreUnavailable("x")) == errors.STORE_UNAVAILABLE.name


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("qrcode", ("GET", "/pix/qrcode/{reference}", "qrcode:read", 200)),
        ("qrcode_generate", ("POST", "/pix/qrcode", "qrcode:write", 201)),
        ("qrcode_cancel", ("DELETE", "/pix/qrcode/{reference}", "qrcode:write", 200)),
    ],
)
def test_the_rows_of_qr_codes_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


@pytest.mark.parametrize(
    ("name", "acts"), [("qrcode", False), ("qrcode_generate", True), ("qrcode_cancel", True)]
)
def test_only_what_acts_asks_for_an_account_that_may_bank(name: str, acts: bool):
    assert ("AccountState" in gate_of(name)) is acts


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("qrcode", "charge_not_found"),
        ("qrcode_cancel", "charge_not_found"),
        ("qrcode_generate", "charge_unavailable"),
    ],
)
def test_one_that_is_read_may_be_absent(name: str, absent: str):
    assert becomes(name, NotFound("a")) == absent
    assert becomes(name, Unavailable("a")) == "charge_unavailable"
