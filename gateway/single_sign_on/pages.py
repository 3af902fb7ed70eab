"""Pages of single sign-on: the way to a company's provider and back, and its settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from gateway.companies.service import Companies
from gateway.core.approvals import Approval
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.http.panel.pages.kit import PageContext, Pages, go_on
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, own_path
from gateway.identity.panel_surface import Panel
from gateway.identity.sign_in_visits import begin_browser, wanted_page, within_quota
from gateway.identity.sign_in_visits import go_on as go_on_signed_in
from gateway.identity.surface import FAILS
from gateway.single_sign_on.model import IdentityProvider, NewIdentityProvider
from gateway.single_sign_on.service import IdentityProviders
from gateway.single_sign_on.sign_in import ProviderAnswer, SingleSignOn
from policies.validation.backoffice.inputs import of_path
from policies.validation.bodies import read_fields

_ID: Final = of_path("company_id")
_BACK: Final = "session/company.html"
_ROLES: Final = tuple(each.value for each in Role)


def door_pages(room: Panel, sign_on: SingleSignOn, context: PageContext) -> Sequence[Page]:
    """Return the pages before the sign-in."""
    panel = Pages("", context, is_open=True, fails=FAILS, priority=Priority.STRANGERS)

    @panel.view("/login/company", "sign_in_company", None)
    async def ask(visit: Visit) -> Result:
        """Ask for the company, by its short name or an e-mail address."""
        if visit.is_foreign:
            to = own_path(visit.address)
            return Shown(template="session/continue.html", data={"next": to})
        await begin_browser(room, visit)
        return Shown(template=_BACK, data={"next": wanted_page(visit)})

    @panel.form("/login/company", "sign_in_company_go", None, shows=ask)
    async def leave(visit: Visit) -> Result:
        """Go to the company's provider."""
        async with within_quota(room, visit, "sign_in"):
            again = bool(visit.form["again"])
            departure = await sign_on.begin(visit.form["company"], wanted_page(visit), again=again)
        visit.cookies.append(departure.cookie)
        # A page, not a redirect: the policy of our forms lets them lead to pages of ours alone.
        data = {"to": departure.url}
        return Shown(template="session/company_leave.html", data=data, is_secret=True)

    @panel.view("/login/company/{company_id}/callback", "sign_in_company_back", None)
    async def come_back(visit: Visit) -> Result:
        """
        Take what the provider sends.

        Cookies of ours that are SameSite=Strict come with a page of ours alone: a browser that
        comes from the provider gets one, which goes on by itself.
        """
        if visit.is_foreign:
            to = own_path(visit.address)
            return Shown(template="session/company_back.html", data={"to": to}, is_secret=True)
        if not visit.query("state"):
            return Redirect(f"{HOME}/login/company")
        answer = ProviderAnswer(
            company_id=visit.parameter("company_id"),
            code=visit.query("code"),
            state=visit.query("state"),
            issuer=visit.query("iss"),
            error=visit.query("error"),
        )
        visit.cookies.append(sign_on.attempts.taken)
        try:
            async with within_quota(room, visit, "sign_in"):
                proof, to = await sign_on.finish(answer, visit.call.asked.headers)
                view = await room.sessions.login_by_issuer(visit.browser, proof, visit.client)
        except ServiceError as problem:
            await begin_browser(room, visit)
            # not that of the answer, which has a code in it
            visit.address, visit.problem = f"{HOME}/login/company", problem
            return Shown(template=_BACK, data={"next": HOME}, status=problem.error.status)
        visit.cookies.extend(room.responses.cookies(view, visit.client))
        return go_on_signed_in(view, own_path(to), room.responses.factor_roles)

    return panel.pages


def pages(
    providers: IdentityProviders,
    sign_on: SingleSignOn,
    companies: Companies,
    people: Callable[[str], Awaitable[Sequence[User]]],
    context: PageContext,
) -> Sequence[Page]:
    """Return the page of a company's provider; ``people`` lists the users of a company alone."""
    panel, path = Pages("/companies", context), "/{company_id}/single-sign-on"

    @panel.view(path, "single_sign_on", providers.get)
    async def one(visit: Visit) -> Result:
        """Show the identity provider of a company, and the form that sets it."""
        who = panel.staff(visit)
        company = await companies.get(who, _ID.read(visit.call.asked))
        data = {
            "company": company,
            "provider": await _found(providers, visit, company.id, panel),
            "callback": sign_on.callback(company.id),
            "logout": sign_on.logout_address(company.id),
            "people": {each.id: each.email for each in await people(company.id)},
            "roles": _ROLES,
            "may_set": panel.may(visit, providers.set),
        }
        return Shown(template="companies/single_sign_on.html", data=data)

    @panel.form(path, "single_sign_on_set", providers.set, shows=one)
    async def set_provider(visit: Visit) -> Result:
        """Order the identity provider of a company."""
        company_id = _ID.read(visit.call.asked)
        wanted = read_fields(NewIdentityProvider, _typed(visit))
        return _ordered(await providers.set(panel.staff(visit), company_id, wanted), company_id)

    @panel.form(f"{path}/remove", "single_sign_on_remove", providers.remove, shows=one)
    async def remove(visit: Visit) -> Result:
        """Order its removal."""
        company_id = _ID.read(visit.call.asked)
        return _ordered(await providers.remove(panel.staff(visit), company_id), company_id)

    return panel.pages


async def _found(
    providers: IdentityProviders, visit: Visit, company_id: str, panel: Pages
) -> IdentityProvider | None:
    try:
        return await providers.get(panel.staff(visit), company_id)
    except ServiceError as problem:
        if problem.error is not NOT_FOUND:
            raise
        return None


def _ordered(done: IdentityProvider | Approval, company_id: str) -> Redirect:
    return go_on(done, f"{HOME}/companies/{company_id}/single-sign-on")


def _typed(visit: Visit) -> Mapping[str, object]:
    """Read the form: lists are typed with blanks, the mapping a line for each value."""
    form = visit.form
    return {
        "short_name": form["short_name"],
        "domains": form["domains"].split(),
        "issuer": form["issuer"],
        "client_id": form["client_id"],
        "client_secret": form["client_secret"],
        "scopes": form["scopes"].split(),
        "claim": form["claim"],
        "mapping": [_pair(line) for line in form["mapping"].splitlines() if line.strip()],
        "factor_acr": form["factor_acr"].split(),
        "factor_amr": form["factor_amr"].split(),
        "break_glass": list(form.all("break_glass")),
    }


def _pair(line: str) -> Mapping[str, str]:
    """Read ``value = role``; the value itself may have an equals sign."""
    value, mark, role = line.rpartition("=")
    if not mark or role.strip() not in _ROLES:
        raise ServiceError(VALIDATION_FAILED, "mapping_form", field="mapping")
    return {"value": value.strip(), "role": role.strip()}
