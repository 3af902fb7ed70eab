"""Whether an account's bank can be worked with, asked of the bank itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    BadReply,
    Bank,
    Banks,
    CredentialsRefused,
    NotFound,
    NotSupported,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.domain.kernel.audit import Audit
from gateway.operations.bank.connections import offered
from gateway.operations.kernel.audit_context import AuditContext


class Connected(StrEnum):
    """What came out, in our words."""

    WORKS = "works"
    NO_PROVIDER = "no_provider"
    NO_CREDENTIALS = "no_credentials"
    NO_CERTIFICATE = "no_certificate"
    CREDENTIALS_REFUSED = "credentials_refused"
    ACCOUNT_UNKNOWN = "account_unknown"
    REFUSED = "refused"
    NOT_OFFERED = "not_offered"
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    NO_ANSWER = "no_answer"
    NOT_UNDERSTOOD = "not_understood"


SENTENCES: Final[Mapping[Connected, str]] = {
    Connected.WORKS: "The bank knows the account and accepts its credentials.",
    Connected.NO_PROVIDER: "No configured bank stands behind the account.",
    Connected.NO_CREDENTIALS: "The bank asks for credentials of the account, and there are none.",
    Connected.NO_CERTIFICATE: "The account has no certificate that is valid now.",
    Connected.CREDENTIALS_REFUSED: "The bank does not accept the account's credentials.",
    Connected.ACCOUNT_UNKNOWN: "The bank does not know the account by this name.",
    Connected.REFUSED: "The bank does not tell us the balance of this account.",
    Connected.NOT_OFFERED: "The bank offers nothing that would answer this.",
    Connected.BUSY: "The bank asks us to call less often.",
    Connected.UNREACHABLE: "The bank could not be reached.",
    Connected.NO_ANSWER: "The bank did not answer in time, or answered with an error of its own.",
    Connected.NOT_UNDERSTOOD: "The bank's answer could not be read.",
}

_BY_FAILURE: Final[Mapping[type[ProviderError], Connected]] = {
    CredentialsRefused: Connected.CREDENTIALS_REFUSED,
    NotFound: Connected.ACCOUNT_UNKNOWN,
    Refused: Connected.REFUSED,
    NotSupported: Connected.NOT_OFFERED,
    RateLimited: Connected.BUSY,
    Unreachable: Connected.UNREACHABLE,
    Unavailable: Connected.NO_ANSWER,
    BadReply: Connected.NOT_UNDERSTOOD,
}

_BY_REASON: Final[Mapping[str, Connected]] = {
    Reason.CERTIFICATE_EXPIRED: Connected.NO_CERTIFICATE,
    Reason.CERTIFICATE_MISSING: Connected.NO_CERTIFICATE,
    Reason.CERTIFICATE_REFUSED: Connected.CREDENTIALS_REFUSED,
    Reason.CREDENTIALS_UNFIT: Connected.NO_CREDENTIALS,
}
"""What says more than the kind of the failure."""


@dataclass(frozen=True, slots=True)
class BankConnections:
    """Tries the connection of an account to its bank; moves nothing."""

    banks: Banks
    audit: Audit

    async def test(self, acting: AuditContext, account: Account, _taken: None) -> Connected:
        """
        Ask the bank for the balance, and say what came of it; the balance is not kept.

        Raises:
            StoreUnavailable: that somebody asked could not be written down.
        """
        came = await self._try(account)
        details = {"provider": account.provider, "outcome": came.value}
        event = acting.event("account.provider_tested", f"account:{account.id}", details)
        await self.audit.append(event)
        return came

    async def _try(self, account: Account) -> Connected:
        try:
            bank = self.banks.of(account)
            if bank is None:
                return Connected.NO_PROVIDER
            if bank.lacks_credentials:
                return Connected.NO_CREDENTIALS
            return await _asked(bank)
        except ProviderError as problem:
            told = _BY_REASON.get(problem.reason)
            if told is not None:
                return told
            kinds = (kind for kind in _BY_FAILURE if isinstance(problem, kind))
            return _BY_FAILURE[next(kinds, BadReply)]


async def _asked(bank: Bank) -> Connected:
    await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
    return Connected.WORKS
