"""Charges: what was made through us, a new one, and one with its QR code until it is paid."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.screens.operations.accounts import (
    ACCOUNT,
    account_of,
    account_path,
    account_rights,
    every_account,
)

_READ: Final = Right(Area.QRCODE, Action.READ)
_WRITE: Final = Right(Area.QRCODE, Action.WRITE)
_CHARGE: Final = f"{ACCOUNT}/charges/{{reference}}"
_STATES: Final = ("", "Active", "Paid", "Expired", "Canceled", "Unknown")
_SCALE: Final = 5
_HOUR_S: Final = 3600


@dataclass(frozen=True, slots=True)
class ChargePages:
    """The pages of charges."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show charges as last known; no bank is asked."""
        asked = {name: visit.query(name) for name in ("account_id", "status", "reference")}
        query = {**asked, "cursor": visit.query("cursor")}
        charges, accounts = await asyncio.gather(
            self.rows.section(visit, "backoffice.charges", None, limit="25", **query),
            every_account(self.rows, visit),
        )
        data = {
            "charges": charges,
            "accounts": accounts,
            "names": {each["id"]: each["name"] for each in accounts},
            "asked": asked,
            "states": _STATES,
            "may_write": visit.may(_WRITE),
        }
        return Shown(template="charges/list.html", part="charges/_list.html", data=data)

    async def new(self, visit: Visit) -> Result:
        """Show the form of a new charge; the keys to choose from are read after the page."""
        account, keys = await account_of(self.rows, visit), None
        if visit.reads_bank or visit.problem:
            keys = await self.rows.section(visit, "backoffice.pix_keys", account_path(visit))
        known = [] if keys is None or keys.problem else keys.data["data"]
        active = [each["key"] for each in known if each["status"] == "active"]
        data = {"account": account, "keys": keys, "active": active, **account_rights(visit)}
        return Shown(template="charges/new.html", part="charges/_new.html", data=data)

    async def create(self, visit: Visit) -> Result:
        """Make a charge, and show it."""
        path = account_path(visit)
        made = await self.rows.ask(
            visit, "backoffice.qrcode_generate", path=path, body=_order(visit)
        )
        return Redirect(address(f"/panel{_CHARGE}", **path, reference=made.data["reference"]))

    async def charge(self, visit: Visit) -> Result:
        """Show a charge; what is on record at once, the bank's own answer after the page."""
        account, known = await asyncio.gather(
            account_of(self.rows, visit),
            self.rows.section(
                visit,
                "backoffice.charges",
                account_id=visit.parameter("account_id"),
                reference=visit.parameter("reference"),
            ),
        )
        live = await self._live(visit) if visit.reads_bank or visit.problem else None
        record = next(iter(known.data["data"]), None) if known.problem is None else None
        data = {
            "account": account,
            "reference": visit.parameter("reference"),
            "record": record,
            "live": live,
            "qr": _drawn(live),
            "is_open": _is_open(live, record),
            "may_write": visit.may(_WRITE),
            **account_rights(visit),
        }
        return Shown(template="charges/charge.html", part="charges/_charge.html", data=data)

    async def cancel(self, visit: Visit) -> Result:
        """Cancel a charge, if its reference was typed; safe to repeat."""
        if visit.form["words"] != visit.parameter("reference").strip():
            raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")
        path = {**account_path(visit), "reference": visit.parameter("reference")}
        await self.rows.ask(visit, "backoffice.qrcode_cancel", path=path)
        return Redirect(address(f"/panel{_CHARGE}", **path))

    async def _live(self, visit: Visit) -> Section:
        """Ask the bank for a charge."""
        path = {**account_path(visit), "reference": visit.parameter("reference")}
        return await self.rows.section(visit, "backoffice.qrcode", path)


def _order(visit: Visit) -> dict[str, object]:
    """Return the body of a new charge from what was typed; an empty field is absent."""
    form = visit.form
    body: dict[str, object] = {
        "reference": form["reference"],
        "type": form["type"],
        "key": form["key"],
        "description": form["description"],
    }
    if form["value"]:
        body["value"] = typed_money(form["value"], "value")
    if form["hours"]:
        body["expires_in"] = _hours(form["hours"]) * _HOUR_S
    if form["payer_name"] or form["payer_tax_number"]:
        body["payer"] = {"name": form["payer_name"], "tax_number": form["payer_tax_number"]}
    return body


def _hours(text: str) -> int:
    """Read how long a charge can be paid; raises ``SVC.VAL.011`` for what is no such number."""
    if not (text.isascii() and text.isdigit() and len(text) <= len("87600")):
        raise ServiceError(errors.PAYLOAD_INVALID, "positive_integer", field="expires_in")
    return int(text)


def _is_open(live: Section | None, record: dict[str, Any] | None) -> bool:
    """Say whether a charge may still be paid, so that it is looked at again."""
    if live is not None and live.problem is None:
        return bool(live.data["status"] == "Active")
    return record is None or record["status"] in {"Active", "Unknown"}


def _drawn(live: Section | None) -> str:
    """
    Return the QR code of a charge as the address of a picture.

    Empty where there is none, or more than a QR code holds.
    """
    text = "" if live is None or live.problem is not None else live.data["qrcode"]["hash"]
    if not text:
        return ""
    import segno  # noqa: PLC0415 - importing it slows every start

    drawn = BytesIO()
    try:
        segno.make(text, micro=False).save(drawn, kind="png", scale=_SCALE, border=2)
    except segno.DataOverflowError:
        return ""
    import base64  # noqa: PLC0415 - beside what it writes

    return "data:image/png;base64," + base64.b64encode(drawn.getvalue()).decode()


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of charges."""
    made, new = ChargePages(rows), f"{ACCOUNT}/new-charge"
    return (
        Page(
            path="/charges",
            name="charges",
            summary="List charges.",
            needs=_READ,
            shows=made.list,
        ),
        Page(
            path=new, name="charge_new", summary="Ask for a charge.", needs=_WRITE, shows=made.new
        ),
        Page(
            path=new,
            name="charge_create",
            summary="Make a charge.",
            needs=_WRITE,
            shows=made.new,
            does=made.create,
        ),
        *_one(made),
    )


def _one(made: ChargePages) -> Sequence[Page]:
    """Return the pages of one."""
    return (
        Page(
            path=_CHARGE,
            name="charge",
            summary="Show a charge.",
            needs=_READ,
            shows=made.charge,
        ),
        Page(
            path=_CHARGE,
            name="charge_cancel",
            summary="Cancel a charge.",
            needs=_WRITE,
            shows=made.charge,
            does=made.cancel,
        ),
    )
