"""Names of accounts, companies and credentials."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.domain.backoffice.lists import NamedRecord, RecordKind
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.identity.rights import Role
from gateway.http.backoffice.administration.names import NamesBody, Naming, _names
from gateway.http.backoffice.callers import BackOfficeCaller
from tests.unit.gateway.http.backoffice.registers import taken
from tests.unit.gateway.http.backoffice.surface import STAFF, line
from tests.unit.refusals import refusal_of
from tests.world.people import somebody


def test_the_row_is_the_one_decided():
    assert line("names") == ("POST", "/names/lookup", "account:read", 200)


def test_no_more_ids_than_a_page_has():
    def read(count: int) -> NamesBody:
        body = json.dumps({"ids": ["a"] * count}).encode()
        found: NamesBody = taken("names", body=body, content_type="application/json")
        return found

    assert read(200).ids == ["a"] * 200
    assert refusal_of(lambda: read(201)) is VALIDATION_FAILED


class _Knows:
    """Services that know an account and a credential, whatever is asked."""

    def by(self, *_caller: object) -> Any:
        return self

    @property
    def visible(self) -> Any:
        return self

    async def names(self, _ids: object) -> list[NamedRecord]:
        return [
            NamedRecord(RecordKind.ACCOUNT, "a", "Matriz"),
            NamedRecord(RecordKind.CREDENTIAL, "cli_x", "ERP"),
        ]


@pytest.mark.parametrize(
    ("role", "seen"), [(Role.VIEWER, ["Matriz"]), (Role.SECURITY, ["Matriz", "ERP"])]
)
async def test_a_credential_is_named_to_who_may_read_credentials(role: Role, seen: list[str]):
    who = BackOfficeCaller(somebody(role), STAFF.acting, STAFF.scope)
    does: Any = _Knows()

    found = await Naming(does).find(who, NamesBody(ids=["a", "cli_x"]))

    assert [each["name"] for each in _names(found, who)["data"]] == seen
