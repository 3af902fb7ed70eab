"""
Inter's own paths (``/banking/v2``): balance, statement and payouts.

A payout is found by the bank's id alone, for 90 days. Our key goes along with the order, in the
header ``x-id-idempotente``; the bank's reaction to a second order of the same key, its documents
that could be read do not say, so that none is ever sent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Final

from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.providers import (
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
)
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline
from gateway.core.money import Sum
from gateway.core.windows import Window
from provider_adapters.apipix.access import reading
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.inter import documents, payouts, statement
from provider_adapters.apipix.inter.words import ZONE
from provider_adapters.kit import money
from provider_adapters.kit.outcomes import unsent
from provider_adapters.kit.paging import unrepeated, within
from provider_adapters.kit.references import uuid_of
from provider_adapters.kit.requests import paying

_BALANCE: Final = "/banking/v2/saldo"
_STATEMENT: Final = "/banking/v2/extrato/completo"
_ORDER: Final = "/banking/v2/pix"
_BY_ID: Final = "/banking/v2/pix/{codigoSolicitacao}"
_KEY_HEADER: Final = "x-id-idempotente"


class Inter(ApiPixAdapter):
    """Inter: the standard, and its calls beyond it."""

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, and the blocked part of it."""
        request = self.request(account, "get_balance", _BALANCE)
        return await self.read(account, request, reading(documents.SALDO, _balance))

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements, by days of the bank."""
        by = self.client.read_by()
        unknown = self.client.unknown_word("list_statement")
        span = statement.begun(window, cursor)
        while True:
            query = span.query(limit)
            request = self.request(account, "list_statement", _STATEMENT, query)
            read = reading(documents.EXTRATO, statement.reader(span, window, unknown))
            page = await self.read(account, request, read, by)
            if isinstance(page, Page):
                break
            span = page
        page = unrepeated(page, cursor, lambda entry: entry.provider_id)
        return within(page, window, lambda entry: entry.created_at)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """Order a payout, once."""
        try:
            asked = self.request(account, "create_payout", _ORDER)
            key, document = uuid_of(order.provider_key), payouts.document_of(order)
            request = paying(asked, document, key, header=_KEY_HEADER)
        except ProviderError as problem:
            return unsent(problem)
        return await self.pay(account, request, payouts.created, send_by)

    async def find_payout(
        self, account: ProviderAccount, _provider_key: str, provider_id: str
    ) -> Outcome:
        """Look a payout up by the bank's id; a payout without one cannot be looked up."""
        if not provider_id:
            raise NotSupported(Reason.NOT_SUPPORTED)
        request = self.request(account, "find_payout", _BY_ID, codigoSolicitacao=provider_id)
        return await self.read(account, request, partial(payouts.found, asked=provider_id))


def _balance(document: documents.Saldo) -> Balance:
    """Add up the bank's separate figures: the available amount, and the blocked ones."""
    blocks = [
        money.sum_from_json(each).centavos
        for each in (
            document.bloqueado_cheque,
            document.bloqueado_judicialmente,
            document.bloqueado_administrativo,
        )
        if each != money.ABSENT
    ]
    if min(blocks, default=0) < 0:
        raise ValueError(Reason.WRONG_SHAPE)
    available, blocked = money.sum_from_json(document.disponivel), sum(blocks)
    day = document.data_referencia
    at = datetime.strptime(day, "%d/%m/%Y").replace(tzinfo=ZONE) if day else None
    return Balance(
        balance=Sum(available.centavos + blocked),
        blocked=Sum(blocked) if blocks else None,
        updated_at=at.astimezone(UTC) if at else None,
    )
