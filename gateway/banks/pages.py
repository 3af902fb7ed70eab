"""Pages of banks: how each is by our own calls, what it offers, what runs out; no bank is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.banks.model import Provider, WeatherWindow
from gateway.banks.service import BankReports
from gateway.banks.status import status_of, statuses
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.kit import PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_STOP: Final = Right(Area.STOP, Action.WRITE)


def pages(banks: BankReports, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/providers", context)

    @panel.view("", "providers", banks.providers)
    async def listed(visit: Visit) -> Result:
        """Show every bank, how its calls go and what it offers."""
        who, window = panel.staff(visit), _window(visit)
        providers = await banks.providers(who)
        weather = await part(banks.weather(who, window))
        return Shown(
            template="operations/providers.html",
            part="operations/_providers.html",
            data={
                "now": context.staff.now(),
                "is_open": any(each.is_open for each in providers),
                "banks": statuses(providers, weather.data or ()),
                "matrix": matrix(providers),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )

    @panel.view("/{provider}", "provider", banks.providers)
    async def one(visit: Visit) -> Result:
        """Show one bank, operation by operation."""
        who, window, name = panel.staff(visit), _window(visit), visit.parameter("provider")
        found = next((each for each in await banks.providers(who) if each.name == name), None)
        if found is None:
            raise ServiceError(NOT_FOUND, "provider")
        weather = await part(banks.weather_of(who, name, window))
        return Shown(
            template="operations/provider.html",
            part="operations/_provider.html",
            data={
                "now": context.staff.now(),
                "is_open": found.is_open,
                "bank": status_of(found, weather.data),
                "matrix": matrix([found]),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )

    return panel.pages


def _window(visit: Visit) -> WeatherWindow:
    asked = visit.query("window")
    return WeatherWindow(asked) if asked in set(WeatherWindow) else WeatherWindow.QUARTER


def matrix(providers: Sequence[Provider]) -> list[tuple[str, list[object]]]:
    """
    Return what each bank offers, a line for each thing.

    A cell is True or False, or a word or seconds of the adapter's own declaration. No bank that
    is read only pays, whatever its adapter could do.
    """
    declared = [each.capabilities for each in providers]
    return [
        *((f"pay_{way}", [_pays(each, way) for each in providers]) for way in _WAYS),
        *((name, [each[name] for each in declared]) for name in ("repeat", "lookup")),
        ("absent_after", [each["absent_after"] for each in declared]),
        *((call, [call in each["calls"] for each in declared]) for call in _CALLS),
        ("callback_proofs", [each["callback_proofs"] for each in declared]),
    ]


def _pays(provider: Provider, way: str) -> bool | str:
    """Say whether payouts leave for a bank in this way; why not, where we forbid it."""
    if way not in provider.capabilities["destinations"]:
        return False
    return "read_only" if provider.read_only else True


_WAYS: Final = ("pix", "bank_account")
_CALLS: Final = (
    *("get_balance", "list_statement", "create_charge", "create_refund", "look_up_key"),
)
