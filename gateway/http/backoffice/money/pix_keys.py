"""PIX keys of an account, and who is behind a key of any bank (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, TypedDict

from msgspec import Meta

from gateway.domain.bank.pix_keys import KeyOwner, hidden_tax_number
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.requests.schemas import KeyType
from gateway.http.backoffice.callers import (
    CHANGES,
    READS,
    AccountCaller,
    as_actor,
    as_caller,
    bank_fails,
)
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    writing,
)
from gateway.http.resources import represent as resources
from gateway.http.route import Row, route
from policies.validation.backoffice.orders import KEY, LOOKUP
from policies.validation.inputs import KEY_ID, NOTHING


class KeyOwnerDocument(TypedDict):
    """Who is behind a PIX key; a person's tax number is shown without its ends."""

    key: str
    type: Annotated[KeyType, Meta(examples=["email"])]
    name: str
    tax_number: str
    ispb: str
    bank_number: str
    bank_name: str
    branch: str
    account: str


_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE)


_ONE_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND)


def key_reading_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read keys."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/pix/keys",
            name="backoffice.pix_keys",
            summary="List the account's PIX keys.",
            needs=reading(Area.PIX_KEY),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.bank.pix_keys.list),
            shows=resources.pix_keys,
            fails=_FAILS,
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/pix/keys/{key_id}",
            name="backoffice.pix_key",
            summary="Read one PIX key.",
            needs=reading(Area.PIX_KEY),
            limits=NO_BODY,
            takes=KEY_ID,
            runs=as_caller(does.bank.pix_keys.read),
            shows=resources.pix_key,
            fails=_ONE_FAILS,
            raises=READS,
        ),
    )


def key_acting_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that change keys, or show whose one is: that is recorded too."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/keys",
            name="backoffice.pix_key_create",
            summary="Register a PIX key; the bank generates random (evp) keys.",
            needs=writing(Area.PIX_KEY),
            limits=WITH_BODY,
            takes=KEY,
            runs=as_actor(does.bank.key_orders.create),
            shows=resources.pix_key,
            fails=_FAILS,
            raises=CHANGES,
            status=CREATED,
        ),
        route(
            "DELETE",
            "/accounts/{account_id}/pix/keys/{key_id}",
            name="backoffice.pix_key_cancel",
            summary="Cancel a PIX key; answers the key with status canceled.",
            needs=writing(Area.PIX_KEY),
            limits=NO_BODY,
            takes=KEY_ID,
            runs=as_actor(does.bank.key_orders.cancel),
            shows=resources.pix_key,
            fails=_ONE_FAILS,
            raises=CHANGES,
        ),
        route(
            "POST",
            "/accounts/{account_id}/pix/keys/lookup",
            name="backoffice.pix_key_owner",
            summary="Ask who is behind a PIX key of any bank, before paying; recorded.",
            needs=reading(Area.PIX_KEY),
            limits=WITH_BODY,
            takes=LOOKUP,
            runs=as_actor(does.bank.key_orders.look_up),
            shows=key_owner,
            fails=_ONE_FAILS,
            raises=(*READS, errors.BANK_REFUSED, errors.ALREADY_IN_USE),
        ),
    )


def key_owner(found: KeyOwner, _who: AccountCaller) -> KeyOwnerDocument:
    """Show who is behind a key."""
    return {
        "key": found.key,
        "type": found.type.value,
        "name": found.name,
        "tax_number": hidden_tax_number(found.tax_number),
        "ispb": found.ispb,
        "bank_number": found.bank_number,
        "bank_name": found.bank_name,
        "branch": found.branch,
        "account": found.account,
    }
