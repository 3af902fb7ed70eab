"""Mail about endpoints: to the company's contact, and to the people of security."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.companies.service import find_company
from gateway.core.storage import StoreUnavailable
from gateway.endpoints.model import Endpoint
from gateway.identity.mail import Mailer, Text
from gateway.store.kernel.database import Database

_log = logging.getLogger(__name__)


class EndpointNews(StrEnum):
    """News of an endpoint for a mail."""

    ADDED = "added"
    CHANGED = "changed"
    NEW_SECRET = "new_secret"  # noqa: S105 - a word
    REMOVED = "removed"
    FAILING = "failing"
    PAUSED = "paused"


_SUBJECTS: Final[dict[EndpointNews, Text]] = {
    EndpointNews.ADDED: ("Novo endpoint de eventos", "New endpoint for events"),
    EndpointNews.CHANGED: (
        "Endpoint de eventos alterado",
        "An endpoint for events was changed",
    ),
    EndpointNews.NEW_SECRET: (
        "Novo segredo de um endpoint de eventos",
        "New secret of an endpoint for events",
    ),
    EndpointNews.REMOVED: (
        "Endpoint de eventos removido",
        "An endpoint for events was removed",
    ),
    EndpointNews.FAILING: (
        "As entregas a um endpoint de eventos estão falhando",
        "Deliveries to an endpoint for events are failing",
    ),
    EndpointNews.PAUSED: (
        "As entregas a um endpoint de eventos estão pausadas",
        "Deliveries to an endpoint for events are paused",
    ),
}
_BY_PEOPLE: Final = frozenset(
    {
        EndpointNews.ADDED,
        EndpointNews.CHANGED,
        EndpointNews.NEW_SECRET,
        EndpointNews.REMOVED,
    }
)
"""Acts of somebody, of which the mail asks whether they were meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointNotice:
    """
    News of an endpoint.

    Attributes:
        url_before: The address that a change replaced; empty otherwise.
        ordered_by, approved_by: Actors, as the audit log names them; empty where there is none.
    """

    news: EndpointNews
    endpoint: Endpoint
    url_before: str = ""
    ordered_by: str = ""
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class EndpointNotices:
    """Mails changes of endpoints to the company's contact, security and admins."""

    mailer: Mailer
    database: Database

    async def tell(self, notice: EndpointNotice) -> None:
        """
        Write to the company's contact, if it has one, and to security and admins.

        The act is stored already: a failing store loses the mail, and the audit log has the act.
        """
        found, subject = notice.endpoint, _SUBJECTS[notice.news]
        try:
            company = await find_company(self.database, found.company_id)
            if company is not None and company.contact:
                await self.mailer.inform(company.contact, subject, _text(notice))
            companies = frozenset({found.company_id})
            await self.mailer.inform_security(companies, subject, self._with_orderer(notice))
        except StoreUnavailable:
            _log.error("endpoint_notice_lost: %s", found.id)

    def _with_orderer(self, notice: EndpointNotice) -> Text:
        """Add, for the gateway's own people, who changed it, and a link."""
        by, portuguese, english = notice.ordered_by, *_text(notice)
        if by:
            by = " / ".join(filter(None, (self.mailer.orderer(by), notice.approved_by)))
            portuguese += f"\n\nPedido / aprovado por: {by}"
            english += f"\n\nOrdered / approved by: {by}"
        link = f"{self.mailer.context.settings.origin}/panel/endpoints/{notice.endpoint.id}"
        return f"{portuguese}\n\n{link}", f"{english}\n\n{link}"


def _text(notice: EndpointNotice) -> Text:
    """Write where events go."""
    found = notice.endpoint
    portuguese, english = [f"Endpoint: {found.url}"], [f"Endpoint: {found.url}"]
    if notice.url_before:
        portuguese.append(f"Antes: {notice.url_before}")
        english.append(f"Before: {notice.url_before}")
    if notice.news is not EndpointNews.REMOVED:
        types, accounts = ", ".join(found.types), ", ".join(found.account_ids)
        portuguese += [f"Eventos: {types or 'todos'}", f"Contas: {accounts or 'todas da empresa'}"]
        english += [f"Events: {types or 'all'}", f"Accounts: {accounts or 'all of the company'}"]
    if found.failing_since is not None and notice.news not in _BY_PEOPLE:
        since = f"{found.failing_since:%Y-%m-%dT%H:%M:%SZ}"
        portuguese.append(f"Falhando desde: {since}")
        english.append(f"Failing since: {since}")
    if notice.news in _BY_PEOPLE:
        portuguese += ["", "Se ninguém devia ter feito isso, avise quem opera o gateway."]
        english += ["", "If nobody should have done this, tell whoever operates the gateway."]
    return "\n".join(portuguese), "\n".join(english)
