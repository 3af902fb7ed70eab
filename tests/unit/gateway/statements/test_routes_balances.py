"""The balance of an account, and what is blocked of it."""

from __future__ import annotations

from gateway.banks.port.providers import NotSupported, Unavailable
from gateway.banks.port.statements import Block, BlockKind
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.http.rendering import dumps
from gateway.statements.routes import blocks
from tests.unit.gateway.http.surface import OFFICE, becomes, line
from tests.world.standing import NOON


def test_the_row_is_the_one_decided():
    assert line("balance") == ("GET", "/balance", "balance:read", 200)


def test_a_failure_has_the_rows_own_code():
    assert becomes("balance", Unavailable("a")) == "balance_unavailable"
    assert becomes("balance", StoreUnavailable()) == "store_unavailable"


def test_the_row_of_blocks_is_the_one_decided():
    assert line("blocks") == ("GET", "/blocks", "balance:read", 200)
    assert becomes("blocks", Unavailable("a")) == "balance_unavailable"
    assert becomes("blocks", NotSupported("a")) == "provider_not_configured"


def test_blocks_are_shown_with_their_sum():
    found = [
        Block(kind=BlockKind.MED, value=Money(1050), since=NOON, reference="ID-7"),
        Block(kind=BlockKind.BANK, value=Money(1), since=None, reference=""),
    ]

    assert dumps(blocks(found, OFFICE)) == (
        b'{"blocked":10.51,"data":['
        b'{"kind":"med","value":10.50,"since":"2026-11-20T12:00:00Z","reference":"ID-7"},'
        b'{"kind":"bank","value":0.01,"since":"","reference":""}],"meta":{"total":2}}'
    )


def test_nothing_blocked_is_an_empty_list():
    assert dumps(blocks([], OFFICE)) == b'{"blocked":0.00,"data":[],"meta":{"total":0}}'
