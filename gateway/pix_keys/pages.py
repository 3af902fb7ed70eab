"""Pages of an account's PIX keys: list, registration, cancellation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.banks.failures import bank_fails
from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.http.panel.pages.formats import typed_key
from gateway.http.panel.pages.kit import PageContext, Pages, part, typed
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, address
from gateway.pix_keys.orders import KEY
from gateway.pix_keys.service import PixKeys
from policies.validation.inputs import KEY_ID

_KEYS: Final = "/accounts/{account_id}/keys"
_CANCEL: Final = f"{_KEYS}/{{key_id}}/cancel"
_KINDS: Final = ("evp", "email", "phone", "cpf", "cnpj")
_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND)


def pages(keys: PixKeys, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("", context)

    @panel.view(_KEYS, "pix_keys", keys.list)
    async def listed(visit: Visit) -> Result:
        """List the Pix keys of an account; they are read from the bank after the page."""
        account, found = await panel.account(visit), None
        if visit.reads_bank:
            found = await part(keys.list(panel.staff(visit), account), _FAILS)
        data = {
            **await panel.account_data(visit),
            "keys": found,
            "kinds": _KINDS,
            "may_write": panel.may(visit, keys.create),
        }
        return Shown(template="accounts/keys.html", part="accounts/_keys.html", data=data)

    @panel.form(_KEYS, "pix_key_create", keys.create, shows=listed, fails=_FAILS)
    async def create(visit: Visit) -> Result:
        """Register a Pix key; a random one is drawn by the bank."""
        kind, key = visit.form["type"], visit.form["key"]
        order = typed(KEY, {"type": kind, "key": typed_key(key, kind) if key else None})
        await keys.create(panel.staff(visit), await panel.account(visit), order)
        return _back(visit)

    @panel.view(_CANCEL, "pix_key", keys.cancel, fails=_FAILS)
    async def one(visit: Visit) -> Result:
        """Show a Pix key for cancellation; the key is loaded after the page."""
        account, key = await panel.account(visit), None
        if visit.reads_bank or visit.problem:
            key_id = KEY_ID.read(visit.call.asked)
            key = await part(keys.get(panel.staff(visit), account, key_id), _FAILS)
            if key.problem and not visit.is_partial:
                raise key.problem
        data = {**await panel.account_data(visit), "key": key}
        template, swapped = "accounts/key_cancel.html", "accounts/_key_cancel.html"
        return Shown(template=template, part=swapped, data=data)

    @panel.form(_CANCEL, "pix_key_cancel", keys.cancel, shows=one, fails=_FAILS)
    async def cancel(visit: Visit) -> Result:
        """Cancel a Pix key; it must be typed again."""
        who, account = panel.staff(visit), await panel.account(visit)
        key_id = KEY_ID.read(visit.call.asked)
        if visit.form["words"] != (await keys.get(who, account, key_id)).key.key:
            raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")
        await keys.cancel(who, account, key_id)
        return _back(visit)

    return panel.pages


def _back(visit: Visit) -> Redirect:
    """Go to the list, read anew."""
    return Redirect(f"{address(HOME + _KEYS, account_id=visit.parameter('account_id'))}?read=1")
