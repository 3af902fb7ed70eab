"""Add, change, rotate, pause and remove the endpoints of partners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from gateway.accounts.store import StoredAccounts
from gateway.companies.service import known_company, require_company
from gateway.core.access import Staff, requires
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
from gateway.core.audit_context import AuditContext, RuleViolation, identifier
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import NothingToCollect
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed
from gateway.endpoints.addresses import read_address
from gateway.endpoints.model import (
    MOST_ACCOUNTS,
    MOST_OF_COMPANY,
    OVERLAP,
    Endpoint,
    EndpointChange,
    EndpointChangeOrder,
    EndpointOrder,
    EndpointOrders,
    EndpointRotation,
    EndpointSearch,
    EndpointSecret,
    EndpointSecretOrder,
    EndpointState,
    NewEndpoint,
    PauseCause,
)
from gateway.endpoints.notices import EndpointNews, EndpointNotice
from gateway.endpoints.store import EndpointRecords
from gateway.events.model import EventType
from gateway.store.kernel.database import Database


async def _tell_nobody(_notice: EndpointNotice) -> None:
    """Send nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """
    Service for endpoints, and the executor of orders about them.

    An endpoint gets every movement of a company. So a new endpoint, another address,
    other types or accounts, and a new secret take two people; users only order them.

    Attributes:
        allow_local: Admits endpoints on this machine, for trials.
        new_id: Makes a UUID.
        new_secret: Makes a secret that signs deliveries.
        wait: Stores such an order for approval; None where it is executed at once.
        tell: Sends the news of a change to the company's contact; raises nothing.
    """

    database: Database
    records: EndpointRecords
    accounts: StoredAccounts
    allow_local: bool
    new_id: Callable[[], str]
    new_secret: Callable[[], str]
    now: Now
    wait: Wait | None = None
    tell: Callable[[EndpointNotice], Awaitable[None]] = _tell_nobody

    @requires(Area.ENDPOINT, Action.READ)
    async def page(self, who: Staff, wanted: EndpointSearch) -> Listed[Endpoint]:
        """List partners' endpoints, newest first."""
        return await self.records.search(wanted, who.scope)

    @requires(Area.ENDPOINT, Action.READ)
    async def get(self, who: Staff, endpoint_id: str) -> Endpoint:
        """
        Read one endpoint.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
        """
        found = await self.records.visible(endpoint_id.lower(), who.scope)
        if found is None:
            detail = f"there is no endpoint {endpoint_id}" if who.person is None else ""
            raise ServiceError(NOT_FOUND, "endpoint", detail=detail)
        return found

    @requires(Area.ENDPOINT, Action.WRITE)
    async def add(self, who: Staff, wanted: NewEndpoint) -> EndpointSecret | Approval:
        """
        Add an endpoint; its secret is shown once. May wait.

        Raises:
            RuleViolation: no such company or account in the caller's companies, an address that
                is not allowed, or as many endpoints as a company may have.
        """
        require_company(who.scope, wanted.company_id)
        order = await self._checked(
            EndpointOrder(
                company_id=wanted.company_id,
                url=wanted.url,
                types=_sorted(wanted.types),
                account_ids=wanted.account_ids,
            )
        )
        waits = second_person(self.wait, who)
        if waits is None:
            return await self._add(who.acting, order)
        return await waits(_new_order(ApprovalKind.ENDPOINT, order, order.company_id))

    @requires(Area.ENDPOINT, Action.WRITE)
    async def change(
        self, who: Staff, endpoint_id: str, wanted: EndpointChange
    ) -> Endpoint | Approval:
        """
        Set address, types and accounts; with another address it has to answer a ping. May wait.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: as ``add`` does; the endpoint was changed meanwhile.
        """
        found = await self.get(who, endpoint_id)
        order = EndpointChangeOrder(
            endpoint_id=found.id,
            url=self._url(wanted.url),
            types=_sorted(wanted.types),
            account_ids=await self._accounts_of(found.company_id, wanted.account_ids),
            url_before=found.url,
            types_before=found.types,
            account_ids_before=found.account_ids,
        )
        waits = second_person(self.wait, who)
        if _is_done(order, found):
            return found
        if waits is None:
            return await self._change(who.acting, order, found)
        kind = ApprovalKind.ENDPOINT_CHANGE
        return await waits(_new_order(kind, order, found.company_id, found.id))

    @requires(Area.ENDPOINT, Action.WRITE)
    async def rotate(
        self, who: Staff, endpoint_id: str, wanted: EndpointRotation
    ) -> EndpointSecret | Approval:
        """
        Make a new secret; deliveries are signed with both for the overlap. May wait.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: two secrets sign already and the overlap is not zero, or the endpoint
                was changed meanwhile.
        """
        found = await self.get(who, endpoint_id)
        order = EndpointSecretOrder(
            endpoint_id=found.id,
            url=found.url,
            overlap_s=wanted.overlap_s,
            secret_made_at=found.secret_made_at,
        )
        self._check_rotation(order, found)
        waits = second_person(self.wait, who)
        if waits is None:
            return await self._rotate(who.acting, order, found)
        kind = ApprovalKind.ENDPOINT_SECRET
        return await waits(_new_order(kind, order, found.company_id, found.id))

    @requires(Area.ENDPOINT, Action.WRITE)
    async def pause(self, who: Staff, endpoint_id: str) -> Endpoint:
        """
        Send nothing to an endpoint until it is resumed; what it is told meanwhile waits.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: it is paused already, or was changed meanwhile.
        """
        found = await self.get(who, endpoint_id)
        if found.state is EndpointState.PAUSED:
            message = f"the endpoint {found.id} is paused already"
            raise RuleViolation(message, "endpoint_paused")
        paused = {"state": EndpointState.PAUSED, "paused_because": PauseCause.OPERATOR}
        return await self._set(who.acting, found, "endpoint.paused", **paused)

    @requires(Area.ENDPOINT, Action.WRITE)
    async def resume(self, who: Staff, endpoint_id: str) -> Endpoint:
        """
        Let a paused endpoint go on, once it has answered a ping.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: it is not paused, or was changed meanwhile.
        """
        found = await self.get(who, endpoint_id)
        if found.state is not EndpointState.PAUSED:
            message = f"the endpoint {found.id} is not paused"
            raise RuleViolation(message, "endpoint_not_paused")
        return await self._set(
            who.acting,
            found,
            "endpoint.resumed",
            state=EndpointState.PENDING,
            paused_because=PauseCause.NONE,
            failing_since=None,
            mailed_h=0,
        )

    @requires(Area.ENDPOINT, Action.WRITE)
    async def remove(self, who: Staff, endpoint_id: str) -> None:
        """
        Delete an endpoint with its secrets; what it was not told yet is not delivered any more.

        Raises:
            ServiceError: as ``get`` does.
        """
        found = await self.get(who, endpoint_id)
        event = who.acting.event("endpoint.removed", found.subject, {"url": found.url})
        if not await self.records.remove(found, event):
            raise ServiceError(NOT_FOUND, "endpoint")
        await self._tell(EndpointNews.REMOVED, found, who.acting)

    async def check_again(self, _approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; see ``Executor``."""
        order = _read(text)
        if isinstance(order, EndpointOrder):
            await self._checked(order)
            return VoidReason.NONE
        found = await self.records.find(order.endpoint_id)
        if found is None or not _still_fits(order, found):
            return VoidReason.ENDPOINT_CHANGED
        if isinstance(order, EndpointSecretOrder):
            self._check_rotation(order, found)
        else:
            self._url(order.url)
            await self._accounts_of(found.company_id, order.account_ids)
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Change an endpoint; an order with a secret is executed when that is fetched."""
        order = _read(text)
        if not isinstance(order, EndpointChangeOrder):
            return Outcome.NONE
        found = await self._known(order.endpoint_id)
        if _is_done(order, found):
            return Outcome.DONE
        acting = AuditContext(approval.orderer, self.now)
        await self._change(acting, order, found, approval.decider)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _read(text)
        if isinstance(order, EndpointSecretOrder):
            return {
                "endpoint_id": order.endpoint_id,
                "url": order.url,
                "overlap_s": order.overlap_s,
            }
        wanted: OrderDocument = {
            "url": order.url,
            "types": [*order.types],
            "account_ids": [*order.account_ids],
        }
        if isinstance(order, EndpointOrder):
            return wanted
        return {
            **wanted,
            "endpoint_id": order.endpoint_id,
            "url_before": order.url_before,
            "types_before": [*order.types_before],
            "account_ids_before": [*order.account_ids_before],
        }

    async def make_secret(
        self, acting: AuditContext, approval: Approval, text: str, collection: SecretCollection
    ) -> EndpointSecret:
        """
        Make the secret of an approved order, once; ``text`` is the order.

        Raises:
            RuleViolation: the endpoint was changed meanwhile, or could not be added now.
            NothingToCollect: the secret was fetched before, or too late.
        """
        approved = (collection, approval)
        match _read(text):
            case EndpointOrder() as order:
                return await self._add(acting, await self._checked(order), approved)
            case EndpointSecretOrder() as order:
                found = await self._known(order.endpoint_id)
                self._check_rotation(order, found)
                if not _still_fits(order, found):
                    raise _changed_meanwhile(found.id)
                return await self._rotate(acting, order, found, approved)
            case order:
                raise NothingToCollect(order.endpoint_id)

    async def _checked(self, order: EndpointOrder) -> EndpointOrder:
        """Return an order that is possible now; RuleViolation otherwise."""
        company_id = (await known_company(self.database, order.company_id)).id
        checked = EndpointOrder(
            company_id=company_id,
            url=self._url(order.url),
            types=order.types,
            account_ids=await self._accounts_of(company_id, order.account_ids),
        )
        if len(await self.records.of_company(company_id)) >= MOST_OF_COMPANY:
            raise _full()
        return checked

    def _url(self, text: str) -> str:
        return read_address(text, allow_local=self.allow_local)

    async def _accounts_of(self, company_id: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Return ids of accounts of a company, each once; RuleViolation for others."""
        if len(ids) > MOST_ACCOUNTS:
            message = f"an endpoint names at most {MOST_ACCOUNTS} accounts"
            raise RuleViolation(message, "endpoint_accounts", field="account_ids")
        found = sorted({identifier(each, "account", "account_ids") for each in ids})
        for account_id in found:
            account = await self.accounts.find(account_id)
            if account is None or account.company_id != company_id:
                message = f"the company has no account {account_id}"
                raise RuleViolation(message, "account_unknown", field="account_ids")
        return tuple(found)

    def _check_rotation(self, order: EndpointSecretOrder, found: Endpoint) -> None:
        """Refuse an overlap that is too long, or one while two secrets sign already."""
        if not 0 <= order.overlap_s <= OVERLAP.total_seconds():
            message = "the overlap is between 0 and 24 hours"
            raise RuleViolation(message, "out_of_range", field="overlap_s")
        ends = found.former_secret_ends_at
        if order.overlap_s and ends is not None and ends > self.now():
            message = f"two secrets sign until {ends:%Y-%m-%dT%H:%M:%SZ}; an overlap of 0 ends both"
            raise RuleViolation(message, "two_secrets")

    async def _known(self, endpoint_id: str) -> Endpoint:
        """Return the endpoint of an order; RuleViolation if it is gone."""
        found = await self.records.find(endpoint_id)
        if found is None:
            raise _changed_meanwhile(endpoint_id)
        return found

    async def _add(
        self, acting: AuditContext, order: EndpointOrder, approved: Approved | None = None
    ) -> EndpointSecret:
        now, secret = self.now(), self.new_secret()
        made = Endpoint(
            id=self.new_id(),
            company_id=order.company_id,
            url=order.url,
            types=order.types,
            account_ids=order.account_ids,
            state=EndpointState.PENDING,
            paused_because=PauseCause.NONE,
            created_at=now,
            created_by=acting.actor,
            changed_at=now,
            changed_by=acting.actor,
            secret_made_at=now,
            former_secret_ends_at=None,
            last_ok_at=None,
            failing_since=None,
            mailed_h=0,
        )
        event = acting.event("endpoint.added", made.subject, _told(order))
        if not await self.records.add(made, secret, event, approved and approved[0]):
            raise _full()
        await self._tell(EndpointNews.ADDED, made, acting, approved_by=decider_of(approved))
        return EndpointSecret(endpoint=made, secret=secret)

    async def _change(
        self,
        acting: AuditContext,
        order: EndpointChangeOrder,
        found: Endpoint,
        approved_by: str = "",
    ) -> Endpoint:
        if not _still_fits(order, found):
            raise _changed_meanwhile(found.id)
        changed = replace(
            found,
            url=order.url,
            types=order.types,
            account_ids=order.account_ids,
            changed_at=self.now(),
            changed_by=acting.actor,
        )
        before = {}
        if order.url != found.url:
            before = {"url_before": found.url}
            changed = replace(changed, last_ok_at=None, failing_since=None, mailed_h=0)
            if found.paused_because is not PauseCause.OPERATOR:
                changed = replace(
                    changed, state=EndpointState.PENDING, paused_because=PauseCause.NONE
                )
        event = acting.event("endpoint.changed", found.subject, {**_told(order), **before})
        if not await self.records.change(found, changed, event):
            raise _changed_meanwhile(found.id)
        await self._tell(
            EndpointNews.CHANGED, changed, acting, url_before=found.url, approved_by=approved_by
        )
        return changed

    async def _rotate(
        self,
        acting: AuditContext,
        order: EndpointSecretOrder,
        found: Endpoint,
        approved: Approved | None = None,
    ) -> EndpointSecret:
        now, secret = self.now(), self.new_secret()
        former_ends = now + timedelta(seconds=order.overlap_s)
        made = replace(
            found,
            former_secret_ends_at=former_ends,
            secret_made_at=now,
            changed_at=now,
            changed_by=acting.actor,
        )
        details = {"former_ends": former_ends.isoformat()}
        event = acting.event("endpoint.rotated", found.subject, details)
        collection = approved and approved[0]
        if not await self.records.rotate(found, made, secret, event, collection):
            raise _changed_meanwhile(found.id)
        await self._tell(
            EndpointNews.NEW_SECRET,
            made,
            acting,
            approved_by=decider_of(approved),
        )
        return EndpointSecret(endpoint=made, secret=secret)

    async def _set(
        self, acting: AuditContext, found: Endpoint, word: str, **values: object
    ) -> Endpoint:
        """Set the state of an endpoint, if it still has the one that was found."""
        changed = replace(found, changed_at=self.now(), changed_by=acting.actor, **values)
        event = acting.event(word, found.subject)
        if not await self.records.set_state(found, changed, event):
            raise _changed_meanwhile(found.id)
        return changed

    async def _tell(
        self,
        news: EndpointNews,
        endpoint: Endpoint,
        acting: AuditContext,
        *,
        url_before: str = "",
        approved_by: str = "",
    ) -> None:
        await self.tell(
            EndpointNotice(
                news=news,
                endpoint=endpoint,
                url_before="" if url_before == endpoint.url else url_before,
                ordered_by=acting.actor,
                approved_by=approved_by,
            )
        )


_read: Final[Callable[[str], EndpointOrders]] = msgspec.json.Decoder(EndpointOrders).decode


def _new_order(
    kind: ApprovalKind, order: EndpointOrders, company_id: str, subject: str | None = None
) -> NewOrder:
    text = msgspec.json.encode(order).decode()
    return NewOrder(kind=kind, text=text, company_id=company_id, subject=subject)


def _still_fits(order: EndpointChangeOrder | EndpointSecretOrder, found: Endpoint) -> bool:
    """Return whether an endpoint is still as it was when the order was given."""
    if isinstance(order, EndpointSecretOrder):
        return found.secret_made_at == order.secret_made_at
    before = order.url_before, order.types_before, order.account_ids_before
    return before == (found.url, found.types, found.account_ids)


def _is_done(order: EndpointChangeOrder, found: Endpoint) -> bool:
    wanted = order.url, order.types, order.account_ids
    return wanted == (found.url, found.types, found.account_ids)


def _sorted(types: Sequence[EventType]) -> tuple[EventType, ...]:
    return tuple(sorted(set(types)))


def _told(order: EndpointOrder | EndpointChangeOrder) -> dict[str, str]:
    return {
        "url": order.url,
        "types": " ".join(order.types) or "all",
        "accounts": " ".join(order.account_ids) or "every account of the company",
    }


def _full() -> RuleViolation:
    message = f"the company has {MOST_OF_COMPANY} endpoints already"
    return RuleViolation(message, "endpoints_full")


def _changed_meanwhile(endpoint_id: str) -> RuleViolation:
    """Refuse an order because the endpoint has changed since it was read."""
    return RuleViolation(f"{endpoint_id} was changed meanwhile", "changed_meanwhile")
