"""What helps to decide on an order that waits; the store is read, and no bank is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import ABSENT, BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.money.payout_lists import FoundPayoutDocument, found_payout
from gateway.http.backoffice.oversight.overview import ReadingDocument, balance_reading
from gateway.http.common import STORE_FAILS
from gateway.http.route import Row, route
from gateway.operations.backoffice import money_orders
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.money.approval_facts import (
    RECIPIENT_DAYS,
    ApprovalFacts,
    DecisionFacts,
)
from policies.validation.backoffice import inputs


class DecisionFactsDocument(TypedDict):
    """
    What is known around an order, of the companies that you see.

    ``to_recipient`` are payouts to the same tax number of the last 30 days, at most 25, and
    ``same_value`` those of the same amount and account today, in Brasilia's days; newest first,
    without the one that the order itself has made. Of what moves no money all is empty, and of a
    refund both lists are. ``reading`` is absent where the account's bank is not asked.
    """

    to_recipient: list[FoundPayoutDocument]
    same_value: list[FoundPayoutDocument]
    reading: NotRequired[ReadingDocument]


@dataclass(frozen=True, slots=True)
class FactFinding:
    """Finds what is known around an order."""

    approvals: Approvals
    facts: ApprovalFacts

    async def read(self, who: BackOfficeCaller, approval_id: str) -> DecisionFacts:
        """Return it; ``NOT_FOUND`` also for an order outside of the scope."""
        found = await self.approvals.find(who.person, who.scope, approval_id)
        if not found.moves_money:
            return DecisionFacts()
        order = money_orders.read(found, self.approvals.text(found))
        return await self.facts.of(who.scope, found, order)


def approval_fact_rows(does: FactFinding) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/approvals/{approval_id}/facts",
            name="backoffice.approval_facts",
            summary=(
                f"Read payouts like an order of money, to its recipient in {RECIPIENT_DAYS} days"
                " and of its value today, and what the account held."
            ),
            needs=reading(Area.APPROVAL),
            limits=NO_BODY,
            takes=inputs.of_path("approval_id"),
            runs=does.read,
            shows=_facts,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
    )


def _facts(found: DecisionFacts, _who: BackOfficeCaller) -> DecisionFactsDocument:
    document: DecisionFactsDocument = {
        "to_recipient": [found_payout(each) for each in found.to_recipient],
        "same_value": [found_payout(each) for each in found.same_value],
    }
    if found.reading is not None:
        document["reading"] = balance_reading(found.reading)
    return document
