"""Pages that call a service: what is read from its methods, and who calls it."""

from dataclasses import replace

import pytest

from gateway.core.access import Staff, StaffOf, requires
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import SESSION_REQUIRED
from gateway.domain.identity.rights import Area, Role
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.kit import Pages
from gateway.http.panel.pages.page import Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.operations.kernel.audit_context import RuleViolation
from tests.unit.gateway.http.panel.pages.visit import visit
from tests.world.people import somebody
from tests.world.standing import Clock


class Notes:
    @requires(Area.STOP, Action.READ)
    async def page(self, who: Staff) -> str:
        return who.acting.actor

    @requires(Area.STOP, Action.WRITE)
    async def create(self, _who: Staff) -> None:
        raise RuleViolation(reason="text_form", field="text")


def panel() -> Pages:
    notes, made = Notes(), Pages("/notes", StaffOf(Clock().now, frozenset()))

    @made.view("", "notes", notes.page)
    async def listed(visit: Visit) -> Result:
        """Show them."""
        data = {"by": await notes.page(made.staff(visit)), "may": made.may(visit, notes.create)}
        return Shown(template="", data=data)

    @made.form("", "note_create", notes.create, shows=listed)
    async def create(visit: Visit) -> Result:
        """
        Write one.

        More of it.
        """
        await notes.create(made.staff(visit))
        return Redirect("/panel/notes")

    return made


def of(role: Role) -> Visit:
    return replace(visit(), person=somebody(role))


async def test_a_page_is_opened_by_the_right_of_the_method_it_calls():
    shown, form = panel().pages

    assert (shown.path, shown.name, shown.summary, shown.does) == (
        "/notes",
        "notes",
        "Show them.",
        None,
    )
    assert (form.summary, form.shows) == ("Write one.", shown.shows)
    assert (str(shown.needs), str(form.needs)) == ("stop:read", "stop:write")


async def test_a_service_is_called_by_who_looks():
    shown, form = panel().pages
    said = await shown.shows(of(Role.VIEWER))

    assert isinstance(said, Shown)
    assert said.data == {"by": somebody(Role.VIEWER).actor, "may": False}
    assert form.does is not None
    for who, code in ((Role.VIEWER, "FORBIDDEN"), (Role.OPERATOR, "VALIDATION_FAILED")):
        with pytest.raises(ServiceError) as refused:
            await form.does(of(who))
        assert refused.value.error.code == code
    with pytest.raises(ServiceError) as unknown:
        await shown.shows(visit())
    assert unknown.value.error is SESSION_REQUIRED
