"""Credentials of partners: found, issued, rotated, ended; a secret is in one answer alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from gateway.domain.accounts.credentials import Action, Resource
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import DAY_FORM, ZONE, day_of, typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.http.rendering import Amount

READS: Final = Right(Area.CREDENTIAL, Action.READ)
WRITES: Final = Right(Area.CREDENTIAL, Action.WRITE)
_STOPS: Final = Right(Area.STOP, Action.WRITE)
RESOURCES: Final = tuple(Resource)
LEVELS: Final = tuple(each.name.lower() for each in Action)
STATES: Final = ("live", "care", "ended")
OVERLAPS: Final = (0, 3600, 86400, 7 * 86400)
"""Seconds for which an old secret holds beside the new one: none, an hour, a day, a week."""

_LIMITS: Final = ("limit_per_payout", "limit_per_day")
_SHOWN_FOR: Final = timedelta(minutes=5)
"""How long a page that somebody left open shows a secret."""

_MOST: Final = "100"
_WAITS: Final = 202
_YEAR: Final = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class CredentialPages:
    """The pages of credentials."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """List credentials of one state, with the counts of each."""
        state = visit.query("state") if visit.query("state") in STATES else "live"
        asked = {name: visit.query(name) for name in ("text", "company_id", "page")}
        found = await self.rows.section(visit, "backoffice.credentials", None, state=state, **asked)
        names = await self._names(visit)
        data = {
            "found": found,
            "state": state,
            "names": names,
            "may_write": visit.may(WRITES),
            **_matrix(),
        }
        return Shown(template="access/credentials.html", part="access/_credentials.html", data=data)

    async def read(self, visit: Visit) -> Result:
        """Show one, and what people did with it."""
        client_id = visit.parameter("client_id")
        found = await self._one(visit)
        acts = await self.rows.section(
            visit, "backoffice.audit", subject=f"credential:{client_id}", limit="10"
        )
        names = await self._names(visit)
        data = {
            "found": found,
            "acts": acts,
            "names": names,
            "may_write": visit.may(WRITES),
            "may_stop": visit.may(_STOPS),
        }
        return Shown(template="access/credential.html", data={**data, **_matrix()})

    async def new(self, visit: Visit) -> Result:
        """Show the form of a new one."""
        accounts = await self.rows.section(visit, "backoffice.accounts", limit=_MOST)
        ends = (self.rows.now() + _YEAR).astimezone(ZONE).date()
        data = {"accounts": accounts, "ends": f"{ends:{DAY_FORM}}", **_matrix()}
        return Shown(template="access/credential_new.html", data=data)

    async def issue(self, visit: Visit) -> Result:
        """Issue one; what can pay out waits for a second person."""
        form = visit.form
        kind, _, key = form["reach"].partition(":")
        account_id = form["account_id"] or (key if kind == "account" else "")
        body: dict[str, object] = {
            "name": form["name"],
            "permissions": _permissions(visit),
            **({"account_id": account_id} if account_id else {"company_id": key}),
        }
        ends = _end_of(visit)
        if ends is not None:
            body["expires_at"] = ends.isoformat()
        made = await self.rows.ask(visit, "backoffice.credential_issue", body=body)
        return self._shown_once(made)

    async def rotation(self, visit: Visit) -> Result:
        """Show the form of a new secret."""
        found = await self._one(visit)
        return Shown(
            template="access/credential_rotate.html", data={"found": found, "overlaps": OVERLAPS}
        )

    async def rotate(self, visit: Visit) -> Result:
        """Make a new secret."""
        overlap = visit.form["overlap_s"]
        body = {"overlap_s": int(overlap)} if overlap in set(map(str, OVERLAPS)) else {}
        made = await self.rows.ask(
            visit, "backoffice.credential_rotate", path=_named(visit), body=body
        )
        return self._shown_once(made)

    async def end(self, visit: Visit) -> Result:
        """Show the form that ends one."""
        return Shown(
            template="access/credential_revoke.html", data={"found": await self._one(visit)}
        )

    async def revoke(self, visit: Visit) -> Result:
        """End one, if its name was typed."""
        found = await self._one(visit)
        if visit.form["words"] != found["name"]:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        await self.rows.ask(
            visit,
            "backoffice.credential_revoke",
            path=_named(visit),
            body={"reason": visit.form["reason"]},
        )
        return Redirect(f"{HOME}/credentials")

    async def limit(self, visit: Visit) -> Result:
        """Set what one may pay out; an empty field is no limit, and more than now waits."""
        made = await self.rows.ask(
            visit, "backoffice.credential_limits", path=_named(visit), body=_limits(visit)
        )
        if made.status == _WAITS:
            return Redirect(f"{HOME}/approvals/{made.data['id']}")
        return Redirect(f"{HOME}/credentials/{visit.parameter('client_id')}")

    async def collect(self, visit: Visit) -> Result:
        """Make and show the secret of an order that was approved."""
        made = await self.rows.ask(
            visit,
            "backoffice.approval_secret",
            path={"approval_id": visit.parameter("approval_id")},
        )
        return self._shown_once(made)

    async def _one(self, visit: Visit) -> Mapping[str, Any]:
        """Read the one that the path names."""
        found = await self.rows.ask(visit, "backoffice.credential", path=_named(visit))
        return dict(found.data)

    async def _names(self, visit: Visit) -> Mapping[str, str]:
        """Return the names of accounts and companies by id, as far as one page of them goes."""
        found = await self.rows.section(visit, "backoffice.accounts", limit=_MOST)
        accounts = found.data["data"] if found.data else ()
        companies = {each["company"]["id"]: each["company"]["name"] for each in accounts}
        return companies | {each["id"]: each["name"] for each in accounts}

    def _shown_once(self, made: Section) -> Result:
        """Show a secret; nothing is asked of the store any more, for that could fail."""
        if made.status == _WAITS:
            return Redirect(f"{HOME}/approvals/{made.data['id']}")
        until = int((self.rows.now() + _SHOWN_FOR).timestamp() * 1000)
        data = {"made": made.data, "until": until, "seconds": int(_SHOWN_FOR.total_seconds())}
        return Shown(template="access/credential_issued.html", data=data)


def _matrix() -> Mapping[str, object]:
    """Return what the matrix of permissions is made of."""
    return {"resources": [str(each) for each in RESOURCES], "levels": LEVELS}


def _named(visit: Visit) -> Mapping[str, str]:
    return {"client_id": visit.parameter("client_id")}


def _limits(visit: Visit) -> Mapping[str, Amount]:
    """Read the limits that were typed."""
    return {name: typed_money(visit.form[name], name) for name in _LIMITS if visit.form[name]}


def _permissions(visit: Visit) -> Sequence[str]:
    """Read the matrix: one level, or none, for each resource."""
    chosen = {str(each): visit.form[f"may_{each}"] for each in RESOURCES}
    return [f"{name}:{level}" for name, level in chosen.items() if level]


def _end_of(visit: Visit) -> datetime | None:
    """Read the last day on which a credential holds, in São Paulo; None for no end."""
    if visit.form["ends"] == "never":
        return None
    day = day_of(visit.form["expires_on"])
    if day is None:
        raise ServiceError(VALIDATION_FAILED, "form", field="expires_on")
    return datetime.combine(day, time(23, 59, 59), ZONE).astimezone(UTC)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = CredentialPages(rows)
    one = "/credentials/{client_id}"
    return (
        Page(
            path="/credentials",
            name="credentials",
            summary="List credentials.",
            needs=READS,
            shows=does.list,
        ),
        Page(
            path="/credentials/new",
            name="credential_new",
            summary="Show the form of a new credential.",
            needs=WRITES,
            shows=does.new,
        ),
        Page(
            path="/credentials/new",
            name="credential_issue",
            summary="Issue a credential.",
            needs=WRITES,
            shows=does.new,
            does=does.issue,
        ),
        Page(path=one, name="credential", summary="Show one.", needs=READS, shows=does.read),
        Page(
            path=f"{one}/limits",
            name="credential_limits",
            summary="Set what one may pay out.",
            needs=WRITES,
            shows=does.read,
            does=does.limit,
        ),
        Page(
            path=f"{one}/rotate",
            name="credential_rotation",
            summary="Show the form of a new secret.",
            needs=WRITES,
            shows=does.rotation,
        ),
        Page(
            path=f"{one}/rotate",
            name="credential_rotate",
            summary="Make a new secret.",
            needs=WRITES,
            shows=does.rotation,
            does=does.rotate,
        ),
        Page(
            path=f"{one}/revoke",
            name="credential_end",
            summary="Show the form that ends a credential.",
            needs=WRITES,
            shows=does.end,
        ),
        Page(
            path=f"{one}/revoke",
            name="credential_revoke",
            summary="End a credential.",
            needs=WRITES,
            shows=does.end,
            does=does.revoke,
        ),
    )
