"""Issue, rotate, limit, revoke and list partners' credentials (contract 5.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypedDict, Unpack, cast

import msgspec
from sqlalchemy import ColumnElement, and_, case, func, not_, or_, select

from gateway.accounts.store import StoredAccounts
from gateway.companies.service import known_company, require_company
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    Approved,
    NewOrder,
    OrderDocument,
    Outcome,
    SecretCollection,
    VoidReason,
    Wait,
    decider_of,
    second_person,
)
from gateway.core.audit_context import AuditContext, RuleViolation, identifier, name
from gateway.core.caller_rules import ANYWHERE, CallerRule, read_certificates, read_networks
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.night import NIGHT, Night
from gateway.core.permissions import Action, CredentialLimits, Permission
from gateway.core.rights import Area
from gateway.core.schemas import ReasonBody, instant
from gateway.core.storage import AlreadyExists, NothingToCollect
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed, Window
from gateway.credentials.model import (
    EXPIRES_SOON,
    LEARNT,
    LONG_UNUSED,
    LONGEST_OVERLAP,
    CallersChange,
    Credential,
    CredentialBody,
    CredentialChange,
    CredentialCountsDocument,
    CredentialIssue,
    CredentialOrder,
    CredentialRotation,
    CredentialSearch,
    CredentialState,
    Issued,
    KeyChange,
    LimitProposal,
    LimitsBody,
    LimitsChange,
    RotationBody,
    SeenAddress,
    pays,
    propose,
    shown_limits,
    words,
)
from gateway.credentials.notices import Notice, NoticeKind
from gateway.credentials.store import (
    EVERY,
    PAYING,
    MadeFor,
    Rotation,
    StoredCredentials,
    is_live,
    read_credentials,
    without_limits,
    without_rule,
)
from gateway.security.secrets import SecretDigest
from gateway.store.kernel.database import Database, page
from gateway.store.tables.core import credentials, secrets
from gateway.store.tables.scope import Conditions, of_company
from gateway.store.tables.texts import contains


async def tell_nobody(_notice: Notice) -> None:
    """Send nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSource:
    """
    Source of new credentials.

    Attributes:
        client_id, client_secret: Make a fresh one.
        digest: Returns the pepper's name and the digest of a secret.
    """

    client_id: Callable[[], str]
    client_secret: Callable[[], str]
    digest: Callable[[str], tuple[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialPage(Listed[Credential]):
    """A page of credentials, and how many there are of each state."""

    counts: CredentialCountsDocument


SpentByDay = Callable[[str, str, Window], Awaitable[Sequence[int]]]


async def _nothing_spent(_company_id: str, _client_id: str, _days: Window) -> Sequence[int]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """
    Service for credentials, and the executor of orders about them.

    Secrets of credentials that pay, higher limits and wider rules of use take two people: users
    only order them.

    Attributes:
        demands_limits: Whether one that pays wants limits, or the word that it is to have none.
        night: The hours of the night, and the limits in them of credentials without their own.
        spent_by_day: Returns the sums in centavos of the UTC days with payouts of a credential,
            from a first day to before a last one.
        undecided: The rule of a credential that is issued without one: none in production, where
            one that pays is then refused everywhere; elsewhere that it may be used anywhere.
        wait: Stores such an order for approval; None where it is executed at once.
        tell: Sends the news of a new credential or secret, and of a wider rule; raises nothing.
    """

    database: Database
    stored: StoredCredentials
    accounts: StoredAccounts
    source: CredentialSource
    now: Now
    undecided: CallerRule = ANYWHERE
    demands_limits: bool = False
    night: Night = NIGHT
    spent_by_day: SpentByDay = _nothing_spent
    wait: Wait | None = None
    tell: Callable[[Notice], Awaitable[None]] = tell_nobody

    @requires(Area.CREDENTIAL, Action.READ)
    async def page(self, who: Staff, wanted: CredentialSearch) -> CredentialPage:
        """List partners' credentials, including expired and revoked ones, newest first."""
        now, conditions = who.acting.now(), _wanted(wanted, who.scope)
        order = (credentials.c.created_at.desc(), credentials.c.client_id)
        chosen = select(credentials.c.client_id).where(*conditions).order_by(*order)
        if wanted.state is not None:
            chosen = chosen.where(_STATES[wanted.state](now))
        # one has a row for each of its secrets, so that a page is cut by id
        listed = await page(self.database, chosen, wanted.paging, lambda row: str(row.client_id))
        ids = list(listed.items)
        whole = EVERY.where(credentials.c.client_id.in_(ids))
        counts = [
            func.count(case((_STATES[state](now), 1))).label(state.value)
            for state in CredentialState
        ]
        counted = select(*counts).select_from(credentials).where(*conditions)
        async with self.database.reading() as connection:
            found = (await connection.execute(whole)).all() if ids else ()
            states = (await connection.execute(counted)).one()
        return CredentialPage(
            items=sorted(read_credentials(found), key=lambda each: ids.index(each.client_id)),
            paging=wanted.paging,
            total=listed.total,
            counts={"live": states.live, "care": states.care, "ended": states.ended},
        )

    @requires(Area.CREDENTIAL, Action.READ)
    async def every(self, who: Staff, company_id: str | None = None) -> Sequence[Credential]:
        """
        Return all visible credentials, or those of one company, oldest first.

        Raises:
            RuleViolation: there is no such company.
        """
        wanted = EVERY.where(*_in(who.scope))
        if company_id is not None:
            company = await known_company(self.database, company_id)
            wanted = wanted.where(credentials.c.company_id == company.id)
        return read_credentials(await self.database.rows(wanted))

    @requires(Area.CREDENTIAL, Action.READ)
    async def get(self, who: Staff, client_id: str) -> Credential:
        """
        Read one credential.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
        """
        found = await self.stored.visible(client_id, who.scope)
        if found is None:
            detail = f"there is no credential {client_id}" if who.person is None else ""
            raise ServiceError(NOT_FOUND, "credential", detail=detail)
        return found

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def issue(self, who: Staff, wanted: CredentialBody) -> Issued | Approval:
        """
        Issue a credential; its secret is shown once, and one that can pay out needs approval.

        Raises:
            RuleViolation: no such company or account in the caller's companies, an account of
                another company, an expiry that has passed or has no zone, a rule of use that
                cannot be read, limits that are demanded and not given.
        """
        await self._refuse_foreign(who.scope, wanted)
        order = CredentialIssue(
            name=wanted.name,
            company_id=wanted.company_id,
            account_id=wanted.account_id or None,
            permissions=sorted(set(wanted.permissions)),
            expires_at=_in_utc(wanted.expires_at),
            limits=self._limits(wanted, frozenset(map(Permission.parse, wanted.permissions))),
            callers=_rule(wanted.callers, self.undecided),
        )
        order = await self._checked(order)
        waits = second_person(self.wait, who)
        if waits is None or not pays(_permissions(order)):
            return await self._issue(who.acting, order, _person(who))
        return await waits(_new_order(order, company_id=order.company_id))

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def rotate(self, who: Staff, client_id: str, wanted: RotationBody) -> Issued | Approval:
        """
        Make a new secret; the old one stays valid for the overlap. May wait.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: the credential has ended, or two secrets live already and the overlap
                is not zero. Zero ends both at once.
        """
        found, overlap = await self.get(who, client_id), timedelta(seconds=wanted.overlap_s)
        self._check_rotation(found, overlap)
        waits = second_person(self.wait, who)
        if waits is None or not pays(found.permissions):
            return await self._rotate(who.acting, found, overlap, _person(who))
        order = CredentialRotation(
            client_id=client_id,
            name=found.name,
            overlap_s=wanted.overlap_s,
            secret_made_at=found.secret_made_at,
        )
        return await waits(about(found, order))

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def set_limits(
        self, who: Staff, client_id: str, wanted: LimitsBody
    ) -> Credential | Approval:
        """
        Set a credential's payout limits; raising a limit waits.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: the credential has ended, or limits are demanded and not given.
        """
        found = live(await self.get(who, client_id), self.now())
        limits, waits = self._limits(wanted, found.permissions), second_person(self.wait, who)
        now_in_force = self.night.limits(found.limits)
        if waits is None or not now_in_force.raised_by(self.night.limits(limits)):
            return await self._set_limits(who.acting, found, limits)
        order = LimitsChange(
            client_id=client_id, name=found.name, limits=limits, limits_before=now_in_force
        )
        return await waits(about(found, order))

    @requires(Area.CREDENTIAL, Action.READ)
    async def limit_proposal(self, who: Staff, client_id: str) -> LimitProposal:
        """
        Propose a daily limit from the credential's payouts in the last 30 days.

        Raises:
            ServiceError: as ``get`` does.
        """
        found, now = await self.get(who, client_id), who.acting.now()
        if not found.has_history(now):
            return propose(())
        today = now.date()
        days = Window(today - LEARNT, today - timedelta(days=1))
        return propose(await self.spent_by_day(found.company_id, client_id, days))

    @requires(Area.CREDENTIAL, Action.READ)
    async def addresses(self, who: Staff, client_id: str) -> Sequence[SeenAddress]:
        """
        Return where a credential was used from: up to 50 addresses, the one used last first.

        Raises:
            ServiceError: as ``get`` does.
        """
        return await self.stored.addresses((await self.get(who, client_id)).client_id)

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def set_callers(
        self, who: Staff, client_id: str, wanted: CallerRule
    ) -> Credential | Approval:
        """
        Set where a credential may be used; the first rule, and a wider one, wait.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: the credential has ended, or the rule cannot be read or says nothing.
        """
        found, callers = live(await self.get(who, client_id), self.now()), _rule(wanted)
        waits = second_person(self.wait, who)
        if waits is None or not found.callers.widened_by(callers):
            return await self._set_callers(who.acting, found, callers)
        order = CallersChange(
            client_id=client_id, name=found.name, callers=callers, callers_before=found.callers
        )
        return await waits(about(found, order))

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def revoke(self, who: Staff, client_id: str, why: ReasonBody) -> Credential:
        """
        End a credential; it is refused here at once, and everywhere within a second.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: it has ended already.
        """
        found, now = live(await self.get(who, client_id), self.now()), who.acting.now()
        details = {"reason": name(why.reason)} if why.reason else {}
        event = who.acting.event("credential.revoked", f"credential:{client_id}", details)
        if not await self.stored.revoke(client_id, now, event):
            raise _absent(client_id)
        return replace(found, revoked_at=now)

    async def check_again(self, _approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; see ``Executor``."""
        order = _read(text)
        if isinstance(order, CredentialIssue):
            await self._checked(order)
            return VoidReason.NONE
        found = live(await known(self.stored, order.client_id), self.now())
        if not self._still_fits(order, found):
            return VoidReason.CREDENTIAL_CHANGED
        if isinstance(order, CredentialRotation):
            self._check_rotation(found, timedelta(seconds=order.overlap_s))
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Raise limits, widen rules; an order with a secret is executed when that is fetched."""
        order = _read(text)
        if not isinstance(order, LimitsChange | CallersChange):
            return Outcome.NONE
        found = live(await known(self.stored, order.client_id), self.now())
        if not self._still_fits(order, found):
            raise changed_meanwhile(order.client_id)
        acting = AuditContext(approval.orderer, self.now)
        if isinstance(order, LimitsChange):
            await self._set_limits(acting, found, order.limits, approval.decider)
        else:
            await self._set_callers(acting, found, order.callers, approval.decider)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _read(text)
        if isinstance(order, CredentialIssue):
            issued: OrderDocument = {
                "name": order.name,
                "permissions": order.permissions,
                "expires_at": instant(order.expires_at),
                "callers": order.callers,
            }
            if order.account_id:
                issued["account_id"] = order.account_id
            return cast("OrderDocument", issued | shown_limits(order.limits))
        about: OrderDocument = {"client_id": order.client_id, "name": order.name}
        match order:
            case CredentialRotation():
                return {**about, "overlap_s": order.overlap_s}
            case CallersChange():
                return {**about, "callers": order.callers}
        return cast("OrderDocument", about | shown_limits(order.limits))

    async def make_secret(
        self, acting: AuditContext, approval: Approval, text: str, collection: SecretCollection
    ) -> Issued:
        """
        Make the secret of an approved order, once; ``text`` is the order.

        Raises:
            RuleViolation: the credential ended or got another secret meanwhile, or could not be
                issued now.
            NothingToCollect: the secret was fetched before, or too late.
        """
        made_for = MadeFor(approval.ordered_by, approval.decided_by)
        match _read(text):
            case CredentialIssue() as order:
                checked = await self._checked(order)
                return await self._issue(acting, checked, made_for, (collection, approval))
            case CredentialRotation() as order:
                found = await known(self.stored, order.client_id)
                overlap = timedelta(seconds=order.overlap_s)
                self._check_rotation(found, overlap)
                if not self._still_fits(order, found):
                    raise changed_meanwhile(order.client_id)
                return await self._rotate(acting, found, overlap, made_for, (collection, approval))
            case order:
                raise NothingToCollect(order.client_id)

    def _limits(self, wanted: LimitsBody, permissions: frozenset[Permission]) -> CredentialLimits:
        """Return limits that may be set; RuleViolation where some are to be said and are not."""
        limits = wanted.limits()
        if wanted.unlimited and limits.is_complete:
            message = "unlimited does not go with a limit per payout and per day"
            raise RuleViolation(message, "not_with_limits", field="unlimited")
        if self.demands_limits and pays(permissions) and not limits.is_complete | wanted.unlimited:
            field = "limit_per_day" if limits.per_payout else "limit_per_payout"
            message = "give a limit per payout and per day, or unlimited"
            raise RuleViolation(message, "limits_missing", field=field)
        return limits

    async def _refuse_foreign(self, scope: CompanyScope, wanted: CredentialBody) -> None:
        """Refuse a company or account out of scope with the message of an unknown one."""
        if wanted.account_id:
            account = await self._account(wanted.account_id)
            if not scope.includes(account.company_id):
                raise _no_account(wanted.account_id)
        else:
            require_company(scope, wanted.company_id)

    async def _checked(self, order: CredentialIssue) -> CredentialIssue:
        """Return an order that is possible now, with its company; RuleViolation otherwise."""
        plain = name(order.name)
        if order.expires_at is not None and order.expires_at <= self.now():
            message = "the expiry lies in the past"
            raise RuleViolation(message, "past", field="expires_at")
        if order.account_id is None:
            company_id = (await known_company(self.database, order.company_id)).id
            return msgspec.structs.replace(order, name=plain, company_id=company_id)
        account = await self._account(order.account_id)
        if order.company_id and account.company_id != identifier(order.company_id, "company"):
            message = f"the account {account.id} belongs to another company"
            raise RuleViolation(message, "other_company", field="account_id")
        return msgspec.structs.replace(
            order, name=plain, company_id=account.company_id, account_id=account.id
        )

    async def _account(self, account_id: str) -> Account:
        account = await self.accounts.find(identifier(account_id, "account"))
        if account is None:
            raise _no_account(account_id)
        return account

    def _still_fits(self, order: CredentialChange, found: Credential) -> bool:
        """Return whether a credential is still as an order was compared with, or as ordered."""
        if isinstance(order, LimitsChange):
            return order.still_fits(found, self.night)
        return order.still_fits(found)

    def _check_rotation(self, found: Credential, overlap: timedelta) -> None:
        """Refuse to rotate a credential that has ended, or that has two secrets."""
        if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
            message = "the overlap is between 0 and 30 days"
            raise RuleViolation(message, "out_of_range", field="overlap_s")
        ends = [each.expires_at for each in live(found, self.now()).secrets if each.expires_at]
        if overlap and (latest := max((each for each in ends if each > self.now()), default=None)):
            message = (
                f"two secrets live until {latest:%Y-%m-%dT%H:%M:%SZ}; an overlap of 0 ends both"
            )
            raise RuleViolation(message, "two_secrets")

    async def _issue(
        self,
        acting: AuditContext,
        order: CredentialIssue,
        made_for: MadeFor,
        approved: Approved | None = None,
    ) -> Issued:
        now, secret = self.now(), self.source.client_secret()
        credential = Credential(
            client_id=self.source.client_id(),
            company_id=order.company_id,
            account_id=order.account_id,
            name=order.name,
            permissions=_permissions(order),
            secrets=(self._digest(secret, now),),
            created_at=now,
            expires_at=order.expires_at,
            limits=order.limits,
            callers=order.callers,
        )
        details = {
            "name": credential.name,
            "company": credential.company_id,
            "account": credential.account_id or "every account of the company",
            "permissions": " ".join(words(credential.permissions)),
            "expires_at": credential.expires_at.isoformat() if credential.expires_at else "never",
            **_limits_text(credential.limits),
            **_callers_text(credential.callers),
        }
        event = acting.event("credential.issued", f"credential:{credential.client_id}", details)
        try:
            await self.stored.add(credential, event, approved and approved[0], made_for)
        except AlreadyExists as problem:
            message = f"the credential {credential.client_id} exists already"
            raise RuleViolation(message, "taken") from problem
        await self.announce(NoticeKind.ISSUED, credential, acting, decider_of(approved))
        return Issued(credential=credential, client_secret=secret)

    async def _rotate(
        self,
        acting: AuditContext,
        found: Credential,
        overlap: timedelta,
        made_for: MadeFor,
        approved: Approved | None = None,
    ) -> Issued:
        now, secret = self.now(), self.source.client_secret()
        new, old_ends = self._digest(secret, now), now + overlap
        details = {"old_ends": old_ends.isoformat()}
        event = acting.event("credential.rotated", f"credential:{found.client_id}", details)
        rotation = Rotation(new, old_ends, made_for=made_for)
        if approved is not None:
            rotation = replace(rotation, collection=approved[0], old_made_at=found.secret_made_at)
        if not await self.stored.rotate(found.client_id, rotation, event):
            raise changed_meanwhile(found.client_id) if approved else _absent(found.client_id)
        made = replace(found, secrets=(new, *found.secrets[:1]))
        await self.announce(NoticeKind.ROTATED, made, acting, decider_of(approved))
        return Issued(credential=made, client_secret=secret, old_ends=old_ends)

    async def _set_limits(
        self,
        acting: AuditContext,
        found: Credential,
        limits: CredentialLimits,
        approved_by: str = "",
    ) -> Credential:
        subject = f"credential:{found.client_id}"
        event = acting.event("credential.limited", subject, _limits_text(limits))
        if not await self.stored.set_limits(found.client_id, found.limits, limits, event):
            raise changed_meanwhile(found.client_id)
        made = replace(found, limits=limits)
        if self.night.limits(found.limits).raised_by(self.night.limits(limits)):
            await self.announce(NoticeKind.RAISED, made, acting, approved_by)
        return made

    async def _set_callers(
        self,
        acting: AuditContext,
        found: Credential,
        callers: CallerRule,
        approved_by: str = "",
    ) -> Credential:
        subject = f"credential:{found.client_id}"
        event = acting.event("credential.callers_set", subject, _callers_text(callers))
        if not await self.stored.set_callers(
            found.client_id, found.callers, callers, event, self.now()
        ):
            raise changed_meanwhile(found.client_id)
        made = replace(found, callers=callers)
        if found.callers.widened_by(callers):
            await self.announce(NoticeKind.WIDENED, made, acting, approved_by)
        return made

    async def announce(
        self, kind: NoticeKind, credential: Credential, acting: AuditContext, approved_by: str
    ) -> None:
        """Send the news of a credential, which is stored by now."""
        notice = Notice(
            kind=kind, credential=credential, ordered_by=acting.actor, approved_by=approved_by
        )
        await self.tell(notice)

    def _digest(self, secret: str, now: datetime) -> SecretDigest:
        key_id, digest = self.source.digest(secret)
        return SecretDigest(key_id=key_id, digest=digest, created_at=now)


_read: Final[Callable[[str], CredentialOrder]] = msgspec.json.Decoder(CredentialOrder).decode


class _About(TypedDict, total=False):
    company_id: str
    account_id: str | None
    subject: str


def _new_order(order: CredentialOrder | KeyChange, **about: Unpack[_About]) -> NewOrder:
    kind = ApprovalKind(str(order.__struct_config__.tag))
    return NewOrder(kind=kind, text=msgspec.json.encode(order).decode(), **about)


def about(found: Credential, order: CredentialChange | KeyChange) -> NewOrder:
    """Return an order about a credential that exists."""
    return _new_order(
        order,
        company_id=found.company_id,
        account_id=found.account_id,
        subject=found.client_id,
    )


async def known(stored: StoredCredentials, client_id: str) -> Credential:
    """Return the credential of an order; RuleViolation if there is none."""
    found = await stored.find(client_id)
    if found is None:
        raise _absent(client_id)
    return found


def live(found: Credential, now: datetime) -> Credential:
    """Return a credential that has not ended; RuleViolation otherwise."""
    match found.state(now):
        case "live":
            return found
        case "revoked":
            message = f"the credential {found.client_id} is revoked"
            raise RuleViolation(message, "revoked")
        case "expired":
            message = f"the credential {found.client_id} has expired"
            raise RuleViolation(message, "expired")


def _person(who: Staff) -> MadeFor:
    """Return who makes a secret alone."""
    return MadeFor(who.person.user_id if who.person else "")


def _permissions(order: CredentialIssue) -> frozenset[Permission]:
    return frozenset(map(Permission.parse, order.permissions))


def _limits_text(limits: CredentialLimits) -> dict[str, str]:
    """Write limits for the audit log, in reais."""
    return {
        "limit_per_payout": str(limits.per_payout or "none"),
        "limit_per_day": str(limits.per_day or "none"),
        "limit_per_payout_at_night": str(limits.per_payout_at_night or "none"),
        "limit_per_night": str(limits.per_night or "none"),
    }


def _rule(wanted: CallerRule, undecided: CallerRule | None = None) -> CallerRule:
    """Read a rule of use; RuleViolation unless it is one, or ``undecided`` where it is empty."""
    if wanted.anywhere and (wanted.networks or wanted.certificates):
        message = "anywhere goes with no network and no certificate"
        raise RuleViolation(message, "not_with_anywhere", field="anywhere")
    try:
        networks = read_networks(wanted.networks)
    except ValueError as problem:
        raise RuleViolation(str(problem), "network_form", field="networks") from problem
    try:
        certificates = read_certificates(wanted.certificates)
    except ValueError as problem:
        raise RuleViolation(str(problem), "fingerprint_form", field="certificates") from problem
    rule = CallerRule(networks=networks, certificates=certificates, anywhere=wanted.anywhere)
    if rule.is_decided:
        return rule
    if undecided is None:
        message = "give networks, certificates, or anywhere"
        raise RuleViolation(message, "missing", field="networks")
    return undecided


def _callers_text(callers: CallerRule) -> dict[str, str]:
    """Write a rule of use for the audit log."""
    undecided = "" if callers.is_decided else "nowhere"
    networks = "anywhere" if callers.anywhere else " ".join(callers.networks)
    certificates = " ".join(callers.certificates)
    return {
        "networks": networks or undecided,
        **({"certificates": certificates} if certificates else {}),
    }


def _in_utc(at: datetime | None) -> datetime | None:
    """Require a zone, and return the instant in UTC."""
    if at is None:
        return None
    if at.tzinfo is None:
        message = "an instant has a zone, such as Z"
        raise RuleViolation(message, "form", field="expires_at")
    try:
        return at.astimezone(UTC)
    except OverflowError as problem:
        message = "an instant lies within the calendar"
        raise RuleViolation(message, "form", field="expires_at") from problem


def _no_account(account_id: str) -> RuleViolation:
    message = f"there is no account {account_id}"
    return RuleViolation(message, "account_unknown", field="account_id")


def _absent(client_id: str) -> RuleViolation:
    message = f"there is no credential {client_id}"
    return RuleViolation(message, "credential", field="client_id")


def changed_meanwhile(client_id: str) -> RuleViolation:
    """Refuse an order because the credential has changed since it was read."""
    return RuleViolation(f"{client_id} was changed meanwhile", "changed_meanwhile")


def _in(scope: CompanyScope) -> Conditions:
    return of_company(credentials.c.company_id, scope)


def _wanted(search: CredentialSearch, scope: CompanyScope) -> Conditions:
    """Return the SQL condition of a search, without its state."""
    found = [*_in(scope)]
    if search.company_id is not None:
        found.append(credentials.c.company_id == search.company_id)
    if search.text is not None:
        named = contains(credentials.c.name, search.text)
        found.append(or_(named, credentials.c.client_id.startswith(search.text, autoescape=True)))
    return found


def _asks_care(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: ``Credential.care`` returns a reason."""
    used = (
        select(func.max(secrets.c.last_used_at))
        .where(secrets.c.client_id == credentials.c.client_id)
        .scalar_subquery()
    )
    since = func.coalesce(used, credentials.c.created_at, type_=credentials.c.created_at.type)
    reasons = (
        without_rule(),
        without_limits(),
        credentials.c.expires_at <= now + EXPIRES_SOON,
        and_(PAYING, since <= now - LONG_UNUSED),
        and_(credentials.c.expires_at.is_(None), credentials.c.account_id.is_(None)),
    )
    return and_(is_live(now), or_(*reasons))


_STATES: Final = {
    CredentialState.LIVE: is_live,
    CredentialState.ENDED: lambda now: not_(is_live(now)),
    CredentialState.CARE: _asks_care,
}
