"""Pages that call a service: what is read from its methods, and who calls it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.accounts.model import AccountSearch, Name, NamesRequest, OwnedAccount, RecordKind
from gateway.accounts.searches import ACCOUNTS
from gateway.core import errors
from gateway.core.access import Staff, StaffOf, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.calls import RawRequest
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Role
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import SESSION_REQUIRED
from gateway.core.windows import Listed, Paging
from gateway.http.panel.pages.kit import CHOICES, PageContext, Pages, called, part
from gateway.http.panel.pages.page import Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.identity.model import UserStanding
from gateway.payouts.documents import Orderer
from policies.validation.backoffice import inputs
from tests.unit.gateway.http.panel.pages.visit import visit
from tests.world.people import SISTER, account, somebody
from tests.world.standing import NOON, Clock

LATER = 9


class Notes:
    @requires(Area.STOP, Action.READ)
    async def page(self, who: Staff) -> str:
        return who.acting.actor

    @requires(Area.STOP, Action.READ)
    async def search(self, _who: Staff, paging: Paging) -> int:
        if paging.page == LATER:
            raise StoreUnavailable
        return paging.page

    @requires(Area.STOP, Action.WRITE)
    async def create(self, _who: Staff) -> None:
        raise RuleViolation(reason="text_form", field="text")


class Known:
    """Accounts of a store that is away where there are none."""

    def __init__(self, accounts: Sequence[Account]) -> None:
        self.accounts = accounts

    @requires(Area.ACCOUNT, Action.READ)
    async def page(self, _who: Staff, wanted: AccountSearch) -> Listed[OwnedAccount]:
        if not self.accounts:
            raise StoreUnavailable
        owned = [OwnedAccount(each, "Padaria") for each in self.accounts]
        return Listed(items=owned, paging=wanted.paging, total=len(owned))

    @requires(Area.ACCOUNT, Action.READ)
    async def names(self, _who: Staff, wanted: NamesRequest) -> list[Name]:
        if not self.accounts:
            raise StoreUnavailable
        return [Name(RecordKind.ACCOUNT, each, f"Name of {each}") for each in wanted.ids]


class Register:
    @requires(Area.USER, Action.READ)
    async def page(self, _who: Staff, paging: Paging) -> Listed[UserStanding]:
        person = UserStanding(
            id="u1",
            email="ana@example.com",
            name="Ana",
            roles=["viewer"],
            companies=[],
            state="active",
            has_factor=True,
            created_at=NOON,
            updated_at=NOON,
            last_sign_in_at=None,
            locked=False,
            locked_until=None,
        )
        return Listed(items=[person], paging=paging, total=1)


def context(*accounts: Account) -> PageContext:
    """Return what pages share, with these accounts to be found."""

    async def find(wanted: tuple[str, CompanyScope]) -> Account | None:
        return next((each for each in accounts if each.id == wanted[0]), None)

    known, register = Known(accounts), Register()

    async def people(who: Staff) -> Sequence[UserStanding]:
        return (await register.page(who, CHOICES)).items

    async def nothing(*_asked: object) -> Sequence[Any]:
        return ()

    return PageContext(
        staff=StaffOf(Clock().now, frozenset()),
        find=find,
        account=nothing,
        accounts=lambda who: known.page(who, AccountSearch(CHOICES)),
        banks=nothing,
        names=lambda who, ids: known.names(who, NamesRequest(list(ids))),
        people=people,
        stops=nothing,
    )


def panel() -> Pages:
    notes, made = Notes(), Pages("/notes", context())

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


async def test_a_page_requires_the_right_of_the_method_it_calls():
    shown, form = panel().pages

    assert (shown.path, shown.name, shown.summary, shown.does) == (
        "/notes",
        "notes",
        "Show them.",
        None,
    )
    assert (form.summary, form.shows) == ("Write one.", shown.shows)
    assert (str(shown.needs), str(form.needs)) == ("stop:read", "stop:write")


async def test_a_page_calls_its_service_as_the_signed_in_user():
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


async def test_a_list_is_searched_by_its_query_and_shows_its_failure():
    made, notes = Pages("/notes", context()), Notes()
    takes = inputs.PAGE

    @made.list("", "notes", notes.search, takes=takes, template="list.html", part="_list.html")
    async def listed(_visit: Visit) -> dict[str, object]:
        """List them."""
        return {"more": True}

    (page,) = made.pages
    shown = [await listed(asking(page=text)) for text in ("3", str(LATER), "0")]

    assert (page.summary, page.name) == ("List them.", "notes")
    assert all(isinstance(each, Shown) and each.data["more"] for each in shown)
    found = [each.data["found"] for each in shown if isinstance(each, Shown)]
    assert found[0].data == 3
    assert [each.problem and each.problem.error.code for each in found] == [
        None,
        errors.STORE_UNAVAILABLE.code,
        "VALIDATION_FAILED",
    ]


def asking(**query: str) -> Visit:
    made = of(Role.VIEWER)
    made.call.asked = RawRequest(path={}, query={name: [each] for name, each in query.items()})
    return made


async def test_an_account_is_looked_up_once_and_only_in_scope():
    known = account()
    made = Pages("", context(known))
    here, nowhere = of(Role.VIEWER), of(Role.VIEWER)
    here.call.asked = RawRequest(path={"account_id": known.id.upper()})
    nowhere.call.asked = RawRequest(path={"account_id": SISTER})

    assert await made.account(here) is known
    assert here.accounts == {known.id: known}
    assert here.call.account is known
    with pytest.raises(ServiceError) as absent:
        await made.account(nowhere)
    with pytest.raises(ServiceError) as malformed:
        await made.account(nowhere, "another")
    assert absent.value.error is errors.ACCOUNT_NOT_FOUND
    assert malformed.value.error is errors.IDENTIFIER_INVALID


async def test_an_unexpected_error_of_a_part_is_an_internal_error():
    async def broken() -> None:
        raise KeyError

    told = await part(broken())

    assert told.problem is not None
    assert told.problem.error is errors.INTERNAL
    assert not told.is_forbidden


async def test_unavailable_accounts_and_names_are_left_empty():
    made, away = Pages("/notes", context(account())), Pages("/notes", context())

    assert await away.accounts(of(Role.VIEWER)) == ()
    assert await away.names(of(Role.VIEWER), ["a"]) == {}
    (shown,) = await made.accounts(of(Role.VIEWER))
    assert (shown.id, shown.company.name) == (account().id, "Padaria")
    assert await made.names(of(Role.VIEWER), ["b", "", "a", "b"]) == {
        "a": "Name of a",
        "b": "Name of b",
    }


def test_people_of_one_name_are_distinguished_by_address():
    one, other = Orderer("u1", "Ana", "ana@example.com"), Orderer("u2", "Ana", "a@example.com")

    assert called([one])["u1"] == "Ana"
    assert called([one, other])["ana@example.com"] == "Ana (ana@example.com)"


async def test_names_of_users_are_shown_to_readers_of_users_alone():
    made = Pages("/notes", context())

    assert await made.people(of(Role.SECURITY)) == {"u1": "Ana", "ana@example.com": "Ana"}
    assert await made.people(of(Role.VIEWER)) == {}


async def test_a_list_passes_documents_to_the_template():
    """A template must not get the sealed parts of an account."""
    made = Pages("/accounts", context())

    @made.list("", "accounts", Known([account()]).page, takes=ACCOUNTS, template="list.html")
    async def listed(_visit: Visit) -> dict[str, object]:
        """List them."""
        return {}

    said = await listed(of(Role.VIEWER))

    assert isinstance(said, Shown)
    (shown,) = said.data["found"].data.items  # type: ignore[attr-defined]
    assert not hasattr(shown, "sealed_credentials")
    assert shown.id == account().id
