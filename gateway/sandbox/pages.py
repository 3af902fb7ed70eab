"""The page of the sandbox's tools: a bank that pays, fails and hurries; absent in production."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, part, typed
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.http.panel.pages.words import _
from gateway.sandbox.model import FAULTS, OPERATIONS, ClockBody, FaultBody, PayBody, TopUpBody
from gateway.sandbox.service import SandboxTools
from policies.validation.bodies import body

_HOUR_S: Final = 3600


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
    "fault": _("The fault applies to the next calls."),
    "clear": _("No faults are pending."),
    "clock": _("The bank's clock is set."),
}


def pages(tools: SandboxTools, context: PageContext) -> Sequence[Page]:
    """Return the page and its forms."""
    panel = Pages("/sandbox", context)

    @panel.view("", "sandbox", tools.state)
    async def shown(visit: Visit) -> Result:
        """Show the sandbox's tools, and the state of its bank."""
        accounts = await panel.accounts(visit)
        data = {
            "state": await part(tools.state(panel.staff(visit))),
            "accounts": [each for each in accounts if each.provider],
            "magic": MAGIC,
            "done": DONE.get(visit.query("done"), ""),
            "operations": OPERATIONS,
            "kinds": FAULTS,
            "may_pay": panel.may(visit, tools.pay),
            "may_fail": panel.may(visit, tools.inject),
        }
        return Shown(template="sandbox/tools.html", data=data)

    @panel.form("/pay", "sandbox_pay", tools.pay, shows=shown)
    async def pay(visit: Visit) -> Result:
        """Pay a charge."""
        fields: dict[str, object] = {name: visit.form[name] for name in ("account_id", "reference")}
        if visit.form["value"]:
            fields["value"] = typed_money(visit.form["value"], "value")
        await tools.pay(panel.staff(visit), typed(body(PayBody), fields))
        return _done("pay")

    @panel.form("/top-up", "sandbox_top_up", tools.top_up, shows=shown)
    async def top_up(visit: Visit) -> Result:
        """Pay money into an account."""
        value = typed_money(visit.form["value"], "value")
        fields = {"account_id": visit.form["account_id"], "value": value}
        await tools.top_up(panel.staff(visit), typed(body(TopUpBody), fields))
        return _done("top_up")

    @panel.form("/fault", "sandbox_fault", tools.inject, shows=shown)
    async def fault(visit: Visit) -> Result:
        """Have the bank's next calls fail."""
        fields: dict[str, object] = {name: visit.form[name] for name in ("operation", "fault")}
        fields["count"] = _whole(visit.form["count"], "count")
        await tools.inject(panel.staff(visit), typed(body(FaultBody), fields))
        return _done("fault")

    @panel.form("/clear", "sandbox_clear", tools.clear, shows=shown)
    async def clear(visit: Visit) -> Result:
        """Forget every fault."""
        await tools.clear(panel.staff(visit))
        return _done("clear")

    @panel.form("/clock", "sandbox_clock", tools.move_clock, shows=shown)
    async def clock(visit: Visit) -> Result:
        """Set how far the bank's clock is ahead, in hours."""
        fields = {"offset_s": _whole(visit.form["hours"], "hours") * _HOUR_S}
        await tools.move_clock(panel.staff(visit), typed(body(ClockBody), fields))
        return _done("clock")

    return panel.pages


def _done(what: str) -> Redirect:
    return Redirect(f"{HOME}/sandbox?done={what}")


def _whole(text: str, field: str) -> int:
    """Read a small whole number; raises ``SVC.VAL.011``."""
    if not (text.isascii() and text.isdigit() and len(text) <= len("1000")):
        raise ServiceError(errors.PAYLOAD_INVALID, "positive_integer", field=field)
    return int(text)
