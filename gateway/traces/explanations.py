"""Explanations of refusals in sentences: the rule, the facts, and the remedy."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gateway.core.account import Account
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import CATALOGUE
from gateway.core.reasons import REASONS, Unsigned
from gateway.credentials.model import Credential
from gateway.request_log.model import LoggedRequest
from gateway.traces.model import Explanation, Refusal, Sentence, ladder_of, sentence, step_of
from gateway.traces.records import TracedRecords
from gateway.traces.remedies import REMEDIES

_NOTHING_REFUSED: Final = sentence("Nothing refuses this call.")
_NOTHING_DONE: Final = sentence("Nothing was stored, and no bank was asked.")
_REFUSED: Final = sentence("The call was refused.")
_ASKED: Final = "{client} ({client_id}) called."
_NO_PERMISSION: Final = "The call needs {needed}; the credential has no permission at all."
_STORED: Final = 21
_LINE_FIELDS: Final = ("field", "payout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """
    Facts beside a refusal; None and empty where unknown, or not shown.

    Attributes:
        account: The one the call was about.
        own_account: The only one the credential is for.
        company: The name of the credential's company.
        needed: The permission that the row needs.
    """

    credential: Credential | None = None
    account: Account | None = None
    own_account: Account | None = None
    company: str = ""
    needed: str = ""


def explain(refusal: Refusal, known: Circumstances) -> Explanation:
    """Return the explanation of a refusal; pure."""
    values = {name: value for name, value in _values(refusal, known) if value}
    step = step_of(refusal)
    return Explanation(
        refused=bool(refusal.code),
        status=refusal.status,
        code=refusal.code,
        reason=refusal.reason,
        field=refusal.field,
        step=step,
        rule=_rule(refusal) if refusal.code else _NOTHING_REFUSED,
        facts=[*_said(_facts(refusal, known), values), *_ends(refusal, step)],
        remedies=list(_said(_remedies(refusal), values)) if refusal.code else [],
        checks=ladder_of(refusal),
    )


def refusal_of(line: LoggedRequest) -> Refusal:
    """Read a refusal from a line of the request log."""
    details = msgspec.json.decode(line.line, type=dict[str, object])
    field, payout = (str(details.get(name, "")) for name in _LINE_FIELDS)
    return Refusal(
        surface=line.surface,
        route=line.route,
        method=line.method,
        status=line.status,
        code=line.code,
        reason=line.reason,
        field=field,
        payout=payout,
    )


def _values(refusal: Refusal, known: Circumstances) -> Iterable[tuple[str, str]]:
    credential, account, own = known.credential, known.account, known.own_account
    yield from (("field", refusal.field), ("needed", known.needed), ("company", known.company))
    if credential is not None:
        held = sorted(map(str, credential.permissions))
        yield from (("client", credential.name), ("client_id", credential.client_id))
        yield "held", ", ".join(held)
        yield (
            "revoked_at",
            "" if credential.revoked_at is None else f"{credential.revoked_at:%F %T}",
        )
        yield (
            "expires_at",
            "" if credential.expires_at is None else f"{credential.expires_at:%F %T}",
        )
    if account is not None:
        yield from (("account", _named(account, own)), ("account_id", account.id))
        yield "provider", account.provider
    if own is not None:
        yield from (("own_account", _named(own, account)), ("own_account_id", own.id))


def _named(account: Account, beside: Account | None) -> str:
    """Return an account's name; with the start of its id if another has the same name."""
    is_alone = beside is None or beside.name != account.name
    return account.name if is_alone else f"{account.name} {account.id[:8]}"


def _rule(refusal: Refusal) -> Sentence:
    """Return the rule of the check: of the reason, or else of the code."""
    text = REASONS.get(refusal.reason, "")
    if text and (refusal.field or "{field}" not in text):
        return sentence(text, {"field": refusal.field} if refusal.field else {})
    found = (each for each in CATALOGUE if (each.code, each.status) == _pair(refusal))
    return next((sentence(each.message) for each in found), _REFUSED)


def _facts(refusal: Refusal, known: Circumstances) -> Iterable[str]:
    """Choose the facts; texts with unknown values are left out later."""
    yield _ASKED
    yield from _FACTS.get(refusal.reason, ())
    if refusal.reason == "permission" and known.credential and not known.credential.permissions:
        yield _NO_PERMISSION


_FACTS: Final[Mapping[str, Sequence[str]]] = {
    "revoked": ("It was revoked at {revoked_at} UTC.",),
    "expired": ("It ended at {expires_at} UTC.",),
    **dict.fromkeys(
        Unsigned, ("The secret was right; the payout was not signed as the credential demands.",)
    ),
    "no_caller_rule": ("The credential may pay out, and nobody has decided where it is used.",),
    "network": ("The credential may not be used from the address of the call.",),
    "certificate": ("The call showed no client certificate that the credential needs.",),
    "permission": ("The call needs {needed}; the credential has {held}.",),
    "not_visible": (
        "The credential is of {company}.",
        "An account that does not exist and one of another company get the same answer.",
    ),
    "scope": (
        "It was issued for the account {own_account} alone; the call was about {account}.",
        "Both are of the same company, so the answer is 403 and not 404.",
    ),
    **dict.fromkeys(("quota_read", "quota_payout", "quota_company"), ("Each process counts.",)),
    **dict.fromkeys(
        ("inactive", "unverified", "stopped", "similar", "other_content"),
        ("The call was about the account {account}.",),
    ),
    **dict.fromkeys(
        ("no_provider", "no_bank_credentials", "not_supported", "read_only"),
        ("The account is {account}.", "Its bank is {provider}."),
    ),
}


def texts() -> frozenset[str]:
    """Return every text of facts, for pages that say them in another language."""
    said = (_NOTHING_REFUSED, _NOTHING_DONE, _REFUSED)
    always = (*(each.template for each in said), _ASKED, _NO_PERMISSION)
    return frozenset({*always, *(text for facts in _FACTS.values() for text in facts)})


def _ends(refusal: Refusal, step: int) -> Iterable[Sentence]:
    """Return effects that certainly did not happen."""
    if 0 < step < _STORED and refusal.surface == "banking":
        yield _NOTHING_DONE


def _remedies(refusal: Refusal) -> Sequence[str]:
    """Return the remedies: of the reason, or else of the code."""
    if refusal.reason in REMEDIES:
        return REMEDIES[refusal.reason]
    found = [each.remedy for each in CATALOGUE if (each.code, each.status) == _pair(refusal)]
    return found[:1]


def _pair(refusal: Refusal) -> tuple[str, int]:
    return refusal.code, refusal.status


def _said(texts: Iterable[str], values: dict[str, str]) -> Iterable[Sentence]:
    """Leave out the texts of which a value is not known."""
    for text in texts:
        names = [name for _, name, _, _ in string.Formatter().parse(text) if name]
        if all(name in values for name in names):
            yield sentence(text, {name: values[name] for name in names})


@dataclass(frozen=True, slots=True)
class CircumstancesInScope:
    """Looks up the facts beside a refusal, within a company scope."""

    records: TracedRecords

    async def of(
        self, scope: CompanyScope, client_id: str, account_id: str, known: Circumstances
    ) -> Circumstances:
        """Add credential, accounts and company to the facts; raises ``StoreUnavailable``."""
        credential = await self.records.credential(client_id, scope) if client_id else None
        own = credential.account_id if credential is not None else None
        ids = {each for each in (account_id, own) if each}
        found = await self.records.accounts_among(ids, scope) if ids else ()
        accounts = {each.id: each for each in found}
        return replace(
            known,
            credential=credential,
            account=accounts.get(account_id),
            own_account=accounts.get(own or ""),
            company=(
                await self.records.company_name(credential.company_id, scope) if credential else ""
            ),
        )
