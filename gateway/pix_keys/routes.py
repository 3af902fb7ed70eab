"""Routes of PIX keys, and look-up of any key's owner (contract 4.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from gateway.banks.failures import bank_fails, partner_bank_fails
from gateway.banks.port.pix_keys import KeyOwner
from gateway.banks.port.providers import Banks
from gateway.core import errors, fields
from gateway.core.account import Account
from gateway.core.fields import meaning
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.core.schemas import KeyType
from gateway.core.strict import hidden_tax_number
from gateway.core.structs import struct_of
from gateway.http.route import OK
from gateway.http.routing import CHANGES, READS, Routes
from gateway.pix_keys import documents as key_documents
from gateway.pix_keys.model import OwnedKey
from gateway.pix_keys.orders import KEY, LOOKUP
from gateway.pix_keys.service import PixKeys, get_key, list_keys
from policies.validation.inputs import KEY_ID

_KEYS: Final = "/accounts/{account_id}/pix/keys"
_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE)
_ONE_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND)


class KeyOwnerDocument(Struct, frozen=True):
    """Who is behind a PIX key; a person's tax number is shown without its ends."""

    key: fields.PixKey
    type: Annotated[KeyType, Meta(description="Which type it is.", examples=["email"])]
    name: fields.PersonName
    tax_number: fields.PersonTaxNumber
    ispb: fields.Ispb
    bank_number: fields.BankNumber
    bank_name: Annotated[str, meaning("The recipient's bank.", "Banco Exemplo S.A.")]
    branch: fields.Branch
    account: fields.Account


def partner_routes(banks: Banks) -> Routes:
    """Return the routes of partners."""
    partner = Routes(
        "banking",
        needs=Permission(Resource.PIX_KEY, Action.READ),
        quota="read",
        priority=Priority.PARTNERS,
        takes={"key_id": KEY_ID},
        raises=READS,
    )
    unavailable, path = errors.PIX_KEYS_UNAVAILABLE, "/account/{account_id}/pix/keys"

    def pix_keys(account: Account) -> Awaitable[Sequence[OwnedKey]]:
        """List the account's PIX keys."""
        return list_keys(banks, account)

    def pix_key(account: Account, key_id: str) -> Awaitable[OwnedKey]:
        """Read one PIX key."""
        return get_key(banks, account, key_id)

    partner.get(
        path,
        "pix_keys",
        pix_keys,
        shows=key_documents.pix_keys,
        fails=partner_bank_fails(unavailable),
    )
    partner.get(
        f"{path}/{{key_id}}",
        "pix_key",
        pix_key,
        shows=key_documents.pix_key,
        fails=partner_bank_fails(unavailable, errors.PIX_KEY_NOT_FOUND),
    )
    return partner


def routes(keys: PixKeys) -> Routes:
    """Return the routes."""
    office = Routes(shows=key_documents.pix_key, fails=_ONE_FAILS, raises=CHANGES)
    one, by_id = f"{_KEYS}/{{key_id}}", {"key_id": KEY_ID}
    office.get(
        _KEYS, "pix_keys", keys.list, shows=key_documents.pix_keys, fails=_FAILS, raises=READS
    )
    office.get(one, "pix_key", keys.get, takes=by_id, raises=READS)
    office.post(_KEYS, "pix_key_create", keys.create, takes={"order": KEY}, fails=_FAILS)
    office.delete(one, "pix_key_cancel", keys.cancel, takes=by_id, status=OK)
    office.post(
        f"{_KEYS}/lookup",
        "pix_key_owner",
        keys.look_up,
        takes={"key": LOOKUP},
        shows=key_owner,
        raises=(*READS, errors.BANK_REFUSED, errors.ALREADY_IN_USE),
        status=OK,
    )
    return office


def key_owner(found: KeyOwner, _who: object) -> KeyOwnerDocument:
    """Show who is behind a key."""
    return struct_of(KeyOwnerDocument, found, tax_number=hidden_tax_number(found.tax_number))
