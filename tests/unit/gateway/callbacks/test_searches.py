"""What a search is read from."""

from __future__ import annotations

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import (
    CallbackSearch,
    CallbackState,
)
from gateway.core.windows import Paging
from tests.unit.gateway.http.registers import taken


def test_filters_are_read():
    query = {"kind": ["payout"], "state": ["done"], "provider": ["p"]}

    wanted = taken("webhooks", query=query)["wanted"]

    assert wanted == CallbackSearch(
        paging=Paging(1, 25), provider="p", kind=CallbackKind.PAYOUT, state=CallbackState.DONE
    )
