"""Partners' credentials: listed, issued, rotated, revoked; a secret is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

import msgspec

from gateway.approvals.model import Approval, ApprovalDocument
from gateway.approvals.service import Approvals
from gateway.domain.accounts.credentials import (
    EVERY_PERMISSION,
    Credential,
    CredentialLimits,
    Permission,
)
from gateway.domain.backoffice.lists import (
    CredentialSearch,
    CredentialState,
)
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors, strict
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.schemas import Name, ReasonBody, Text
from gateway.domain.requests.versions import version_of_credential
from gateway.http.backoffice.administration.credential_documents import (
    CountedCredentials,
    CredentialDocument,
    SecretDocument,
    credential,
    credential_list,
    secret,
)
from gateway.http.backoffice.callers import ABSENT, CHANGED, TAKEN, BackOfficeCaller, explained
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WAITS,
    WITH_BODY,
    reading,
    versioned,
    waiting,
    writing,
)
from gateway.http.common import STORE_FAILS
from gateway.http.route import Answer, Row, VersionedAnswer, route
from gateway.operations.accounts.credentials import DEFAULT_OVERLAP, CredentialOrder, Issued
from gateway.operations.backoffice.access_orders import CredentialOrders
from gateway.operations.backoffice.scoped_records import AdminServices, RecordsInScope
from gateway.operations.kernel.audit_context import RuleViolation, identifier
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

_PERMISSIONS = "|".join(map(str, EVERY_PERMISSION))

Word = Annotated[str, msgspec.Meta(pattern=f"^({_PERMISSIONS})$", examples=["balance:read"])]


class LimitsBody(msgspec.Struct):
    """How much a credential may pay out, in reais; what is absent does not limit."""

    limit_per_payout: Money | None = None
    limit_per_day: Money | None = None

    def limits(self) -> CredentialLimits:
        """Return them."""
        return CredentialLimits(per_payout=self.limit_per_payout, per_day=self.limit_per_day)


class CredentialBody(LimitsBody, kw_only=True):
    """A new credential, for one account or for every account of a company."""

    name: Name
    company_id: Text = ""
    account_id: Text | None = None
    permissions: list[Word] = []
    expires_at: datetime | None = None


class RotationBody(msgspec.Struct):
    """How long the old secret stays valid; 0 ends it at once."""

    overlap_s: Annotated[int, msgspec.Meta(ge=0, le=30 * 86400, description="Seconds.")] = int(
        DEFAULT_OVERLAP.total_seconds()
    )


class CredentialFilter(NamedTuple):
    """Which credentials, as a query says it; None is any."""

    paging: Paging
    company_id: str | None = None
    state: CredentialState | None = None
    text: str | None = None

    def at(self, now: datetime) -> CredentialSearch:
        """Return the search at an instant."""
        return CredentialSearch(now=now, **self._asdict())


@dataclass(frozen=True, slots=True)
class CredentialActs:
    """What people do with credentials."""

    services: AdminServices
    orders: CredentialOrders
    approvals: Approvals

    async def list(self, who: BackOfficeCaller, wanted: CredentialFilter) -> CountedCredentials:
        """List them, and count those of each state."""
        search, visible = wanted.at(who.acting.now()), self._visible(who)
        listed = await visible.credentials(search)
        return CountedCredentials(listed, await visible.count_credentials(search))

    async def read(self, who: BackOfficeCaller, client_id: str) -> Credential:
        """Read one."""
        return await self._visible(who).credential(client_id)

    async def issue(self, who: BackOfficeCaller, wanted: CredentialBody) -> Issued | Approval:
        """Issue one for a company in scope, or let the order wait."""
        with explained():
            await self._refuse_foreign(who, wanted)
            return await self.orders.issue(
                who.person,
                CredentialOrder(
                    name=wanted.name,
                    company_id=wanted.company_id,
                    account_id=wanted.account_id or None,
                    permissions=frozenset(map(Permission.parse, wanted.permissions)),
                    expires_at=_zoned(wanted.expires_at),
                    limits=wanted.limits(),
                ),
            )

    async def rotate(
        self, who: BackOfficeCaller, taken: tuple[str, RotationBody]
    ) -> Issued | Approval:
        """Make a new secret, or let the order wait."""
        client_id, wanted = taken
        found, overlap = await self.read(who, client_id), timedelta(seconds=wanted.overlap_s)
        with explained():
            return await self.orders.rotate(who.person, found, overlap)

    async def set_limits(
        self, who: BackOfficeCaller, taken: tuple[str, LimitsBody]
    ) -> Credential | Approval:
        """Give one these limits; raising one waits."""
        client_id, wanted = taken
        found = await self.read(who, client_id)
        with explained():
            return await self.orders.set_limits(who.person, found, wanted.limits())

    async def secret(self, who: BackOfficeCaller, approval_id: str) -> Issued:
        """Make and show the secret of an approved order."""
        with explained():
            found = await self.approvals.find(who.staff, approval_id)
            return await self.orders.secret(who.person, found, self.approvals.text(found))

    async def revoke(self, who: BackOfficeCaller, taken: tuple[str, ReasonBody]) -> Credential:
        """End one."""
        client_id, why = taken
        await self.read(who, client_id)
        with explained():
            return await self.services.by(who.acting, who.scope).credentials.revoke(
                client_id, why.reason
            )

    async def _refuse_foreign(self, who: BackOfficeCaller, wanted: CredentialBody) -> None:
        """Refuse a company or an account that is not in scope."""
        if wanted.account_id:
            identifier(wanted.account_id, "account")
            await self._visible(who).require_account(wanted.account_id)
        else:
            self._visible(who).require_company(wanted.company_id)

    def _visible(self, who: BackOfficeCaller) -> RecordsInScope:
        """Return what they may see."""
        return self.services.by(who.acting, who.scope).visible


def _zoned(at: datetime | None) -> datetime | None:
    """Demand a zone, and return the instant in UTC."""
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


def _versioned(found: Credential, who: BackOfficeCaller) -> VersionedAnswer[CredentialDocument]:
    return versioned(credential(found, who), version_of_credential(found))


def _search(given: inputs.Filters) -> CredentialFilter:
    return CredentialFilter(
        paging=given.paging(),
        company_id=given.read("company_id", strict.uuid_text),
        state=given.read("state", CredentialState),
        text=given.text("text"),
    )


def _limited(
    found: Credential | Approval, who: BackOfficeCaller
) -> Answer[CredentialDocument] | Answer[ApprovalDocument]:
    if isinstance(found, Approval):
        return waiting(found, who)
    return Answer(content=credential(found, who))


def _made(
    found: Issued | Approval, who: BackOfficeCaller
) -> Answer[SecretDocument] | Answer[ApprovalDocument]:
    if isinstance(found, Approval):
        return waiting(found, who)
    return Answer(content=secret(found, who))


_CLIENT = inputs.word_of_path("client_id")


def credential_rows(does: CredentialActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/credentials",
            name="backoffice.credentials",
            summary="List partners' credentials, including expired and revoked ones.",
            needs=reading(Area.CREDENTIAL),
            limits=NO_BODY,
            takes=inputs.filters(
                _search,
                inputs.text_filter("company_id", "Only those of this company."),
                inputs.word_filter("state", CredentialState),
                inputs.text_filter("text", "In the name, or how the client id begins."),
                *inputs.PAGING,
            ),
            runs=does.list,
            shows=credential_list,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/credentials/{client_id}",
            name="backoffice.credential",
            summary="Read one credential.",
            needs=reading(Area.CREDENTIAL),
            limits=NO_BODY,
            takes=_CLIENT,
            runs=does.read,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "POST",
            "/credentials",
            name="backoffice.credential_issue",
            summary=(
                "Issue a credential; its secret is shown once."
                " A credential that can pay out needs a second user's approval."
            ),
            needs=writing(Area.CREDENTIAL),
            limits=WITH_BODY,
            takes=body(CredentialBody),
            runs=does.issue,
            shows=_made,
            fails=STORE_FAILS,
            raises=TAKEN,
            status=CREATED,
            also={WAITS: ApprovalDocument},
        ),
        route(
            "POST",
            "/credentials/{client_id}/rotate",
            name="backoffice.credential_rotate",
            summary="Make a new secret; the old one stays valid for the overlap. May wait.",
            needs=writing(Area.CREDENTIAL),
            limits=WITH_BODY,
            takes=inputs.both(_CLIENT, RotationBody),
            runs=does.rotate,
            shows=_made,
            fails=STORE_FAILS,
            raises=(*CHANGED, errors.ALREADY_IN_USE),
            also={WAITS: ApprovalDocument},
        ),
        route(
            "PUT",
            "/credentials/{client_id}/limits",
            name="backoffice.credential_limits",
            summary="Set what a credential may pay out; raising a limit waits.",
            needs=writing(Area.CREDENTIAL),
            limits=WITH_BODY,
            takes=inputs.both(_CLIENT, LimitsBody),
            runs=does.set_limits,
            shows=_limited,
            fails=STORE_FAILS,
            raises=(*CHANGED, errors.ALREADY_IN_USE),
            also={WAITS: ApprovalDocument},
        ),
        route(
            "POST",
            "/credentials/{client_id}/revoke",
            name="backoffice.credential_revoke",
            summary="End a credential; it is refused here at once, and everywhere within a second.",
            needs=writing(Area.CREDENTIAL),
            limits=WITH_BODY,
            takes=inputs.both(_CLIENT, ReasonBody),
            runs=does.revoke,
            shows=credential,
            fails=STORE_FAILS,
            raises=CHANGED,
        ),
        route(
            "POST",
            "/approvals/{approval_id}/secret",
            name="backoffice.approval_secret",
            summary="Make and show the secret of your approved order: once, within 15 minutes.",
            needs=writing(Area.CREDENTIAL),
            limits=NO_BODY,
            takes=inputs.of_path("approval_id"),
            runs=does.secret,
            shows=secret,
            fails=STORE_FAILS,
            raises=(*CHANGED, errors.ALREADY_IN_USE),
            status=CREATED,
        ),
    )
