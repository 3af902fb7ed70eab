"""Routes that run a service method: what is read from it, and how its result is told."""

from datetime import datetime

import msgspec
import pytest

from gateway.core.access import Staff, requires
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.calls import RawRequest
from gateway.domain.requests.schemas import Moment
from gateway.http.backoffice.routing import Routes
from gateway.http.route import Answer
from gateway.operations.bank.pages import Listed
from gateway.operations.kernel.audit_context import RuleViolation
from tests.unit.gateway.http.backoffice.surface import STAFF
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
        """List all."""
        return [Note("a")]

    @requires(Area.STOP, Action.WRITE)
    async def create(self, _who: Staff, wanted: NoteRequest, _at: datetime = NOON) -> Note:
        """Write one."""
        if not wanted.text.isalpha():
            raise RuleViolation(reason="text_form", field="text")
        return Note(wanted.text)

    @requires(Area.STOP, Action.WRITE, fresh_factor=True)
    async def end(self, who: Staff, note_id: str) -> None:
        """End one."""
        assert (who.acting, note_id) == (STAFF.acting, ID)


def routes() -> Routes:
    made, notes = Routes(), Notes()
    made.get("/notes", "notes", notes.page)
    made.post("/notes", "note_create", notes.create, raises=())
    made.delete("/notes/{note_id}", "note_end", notes.end, raises=(NOT_FOUND,))
    return made


def test_a_route_is_what_its_method_says():
    page, create = routes().staff
    (end,) = routes().fresh

    assert (page.name, page.summary) == ("backoffice.notes", "List them.")
    assert [str(row.needs) for row in (page, create, end)] == [
        "stop:read",
        "stop:write",
        "stop:write",
    ]
    assert [row.status for row in (page, create, end)] == [200, 201, 204]
    assert page.document.__name__ == "NoteList"
    assert (create.document, create.takes.body, end.document) == (Note, NoteRequest, type(None))
    assert [each.name for each in page.takes.parameters] == ["page", "limit"]


async def test_a_result_is_told_as_a_document():
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


async def test_a_broken_rule_is_told_by_field_and_a_name_without_a_form_is_nobodys():
    _, create = routes().staff
    (end,) = routes().fresh
    body = RawRequest(path={}, body=b'{"text": "1"}', content_type="application/json")

    with pytest.raises(ServiceError) as broken:
        await create.serve(STAFF, body)
    with pytest.raises(ServiceError) as absent:
        await end.serve(STAFF, RawRequest(path={"note_id": "1"}))

    assert (broken.value.error.code, broken.value.field) == ("VALIDATION_FAILED", "text")
    assert absent.value.error is NOT_FOUND


def test_a_method_without_a_right_is_no_route():
    async def anything(_who: Staff, _paging: Paging) -> None: ...

    with pytest.raises(AttributeError):
        Routes().get("/notes", "notes", anything)
    assert Right(Area.STOP, Action.READ) == routes().staff[0].needs
