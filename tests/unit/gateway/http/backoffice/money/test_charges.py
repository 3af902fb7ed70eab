"""The rows of QR codes."""

from __future__ import annotations

import pytest

from gateway.domain.bank.providers import NotFound, Unavailable
from tests.unit.gateway.http.backoffice.surface import becomes, gate_of, line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("qrcode", ("GET", "/pix/qrcode/{reference}", "qrcode:read", 200)),
        ("qrcode_generate", ("POST", "/pix/qrcode", "qrcode:write", 201)),
        ("qrcode_cancel", ("DELETE", "/pix/qrcode/{reference}", "qrcode:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
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
