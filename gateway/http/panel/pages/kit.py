"""Declares the pages of one noun, which call its service."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NotRequired, Protocol, TypedDict, TypeVar, Unpack

from gateway.core import errors, strict
from gateway.core.access import Staff, StaffOf, requirement_of
from gateway.core.account import Account
from gateway.core.approvals import Approval
from gateway.core.calls import Input, RawRequest
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.core.user_errors import SESSION_REQUIRED
from gateway.core.windows import LARGEST_LIMIT, Listed, Paging
from gateway.http.common import STORE_FAILS, Fails
from gateway.http.panel.pages.formats import day_begins, day_ends
from gateway.http.panel.pages.page import HTML, Page, Redirect, Result, Shown, Shows
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.http.rendering import dumps, refusal_of
from gateway.http.routing import explained

Value = TypeVar("Value")
_FORBIDDEN = 403
_JSON = "application/json"
CHOICES: Final = Paging(page=1, limit=LARGEST_LIMIT)
"""What a field offers to choose from: one page, the largest."""

_AT_ACCOUNT: Final = {
    "may_keys": Right(Area.PIX_KEY, Action.READ),
    "may_charges": Right(Area.QRCODE, Action.READ),
    "may_received": Right(Area.TRANSACTION, Action.READ),
    "may_payouts": Right(Area.PAYOUT, Action.READ),
    "may_stop": Right(Area.STOP, Action.WRITE),
    "may_charge": Right(Area.QRCODE, Action.WRITE),
    "may_pay": Right(Area.PAYOUT, Action.WRITE),
}
"""What a person may do at an account, for what is left out of a page."""


class Named(Protocol):
    """A record with a name."""

    @property
    def id(self) -> str:
        """Id of the record."""

    @property
    def name(self) -> str:
        """Display name."""


class Actor(Named, Protocol):
    """An actor; no credential has an ``email``."""

    @property
    def email(self) -> str:
        """Distinguishes users of the same name."""


class KnownAccount(Named, Protocol):
    """A selectable account, as its reader sees it."""

    @property
    def company(self) -> Named:
        """Its owner."""

    @property
    def active(self) -> bool:
        """Whether it is in use."""

    @property
    def verified(self) -> bool:
        """Whether it was verified."""

    @property
    def provider(self) -> str:
        """The bank behind it; empty for none."""

    @property
    def branch(self) -> str:
        """Its branch."""

    @property
    def account(self) -> str:
        """Its number at the branch."""


class NumberedBank(Protocol):
    """A selectable bank, by its numbers."""

    @property
    def compe(self) -> str:
        """The number of three digits."""

    @property
    def ispb(self) -> str:
        """The number of eight digits."""


class InForce(Protocol):
    """A stop in force."""

    @property
    def subject(self) -> str:
        """Its subject."""

    def concerns(
        self, company_id: str, account_id: str = "", provider: str = "", client_id: str = ""
    ) -> bool:
        """Return whether it stops a company, or one of its accounts at a bank, for a credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Generic[Value]):
    """
    A service's result for a part of a page, or its refusal.

    Attributes:
        problem: None where nothing was refused.
    """

    data: Value | None = None
    problem: ServiceError | None = None

    @property
    def is_forbidden(self) -> bool:
        """Return whether the user lacks the right; the part is then left out."""
        return self.problem is not None and self.problem.error.status == _FORBIDDEN


async def part(asked: Awaitable[Value], fails: Fails = STORE_FAILS) -> Part[Value]:
    """Read a part of a page that may fail independently of the others."""
    try:
        with explained():
            return Part(data=await asked)
    except Exception as problem:  # noqa: BLE001 - one that nobody declared is logged
        return Part(problem=refusal_of(problem, fails))


def called(people: Sequence[Actor]) -> Mapping[str, str]:
    """
    Return display names, by id and by address.

    Users of the same name are distinguished by address.
    """
    many = Counter(each.name for each in people)
    return {
        known: each.name if many[each.name] == 1 else f"{each.name} ({each.email})"
        for each in people
        for known in (each.id, each.email)
    }


def typed(
    takes: Input[Value], fields: Mapping[str, object], path: Mapping[str, str] | None = None
) -> Value:
    """Parse a form's text as the back office parses a document."""
    return takes.read(RawRequest(path=path or {}, body=dumps(fields), content_type=_JSON))


def go_on(made: object, to: str) -> Redirect:
    """Redirect: to the order where a second person has to agree."""
    return Redirect(f"{HOME}/approvals/{made.id}" if isinstance(made, Approval) else to)


def page_asked(visit: Visit) -> int:
    """Read the page number; anything invalid is the first page."""
    text = visit.query("page")
    is_number = text.isascii() and text.isdigit() and len(text) < len("1000000")
    return max(1, int(text)) if is_number else 1


def chips(visit: Visit, names: Mapping[str, str]) -> Sequence[tuple[str, str, str]]:
    """
    Return each filter that is on: its name, its value, and the first page's address without it.

    Args:
        visit: The page request with the filters in its address.
        names: The names for people.
    """
    return [
        (word, visit.query(name), visit.with_query(page="", before="", **{name: ""}))
        for name, word in names.items()
        if visit.query(name)
    ]


def days_asked(visit: Visit) -> Mapping[str, str]:
    """Return the instants of the filter's days in São Paulo, both included."""
    return {
        "since": day_begins(visit.query("init")),
        "until": day_ends(visit.query("ends")),
    }


class Listing(TypedDict):
    """
    Declaration of a list: its search and its rendering.

    Attributes:
        takes: How the search is read: that of the same list in the back office.
        template, part: See ``Shown``.
        asks: Returns the values of the query as ``takes`` reads them, where people type others.
    """

    takes: Input[Any]
    template: str
    part: NotRequired[str]
    asks: NotRequired[Callable[[Visit], Mapping[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """
    Services that the pages of every noun share.

    Attributes:
        staff: Converts the signed-in user to the actor.
        find: Finds an account, in any state, in a company scope.
        account: Reads an account as every page of it shows it.
        accounts: Lists accounts to choose from.
        banks: Lists banks to choose from.
        names: Names records by their ids.
        people: Lists users, for their names.
        stops: Lists stops in force, shown where people pay.
    """

    staff: StaffOf
    find: Callable[[tuple[str, CompanyScope]], Awaitable[Account | None]]
    account: Callable[[Staff, Account], Awaitable[object]]
    accounts: Callable[[Staff], Awaitable[object]]
    banks: Callable[[Staff], Awaitable[Sequence[NumberedBank]]]
    names: Callable[[Staff, Sequence[str]], Awaitable[Sequence[Named]]]
    people: Callable[[Staff], Awaitable[Sequence[Actor]]]
    stops: Callable[[Staff], Awaitable[Sequence[InForce]]]


class Pages:
    """
    Pages below one path; the first line of each function's docstring is its summary.

    A page is opened by the right that a service method ``requires``: the method that it calls, or
    that its form will call.

    Attributes:
        pages: Those declared so far.
    """

    def __init__(
        self,
        prefix: str,
        context: PageContext,
        *,
        is_open: bool = False,
        fails: Fails = STORE_FAILS,
        priority: Priority = Priority.PAGES,
    ) -> None:
        """
        Declare none; they stand before the sign-in if ``is_open``, and fail as ``fails``.

        Each may have another ``priority``.
        """
        self._prefix = prefix
        self._context = context
        self._is_open = is_open
        self._fails = fails
        self._priority = priority
        self.pages: list[Page] = []

    def staff(self, visit: Visit) -> Staff:
        """Return the actor of the visit."""
        if visit.person is None:
            raise ServiceError(SESSION_REQUIRED, "missing")
        return self._context.staff(visit.person)

    async def account(self, visit: Visit, named: str | None = None) -> Account:
        """
        Return the account of the path, or one that is ``named`` by its id.

        Raises:
            ServiceError: ``SVC.ACC.001`` when there is none in the companies of who looks;
                ``SVC.VAL.010`` for an invalid id.
        """
        try:
            account_id = strict.uuid_text(visit.parameter("account_id") if named is None else named)
        except ValueError as problem:
            raise ServiceError(
                errors.IDENTIFIER_INVALID, "uuid_form", field="account_id"
            ) from problem
        if account_id not in visit.accounts:
            found = await self._context.find((account_id, self.staff(visit).scope))
            if found is None:
                raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
            visit.accounts[account_id] = visit.call.account = found
        return visit.accounts[account_id]

    async def account_data(self, visit: Visit) -> Mapping[str, object]:
        """
        Return the data of every page of the path's account: its record, and the person's rights.

        Raises:
            ServiceError: as ``account`` does.
        """
        who, account = self.staff(visit), await self.account(visit)
        found = await self._context.account(who, account)
        rights = {name: visit.may(right) for name, right in _AT_ACCOUNT.items()}
        concerns = account.company_id, account.id, account.provider
        stops = [each for each in await self.stops(visit) if each.concerns(*concerns)]
        return {"account": shown(found, who), "stops": stops, **rights}

    async def stops(self, visit: Visit) -> Sequence[InForce]:
        """Return the stops in force, at most a hundred; none if unreadable."""
        return (await part(self._context.stops(self.staff(visit)))).data or ()

    async def choices(self, visit: Visit) -> Part[Listed[KnownAccount]]:
        """Read accounts to choose from, at most a hundred."""
        who = self.staff(visit)
        found: Part[Any] = await part(self._context.accounts(who))
        return replace(found, data=shown(found.data, who))

    async def accounts(self, visit: Visit) -> Sequence[KnownAccount]:
        """Return selectable accounts, at most a hundred; none if unreadable."""
        found = await self.choices(visit)
        return found.data.items if found.data else ()

    async def people(self, visit: Visit) -> Mapping[str, str]:
        """Return the users' names; none if unreadable."""
        return called((await part(self._context.people(self.staff(visit)))).data or ())

    async def banks(self, visit: Visit) -> Sequence[NumberedBank]:
        """Return selectable banks; a bank's number can also be typed."""
        return (await part(self._context.banks(self.staff(visit)))).data or ()

    async def bank(self, visit: Visit, number: str) -> NumberedBank | None:
        """Return the bank with a number; None for an unlisted one."""
        listed = await self.banks(visit) if number else ()
        return next((each for each in listed if number in {each.compe, each.ispb}), None)

    async def names(self, visit: Visit, ids: Iterable[str]) -> Mapping[str, str]:
        """Return the names of accounts, companies and credentials; ids alone where unknown."""
        wanted = sorted({each for each in ids if each})
        found = await part(self._context.names(self.staff(visit), wanted))
        return {each.id: each.name for each in found.data or ()}

    async def find(
        self,
        visit: Visit,
        opens: Callable[..., Awaitable[Value]],
        takes: Input[Any],
        given: Mapping[str, str],
    ) -> Part[Value]:
        """Call a search with the values of a query; empty ones are left out."""
        query = {name: [value] for name, value in given.items() if value}
        asked = RawRequest(path=visit.call.asked.path, query=query)
        return await part(_found(opens, self.staff(visit), takes, asked))

    def may(self, visit: Visit, method: Callable[..., Any]) -> bool:
        """Return whether the user has the rights that a service method requires."""
        return all(visit.may(right) for right in requirement_of(method).rights)

    def view(  # noqa: PLR0913 - the cells of a page
        self,
        path: str,
        name: str,
        opens: Callable[..., Any] | None,
        *,
        fails: Fails | None = None,
        media: Sequence[str] = HTML,
        priority: Priority | None = None,
    ) -> Callable[[Shows], Shows]:
        """
        Declare a page that only shows.

        Args:
            path: Below that of the noun.
            name: Without the surface's.
            opens: Everybody who is signed in may open it where this is None.
            fails: The codes of exceptions of ports, where they are others.
            media: The media types of a file, where it hands one out.
            priority: Its class under overload, where it is not that of the others.
        """
        return self._declare(path, name, opens, fails, media=media, priority=priority)

    def form(  # noqa: PLR0913 - the cells of a page
        self,
        path: str,
        name: str,
        opens: Callable[..., Any] | None,
        *,
        shows: Shows,
        fails: Fails | None = None,
        priority: Priority | None = None,
        file_bytes: int = 0,
    ) -> Callable[[Shows], Shows]:
        """
        Declare a form's action; the page ``shows`` is shown again where it is refused.

        With ``file_bytes``, the form has a file, of at most so many bytes.
        """
        return self._declare(
            path, name, opens, fails, held_by=shows, priority=priority, file_bytes=file_bytes
        )

    def list(
        self, path: str, name: str, opens: Callable[..., Awaitable[Any]], **how: Unpack[Listing]
    ) -> Callable[[Callable[[Visit], Awaitable[Mapping[str, object]]]], Shows]:
        """
        Declare a list: ``opens`` is called with the search that the address holds.

        The template is given what was ``found``, a ``Part`` of what ``shown`` returns, beside what
        the function returns.
        """

        def declare(more: Callable[[Visit], Awaitable[Mapping[str, object]]]) -> Shows:
            async def shows(visit: Visit) -> Result:
                found = await self.find(visit, opens, how["takes"], _given(visit, how))
                found = replace(found, data=shown(found.data, self.staff(visit)))
                data = {"found": found, **await more(visit)}
                return Shown(template=how["template"], part=how.get("part", ""), data=data)

            shows.__doc__ = more.__doc__
            return self._declare(path, name, opens, None)(shows)

        return declare

    def _declare(  # noqa: PLR0913 - the cells of a page
        self,
        path: str,
        name: str,
        opens: Callable[..., Any] | None,
        declared: Fails | None,
        *,
        held_by: Shows | None = None,
        media: Sequence[str] = HTML,
        priority: Priority | None = None,
        file_bytes: int = 0,
    ) -> Callable[[Shows], Shows]:
        fails = self._fails if declared is None else declared

        def declare(run: Shows) -> Shows:
            async def explaining(visit: Visit) -> Result:
                try:
                    with explained():
                        return await run(visit)
                except tuple(fails) as problem:
                    raise refusal_of(problem, fails) from problem

            self.pages.append(
                Page(
                    path=self._prefix + path,
                    name=name,
                    summary=(inspect.getdoc(run) or "").partition("\n")[0],
                    needs=None if opens is None else requirement_of(opens).right,
                    shows=held_by or explaining,
                    does=explaining if held_by else None,
                    is_open=self._is_open,
                    media=media,
                    priority=self._priority if priority is None else priority,
                    file_bytes=file_bytes,
                )
            )
            return explaining

        return declare


def _given(visit: Visit, how: Listing) -> Mapping[str, str]:
    """Return the query of the address, as the back office takes it."""
    if "asks" in how:
        return how["asks"](visit)
    return {each.name: visit.query(each.name) for each in how["takes"].parameters}


async def _found(
    opens: Callable[..., Awaitable[Value]], who: Staff, takes: Input[Any], asked: RawRequest
) -> Value:
    return await opens(who, takes.read(asked))


def shown(found: Any, reader: Staff) -> Any:  # noqa: ANN401 - the result of any method
    """Replace values with fields hidden from a reader by their documents."""
    if isinstance(found, Listed):
        return replace(found, items=[shown(each, reader) for each in found.items])
    return found.to_document(reader) if hasattr(found, "to_document") else found
