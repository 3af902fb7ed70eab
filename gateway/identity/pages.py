"""Pages of users: staff's users, and the caller's own account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from gateway.companies.service import Companies
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import SESSION_REQUIRED, VALIDATION_FAILED
from gateway.core.versions import ANY_VERSION, expected, version_of_user
from gateway.http.panel.pages.kit import CHOICES, PageContext, Pages, go_on, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Language, Visit, own_path
from gateway.identity.documents import (
    ChangeBody,
    CodeBody,
    own_session,
    qr_svg,
    typed,
)
from gateway.identity.model import CompaniesBody, InvitationBody, NameBody, RolesBody
from gateway.identity.panel_surface import Panel
from gateway.identity.passkeys import MOST, NewPasskey
from gateway.identity.reauthentication import Proof
from gateway.identity.surface import FAILS
from gateway.identity.users import Users
from gateway.identity.webauthn import Assertion, assertion, registration
from policies.validation.backoffice import inputs
from policies.validation.bodies import of_form, read_fields
from policies.validation.forms import Form

_ID: Final = inputs.of_path("user_id")
_PASSKEY: Final = inputs.of_path("passkey_id")
_EVERY: Final = "every"
_ME: Final = f"{HOME}/me"
_REMOVE: Final = {Language.PORTUGUESE: "remover", Language.ENGLISH: "remove"}


def people_pages(users: Users, companies: Companies, context: PageContext) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("/people", context)

    @panel.list("", "people", users.page, takes=inputs.PAGE, template="access/people.html")
    async def listed(visit: Visit) -> dict[str, object]:
        """List people, oldest first, beside the form of an invitation."""
        who = panel.staff(visit)
        return {
            "may_manage": panel.may(visit, users.invite),
            "roles": await users.roles(who),
            "companies": await part(companies.page(who, CHOICES)),
        }

    @panel.form("", "person_invite", users.invite, shows=listed)
    async def invite(visit: Visit) -> Result:
        """Invite a user; a role that may write waits for a second person."""
        form = visit.form
        fields: dict[str, object] = {each: form[each] for each in InvitationBody.__struct_fields__}
        fields |= {"roles": list(form.all("role")), "companies": _companies(form)}
        made = await users.invite(panel.staff(visit), read_fields(InvitationBody, fields))
        return go_on(made, f"{HOME}/people")

    @panel.view("/{user_id}", "person", users.get)
    async def read(visit: Visit) -> Result:
        """Show a user: state, rights and sessions."""
        who, user_id = panel.staff(visit), _ID.read(visit.call.asked)
        found = await users.get(who, user_id)
        # the version that was looked at before the code was asked for
        seen = visit.form["version"] if visit.asks_code else ""
        data = {
            "person": found,
            "version": seen or version_of_user(found),
            "roles": await users.roles(who),
            "sessions": await part(users.sessions(who, user_id)),
            "companies": await part(companies.page(who, CHOICES)),
            "is_own": visit.person is not None and visit.person.user_id == found.id,
            "may_manage": panel.may(visit, users.invite),
            "may_end": panel.may(visit, users.end_sessions),
        }
        return Shown(template="access/person.html", data=data)

    async def change(visit: Visit, does: Callable[..., Any], *given: object) -> Result:
        """Change the person as they were seen; show them, or the order that waits."""
        version = visit.form["version"]
        made = await does(
            panel.staff(visit),
            _ID.read(visit.call.asked),
            *given,
            expected=expected([version]) if version else ANY_VERSION,
        )
        return go_on(made, _of(visit))

    @panel.form("/{user_id}/name", "person_name", users.rename, shows=read)
    async def rename(visit: Visit) -> Result:
        """Change a user's name, and show the user."""
        return await change(visit, users.rename, of_form(visit.form, NameBody))

    @panel.form("/{user_id}/roles", "person_roles", users.set_roles, shows=read)
    async def set_roles(visit: Visit) -> Result:
        """Give exactly these roles."""
        wanted = read_fields(RolesBody, {"roles": list(visit.form.all("role"))})
        return await change(visit, users.set_roles, wanted)

    @panel.form("/{user_id}/companies", "person_companies", users.set_companies, shows=read)
    async def set_companies(visit: Visit) -> Result:
        """Show these companies alone."""
        wanted = read_fields(CompaniesBody, {"companies": _companies(visit.form)})
        return await change(visit, users.set_companies, wanted)

    @panel.form("/{user_id}/disable", "person_disable", users.disable, shows=read)
    async def disable(visit: Visit) -> Result:
        """Disable a user; it can be undone, so a reason is enough."""
        if not visit.form["reason"]:
            raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
        return await change(visit, users.disable, of_form(visit.form, ReasonBody))

    @panel.form("/{user_id}/enable", "person_enable", users.enable, shows=read)
    async def enable(visit: Visit) -> Result:
        """Enable a user again."""
        return await change(visit, users.enable)

    @panel.form("/{user_id}/reset-factor", "person_reset_factor", users.reset_mfa, shows=read)
    async def reset_factor(visit: Visit) -> Result:
        """Take a second factor away, if the person's address was typed."""
        found = await users.get(panel.staff(visit), _ID.read(visit.call.asked))
        if visit.form["words"] != found.email:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        return await change(visit, users.reset_mfa)

    @panel.form("/{user_id}/unlock", "person_unlock", users.unlock, shows=read)
    async def unlock(visit: Visit) -> Result:
        """Unlock a user after too many failures."""
        await users.unlock(panel.staff(visit), _ID.read(visit.call.asked))
        return Redirect(_of(visit))

    @panel.form("/{user_id}/invitation", "person_invitation", users.invite_again, shows=read)
    async def invite_again(visit: Visit) -> Result:
        """Send a new link."""
        await users.invite_again(panel.staff(visit), _ID.read(visit.call.asked))
        return Redirect(_of(visit))

    @panel.form("/{user_id}/sessions", "person_sessions", users.end_sessions, shows=read)
    async def end_sessions(visit: Visit) -> Result:
        """End a user's sessions."""
        await users.end_sessions(panel.staff(visit), _ID.read(visit.call.asked))
        return Redirect(_of(visit))

    return panel.pages


def _of(visit: Visit) -> str:
    return f"{HOME}/people/{visit.parameter('user_id')}"


def _companies(form: Form) -> list[str]:
    """
    Return the companies that were ticked; an empty list is every company, which has its own tick.

    Raises:
        ServiceError: ``VALIDATION_FAILED``: nothing was ticked.
    """
    ticked = list(form.all("company"))
    if not ticked:
        raise ServiceError(VALIDATION_FAILED, "companies_not_chosen", field="companies")
    return [] if _EVERY in ticked else ticked


def own_pages(room: Panel, context: PageContext) -> Sequence[Page]:
    """Return the pages of the caller's own account, and of enrolling an authenticator app."""
    panel, services = Pages("", context, fails=FAILS), room.identity
    sessions, factors = services.sessions, services.second_factors
    passkeys = services.passkeys

    @panel.view("/me", "own_account", None)
    async def read(visit: Visit) -> Result:
        """Show the caller's own account; the sessions may fail apart."""
        caller = _caller(visit)
        found = await part(sessions.list(caller), FAILS)
        data = {
            "sessions": found,
            "shown": [own_session(each, caller) for each in found.data or ()],
            "word": _REMOVE[visit.language],
            "passkeys": await part(passkeys.list(caller), FAILS),
            "most_passkeys": MOST,
            "takes_passkeys": bool(services.context.relying_party.id),
        }
        return Shown(template="access/own_account.html", data=data)

    def leave(visit: Visit) -> Redirect:
        """Go to the sign-in: this session has ended too."""
        visit.cookies.append(room.responses.form.taken)
        return Redirect(f"{HOME}/login")

    @panel.form("/me/password", "own_password", None, shows=read)
    async def change_password(visit: Visit) -> Result:
        """Change the password, with the second factor where there is one; every session ends."""
        current, new = visit.form.exactly("current_password"), visit.form.exactly("new_password")
        if new != visit.form.exactly("new_again"):
            raise ServiceError(VALIDATION_FAILED, "not_the_same", field="new_again")
        code = visit.form["app_code"]
        body = typed(ChangeBody, current_password=current, new_password=new, code=code)
        await services.passwords.change(
            _caller(visit),
            body.current_password,
            body.new_password,
            body.code,
            visit.client,
            _own_passkey(visit),
        )
        return leave(visit)

    @panel.form("/me/recovery-codes", "own_codes", None, shows=read)
    async def new_codes(visit: Visit) -> Result:
        """Replace the recovery codes; the new ones are shown once."""
        codes = await factors.new_recovery_codes(_caller(visit), _proof(visit), visit.client)
        return Shown(template="access/own_codes.html", data={"codes": codes}, is_secret=True)

    @panel.form("/me/factor/remove", "own_factor_remove", None, shows=read)
    async def remove_factor(visit: Visit) -> Result:
        """Take the app away, if the word for that was typed; every session ends."""
        if visit.form["words"].casefold() != _REMOVE[visit.language]:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        order = await factors.remove(_caller(visit), _proof(visit), visit.client)
        return leave(visit) if order is None else go_on(order, _ME)

    @panel.form("/me/passkeys", "own_passkey_register", None, shows=read)
    async def register_passkey(visit: Visit) -> Result:
        """Register a passkey; with the first second factor the recovery codes are shown once."""
        proof = _proof(visit)
        wanted = NewPasskey(
            name=visit.form["name"],
            registration=registration(visit.form["registration"]),
            **msgspec.structs.asdict(proof),
        )
        codes = await passkeys.register(_caller(visit), wanted, visit.client)
        if codes:
            return Shown(template="access/own_codes.html", data={"codes": codes}, is_secret=True)
        return Redirect(_ME)

    @panel.form("/me/passkeys/{passkey_id}/remove", "own_passkey_remove", None, shows=read)
    async def remove_passkey(visit: Visit) -> Result:
        """Remove a passkey; every session ends."""
        order = await passkeys.remove(
            _caller(visit), _PASSKEY.read(visit.call.asked), _proof(visit), visit.client
        )
        return leave(visit) if order is None else go_on(order, _ME)

    @panel.form("/me/sessions/end", "own_sessions_end", None, shows=read)
    async def end_others(visit: Visit) -> Result:
        """End every session but this one."""
        await sessions.end_others(_caller(visit))
        return Redirect(_ME)

    @panel.form("/me/sessions/{session_id}/end", "own_session_end", None, shows=read)
    async def end_session(visit: Visit) -> Result:
        """End one of one's sessions."""
        await sessions.end(_caller(visit), visit.parameter("session_id").lower())
        return Redirect(_ME)

    @panel.view("/factor", "factor", None)
    async def ask_password(visit: Visit) -> Result:
        """Ask for the password, or a passkey, before an authenticator app is enrolled."""
        if _caller(visit).has_app:
            return Redirect(HOME)
        wanted = visit.query("next")
        data = {"later": own_path(wanted) if wanted else ""}
        return Shown(template="session/factor.html", data=data)

    @panel.form("/factor", "factor_begin", None, shows=ask_password)
    async def begin(visit: Visit) -> Result:
        """Show the QR code for an app, only once."""
        begun = await factors.begin(_caller(visit), _proof(visit), visit.client)
        data = {"begun": begun, "qr_svg": qr_svg(begun.uri)}
        return Shown(template="session/factor_scan.html", data=data, is_secret=True)

    @panel.view("/factor/code", "factor_code", None)
    async def ask_code(visit: Visit) -> Result:
        """Ask for the first code of an authenticator app."""
        if _caller(visit).has_app:
            return Redirect(HOME)
        return Shown(template="session/factor_scan.html", data={"begun": None})

    @panel.form("/factor/code", "factor_confirm", None, shows=ask_code)
    async def confirm(visit: Visit) -> Result:
        """Finish to enrol an app; the codes are shown once, and every session ends."""
        body = typed(CodeBody, code=visit.form["app_code"])
        codes = await factors.confirm(_caller(visit), body.code)
        leave(visit)
        visit.browser = visit.person = None
        return Shown(template="session/recovery_codes.html", data={"codes": codes}, is_secret=True)

    @panel.view("/stay", "stay", None)
    async def stay(_visit: Visit) -> Result:
        """Keep the session alive, as any page does."""
        return Shown(template="session/stay.html")

    return panel.pages


def _proof(visit: Visit) -> Proof:
    """Read the owner's proof; ``code`` and ``passkey`` would be of the session alone."""
    form = visit.form
    typed_too = typed(Proof, password=form.exactly("password"), code=form["app_code"])
    return msgspec.structs.replace(typed_too, passkey=_own_passkey(visit))


def _own_passkey(visit: Visit) -> Assertion | None:
    """Read the passkey that stands for password and code; ``passkey`` is of the session alone."""
    sent = visit.form["own_passkey"]
    return assertion(sent) if sent else None


def _caller(visit: Visit) -> SignedInUser:
    """Return who is signed in; the gate has found them."""
    if visit.person is None:
        raise ServiceError(SESSION_REQUIRED, "missing")
    return visit.person
