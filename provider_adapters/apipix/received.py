"""
Payments received (``GET /pix``), and refunds of them (``PUT /pix/{e2eid}/devolucao/{id}``).

Refunds have no list of their own: they stand in the payments that they give back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import msgspec

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
    Rejected,
    Unknown,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder, RefundStatus
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.strict import cleaned_text
from gateway.core.windows import Window
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import (
    CHANGED,
    OK,
    Access,
    amount,
    error_code,
    failure,
    reading,
)
from provider_adapters.apipix.charges import payer, person
from provider_adapters.apipix.lists import Limits, Make, PagedList, limits_of
from provider_adapters.apipix.profiles import LARGEST_PAGE
from provider_adapters.apipix.words import (
    REFUND_KNOWN,
    REFUND_REJECTIONS,
    REFUND_STATUSES,
    REFUSED_BEFORE,
)
from provider_adapters.kit import money
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    known,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import (
    Expected,
    NeverSendable,
    is_known,
    listed_refusal,
    outcome_of,
    refund_shown,
    unsent,
)
from provider_adapters.kit.paging import unrepeated, whole
from provider_adapters.kit.requests import ProviderRequest, paying

_ONE: Final = "/pix/{e2eid}"
_LIST: Final = "/pix"
_REFUND: Final = "/pix/{e2eid}/devolucao/{id}"
_LONGEST_DESCRIPTION: Final = 140
_REFUNDABLE: Final = timedelta(days=90)
"""Until when a payment can be refunded (API Pix 2.9.0, ``PixDevolucaoInvalida``)."""
_LOOKS: Final = 2
"""Times ``_REFUNDABLE`` that a refund is looked for in payments: for 90 days after its order."""
MOST_REFUNDS: Final = 100_000
"""Of one key there is one; a list is read until it is found or over."""
_MINUTE: Final = slice(9, 21)
"""Of an end-to-end id: letter, eight of the bank's, then the minute in UTC (API Pix 2.9.0)."""
_ALL: Final[Mapping[str, str]] = {}
_REFUNDED: Final[Mapping[str, str]] = {"devolucaoPresente": "true"}


class Received(Access):
    """Reads payments received, and gives refunds."""

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received; ``GET /pix/{e2eid}``."""
        path = self.profile.pix + _ONE
        request = self.request(account, "find_received", path, e2eid=e2e_id)
        return await self.read(account, request, reading(documents.PIX, _payment))

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received; ``GET /pix``."""
        found = self._list(account, "list_received")
        page = await found.page(limits_of(window), cursor, limit, lambda pix: (_payment(pix),))
        return unrepeated(page, cursor, lambda payment: payment.e2e_id)

    async def entries(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of payments as movements of a statement."""
        found = self._list(account, "list_statement")
        return await found.page(limits_of(window), cursor, limit, lambda pix: (_entry(pix),))

    async def given_back(
        self, account: ProviderAccount, window: Window, cursor: str | None
    ) -> Page[Entry]:
        """Read refunds of a window that have settled, as movements of a statement."""
        refunded = self._list(account, "list_statement", _REFUNDED)
        ordered = limits_of(window)
        paid = Limits(ordered.start - _REFUNDABLE, ordered.end)
        make = partial(_debits, ordered, self.client.odd_row("list_statement"))
        page = await refunded.page(paid, cursor, LARGEST_PAGE, make)
        newest = sorted(page.items, key=lambda entry: entry.created_at, reverse=True)
        return Page(items=newest, next_cursor=page.next_cursor)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a refund under our key, once; ``PUT /pix/{e2eid}/devolucao/{id}``.

        One that the bank may know is read back and compared.

        The bank answers the same for an order that it can never take and for a known key, so
        that its refusal counts only if there is no refund of our key.
        """
        try:
            request = self._refund_order(account, order)
        except ProviderError as refused:
            return unsent(refused)
        outcome = await self.pay(account, request, partial(_created, order=order), send_by)
        if isinstance(outcome, Accepted) and is_known(outcome):
            return await self._read_back(account, order, outcome)
        return outcome

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up in the refunded payments of 180 days, newest first; ``GET /pix``."""
        unknown = self.client.unknown_word("find_refund")
        refunded = self._list(account, "find_refund", _REFUNDED)
        end = self.now()

        def ours(pix: documents.Pix) -> Iterable[Refund]:
            named = [each for each in pix.devolucoes if each.id == provider_key]
            return (_refund(pix.e2e, pix.txid or "", each, unknown) for each in named)

        for _ in range(_LOOKS):
            limits = Limits(end - _REFUNDABLE, end)
            found = await whole(partial(_largest, refunded, limits, ours), MOST_REFUNDS)
            if found:
                return found[0]
            end = limits.start
        raise NotFound(Reason.NOT_FOUND)

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds ordered in a window; ``GET /pix`` of up to 90 days before."""
        unknown, odd = (
            each("list_refunds") for each in (self.client.unknown_word, self.client.odd_row)
        )
        refunded = self._list(account, "list_refunds", _REFUNDED)
        ordered = limits_of(window)

        def within(pix: documents.Pix) -> Iterable[Refund]:
            found = _refunds(pix, unknown, odd)
            return (each for each in found if ordered.hold(each.created_at))

        paid = Limits(ordered.start - _REFUNDABLE, ordered.end)
        page = await refunded.page(paid, cursor, limit, within)
        return unrepeated(page, cursor, lambda refund: refund.provider_key)

    def _list(
        self, account: ProviderAccount, operation: str, filters: Mapping[str, str] = _ALL
    ) -> PagedList[documents.Pix]:
        return PagedList(
            access=self,
            account=account,
            operation=operation,
            path=self.profile.pix + _LIST,
            decoder=documents.RECEBIDOS,
            moment=lambda pix: pix.horario,
            filters=filters,
        )

    def _refund_order(self, account: ProviderAccount, order: RefundOrder) -> ProviderRequest:
        """Write an order; raises ``ProviderError`` for one that cannot be written."""
        if len(order.description) > _LONGEST_DESCRIPTION:
            raise NeverSendable
        path = self.profile.pix + _REFUND
        payment, key = order.payment_e2e_id, order.provider_key
        asked = self.request(account, "create_refund", path, e2eid=payment, id=key)
        document = {"valor": money.as_text(order.value), "natureza": "ORIGINAL"}
        if order.description:
            document["descricao"] = order.description
        return paying(asked, document, order.provider_key, method="PUT")

    async def _read_back(
        self, account: ProviderAccount, order: RefundOrder, refused: Accepted
    ) -> Outcome:
        """Read the refund of our key after the bank refused it, perhaps for being known."""
        path = self.profile.pix + _REFUND
        payment, key = order.payment_e2e_id, order.provider_key
        request = self.request(account, "find_refund", path, e2eid=payment, id=key)

        def shown(answer: ProviderAnswer) -> Outcome:
            if answer.status not in OK:
                raise failure(answer)
            return _known(answer, order)

        evidence = refused.evidence
        try:
            return await self.read(account, request, shown)
        except NotFound:
            refusal = replace(evidence, reason=str(Reason.REFUSED))
            return Rejected(evidence=refusal, failure=FailureCode.OTHER)
        except ProviderError:
            return Unknown(evidence)


async def _largest(
    listed: PagedList[documents.Pix],
    limits: Limits,
    make: Make[documents.Pix, Refund],
    cursor: str | None,
) -> Page[Refund]:
    return await listed.page(limits, cursor, LARGEST_PAGE, make)


def _payment(pix: documents.Pix) -> IncomingPayment:
    """Read a payment; raises ``ValueError`` for one without a right end-to-end id."""
    if not is_e2e_id(pix.e2e):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    value = amount(pix.valor)
    given_back = sum(
        amount(each.valor).centavos
        for each in pix.devolucoes
        if REFUND_STATUSES.get(each.status) is not RefundStatus.FAILED
    )
    if not 0 <= given_back <= value.centavos:
        raise ValueError(Reason.WRONG_SHAPE)
    return IncomingPayment(
        reference=pix.txid or "",
        e2e_id=pix.e2e,
        provider_id=pix.e2e,
        value=value,
        refunded=Money(given_back),
        paid_at=pix.horario.astimezone(UTC),
        payer=payer(pix),
    )


def _entry(pix: documents.Pix) -> Entry:
    """Read a payment as a movement; an end-to-end id that is none is left out."""
    payer = pix.pagador or (pix.extras.pagador if pix.extras else None)
    return Entry(
        provider_id=provider_id(pix.e2e),
        e2e_id=pix.e2e if is_e2e_id(pix.e2e) else "",
        direction=Direction.CREDIT,
        is_pix=True,
        value=amount(pix.valor),
        description=cleaned_text(pix.info),
        counterparty=person(payer),
        created_at=pix.horario.astimezone(UTC),
        kind=MovementKind.PIX,
    )


def _debits(ordered: Limits, odd: UnknownWord, pix: documents.Pix) -> Iterable[Entry]:
    """Read the refunds of a payment that were ordered in time and have settled."""
    for given in pix.devolucoes:
        at = _ordered_at(given)
        if at is None:  # nobody could say on which day it stands
            odd()
            continue
        if REFUND_STATUSES.get(given.status) is RefundStatus.PAID and ordered.hold(at):
            yield msgspec.structs.replace(
                _entry(pix),
                provider_id=provider_id(given.rtr_id or given.id),
                e2e_id=given.rtr_id if given.rtr_id and is_e2e_id(given.rtr_id) else "",
                direction=Direction.DEBIT,
                value=amount(given.valor),
                description=cleaned_text(given.descricao),
                created_at=at,
                provider_key=provider_id(given.id),
                kind=MovementKind.PIX_RETURN,
            )


def _ordered_at(given: documents.Devolucao) -> datetime | None:
    """Return when a refund was ordered, else settled, else the minute in the id of its way back."""
    moment = given.horario.solicitacao or given.horario.liquidacao
    if moment is not None:
        return moment.astimezone(UTC)
    if not given.rtr_id or not is_e2e_id(given.rtr_id):
        return None
    try:
        return datetime.strptime(given.rtr_id[_MINUTE], "%Y%m%d%H%M").replace(tzinfo=UTC)
    except ValueError:  # its digits are no minute
        return None


def _refunds(pix: documents.Pix, unknown: UnknownWord, odd: UnknownWord) -> Iterable[Refund]:
    """Read the refunds of a payment; one without any time is of no day, and is left out."""
    for each in pix.devolucoes:
        if _ordered_at(each) is None:
            odd()
        else:
            yield _refund(pix.e2e, pix.txid or "", each, unknown)


def _refund(e2e_id: str, txid: str, given: documents.Devolucao, unknown: UnknownWord) -> Refund:
    """Read a refund; one of unknown state is still processing."""
    status = known(REFUND_STATUSES, given.status, RefundStatus.PROCESSING, unknown)
    ordered_at = _ordered_at(given)
    if ordered_at is None or not is_e2e_id(e2e_id):
        raise ValueError(Reason.WRONG_SHAPE)
    settled = given.horario.liquidacao
    failed = status is RefundStatus.FAILED
    return Refund(
        reference="",
        provider_key=provider_id(given.id),
        provider_id=provider_id(given.id),
        payment_e2e_id=e2e_id,
        payment_reference=txid,
        return_id=given.rtr_id if given.rtr_id and is_e2e_id(given.rtr_id) else "",
        value=amount(given.valor),
        description=cleaned_text(given.descricao),
        status=status,
        failure=FailureCode.OTHER if failed else None,
        created_at=ordered_at,
        settled_at=None if settled is None or failed else settled.astimezone(UTC),
    )


def _created(answer: ProviderAnswer, order: RefundOrder) -> Outcome:
    """Read the answer to an order; an unlisted one is raised, and becomes Unknown."""
    code = error_code(answer)
    refused = listed_refusal(
        answer, code, REFUND_REJECTIONS, REFUSED_BEFORE, duplicates=REFUND_KNOWN
    )
    return refused or _known(answer, order)


def _known(answer: ProviderAnswer, order: RefundOrder) -> Outcome:
    """Convert a refund to an outcome; one of our key with another amount is another refund."""

    def shape(document: documents.Devolucao) -> Outcome:
        refund = _refund(order.payment_e2e_id, "", document, answer.unknown_word)
        expected = Expected(order.provider_key, order.value)
        return outcome_of(answer, refund_shown(refund), expected, ordered=True)

    return read_document(answer, documents.DEVOLUCAO, shape, CHANGED)
