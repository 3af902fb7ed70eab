"""Set and remove the identity provider of a company; both take two people."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gateway.companies.service import known_company
from gateway.core import strict
from gateway.core.access import Staff, requires
from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    NewOrder,
    OrderDocument,
    Outcome,
    VoidReason,
    Wait,
    second_person,
)
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext, RuleViolation, identifier
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, may_grant
from gateway.core.storage import AlreadyExists
from gateway.core.user import User
from gateway.core.user_errors import FORBIDDEN, NOT_FOUND
from gateway.endpoints.addresses import read_address
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer, Text
from gateway.identity.user_notices import UserNotices
from gateway.single_sign_on.model import (
    MOST_BREAK_GLASS,
    MOST_VALUES,
    MOST_WORDS,
    IdentityProvider,
    NewIdentityProvider,
    RoleValue,
    SignOnOrder,
    SignOnOrders,
    SignOnRemoval,
    made,
)
from gateway.single_sign_on.store import IdentityProviderRecords
from gateway.store.kernel.database import Database

_SHORT_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?", re.ASCII)
_DOMAIN: Final = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}", re.ASCII)
_WORD: Final = re.compile(r"[!-~]{1,200}", re.ASCII)
_LONGEST: Final = 500
_WHY: Final = "single_sign_on"
_LACKS: Final = "You cannot give a right that you do not have."
_SET: Final[Text] = ("Entrada pela empresa alterada", "Single sign-on of a company changed")
_REMOVED: Final[Text] = ("Entrada pela empresa removida", "Single sign-on of a company removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProviders:
    """
    The identity providers of companies, and the executor of orders about them.

    Whoever sets one decides who signs in and may do what: users only order it, and nobody orders a
    role that they could not give by hand.

    Attributes:
        allow_local: Admits providers on this machine, for trials.
        wait: Stores an order for approval; None where it is executed at once.
    """

    database: Database
    records: IdentityProviderRecords
    context: IdentityContext
    allow_local: bool
    wait: Wait | None = None

    @requires(Area.USER, Action.READ)
    async def get(self, who: Staff, company_id: str) -> IdentityProvider:
        """
        Read the identity provider of a company.

        Raises:
            ServiceError: ``NOT_FOUND``: it has none, or is none of the caller's companies.
        """
        found = await self.records.find(_seen(who, company_id))
        if found is None:
            raise ServiceError(NOT_FOUND, "identity_provider")
        return found

    @requires(Area.USER, Action.MANAGE)
    async def set(
        self, who: Staff, company_id: str, wanted: NewIdentityProvider
    ) -> IdentityProvider | Approval:
        """
        Set the identity provider of a company, and what its claims give. May wait.

        Raises:
            ServiceError: ``NOT_FOUND`` for a company out of scope; ``FORBIDDEN`` for a role that
                the caller could not give.
            RuleViolation: a field breaks a rule, or a name or a domain is another company's.
        """
        company = await known_company(self.database, _seen(who, company_id))
        before = await self.records.find(company.id)
        checked = await self._checked(company.id, wanted, before)
        _refuse_lacking(who, checked.mapping)
        order = SignOnOrder(company_id=company.id, wanted=checked, before=before)
        waits = second_person(self.wait, who)
        if waits is None:
            return await self._set(who.acting, order)
        return await waits(_new_order(ApprovalKind.SINGLE_SIGN_ON, order))

    @requires(Area.USER, Action.MANAGE)
    async def remove(self, who: Staff, company_id: str) -> IdentityProvider | Approval:
        """
        Remove the identity provider of a company; who came by it is disabled. May wait.

        Raises:
            ServiceError: as ``get``.
        """
        found = await self.get(who, company_id)
        order = SignOnRemoval(company_id=found.company_id, before=found)
        waits = second_person(self.wait, who)
        if waits is None:
            return await self._remove(who.acting, order)
        return await waits(_new_order(ApprovalKind.SINGLE_SIGN_ON_REMOVAL, order))

    async def check_again(self, approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; see ``Executor``."""
        order = _read(text)
        if await self.records.find(order.company_id) != order.before:
            return VoidReason.SIGN_ON_CHANGED
        if isinstance(order, SignOnOrder):
            await self._checked(order.company_id, order.wanted, order.before)
            orderer = await self.context.stores.users.find(approval.ordered_by)
            roles = [each.role for each in order.wanted.mapping]
            if orderer is None or not may_grant(orderer.roles, roles):
                return VoidReason.RIGHT_LOST
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Execute an order in its author's name; one that is done already is left alone."""
        order, acting = _read(text), AuditContext(approval.orderer, self.context.now)
        if isinstance(order, SignOnRemoval):
            await self._remove(acting, order)
        else:
            await self._set(acting, order)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document; never with the secret."""
        order = _read(text)
        if isinstance(order, SignOnRemoval):
            return {"single_sign_on_before": order.before.document()}
        wanted = made(order.company_id, order.wanted, self.context.now(), "")
        document: OrderDocument = {
            "single_sign_on": wanted.document(),
            "with_credentials": bool(order.wanted.client_secret),
        }
        if order.before is not None:
            document["single_sign_on_before"] = order.before.document()
        return document

    async def _checked(
        self, company_id: str, wanted: NewIdentityProvider, before: IdentityProvider | None
    ) -> NewIdentityProvider:
        """Return an order that is possible now; RuleViolation otherwise."""
        checked = NewIdentityProvider(
            short_name=_short_name(wanted.short_name),
            domains=_domains(wanted.domains),
            issuer=self._issuer(wanted.issuer),
            client_id=_word(wanted.client_id, "client_id"),
            client_secret=_secret(wanted, before),
            scopes=_words(wanted.scopes, "scopes"),
            claim=_word(wanted.claim, "claim"),
            mapping=_mapping(wanted.mapping),
            factor_acr=_words(wanted.factor_acr, "factor_acr"),
            factor_amr=_words(wanted.factor_amr, "factor_amr"),
            break_glass=await self._break_glass(company_id, wanted.break_glass),
        )
        for other in await self.records.others_named(
            company_id, checked.short_name, checked.domains
        ):
            raise _taken("short_name" if other.short_name == checked.short_name else "domains")
        return checked

    def _issuer(self, text: str) -> str:
        """Read the issuer, which tokens repeat exactly as it was typed."""
        issuer = text.strip()
        try:
            read_address(issuer, allow_local=self.allow_local)
        except RuleViolation as problem:
            message = "an issuer is an https address with a name, on port 443 or 8443"
            raise RuleViolation(message, "issuer_url", field="issuer") from problem
        if "?" in issuer:
            message = "an issuer has no query"
            raise RuleViolation(message, "issuer_url", field="issuer")
        return issuer

    async def _break_glass(self, company_id: str, named: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of people named by id or address; all are of the company alone."""
        if len(named) > MOST_BREAK_GLASS:
            message = f"at most {MOST_BREAK_GLASS} people may sign in without the provider"
            raise RuleViolation(message, "out_of_range", field="break_glass")
        ids = []
        for each in named:
            users = self.context.stores.users
            if "@" in each:
                user = await users.find_by_email(each.strip().lower())
            else:
                user = await users.find(identifier(each, "user", "break_glass"))
            if user is None or user.companies != {company_id}:
                message = f"the company has no person {each}"
                raise RuleViolation(message, "break_glass_unknown", field="break_glass")
            ids.append(user.id)
        return tuple(sorted(set(ids)))

    async def _set(self, acting: AuditContext, order: SignOnOrder) -> IdentityProvider:
        """Store a provider, then end the sessions of the company's people."""
        before = order.before
        provider = made(order.company_id, order.wanted, acting.now(), acting.actor)
        event = _event(acting, "single_sign_on.set", provider)
        try:
            stored = await self.records.put(
                provider,
                order.wanted.client_secret,
                None if before is None else before.changed_at,
                event,
            )
        except AlreadyExists as problem:
            raise _taken(field="domains") from problem
        if not stored:
            found = await self.records.find(order.company_id)
            if found is None or _dated_as(found, provider) != provider:
                raise _changed_meanwhile(order.company_id)
            provider = found
        for user in await self.records.people_of(order.company_id):
            if user.id not in provider.break_glass:
                await self._end_access(acting, user, active=user.active)
        await self._tell(_SET, acting, provider)
        return provider

    async def _remove(self, acting: AuditContext, order: SignOnRemoval) -> IdentityProvider:
        """Delete a provider, then disable those who came by it: nothing gives them roles now."""
        event = _event(acting, "single_sign_on.removed", order.before)
        removed = await self.records.remove(order.before, event)
        if not removed and await self.records.find(order.company_id) is not None:
            raise _changed_meanwhile(order.company_id)
        for user in await self.records.people_of(order.company_id):
            came_by_it = user.subject is not None and user.id not in order.before.break_glass
            if came_by_it and user.active:
                await self._end_access(acting, user, active=False)
        await self._tell(_REMOVED, acting, order.before)
        return order.before

    async def _end_access(self, acting: AuditContext, user: User, *, active: bool) -> None:
        """End the sessions of a user, and sign-ins that are under way: a change voids both."""
        subject, why = f"user:{user.id}", {"why": _WHY}

        def event_of(_changed: User) -> AuditEvent:
            return acting.event("user.access_ended" if active else "user.disabled", subject, why)

        await self.context.change_user(
            user.id, lambda each: replace(each, active=each.active and active), event_of
        )
        event = acting.event("sessions.ended", subject, why)
        await self.context.stores.sessions.end_all(user.id, acting.now(), _WHY, "", event)

    async def _tell(self, subject: Text, acting: AuditContext, provider: IdentityProvider) -> None:
        notices, company_id = UserNotices(Mailer(self.context)), provider.company_id
        await notices.tell_of_sign_on(subject, company_id, provider.short_name, acting.actor)


_read: Final[Callable[[str], SignOnOrders]] = msgspec.json.Decoder(SignOnOrders).decode


def _new_order(kind: ApprovalKind, order: SignOnOrders) -> NewOrder:
    return NewOrder(
        kind=kind,
        text=msgspec.json.encode(order).decode(),
        company_id=order.company_id,
        subject=order.company_id,
    )


def _dated_as(found: IdentityProvider, provider: IdentityProvider) -> IdentityProvider:
    """Return a stored provider as if it had been changed when another one was."""
    return msgspec.structs.replace(
        found, changed_at=provider.changed_at, changed_by=provider.changed_by
    )


def _event(acting: AuditContext, word: str, provider: IdentityProvider) -> AuditEvent:
    details = {
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "short_name": provider.short_name,
        "domains": " ".join(provider.domains),
        "claim": provider.claim,
        "mapping": "; ".join(f"{each.value} = {each.role.value}" for each in provider.mapping),
        "factor": " ".join((*provider.factor_acr, *provider.factor_amr)) or "ours",
        "break_glass": " ".join(provider.break_glass) or "none",
    }
    event = acting.event(word, provider.subject, details)
    return replace(event, companies=frozenset([provider.company_id]))


def _seen(who: Staff, company_id: str) -> str:
    """Return the id of a company in scope."""
    if not who.scope.includes(company_id.lower()):
        raise ServiceError(NOT_FOUND, "company")
    return company_id.lower()


def _refuse_lacking(who: Staff, mapping: Sequence[RoleValue]) -> None:
    roles = [each.role for each in mapping]
    if who.person is not None and not may_grant(who.person.roles, roles):
        raise ServiceError(FORBIDDEN, "lacking", detail=_LACKS)


def _short_name(text: str) -> str:
    name = text.strip().lower()
    if _SHORT_NAME.fullmatch(name) is None:
        message = "a short name has 1 to 32 letters, digits and hyphens"
        raise RuleViolation(message, "short_name_form", field="short_name")
    return name


def _domains(given: Sequence[str]) -> tuple[str, ...]:
    domains = tuple(sorted({each.strip().lower() for each in given if each.strip()}))
    if not domains:
        message = "name at least one domain of e-mail addresses"
        raise RuleViolation(message, "missing", field="domains")
    if len(domains) > MOST_WORDS or not all(map(_DOMAIN.fullmatch, domains)):
        message = "a domain is a name such as loja.example.com"
        raise RuleViolation(message, "domain_form", field="domains")
    return domains


def _word(text: str, field: str) -> str:
    word = text.strip()
    if _WORD.fullmatch(word) is None:
        message = f"{field} is a word of at most 200 visible ASCII characters"
        raise RuleViolation(message, "word_form", field=field)
    return word


def _words(given: Sequence[str], field: str) -> tuple[str, ...]:
    if len(given) > MOST_WORDS:
        message = f"{field} has at most {MOST_WORDS} words"
        raise RuleViolation(message, "out_of_range", field=field)
    return tuple(dict.fromkeys(_word(each, field) for each in given if each.strip()))


def _mapping(given: Sequence[RoleValue]) -> tuple[RoleValue, ...]:
    """Return pairs of values and roles, each once."""
    read = []
    for each in given:
        try:
            value = strict.plain_text(each.value.strip(), _LONGEST)
        except ValueError as problem:
            message = "a value of the claim has at most 500 characters, none a control character"
            raise RuleViolation(message, "text_form", field="mapping") from problem
        if value:
            read.append(RoleValue(value, each.role))
    if not 0 < len(read) <= MOST_VALUES:
        message = f"the mapping has 1 to {MOST_VALUES} values"
        raise RuleViolation(message, "missing", field="mapping")
    return tuple(dict.fromkeys(read))


def _secret(wanted: NewIdentityProvider, before: IdentityProvider | None) -> str:
    """
    Return the secret; empty for the stored one.

    That one goes to the issuer and for the client that it was given for, and nowhere else.
    """
    secret = wanted.client_secret.strip()
    is_same = before is not None and (before.issuer, before.client_id) == (
        wanted.issuer.strip(),
        wanted.client_id.strip(),
    )
    if not secret and not is_same:
        message = "another issuer or client has a secret of its own"
        raise RuleViolation(message, "missing", field="client_secret")
    if len(secret) > _LONGEST or not secret.isprintable():
        message = "a secret has at most 500 characters"
        raise RuleViolation(message, "text_form", field="client_secret")
    return secret


def _taken(field: str) -> RuleViolation:
    message = "the short name, or a domain, is another company's"
    return RuleViolation(message, "sign_on_name_taken", field=field)


def _changed_meanwhile(company_id: str) -> RuleViolation:
    message = f"the single sign-on of {company_id} was changed meanwhile"
    return RuleViolation(message, "changed_meanwhile")
