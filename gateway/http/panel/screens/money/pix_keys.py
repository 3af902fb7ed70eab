"""The Pix keys of an account: listed, registered, given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import typed_key
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.screens.operations.accounts import (
    ACCOUNT,
    account_of,
    account_path,
    account_rights,
)

_READ: Final = Right(Area.PIX_KEY, Action.READ)
_WRITE: Final = Right(Area.PIX_KEY, Action.WRITE)
_KEYS: Final = "/panel/accounts/{account_id}/keys"
_KINDS: Final = ("evp", "email", "phone", "cpf", "cnpj")


@dataclass(frozen=True, slots=True)
class PixKeyPages:
    """The keys of an account, as its bank tells them."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show the keys; they are read from the bank after the page, or when asked for."""
        account = await account_of(self.rows, visit)
        keys = None
        if visit.reads_bank:
            keys = await self.rows.section(visit, "backoffice.pix_keys", account_path(visit))
        data = {
            "account": account,
            "keys": keys,
            "kinds": _KINDS,
            "may_write": visit.may(_WRITE),
            **account_rights(visit),
        }
        return Shown(template="accounts/keys.html", part="accounts/_keys.html", data=data)

    async def create(self, visit: Visit) -> Result:
        """Register a key; a random one is drawn by the bank."""
        body: dict[str, object] = {"type": visit.form["type"]}
        if visit.form["key"]:
            body["key"] = typed_key(visit.form["key"], visit.form["type"])
        path = account_path(visit)
        await self.rows.ask(visit, "backoffice.pix_key_create", path=path, body=body)
        return _back(visit)

    async def one(self, visit: Visit) -> Result:
        """Show one key and the form that gives it up; the key is read after the page."""
        account, key = await account_of(self.rows, visit), None
        if visit.reads_bank or visit.problem:
            path = {**account_path(visit), "key_id": visit.parameter("key_id")}
            key = await self.rows.section(visit, "backoffice.pix_key", path)
            if key.problem and not visit.is_partial:
                raise key.problem
        data = {"account": account, "key": key, **account_rights(visit)}
        template, part = "accounts/key_cancel.html", "accounts/_key_cancel.html"
        return Shown(template=template, part=part, data=data)

    async def cancel(self, visit: Visit) -> Result:
        """Give a key up; it is typed once more."""
        path = {**account_path(visit), "key_id": visit.parameter("key_id")}
        key = (await self.rows.ask(visit, "backoffice.pix_key", path=path)).data
        if visit.form["words"] != key["key"]:
            raise ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="key")
        await self.rows.ask(visit, "backoffice.pix_key_cancel", path=path)
        return _back(visit)


def _back(visit: Visit) -> Redirect:
    """Go to the list, read anew."""
    return Redirect(f"{address(_KEYS, **account_path(visit))}?read=1")


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of keys."""
    made = PixKeyPages(rows)
    return (
        Page(
            path=f"{ACCOUNT}/keys",
            name="pix_keys",
            summary="List the Pix keys of an account.",
            needs=_READ,
            shows=made.list,
        ),
        Page(
            path=f"{ACCOUNT}/keys",
            name="pix_key_create",
            summary="Register a Pix key.",
            needs=_WRITE,
            shows=made.list,
            does=made.create,
        ),
        *_one(made),
    )


def _one(made: PixKeyPages) -> Sequence[Page]:
    """Return the pages of one."""
    one = f"{ACCOUNT}/keys/{{key_id}}/cancel"
    return (
        Page(
            path=one,
            name="pix_key",
            summary="Show a Pix key that is to be given up.",
            needs=_WRITE,
            shows=made.one,
        ),
        Page(
            path=one,
            name="pix_key_cancel",
            summary="Give a Pix key up.",
            needs=_WRITE,
            shows=made.one,
            does=made.cancel,
        ),
    )
