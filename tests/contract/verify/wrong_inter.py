"""Mistakes about a bank that names no amount in its answer and lists no refusal: Inter's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    Outcome,
    Page,
    ProviderAccount,
    Reason,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.statements import Entry
from gateway.core.clocks import Deadline
from gateway.core.windows import Window
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.apipix.inter.calls import Inter
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.testing.stages import InterStage
from tests.contract.verify.mistaken import Wrong

_REFUSALS: Final = range(400, 500)


class WrongInterFactory(ApiPixFactory):
    def __init__(self, kind: type[Inter]) -> None:
        self._kind = kind

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> ApiPixAdapter:
        made = super().__call__(settings, context)
        parts = {each.name: getattr(made, each.name) for each in dataclasses.fields(made)}
        return self._kind(**parts)


class PaidAtOnce(Inter):
    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await Inter.create_payout(self, account, order, send_by)
        if not isinstance(outcome, Accepted):
            return outcome
        return Settled(
            evidence=outcome.evidence,
            value=order.value,
            provider_id=outcome.provider_id,
            e2e_id="",
            settled_at=None,
        )


class Refuses(Inter):
    """Takes every refusal for a proof that nothing was paid."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await Inter.create_payout(self, account, order, send_by)
        if not isinstance(outcome, Unknown) or outcome.evidence.http_status not in _REFUSALS:
            return outcome
        return Rejected(evidence=outcome.evidence, failure=FailureCode.REJECTED)


class FailsInDoubt(Inter):
    """Takes a state that it does not know for a failure."""

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        outcome = await Inter.find_payout(self, account, provider_key, provider_id)
        if outcome.evidence.reason != Reason.UNKNOWN_STATUS:
            return outcome
        return Rejected(evidence=outcome.evidence, failure=FailureCode.OTHER)


class OnePage(Inter):
    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        page = await Inter.list_statement(self, account, window, cursor, limit)
        return Page(items=page.items, next_cursor=None)


def _inter(name: str, case: str, kind: type[Inter]) -> Wrong:
    return Wrong(name=name, case=case, factory=WrongInterFactory(kind), stage=InterStage)


WRONG: Final = (
    _inter("an order that was taken is paid", "bank.failed_later", PaidAtOnce),
    _inter("a refusal that nobody lists is final", "bank.unlisted_refusals", Refuses),
    _inter("an error of the bank's own form is final", "bank.doubtful_refusals", Refuses),
    _inter("a state in doubt has failed", "bank.found_with_unknown_word", FailsInDoubt),
    _inter("a page is the statement", "reads.page_borders", OnePage),
)
