"""Mail about credentials to the people of security and administration."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Credential, words
from gateway.identity.mail import Mailer, Text

_log = logging.getLogger(__name__)


class NoticeKind(StrEnum):
    """Events of a credential that mail reports."""

    ISSUED = "issued"
    ROTATED = "rotated"
    WIDENED = "widened"
    RAISED = "raised"
    KEY_ADDED = "key_added"
    UNSIGNED = "unsigned"


_SUBJECTS: Final[dict[NoticeKind, Text]] = {
    NoticeKind.ISSUED: ("Nova credencial", "New credential"),
    NoticeKind.ROTATED: ("Novo segredo de uma credencial", "New secret of a credential"),
    NoticeKind.WIDENED: (
        "Uma credencial pode ser usada em mais lugares",
        "A credential may be used in more places",
    ),
    NoticeKind.RAISED: ("Uma credencial tem limites mais altos", "A credential has higher limits"),
    NoticeKind.KEY_ADDED: (
        "Nova chave pública de uma credencial",
        "New public key of a credential",
    ),
    NoticeKind.UNSIGNED: (
        "Uma credencial paga sem assinatura",
        "A credential pays without a signature",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """
    News of a credential.

    Attributes:
        ordered_by: The actor, as the audit log names them.
        approved_by: The approver; empty without an approval.
    """

    kind: NoticeKind
    credential: Credential
    ordered_by: str
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class CredentialNotices:
    """Mails the users who can revoke a credential of a company."""

    mailer: Mailer

    async def tell(self, notice: Notice) -> None:
        """
        Write to security and admins who see the credential's company.

        The act is stored, and a secret is shown once: a failing store loses the mail,
        and the audit log has the act.
        """
        try:
            companies = frozenset({notice.credential.company_id})
            text = self._text(notice)
            await self.mailer.inform_security(companies, _SUBJECTS[notice.kind], text)
        except StoreUnavailable:
            _log.error("credential_notice_lost: %s", notice.credential.client_id)

    def _text(self, notice: Notice) -> Text:
        """Write the credential's rights, rule of use and orderer; typed names are left out."""
        found, rule = notice.credential, notice.credential.callers
        permissions = ", ".join(words(found.permissions))
        by = self.mailer.orderer(notice.ordered_by)
        places = ", ".join((*rule.networks, *rule.certificates))
        link = f"{self.mailer.context.settings.origin}/panel/credentials/{found.client_id}"
        portuguese = [
            f"Credencial: {found.client_id}",
            f"Permissões: {permissions}",
            f"Onde pode ser usada: {places or ('em qualquer lugar' if rule.anywhere else '-')}",
            f"Pedido por: {by}",
        ]
        english = [
            f"Credential: {found.client_id}",
            f"Permissions: {permissions}",
            f"Where it may be used: {places or ('anywhere' if rule.anywhere else '-')}",
            f"Ordered by: {by}",
        ]
        if notice.approved_by:
            portuguese.append(f"Aprovado por: {notice.approved_by}")
            english.append(f"Approved by: {notice.approved_by}")
        return (
            "\n".join([*portuguese, "", f"Se ninguém devia ter feito isso, revogue-a: {link}"]),
            "\n".join([*english, "", f"If nobody should have done this, revoke it: {link}"]),
        )
