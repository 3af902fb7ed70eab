"""The row that lists charges as they are on record."""

from __future__ import annotations

from datetime import timedelta

from gateway.domain.bank.records.charges import ChargeState
from gateway.domain.kernel import errors
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.kernel.windows import PageStart
from gateway.http.backoffice.money.charge_list import charges
from gateway.operations.bank.charge_records import ChargePage
from policies.validation.backoffice import inputs
from tests.unit.gateway.http.backoffice.surface import STAFF, becomes, line
from tests.world.stores.charges import charge
from tests.world.stores.samples import NOW


def test_the_row_is_the_one_decided():
    assert line("charges") == ("GET", "/charges", "qrcode:read", 200)


def test_a_charge_is_shown_as_it_stands_now():
    late = charge(expires_at=NOW - timedelta(seconds=1), centavos=None)

    (shown,) = charges(ChargePage([late], 25, None, NOW), STAFF)["data"]

    assert (shown["status"], shown["paid_at"]) == ("Expired", "")
    assert late.state is ChargeState.ACTIVE


def test_the_next_page_is_named_as_it_is_read():
    start = PageStart(NOW, charge().id)

    shown = charges(ChargePage([charge()], 1, start, NOW), STAFF)["meta"]

    assert inputs.page_start(shown["next"]) == start
    assert charges(ChargePage([], 1, None, NOW), STAFF)["meta"] == {"limit": 1, "next": ""}


def test_a_store_that_is_away_is_told_as_such():
    assert becomes("charges", StoreUnavailable("x")) == errors.STORE_UNAVAILABLE.name
