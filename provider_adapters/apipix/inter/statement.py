"""
Inter's statement: days of the bank's own, in pages counted from 0.

No source names its order. Pages reach no further than the first 10,000 movements of a span of
days, so that a span with more is halved; a period has 90 days at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

import msgspec

from gateway.banks.port.charges import Party
from gateway.banks.port.providers import BadReply, Page, Reason
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.strict import cleaned_text
from gateway.core.windows import Window
from provider_adapters.apipix.access import amount
from provider_adapters.apipix.inter.documents import Detalhes, DetalhesPix, Extrato, Transacao
from provider_adapters.apipix.inter.words import KINDS, ZONE
from provider_adapters.kit.answers import is_e2e_id, provider_id
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.paging import days
from provider_adapters.kit.times import local_day

_DAY: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=89)
"""From the first day of a span to its last."""
_REACHED: Final = 10_000
_BESIDE: Final = " "
"""What follows in a cursor is ``unrepeated``'s."""
_RETURNED: Final = "D"
_DIRECTIONS: Final = {"C": Direction.CREDIT, "D": Direction.DEBIT}


class Span(msgspec.Struct, array_like=True, frozen=True):
    """Some days, the last one included, and a page of their movements."""

    since: date
    until: date
    page: int = 0

    def query(self, size: int) -> Mapping[str, str]:
        """Return the page's parameters of the query string."""
        return {
            "dataInicio": self.since.isoformat(),
            "dataFim": self.until.isoformat(),
            "pagina": str(self.page),
            "tamanhoPagina": str(size),
        }

    def narrowed(self, total: int) -> Span | None:
        """
        Return the newer half of a span with more than can be reached; None if all can be.

        Raises:
            BadReply: One day alone has more.
        """
        if total <= _REACHED or self.page:
            return None
        if self.since == self.until:
            raise BadReply(Reason.TOO_LARGE)
        half = self.since + (self.until - self.since) // 2
        return Span(half + _DAY, self.until)

    def after(self, pages: int, first: date) -> Span | None:
        """Return the next query: a page of the same days, or the days before them."""
        if self.page + 1 < pages:
            return Span(self.since, self.until, self.page + 1)
        if self.since <= first:
            return None
        return _newest(first, self.since - _DAY)


_SPAN: Final = msgspec.json.Decoder(Span)


def begun(window: Window, cursor: str | None) -> Span:
    """Return the position of a walk."""
    if cursor:
        return _SPAN.decode(cursor.partition(_BESIDE)[0])
    return _newest(*days(window, ZONE))


def reader(
    span: Span, window: Window, unknown: UnknownWord
) -> Callable[[Extrato], Page[Entry] | Span]:
    """Return the function that makes a page of a document, or the next span to request."""

    def read(document: Extrato) -> Page[Entry] | Span:
        narrowed = span.narrowed(document.total_elementos)
        if narrowed is not None:
            return narrowed
        following = span.after(document.total_paginas, days(window, ZONE)[0])
        return Page(
            items=[_entry(row, unknown) for row in document.transacoes],
            next_cursor=msgspec.json.encode(following).decode() if following else None,
        )

    return read


def _newest(first: date, last: date) -> Span:
    return Span(max(first, last - _LONGEST), last)


def _entry(row: Transacao, unknown: UnknownWord) -> Entry:
    """
    Read a movement; it is at the first instant of its day, which is all that the bank reports.

    One of an unlisted kind does not count as Pix.
    """
    kind = KINDS.get(row.tipo_transacao)
    if kind is None:
        unknown()
    direction, details = _DIRECTIONS.get(row.tipo_operacao), _details(row)
    if direction is None:
        raise ValueError(Reason.WRONG_SHAPE)
    e2e_id = details.end_to_end_id or ""
    return Entry(
        provider_id=provider_id(row.id_transacao),
        e2e_id=e2e_id if is_e2e_id(e2e_id) else "",
        direction=direction,
        is_pix=kind is MovementKind.PIX,
        value=amount(row.valor),
        description=cleaned_text(row.descricao),
        counterparty=_party(details, direction),
        created_at=_day_of(row.data_transacao),
        kind=_with_returns(kind or MovementKind.OTHER, e2e_id),
    )


def _details(row: Transacao) -> DetalhesPix:
    details = row.detalhes or DetalhesPix()
    nested = details.pix if isinstance(details, Detalhes) else None
    return nested or details


def _with_returns(kind: MovementKind, e2e_id: str) -> MovementKind:
    """Distinguish a return from a payment by its id's first letter (API Pix 2.9.0)."""
    is_return = kind is MovementKind.PIX and e2e_id.startswith(_RETURNED)
    return MovementKind.PIX_RETURN if is_return else kind


def _party(details: DetalhesPix, direction: Direction) -> Party:
    if direction is Direction.CREDIT:
        name, tax_number = details.nome_pagador, details.cpf_cnpj_pagador
    else:
        name, tax_number = details.nome_recebedor, details.cpf_cnpj_recebedor
    return Party(name=cleaned_text(name), tax_number=cleaned_text(tax_number))


def _day_of(text: str) -> datetime:
    """Return the first instant of a day, of a time too; raises ``ValueError``."""
    return datetime.combine(local_day(text, ZONE), time(), ZONE).astimezone(UTC)
