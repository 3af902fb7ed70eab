"""Routes that run a service method: reading its input and rendering its result."""

from dataclasses import replace
from datetime import datetime

import msgspec
import pytest
from aiohttp import hdrs

from gateway.core import errors
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.schemas import Moment
from gateway.core.user_errors import NOT_FOUND, NOT_POSSIBLE
from gateway.core.versions import Expected
from gateway.core.windows import Listed, Paging
from gateway.http.rendering import dumps
from gateway.http.route import Answer, VersionedAnswer
from gateway.http.routing import Routes, explained, table
from gateway.reports.files import DownloadFile
from tests.unit.gateway.http.surface import OFFICE, STAFF
from tests.unit.refusals import refused
from tests.world.standing import NOON

ID = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b01"


class Note(msgspec.Struct):
    text: str
    at: Moment = NOON


class NoteRequest(msgspec.Struct):
    text: str


class Notes:
    @requires(Area.STOP, Action.READ)
    async def page(self, _who: Staff, paging: Paging) -> Listed[Note]:
        """
        List them.

        More of it.
        """
        return Listed(items=[Note("a")], paging=paging, total=7)

    @requires(Area.STOP, Action.READ)
    async def every(self, _who: Staff) -> list[Note]:
        return [Note("a")]

    @requires(Area.STOP, Action.WRITE)
    async def create(self, _who: Staff, wanted: NoteRequest, _at: datetime = NOON) -> Note:
        if not wanted.text.isalpha():
            raise RuleViolation(reason="text_form", field="text")
        return Note(wanted.text)

    @requires(Area.STOP, Action.WRITE, fresh_factor=True)
    async def end(self, who: Staff, note_id: str) -> None:
        assert (who.acting, note_id) == (STAFF.staff.acting, ID)


def routes() -> Routes:
    made, notes = Routes(), Notes()
    made.get("/notes", "notes", notes.page)
    made.post("/notes", "note_create", notes.create, raises=())
    made.delete("/notes/{note_id}", "note_end", notes.end, raises=(NOT_FOUND,))
    return made


def test_a_route_is_declared_by_its_method():
    page, create = routes().staff
    (end,) = routes().fresh

    assert (page.name, page.summary) == ("backoffice.notes", "List them.")
    assert [str(route.needs) for route in (page, create, end)] == [
        "stop:read",
        "stop:write",
        "stop:write",
    ]
    assert [row.status for row in (page, create, end)] == [200, 201, 204]
    assert page.document.__name__ == "NoteList"
    assert (create.document, create.takes.body, end.document) == (Note, NoteRequest, type(None))
    assert [each.name for each in page.takes.parameters] == ["page", "limit"]


async def test_a_result_is_returned_as_a_document():
    page, create = routes().staff
    (end,) = routes().fresh
    body = RawRequest(path={}, body=b'{"text": "b"}', content_type="application/json")

    listed = await page.serve(STAFF, RawRequest(path={}, query={"limit": ["5"]}))

    assert listed == {
        "data": [{"text": "a", "at": NOON}],
        "meta": {"page": 1, "limit": 5, "total": 7},
    }
    assert await create.serve(STAFF, body) == {"text": "b", "at": NOON}
    assert await end.serve(STAFF, RawRequest(path={"note_id": ID})) == Answer(content=None)


async def test_a_whole_list_has_a_total():
    made = Routes()
    made.get("/every", "every", Notes().every)
    (every,) = made.staff

    listed = await every.serve(STAFF, RawRequest(path={}))

    assert listed == {"data": [{"text": "a", "at": NOON}], "meta": {"total": 1}}
    assert every.document.__name__ == "NoteList"


async def test_a_broken_rule_names_its_field_and_an_absent_record_is_404():
    _, create = routes().staff
    (end,) = routes().fresh
    body = RawRequest(path={}, body=b'{"text": "1"}', content_type="application/json")

    with pytest.raises(ServiceError) as broken:
        await create.serve(STAFF, body)
    with pytest.raises(ServiceError) as absent:
        await end.serve(STAFF, RawRequest(path={"note_id": "1"}))

    assert (broken.value.error.code, broken.value.field) == ("VALIDATION_FAILED", "text")
    assert absent.value.error is NOT_FOUND


def test_a_method_without_a_right_cannot_be_routed():
    async def anything(_who: Staff, _paging: Paging) -> None: ...

    with pytest.raises(AttributeError):
        Routes().get("/notes", "notes", anything)
    assert Right(Area.STOP, Action.READ) == routes().staff[0].needs


class Sealed(msgspec.Struct, frozen=True):
    text: str
    secret: str = "canary"

    def to_document(self, reader: Staff) -> Note:
        assert reader.acting == STAFF.staff.acting
        return Note(self.text)

    def version(self) -> str:
        return f'"{self.text}"'


class Parcels:
    @requires(Area.STOP, Action.READ)
    async def get(self, _who: Staff, account: Account) -> Sealed:
        return Sealed(account.id)

    @requires(Area.STOP, Action.WRITE, active=True)
    async def change(self, _who: Staff, account: Account, expected: Expected) -> Sealed:
        expected.check(f'"{account.id}"')
        return Sealed("changed")

    @requires(Area.STOP, Action.READ)
    async def page(self, _who: Staff, paging: Paging) -> Listed[Sealed]:
        return Listed(items=[Sealed("a")], paging=paging, total=1)

    @requires(Area.STOP, Action.READ)
    async def raw(self, _who: Staff, paging: Paging) -> Listed[Account]:
        return Listed(items=[OFFICE.account], paging=paging, total=1)


def named(account: Account) -> Note:
    return Note(account.name)


def changed(found: Sealed, _who: object) -> Note:
    return Note(f"{found.text}!")


def parcels() -> Routes:
    made, does = Routes(), Parcels()
    one = "/accounts/{account_id}/parcel"
    made.get(one, "parcel", does.get, version=Sealed.version)
    made.put(one, "parcel_change", does.change, shows=changed, version=Sealed.version)
    made.get("/parcels", "parcels", does.page)
    made.get("/holders", "holders", does.raw, each=named)
    return made


async def test_a_method_gets_the_account_of_the_path_and_returns_its_version():
    (read,), (change,) = parcels().visible, parcels().active
    seen = replace(OFFICE, expected=Expected(frozenset({f'"{OFFICE.account.id}"'})))
    stale = replace(OFFICE, expected=Expected(frozenset({"older"})))
    nothing = RawRequest(path={})

    found = await read.serve(OFFICE, nothing)
    after = await change.serve(seen, nothing)
    with pytest.raises(ServiceError) as refused:
        await change.serve(stale, nothing)

    assert isinstance(found, VersionedAnswer)
    assert isinstance(after, VersionedAnswer)
    assert (found.content, found.headers[hdrs.ETAG]) == (
        Note(OFFICE.account.id),
        f'"{OFFICE.account.id}"',
    )
    assert (after.content, after.headers[hdrs.ETAG]) == (Note("changed!"), '"changed"')
    assert refused.value.error.code == "SVC.GTW.011"
    assert read.tells_version
    assert change.tells_version


async def test_results_with_secrets_are_returned_as_documents():
    listed, holders = parcels().staff
    nothing = RawRequest(path={})

    shown = await listed.serve(STAFF, nothing)
    named_ = await holders.serve(STAFF, nothing)

    assert (shown["data"], named_["data"]) == (  # type: ignore[index]
        [Note("a")],
        [Note(OFFICE.account.name)],
    )
    assert b"canary" not in dumps(shown)  # type: ignore[arg-type]
    assert (listed.document.__name__, holders.document.__name__) == ("NoteList", "NoteList")


def test_a_broken_rule_is_reported_as_a_sentence():
    text = "there is no company 7"

    with pytest.raises(ServiceError) as told, explained():
        raise RuleViolation(text)

    assert told.value.error is NOT_POSSIBLE
    assert told.value.detail == "There is no company 7."


def test_a_wrong_field_is_reported_without_the_typed_text():
    """On the command line the text may be repeated; over HTTP it is not."""
    text = "there is no company 7"

    with pytest.raises(ServiceError) as told, explained():
        raise RuleViolation(text, "company_unknown", field="company_id")

    assert (told.value.reason, told.value.field) == ("company_unknown", "company_id")
    assert told.value.detail == ""


def test_an_existing_record_is_a_conflict():
    text = "it exists already"

    with refused(errors.ALREADY_IN_USE), explained():
        raise RuleViolation(text, "taken")


def test_another_exception_is_passed_on():
    with pytest.raises(KeyError), explained():
        raise KeyError


def test_a_table_is_a_download_without_content_sniffing():
    shown = table("a.csv")(DownloadFile(b"x"), STAFF)

    assert (shown.content, shown.rest) == (b"x", None)
    assert shown.headers["Content-Disposition"] == 'attachment; filename="a.csv"'
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.content_type == "text/csv; charset=utf-8"
