"""The sandbox's tools: a bank that pays, fails and hurries when told to; absent in production."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.screens.operations.accounts import every_account
from gateway.operations.backoffice.money.sandbox_tools import FAULTS, OPERATIONS

_READ: Final = Right(Area.QRCODE, Action.READ)
_PAY: Final = Right(Area.QRCODE, Action.WRITE)
_FAIL: Final = Right(Area.STOP, Action.WRITE)
_HOUR_S: Final = 3600


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


MAGIC: Final = (
    (Decimal("777.01"), _("settles late: after 30 seconds of the bank's clock"), True),
    (Decimal("777.02"), _("is accepted, then fails; the money is released"), False),
    (Decimal("777.03"), _("is refused"), False),
    (Decimal("777.04"), _("is refused: the account may not pay"), False),
    (Decimal("777.05"), _("the bank fails before it executes"), False),
    (Decimal("777.06"), _("is executed, and no answer ever comes"), True),
    (Decimal("777.07"), _("the connection breaks before it is executed"), False),
    (Decimal("777.08"), _("is executed, and the answer cannot be read"), True),
    (Decimal("777.09"), _("settles, then comes back"), True),
    (Decimal("777.10"), _("its callback comes twice"), True),
    (Decimal("777.11"), _("is refused for now: too many calls"), False),
    (Decimal("777.12"), _("settles with one centavo less"), True),
)
"""Amounts of payouts that the bank knows, what happens then, and whether money moves."""

DONE: Final = {
    "pay": _("The charge is paid."),
    "top_up": _("The account is topped up."),
    "fault": _("The fault waits for its calls."),
    "clear": _("No fault waits any more."),
    "clock": _("The bank's clock is set."),
}


@dataclass(frozen=True, slots=True)
class SandboxPages:
    """One page with every tool."""

    rows: RowCalls

    async def tools(self, visit: Visit) -> Result:
        """Show the tools, and how the bank stands."""
        state, accounts = await asyncio.gather(
            self.rows.section(visit, "backoffice.sandbox"), every_account(self.rows, visit)
        )
        data = {
            "state": state,
            "accounts": [each for each in accounts if each["provider"]],
            "magic": MAGIC,
            "done": DONE.get(visit.query("done"), ""),
            "operations": OPERATIONS,
            "kinds": FAULTS,
            "may_pay": visit.may(_PAY),
            "may_fail": visit.may(_FAIL),
        }
        return Shown(template="sandbox/tools.html", data=data)

    async def pay(self, visit: Visit) -> Result:
        """Pay a charge."""
        body: dict[str, object] = {name: visit.form[name] for name in ("account_id", "reference")}
        if visit.form["value"]:
            body["value"] = typed_money(visit.form["value"], "value")
        await self.rows.ask(visit, "backoffice.sandbox_pay", body=body)
        return _done("pay")

    async def top_up(self, visit: Visit) -> Result:
        """Pay money into an account."""
        value = typed_money(visit.form["value"], "value")
        body = {"account_id": visit.form["account_id"], "value": value}
        await self.rows.ask(visit, "backoffice.sandbox_top_up", body=body)
        return _done("top_up")

    async def fault(self, visit: Visit) -> Result:
        """Have the next calls fail."""
        form = visit.form
        body = {
            "operation": form["operation"],
            "fault": form["fault"],
            "count": _whole(form["count"], "count"),
        }
        await self.rows.ask(visit, "backoffice.sandbox_fault", body=body)
        return _done("fault")

    async def clear(self, visit: Visit) -> Result:
        """Forget every fault."""
        await self.rows.ask(visit, "backoffice.sandbox_faults_clear")
        return _done("clear")

    async def clock(self, visit: Visit) -> Result:
        """Set how far the bank's clock is ahead, in hours."""
        offset_s = _whole(visit.form["hours"], "hours") * _HOUR_S
        await self.rows.ask(visit, "backoffice.sandbox_clock", body={"offset_s": offset_s})
        return _done("clock")


def _done(what: str) -> Redirect:
    return Redirect(f"/panel/sandbox?done={what}")


def _whole(text: str, field: str) -> int:
    """Read a small whole number; raises ``SVC.VAL.011``."""
    if not (text.isascii() and text.isdigit() and len(text) <= len("1000")):
        raise ServiceError(errors.PAYLOAD_INVALID, "positive_integer", field=field)
    return int(text)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the tools where their rows are: in the sandbox."""
    if not rows.has("backoffice.sandbox"):
        return ()
    made = SandboxPages(rows)
    shown = Page(
        path="/sandbox",
        name="sandbox",
        summary="Show the sandbox's tools.",
        needs=_READ,
        shows=made.tools,
    )
    forms = (
        ("pay", "Pay a charge.", _PAY, made.pay),
        ("top_up", "Pay money into an account.", _PAY, made.top_up),
        ("fault", "Have the bank's next calls fail.", _FAIL, made.fault),
        ("clear", "Forget every fault.", _FAIL, made.clear),
        ("clock", "Set the bank's clock.", _FAIL, made.clock),
    )
    return (
        shown,
        *(
            Page(
                path=f"/sandbox/{name.replace('_', '-')}",
                name=f"sandbox_{name}",
                summary=summary,
                needs=needs,
                shows=made.tools,
                does=does,
            )
            for name, summary, needs, does in forms
        ),
    )
