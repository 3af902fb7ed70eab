"""
A new payout: filled in, read as it would be ordered, then ordered.

By key its owner is looked up first. Of a bank account nobody can be asked whose it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import uuid4

from gateway.domain.accounts.credentials import Action
from gateway.domain.bank.payout_orders import AccountType, PayoutMethod
from gateway.domain.bank.pix_keys import is_other_number
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import typed_key, typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.screens.money.payout import PATH
from policies.validation.forms import Form

_WRITES: Final = Right(Area.PAYOUT, Action.WRITE)
_WAITS: Final = 202
_SEND: Final = "send"
_NUMBERS: Final = ("cpf", "cnpj")
_KINDS: Final = (*_NUMBERS, "email", "phone", "evp")
_ACCOUNTS: Final = "100"
_ROWS: Final = {
    PayoutMethod.PIX: "backoffice.withdraw_pix",
    PayoutMethod.BANK_ACCOUNT: "backoffice.withdraw_bank",
}
_DESTINATIONS: Final = {
    PayoutMethod.PIX: ("tax_number", "key_type", "key"),
    PayoutMethod.BANK_ACCOUNT: (
        *("name", "tax_number"),
        *("bank_number", "branch", "account", "account_type"),
    ),
}
"""What is typed of a recipient, by method: the names of the contract."""
_REASONS: Final = {PayoutMethod.PIX: ("difference_reason",), PayoutMethod.BANK_ACCOUNT: ()}


def _new_reference() -> str:
    return f"panel-{uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class NewPayoutPages:
    """The form, its summary, and the order."""

    rows: RowCalls
    now: Callable[[], datetime]
    new_reference: Callable[[], str] = _new_reference

    async def form(self, visit: Visit) -> Result:
        """Show the form; of an order that was refused, its summary with everything typed."""
        if visit.form["step"] == _SEND:
            return await self._summary(visit, _owner(visit), visit.form["reference"])
        method = _method(visit)
        accounts = await self.rows.section(visit, "backoffice.accounts", limit=_ACCOUNTS)
        data = {
            "accounts": accounts.data["data"] if accounts.data else [],
            "method": method.value,
            "kinds": _KINDS,
            "account_types": [each.value for each in AccountType],
            "banks": await _banks(self.rows, visit) if method is PayoutMethod.BANK_ACCOUNT else (),
        }
        return Shown(template="money/new_payout.html", data=data)

    async def act(self, visit: Visit) -> Result:
        """Show what would be ordered, once it can be; or order what was shown."""
        if visit.form["step"] == _SEND:
            return await self._order(visit)
        method, path = _method(visit), {"account_id": visit.form["account_id"]}
        reference = visit.form["reference"] or self.new_reference()
        self.rows.check(visit, _ROWS[method], path, self._body(visit, reference))
        if method is PayoutMethod.BANK_ACCOUNT:
            return await self._summary(visit, _owner(visit), reference)
        asked = {"key": _key(visit.form), "type": visit.form["key_type"]}
        owner = await self.rows.ask(visit, "backoffice.pix_key_owner", path=path, body=asked)
        return await self._summary(visit, owner.data, reference)

    async def _order(self, visit: Visit) -> Result:
        """Order it; sent twice, one reference is one payout."""
        path, reference = {"account_id": visit.form["account_id"]}, visit.form["reference"]
        body = self._body(visit, reference)
        said = await self.rows.ask(visit, _ROWS[_method(visit)], path=path, body=body)
        if said.status == _WAITS:
            return Redirect(f"/panel/approvals/{said.data['id']}")
        return Redirect(address(f"/panel{PATH}", **path, reference=reference))

    def _body(self, visit: Visit, reference: str) -> Mapping[str, object]:
        """Return what is ordered, as its row takes it."""
        form, method = visit.form, _method(visit)
        typed = {name: form[name] for name in _DESTINATIONS[method]}
        why = {name: form[name] for name in _REASONS[method] if form[name]}
        by_key = {"key": _key(form)} if method is PayoutMethod.PIX else {}
        return {
            "reference": reference,
            "value": typed_money(form["value"], "value"),
            "date": self.now().date().isoformat(),
            "destination": typed | by_key | {"tax_number": _number(form)},
            "description": form["description"],
            **why,
        }

    async def _summary(self, visit: Visit, owner: Mapping[str, Any], reference: str) -> Result:
        """Show what would be ordered, and where it differs from what the bank knows."""
        method = _method(visit)
        digits = "".join(filter(str.isalnum, _number(visit.form)))
        by_key = method is PayoutMethod.PIX
        path = {"account_id": visit.form["account_id"]}
        account = await self.rows.section(visit, "backoffice.account", path)
        data = {
            "account": account.data,
            "owner": owner,
            "method": method.value,
            "typed": ("account_id", "value", "description", *_DESTINATIONS[method]),
            "reference": reference,
            "value": Decimal(str(typed_money(visit.form["value"], "value"))),
            "tax_number": digits,
            "key": _key(visit.form),
            "differs": by_key and is_other_number(digits, str(owner["tax_number"])),
            "bank": None
            if by_key
            else await bank_named(self.rows, visit, visit.form["bank_number"]),
        }
        return Shown(template="money/new_payout_summary.html", data=data)


async def bank_named(rows: RowCalls, visit: Visit, number: str) -> Mapping[str, str] | None:
    """Return the bank that one of its numbers names; None for one not listed."""
    if not number:
        return None
    listed = await _banks(rows, visit)
    return next((each for each in listed if number in {each["compe"], each["ispb"]}), None)


async def _banks(rows: RowCalls, visit: Visit) -> Sequence[Mapping[str, str]]:
    """Return the banks to choose from; who knows the number needs none."""
    found = await rows.section(visit, "backoffice.bank_numbers")
    return found.data["data"] if found.data else ()


def _method(visit: Visit) -> PayoutMethod:
    """Return what the form, or the address of an empty one, says of how to pay."""
    said = visit.form["method"] or visit.query("to")
    return PayoutMethod(said) if said in set(PayoutMethod) else PayoutMethod.PIX


def _number(form: Form) -> str:
    """Return the recipient's tax number; a key that is one need not be typed twice."""
    return form["tax_number"] or (form["key"] if form["key_type"] in _NUMBERS else "")


def _key(form: Form) -> str:
    """Return the key as it is ordered: a telephone in its full form."""
    return typed_key(form["key"], form["key_type"])


def _owner(visit: Visit) -> Mapping[str, str]:
    """Return the owner as the summary has shown them."""
    return {"name": visit.form["owner_name"], "tax_number": visit.form["owner_tax_number"]}


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the page and its form."""
    shows = NewPayoutPages(rows, rows.now)
    return (
        Page(
            path="/payouts/new",
            name="payout_new",
            summary="Fill in a payout, by key or to a bank account.",
            needs=_WRITES,
            shows=shows.form,
        ),
        Page(
            path="/payouts/new",
            name="payout_order",
            summary="Check a payout and show it once more, then order it.",
            needs=_WRITES,
            shows=shows.form,
            does=shows.act,
        ),
    )
