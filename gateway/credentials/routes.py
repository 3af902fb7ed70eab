"""Partners' credentials in the back office."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, TypedDict

from gateway.core import errors
from gateway.core.fields import meaning
from gateway.credentials.model import (
    CredentialCountsDocument,
    CredentialDocument,
    SeenAddress,
)
from gateway.credentials.public_keys import PublicKeys
from gateway.credentials.searches import CREDENTIALS
from gateway.credentials.service import CredentialPage, Credentials
from gateway.http.common import Meter, meter
from gateway.http.gates import StaffCaller
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, TAKEN, Routes
from policies.validation.backoffice import inputs

_CLIENT: Final = {"client_id": inputs.word_of_path("client_id")}
_MAY_WAIT: Final = (*CHANGED, errors.ALREADY_IN_USE)


class CredentialList(TypedDict):
    """The credentials you may see, oldest first; ``counts`` is the number in each state."""

    data: Annotated[list[CredentialDocument], meaning("The rows of this page.")]
    meta: Meter
    counts: CredentialCountsDocument


class SeenAddressList(TypedDict):
    """Up to 50 addresses that showed the right secret, the one used last first."""

    data: Annotated[Sequence[SeenAddress], meaning("The addresses.")]


def routes(credentials: Credentials, keys: PublicKeys) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/credentials/{client_id}"
    office.get(
        "/credentials", "credentials", credentials.page, takes={"wanted": CREDENTIALS}, shows=listed
    )
    office.get(
        one,
        "credential",
        credentials.get,
        takes=_CLIENT,
        version=lambda found: found.version(),
        raises=ABSENT,
    )
    office.post("/credentials", "credential_issue", credentials.issue, raises=TAKEN)
    office.post(
        f"{one}/rotate",
        "credential_rotate",
        credentials.rotate,
        takes=_CLIENT,
        status=OK,
        raises=_MAY_WAIT,
    )
    office.put(
        f"{one}/limits",
        "credential_limits",
        credentials.set_limits,
        takes=_CLIENT,
        raises=_MAY_WAIT,
    )
    office.get(
        f"{one}/limits/proposal",
        "credential_limit_proposal",
        credentials.limit_proposal,
        takes=_CLIENT,
        raises=ABSENT,
    )
    office.put(
        f"{one}/callers",
        "credential_callers",
        credentials.set_callers,
        takes=_CLIENT,
        raises=_MAY_WAIT,
    )
    office.post(
        f"{one}/public-keys",
        "credential_key_add",
        keys.add,
        takes=_CLIENT,
        status=OK,
        raises=_MAY_WAIT,
    )
    office.delete(
        f"{one}/public-keys/{{public_key_id}}",
        "credential_key_remove",
        keys.remove,
        takes={**_CLIENT, "public_key_id": inputs.word_of_path("public_key_id")},
        raises=_MAY_WAIT,
    )
    office.get(
        f"{one}/addresses",
        "credential_addresses",
        credentials.addresses,
        takes=_CLIENT,
        shows=seen,
        raises=ABSENT,
    )
    office.post(
        f"{one}/revoke",
        "credential_revoke",
        credentials.revoke,
        takes=_CLIENT,
        status=OK,
        raises=CHANGED,
    )
    return office


def seen(found: Sequence[SeenAddress], _who: StaffCaller) -> SeenAddressList:
    """Show addresses that a credential was used from."""
    return {"data": found}


def listed(found: CredentialPage, who: StaffCaller) -> CredentialList:
    """Show a page of them, and the counts."""
    return {
        "data": [each.to_document(who.staff) for each in found.items],
        "meta": meter(found.paging, found.total),
        "counts": found.counts,
    }
