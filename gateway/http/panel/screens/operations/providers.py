"""Banks: how each is by our own calls, what it offers, what runs out; the pages ask no bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.screens.operations.sky import CLOSED, skies, sky

WINDOWS: Final = ("15m", "24h", "7d")
_READ: Final = Right(Area.PROVIDER, Action.READ)
_STOP: Final = Right(Area.STOP, Action.WRITE)


@dataclass(frozen=True, slots=True)
class ProviderPages:
    """The configured banks."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show every bank with its weather, and what each offers."""
        window = _window(visit)
        providers = await self.rows.ask(visit, "backoffice.providers")
        weather = await self.rows.section(visit, "backoffice.weather", window=window)
        return Shown(
            template="operations/providers.html",
            part="operations/_providers.html",
            data={
                "now": self.rows.now(),
                "is_open": any(map(_is_open, providers.data["data"])),
                "banks": skies(providers.data, weather.data),
                "matrix": matrix(providers.data["data"]),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )

    async def one(self, visit: Visit) -> Result:
        """Show one bank, operation by operation."""
        window, name = _window(visit), visit.parameter("provider")
        providers = await self.rows.ask(visit, "backoffice.providers")
        found = next((each for each in providers.data["data"] if each["name"] == name), None)
        if found is None:
            raise ServiceError(NOT_FOUND, "provider")
        path = {"provider": name}
        weather = await self.rows.section(visit, "backoffice.provider_weather", path, window=window)
        return Shown(
            template="operations/provider.html",
            part="operations/_provider.html",
            data={
                "now": self.rows.now(),
                "is_open": _is_open(found),
                "bank": sky(found, weather.data or {}),
                "matrix": matrix([found]),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )


def _window(visit: Visit) -> str:
    asked = visit.query("window")
    return asked if asked in WINDOWS else WINDOWS[0]


def _is_open(provider: Mapping[str, Any]) -> bool:
    """Say whether calls of a bank are kept back, or on trial: that ends within seconds."""
    return any(state != CLOSED for state in provider["breakers"].values())


def matrix(providers: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[object]]]:
    """
    Return what each bank offers, a line for each thing.

    A cell is True or False, or a word or seconds of the adapter's own declaration. No bank that
    is read only pays, whatever its adapter could do.
    """
    declared = [each["capabilities"] for each in providers]
    return [
        *((f"pay_{way}", [_pays(each, way) for each in providers]) for way in _WAYS),
        *((name, [each[name] for each in declared]) for name in ("repeat", "lookup")),
        ("absent_after", [each["absent_after"] for each in declared]),
        *((call, [call in each["calls"] for each in declared]) for call in _CALLS),
        ("callback_proofs", [each["callback_proofs"] for each in declared]),
    ]


def _pays(provider: Mapping[str, Any], way: str) -> bool | str:
    """Say whether payouts leave for a bank in this way; why not, where we forbid it."""
    if way not in provider["capabilities"]["destinations"]:
        return False
    return "read_only" if provider["read_only"] else True


_WAYS: Final = ("pix", "bank_account")
_CALLS: Final = (
    *("get_balance", "list_statement", "create_charge", "create_refund", "look_up_key"),
)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of banks."""
    shown = ProviderPages(rows)
    return (
        Page(
            path="/providers",
            name="providers",
            summary="Show every bank, how its calls go and what it offers.",
            shows=shown.list,
            needs=_READ,
        ),
        Page(
            path="/providers/{provider}",
            name="provider",
            summary="Show one bank, operation by operation.",
            shows=shown.one,
            needs=_READ,
        ),
    )
