"""The row of what helps to decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.backoffice.approvals import ApprovalKind
from gateway.domain.backoffice.payout_search import FoundPayout
from gateway.domain.backoffice.readings import AccountReading
from gateway.domain.kernel.money import Money
from gateway.http.backoffice.decisions.approval_facts import FactFinding, _facts
from gateway.operations.backoffice.money.approval_facts import DecisionFacts
from tests.unit.gateway.http.backoffice.ordering import WAITING
from tests.unit.gateway.http.backoffice.surface import STAFF, line
from tests.world.stores.samples import payout


def test_the_row_is_the_one_decided():
    path = "/approvals/{approval_id}/facts"

    assert line("approval_facts") == ("GET", path, "approval:read", 200)


def test_what_is_known_is_shown_with_the_number_hidden():
    reading = AccountReading(
        account_id="a",
        account_name="Matriz",
        provider="p",
        balance=Money(1050),
        blocked=None,
        read_at=None,
        asked_at=None,
    )
    alike = FoundPayout(payout(), "Matriz")

    shown = _facts(DecisionFacts(to_recipient=[alike], reading=reading), STAFF)

    assert [each["payee_tax_number"] for each in shown["to_recipient"]] == ["***.982.247-**"]
    assert shown["same_value"] == []
    assert shown["reading"]["account_id"] == "a"
    assert "reading" not in _facts(DecisionFacts(), STAFF)


class _Approvals:
    """Knows an order that moves no money, whose content nobody may open for this."""

    async def find(self, *_asked: object) -> Any:
        return replace(WAITING, kind=ApprovalKind.ROLES)


@pytest.mark.parametrize("facts", [None])
async def test_what_moves_no_money_has_no_likes(facts: Any):
    does = FactFinding(_Approvals(), facts)  # type: ignore[arg-type]

    assert await does.read(STAFF, WAITING.id) == DecisionFacts()
