"""The row of providers."""

from __future__ import annotations

from gateway.domain.bank.capabilities import Capabilities, PortCall, described
from gateway.http.backoffice.oversight.providers import Health, provider_rows
from tests.unit.gateway.http.backoffice.surface import STAFF, line
from tests.world.standing import NOON


def test_the_row_is_the_one_decided():
    assert line("providers") == ("GET", "/providers", "provider:read", 200)


async def test_what_is_known_is_shown():
    known = Health(
        name="p",
        read_only=False,
        adapter="bank",
        capabilities=Capabilities(
            calls=frozenset({PortCall.LIST_REFUNDS, PortCall.FIND_REFUND, PortCall.GET_BALANCE})
        ),
        problem="get_key broke the port",
        breakers={"read": "open"},
        last_call_at=NOON,
        last_operation="get_balance",
        last_outcome="timeout",
    )
    (row,) = provider_rows(lambda: [known])

    shown = await row.serve(STAFF, None)  # type: ignore[arg-type]

    (one,) = shown["data"]  # type: ignore[index]
    assert one["operations"] == ["find_refund", "list_refunds"]
    assert one["capabilities"] == described(known.capabilities)
    assert (one["adapter"], one["problem"]) == ("bank", "get_key broke the port")
    assert one["breakers"] == {"read": "open"}
    assert (one["last_call_at"], one["last_ok_at"]) == ("2026-11-20T12:00:00Z", "")
