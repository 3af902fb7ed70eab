"""Pages of credentials: search, issue, rotation, end; a secret is in one response only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import UNSET

from gateway.audit.model import AuditSearch
from gateway.audit.service import AuditLog
from gateway.core import errors
from gateway.core.approvals import Approval
from gateway.core.caller_rules import CallerRule
from gateway.core.errors import ServiceError
from gateway.core.night import Night
from gateway.core.permissions import Action, CredentialLimits, Resource, actions_on
from gateway.core.rights import Area, Right
from gateway.core.schemas import ReasonBody
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import Paging, local_end
from gateway.credentials.model import (
    Credential,
    CredentialBody,
    Issued,
    LimitProposal,
    LimitsBody,
    PublicKeyBody,
    RotationBody,
)
from gateway.credentials.public_keys import PublicKeys
from gateway.credentials.searches import CREDENTIALS
from gateway.credentials.service import Credentials
from gateway.http.panel.pages.formats import DAY_FORM, ZONE, day_of, typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, go_on, part, shown
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.shown_once import shown_once
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.bodies import of_form, read_fields

RESOURCES: Final = tuple(Resource)
LEVELS: Final = tuple(each.name.lower() for each in Action)
STATES: Final = ("live", "care", "ended")
OVERLAPS: Final = (0, 3600, 86400, 7 * 86400)
"""Seconds for which an old secret holds beside the new one: none, an hour, a day, a week."""

_MATRIX: Final = {
    "resources": [str(each) for each in RESOURCES],
    "levels": LEVELS,
    "levels_of": {
        str(each): [action.name.lower() for action in actions_on(each)] for each in RESOURCES
    },
}
"""What the matrix of permissions is made of."""
_STOPS: Final = Right(Area.STOP, Action.WRITE)
_LIMITS: Final = [f"limit_{name}" for name in CredentialLimits.__struct_fields__]
_LAST_ACTS: Final = Paging(page=1, limit=10)
_YEAR: Final = timedelta(days=365)


def pages(
    credentials: Credentials, keys: PublicKeys, log: AuditLog, context: PageContext
) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("/credentials", context)

    @panel.list(
        "",
        "credentials",
        credentials.page,
        takes=CREDENTIALS,
        asks=_asks,
        template="access/credentials.html",
        part="access/_credentials.html",
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List credentials of one state, with the counts of each."""
        may_write = panel.may(visit, credentials.issue)
        names = await _names(panel, visit)
        return {"state": _state(visit), "names": names, "may_write": may_write, **_MATRIX}

    @panel.view("/new", "credential_new", credentials.issue)
    async def new(visit: Visit) -> Result:
        """Show the form of a new credential."""
        accounts = await panel.choices(visit)
        ends = (panel.staff(visit).acting.now() + _YEAR).astimezone(ZONE).date()
        ends_on = f"{ends:{DAY_FORM}}"
        data = {
            "accounts": accounts,
            "ends": ends_on,
            "night": _hours(credentials.night),
            **_MATRIX,
        }
        return Shown(template="access/credential_new.html", data=data)

    @panel.form("/new", "credential_issue", credentials.issue, shows=new)
    async def issue(visit: Visit) -> Result:
        """Issue a credential; one that can pay out waits for a second person."""
        limits = msgspec.structs.asdict(_typed_limits(visit))
        wanted = msgspec.structs.replace(read_fields(CredentialBody, _wanted(visit)), **limits)
        return made(visit, await credentials.issue(panel.staff(visit), wanted))

    @panel.view("/{client_id}", "credential", credentials.get)
    async def read(visit: Visit) -> Result:
        """Show a credential, and the acts on it."""
        found, who = await one(visit), panel.staff(visit)
        current, *before = found.secrets
        now = who.acting.now()
        old = next((each for each in before if each.expires_at and each.expires_at > now), None)
        used = old.last_used_at if old else None
        about = AuditSearch(paging=_LAST_ACTS, subject=f"credential:{found.client_id}")
        acts = await part(log.search(who, about))
        addresses = await credentials.addresses(who, found.client_id)
        proposal = None
        if found.state(now) == "live" and found.has_history(now):
            proposal = await credentials.limit_proposal(who, found.client_id)
        data = {
            "found": shown(found, who),
            "old": old,
            "is_old_used": used is not None and used > current.created_at,
            "addresses": addresses,
            "night": _hours(credentials.night),
            "proposal": proposal,
            "is_raise": proposal is not None and _is_raise(found, proposal),
            "let_through": [each.address for each in addresses if each.refused_at is None],
            "acts": replace(acts, data=shown(acts.data, who)),
            "names": await panel.names(visit, [found.account_id or "", found.company_id]),
            "may_write": panel.may(visit, credentials.issue),
            "may_stop": visit.may(_STOPS),
        }
        return Shown(template="access/credential.html", data={**data, **_MATRIX})

    @panel.form("/{client_id}/limits", "credential_limits", credentials.set_limits, shows=read)
    async def limit(visit: Visit) -> Result:
        """Set a credential's limits, as typed or as proposed; raising a limit waits."""
        who, client_id = panel.staff(visit), visit.parameter("client_id")
        done = await credentials.set_limits(who, client_id, _typed_limits(visit))
        return go_on(done, f"{HOME}/credentials/{client_id}")

    @panel.form("/{client_id}/callers", "credential_callers", credentials.set_callers, shows=read)
    async def allow(visit: Visit) -> Result:
        """Set where a credential may be used; the first rule, and a wider one, wait."""
        who, client_id = panel.staff(visit), visit.parameter("client_id")
        done = await credentials.set_callers(who, client_id, _rule(visit))
        return go_on(done, f"{HOME}/credentials/{client_id}")

    @panel.form("/{client_id}/public-keys", "credential_key_add", keys.add, shows=read)
    async def add_key(visit: Visit) -> Result:
        """Register a public key; it waits."""
        who, client_id = panel.staff(visit), visit.parameter("client_id")
        done = await keys.add(who, client_id, of_form(visit.form, PublicKeyBody))
        return go_on(done, f"{HOME}/credentials/{client_id}")

    @panel.form(
        "/{client_id}/public-keys/{public_key_id}/remove",
        "credential_key_remove",
        keys.remove,
        shows=read,
    )
    async def remove_key(visit: Visit) -> Result:
        """Remove a public key; the last one waits."""
        who, client_id = panel.staff(visit), visit.parameter("client_id")
        done = await keys.remove(who, client_id, visit.parameter("public_key_id"))
        return go_on(done, f"{HOME}/credentials/{client_id}")

    @panel.view("/{client_id}/rotate", "credential_rotation", credentials.rotate)
    async def rotation(visit: Visit) -> Result:
        """Show the form of a new secret."""
        found = shown(await one(visit), panel.staff(visit))
        data = {"found": found, "overlaps": OVERLAPS}
        return Shown(template="access/credential_rotate.html", data=data)

    @panel.form("/{client_id}/rotate", "credential_rotate", credentials.rotate, shows=rotation)
    async def rotate(visit: Visit) -> Result:
        """Make a new secret."""
        overlap, who = visit.form["overlap_s"], panel.staff(visit)
        is_offered = overlap in set(map(str, OVERLAPS))
        wanted = RotationBody(int(overlap)) if is_offered else RotationBody()
        return made(visit, await credentials.rotate(who, visit.parameter("client_id"), wanted))

    @panel.view("/{client_id}/revoke", "credential_end", credentials.revoke)
    async def end(visit: Visit) -> Result:
        """Show the form that ends a credential."""
        found = shown(await one(visit), panel.staff(visit))
        return Shown(template="access/credential_revoke.html", data={"found": found})

    @panel.form("/{client_id}/revoke", "credential_revoke", credentials.revoke, shows=end)
    async def revoke(visit: Visit) -> Result:
        """End a credential, if its name was typed."""
        found = await one(visit)
        if visit.form["words"] != found.name:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        why = of_form(visit.form, ReasonBody)
        await credentials.revoke(panel.staff(visit), found.client_id, why)
        return Redirect(f"{HOME}/credentials")

    async def one(visit: Visit) -> Credential:
        """Read the credential of the path."""
        return await credentials.get(panel.staff(visit), visit.parameter("client_id"))

    def made(visit: Visit, done: Issued | Approval) -> Result:
        """Show the secret, or the waiting order."""
        if isinstance(done, Approval):
            return Redirect(f"{HOME}/approvals/{done.id}")
        who = panel.staff(visit)
        return shown_once(shown(done, who), who.acting.now())

    return panel.pages


def _state(visit: Visit) -> str:
    return visit.chosen("state", STATES, "live")


def _asks(visit: Visit) -> Mapping[str, str]:
    asked = {name: visit.query(name) for name in ("text", "company_id", "page")}
    return {"state": _state(visit), **asked}


async def _names(panel: Pages, visit: Visit) -> Mapping[str, str]:
    """Return the names of accounts and companies by id, as far as one page of them goes."""
    accounts = await panel.accounts(visit)
    companies = {each.company.id: each.company.name for each in accounts}
    return companies | {each.id: each.name for each in accounts}


def _wanted(visit: Visit) -> Mapping[str, object]:
    """Read the form: a whole company or one account, a level for each resource."""
    form = visit.form
    kind, _, key = form["reach"].partition(":")
    account_id = form["account_id"] or (key if kind == "account" else "")
    levels = {str(each): form[f"may_{each}"] for each in RESOURCES}
    ends = _end_of(visit)
    return {
        "name": form["name"],
        "permissions": [f"{name}:{level}" for name, level in levels.items() if level],
        **({"account_id": account_id} if account_id else {"company_id": key}),
        **({"expires_at": ends.isoformat()} if ends is not None else {}),
        "callers": msgspec.to_builtins(_rule(visit)),
    }


def _typed_limits(visit: Visit) -> LimitsBody:
    """Read limits as they were typed, above zero; an empty field is absent."""
    form = visit.form
    typed = {name: typed_money(form[name], name) for name in _LIMITS if form[name]}
    for name, each in typed.items():
        if not each.centavos:
            raise ServiceError(errors.PAYLOAD_INVALID, "typed_amount", field=name)
    return msgspec.structs.replace(LimitsBody(unlimited=form["unlimited"] == "yes"), **typed)


def _hours(night: Night) -> Mapping[str, object]:
    """Show the hours of the night, and its default limits."""
    hours = {"begins": f"{night.begins:%H:%M}", "ends": f"{night.ends:%H:%M}"}
    return {**hours, "per_payout": night.per_payout, "per_night": night.per_night}


def _is_raise(found: Credential, proposal: LimitProposal) -> bool:
    """Return whether a proposed daily limit is above the one in force."""
    if proposal.limit_per_day is UNSET or found.limits.per_day is None:
        return False
    return proposal.limit_per_day > found.limits.per_day


def _rule(visit: Visit) -> CallerRule:
    """Read where a credential may be used, as it was typed."""
    form = visit.form
    return CallerRule(
        networks=tuple(form["networks"].split()),
        certificates=tuple(form["certificates"].split()),
        anywhere=form["anywhere"] == "yes",
    )


def _end_of(visit: Visit) -> datetime | None:
    """Return the last second of a credential's last day, in São Paulo; None for no end."""
    if visit.form["ends"] == "never":
        return None
    day = day_of(visit.form["expires_on"])
    if day is None:
        raise ServiceError(VALIDATION_FAILED, "form", field="expires_on")
    return local_end(day) - timedelta(seconds=1)
