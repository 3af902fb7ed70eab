"""What accounts, companies and credentials are called, many by one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

import msgspec

from gateway.domain.backoffice.lists import NamedRecord, RecordKind
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import WITH_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.resources.documents import Total
from gateway.http.route import Row, route
from gateway.operations.backoffice.scoped_records import AdminServices
from policies.validation.bodies import body

_MOST = 200
"""Of one call: a page of a hundred lines, each of an account and a credential."""
_CREDENTIALS = reading(Area.CREDENTIAL)

Id = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=64, examples=["0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"]),
]


class NamesBody(msgspec.Struct):
    """Ids of accounts and companies, client ids of credentials."""

    ids: Annotated[list[Id], msgspec.Meta(max_length=_MOST)]


class NameDocument(TypedDict):
    """A record as people call it; ``id`` of a credential is its client id."""

    kind: RecordKind
    id: str
    name: str


class NameList(TypedDict):
    """Those that you may see, in any order; another id is left out."""

    data: list[NameDocument]
    meta: Total


@dataclass(frozen=True, slots=True)
class Naming:
    """Finds names within the companies that a person sees."""

    services: AdminServices

    async def find(self, who: BackOfficeCaller, asked: NamesBody) -> Sequence[NamedRecord]:
        """Return them; credentials to who may read credentials."""
        visible = self.services.by(who.acting, who.scope).visible
        found = await visible.names(frozenset(asked.ids))
        sees_all = who.person.may(_CREDENTIALS)
        return [each for each in found if sees_all or each.kind is not RecordKind.CREDENTIAL]


def name_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "POST",
            "/names/lookup",
            name="backoffice.names",
            summary="Read the names of accounts, companies and credentials by their ids.",
            needs=reading(Area.ACCOUNT),
            limits=WITH_BODY,
            takes=body(NamesBody),
            runs=Naming(services).find,
            shows=_names,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _names(found: Sequence[NamedRecord], _who: BackOfficeCaller) -> NameList:
    data: list[NameDocument] = [
        {"kind": each.kind, "id": each.id, "name": each.name} for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}
