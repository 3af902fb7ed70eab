"""Pages of charges: list, creation, and one charge with its QR code until it is paid."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Final
from uuid import uuid4

from gateway.banks.failures import bank_fails
from gateway.banks.port.charges import Charge, ChargeOrder, ChargeStatus
from gateway.banks.port.pix_keys import PixKeyStatus
from gateway.charges.model import COUNTED_AT_MOST, ChargePage, ChargeSearch, ChargeState
from gateway.charges.orders import CHARGE
from gateway.charges.searches import CHARGES
from gateway.charges.service import Charges
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.errors import ServiceError
from gateway.core.windows import DEFAULT_LIMIT, Keyset
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.kit import (
    PageContext,
    Pages,
    Part,
    days_asked,
    page_asked,
    part,
    typed,
)
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, address
from gateway.pix_keys.service import PixKeys
from policies.validation.backoffice.inputs import cursor
from policies.validation.inputs import REFERENCE

_NEW: Final = "/accounts/{account_id}/new-charge"
_CHARGE: Final = "/accounts/{account_id}/charges/{reference}"
_STATES: Final = ("", "Active", "Paid", "Expired", "Canceled", "Unknown")
_ASKED: Final = ("account_id", "status", "text")
_DAYS: Final = ("init", "ends")
_KEYS_FAIL: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE)
_FAILS: Final = bank_fails(errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND)
_SCALE: Final = 5
_HOUR_S: Final = 3600


def pages(charges: Charges, keys: PixKeys, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("", context)

    @panel.view("/charges", "charges", charges.search)
    async def listed(visit: Visit) -> Result:
        """List charges as last stored; no bank is queried."""
        page = min(page_asked(visit), COUNTED_AT_MOST // DEFAULT_LIMIT)

        async def search(who: Staff, wanted: ChargeSearch) -> ChargePage:
            return await charges.search(who, replace(wanted, offset=DEFAULT_LIMIT * (page - 1)))

        asked = {**_wanted(visit), "cursor": visit.query("cursor")}
        found = await panel.find(visit, search, CHARGES, asked)
        accounts = await panel.accounts(visit)
        sums = await panel.find(visit, charges.sums, CHARGES, _wanted(visit))
        data = {
            "found": found,
            "page": page,
            "accounts": accounts,
            "sums": sums.data,
            "names": {each.id: each.name for each in accounts},
            "asked": {name: visit.query(name) for name in (*_ASKED, *_DAYS)},
            "states": _STATES,
            "may_write": panel.may(visit, charges.create),
            "cursor": cursor,
        }
        return Shown(template="charges/list.html", part="charges/_list.html", data=data)

    @panel.view(_NEW, "charge_new", charges.create)
    async def new(visit: Visit) -> Result:
        """Show the form of a charge; the keys to choose from are loaded after the page."""
        account, found = await panel.account(visit), None
        if visit.reads_bank or visit.problem:
            found = await part(keys.list(panel.staff(visit), account), _KEYS_FAIL)
        known = (found.data if found else None) or ()
        data = {
            **await panel.account_data(visit),
            "keys": found,
            "new_reference": uuid4().hex,
            "active": [each.key.key for each in known if each.key.status is PixKeyStatus.ACTIVE],
        }
        return Shown(template="charges/new.html", part="charges/_new.html", data=data)

    @panel.form(_NEW, "charge_create", charges.create, shows=new, fails=_FAILS)
    async def create(visit: Visit) -> Result:
        """Make a charge, and show it."""
        account = await panel.account(visit)
        made = await charges.create(panel.staff(visit), account, _order(visit))
        return _to(visit, made.reference)

    @panel.view(_CHARGE, "charge", charges.get)
    async def charge(visit: Visit) -> Result:
        """Show a charge: the record at once, the bank's own answer after the page."""
        reference, live = REFERENCE.read(visit.call.asked), None
        who, account = panel.staff(visit), await panel.account(visit)
        wanted = ChargeSearch(page=Keyset(limit=1), account_id=account.id, reference=reference)
        shown, known = await asyncio.gather(
            panel.account_data(visit), part(charges.search(who, wanted))
        )
        if visit.reads_bank or visit.problem:
            live = await part(charges.get(who, account, reference), _FAILS)
        record = next(iter(known.data.charges), None) if known.data else None
        state = record.state_at(who.acting.now()) if record else None
        data = {
            **shown,
            "reference": reference,
            "record": record,
            "state": state,
            "live": live,
            "qr": _drawn(live),
            "is_open": _is_open(live, state),
            "may_write": panel.may(visit, charges.cancel),
        }
        return Shown(template="charges/charge.html", part="charges/_charge.html", data=data)

    @panel.form(_CHARGE, "charge_cancel", charges.cancel, shows=charge, fails=_FAILS)
    async def cancel(visit: Visit) -> Result:
        """Cancel a charge, if its reference was typed; safe to repeat."""
        if visit.form["words"] != visit.parameter("reference").strip():
            raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")
        reference, account = REFERENCE.read(visit.call.asked), await panel.account(visit)
        await charges.cancel(panel.staff(visit), account, reference)
        return _to(visit, reference)

    return panel.pages


def _wanted(visit: Visit) -> Mapping[str, str]:
    """Return the filters of the address, without the page."""
    return {**{name: visit.query(name) for name in _ASKED}, **days_asked(visit)}


def _to(visit: Visit, reference: str) -> Redirect:
    return Redirect(
        address(HOME + _CHARGE, account_id=visit.parameter("account_id"), reference=reference)
    )


def _order(visit: Visit) -> ChargeOrder:
    """Read a charge order from the form; an empty field is absent."""
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
    return typed(CHARGE, body)


def _hours(text: str) -> int:
    """Read the hours until expiry; raises ``SVC.VAL.011`` for an invalid number."""
    if not (text.isascii() and text.isdigit() and len(text) <= len("87600")):
        raise ServiceError(errors.PAYLOAD_INVALID, "positive_integer", field="expires_in")
    return int(text)


def _is_open(live: Part[Charge] | None, state: ChargeState | None) -> bool:
    """Return whether a charge may still be paid, so that the page polls it."""
    if live is not None and live.data is not None:
        return live.data.status is ChargeStatus.ACTIVE
    return state in {None, ChargeState.ACTIVE, ChargeState.UNKNOWN}


def _drawn(live: Part[Charge] | None) -> str:
    """
    Return the QR code of a charge as the URL of a picture.

    Empty where there is none, or more than a QR code holds.
    """
    text = live.data.emv if live and live.data else ""
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
