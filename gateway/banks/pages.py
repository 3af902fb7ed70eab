"""Pages of banks: status by our own calls, capabilities, expiries; no bank is queried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from gateway.banks.model import FailingCalls, Provider, WeatherWindow, status_of, statuses
from gateway.banks.service import BankReports
from gateway.core.access import Staff
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.user_errors import NOT_FOUND
from gateway.http.panel.pages.formats import local
from gateway.http.panel.pages.kit import PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

Hit = TypeVar("Hit")
_STOP: Final = Right(Area.STOP, Action.WRITE)


def pages(
    banks: BankReports,
    hit: Callable[[Staff, str, datetime], Awaitable[Sequence[Hit]]],
    sums: Callable[[Sequence[Hit]], Sequence[tuple[str, int, Sum]]],
    accounts_at: Callable[[Staff, str], Awaitable[object]],
    context: PageContext,
) -> Sequence[Page]:
    """
    Return the pages.

    Args:
        banks: The status of banks.
        hit: Counts the payouts affected by a bank's failure since an instant, by account.
        sums: Sums them over accounts: state, number and total.
        accounts_at: Lists the accounts at a bank.
        context: The pages' shared context.
    """
    panel = Pages("/providers", context)

    async def named(visit: Visit) -> Provider:
        """Return the bank of the path; NOT_FOUND for one that is not configured."""
        name = visit.parameter("provider")
        for each in await banks.providers(panel.staff(visit)):
            if each.name == name:
                return each
        raise ServiceError(NOT_FOUND, "provider")

    @panel.view("", "providers", banks.providers)
    async def listed(visit: Visit) -> Result:
        """Show every bank with its status and capabilities."""
        who, window = panel.staff(visit), _window(visit)
        providers = await banks.providers(who)
        weather = await part(banks.weather(who, window))
        latest = weather
        if window is not WeatherWindow.QUARTER:
            latest = await part(banks.weather(who, WeatherWindow.QUARTER))
        return Shown(
            template="operations/providers.html",
            part="operations/_providers.html",
            data={
                "now": context.staff.now(),
                "is_open": any(each.is_on_hold or each.awaits_trial for each in providers),
                "banks": statuses(providers, weather.data or (), latest.data or ()),
                "matrix": matrix(providers),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )

    @panel.view("/{provider}", "provider", banks.providers)
    async def one(visit: Visit) -> Result:
        """Show one bank, operation by operation."""
        who, window, found = panel.staff(visit), _window(visit), await named(visit)
        weather = await part(banks.weather_of(who, found.name, window))
        latest = weather
        if window is not WeatherWindow.QUARTER:
            latest = await part(banks.weather_of(who, found.name, WeatherWindow.QUARTER))
        return Shown(
            template="operations/provider.html",
            part="operations/_provider.html",
            data={
                "now": context.staff.now(),
                "is_open": found.is_on_hold or found.awaits_trial,
                "bank": status_of(found, weather.data, latest.data),
                "matrix": matrix([found]),
                "window": window,
                "weather": weather,
                "may_stop": visit.may(_STOP),
            },
        )

    @panel.view("/{provider}/incident", "provider_incident", banks.providers)
    async def incident(visit: Visit) -> Result:
        """Show a bank's failing calls: since when, and the affected accounts."""
        who, found, now = panel.staff(visit), await named(visit), context.staff.now()
        weather = await part(banks.weather_of(who, found.name, WeatherWindow.QUARTER))
        failing = await part(banks.failing(who, found.name))
        since = _since(failing.data or ()) or now - timedelta(days=1)
        concerned = await part(hit(who, found.name, since))
        accounts = await part(accounts_at(who, found.name))
        bank = status_of(found, weather.data, weather.data)
        is_away = bool(failing.data) and bank.word not in _ANSWERS
        return Shown(
            template="operations/incident.html",
            data={
                "now": now,
                "bank": bank,
                "failing": failing,
                "fails": bool(failing.data) or found.is_on_hold,
                "since": since,
                "is_away": is_away,
                "notice": _notice(found.name, since if is_away else None),
                "hit": concerned,
                "accounts": accounts,
                "sums": sums(concerned.data or ()),
                "may_stop": visit.may(_STOP),
            },
        )

    return panel.pages


_ANSWERS: Final = frozenset({"well", "slow"})
"""Words for a bank that answers now, whatever failed before and was not tried again."""


def _since(failing: Sequence[FailingCalls]) -> datetime | None:
    """Return the start of the current failures; None without failures."""
    return min((each.since for each in failing), default=None)


def _notice(bank: str, since: datetime | None) -> str:
    """Write a notice to customers, in Portuguese, that a bank is unavailable or back."""
    if since is None:
        return (
            f"O banco {bank} voltou a responder. Pagamentos que não foram enviados, ou que o banco "
            "não executou, não saíram da conta e podem ser pedidos de novo com a mesma referência. "
            "Pagamentos sem confirmação são consultados no banco até termos o resultado: não os "
            "repita com outra referência."
        )
    return (
        f"Desde {local(since)} (horário de Brasília), o banco {bank} não responde como esperado. "
        "Pagamentos por esse banco podem atrasar ou ser recusados. O que não foi enviado, ou que o "
        "banco não executou, não saiu da conta. O que está sem confirmação é consultado no banco "
        "até termos o resultado: por favor, não repita esses pagamentos com outra referência. "
        "Avisaremos quando normalizar."
    )


def _window(visit: Visit) -> WeatherWindow:
    asked = visit.query("window")
    return WeatherWindow(asked) if asked in set(WeatherWindow) else WeatherWindow.QUARTER


def matrix(providers: Sequence[Provider]) -> list[tuple[str, list[object]]]:
    """
    Return the capabilities of each bank, a line for each capability.

    A cell is True or False, or a word or seconds of the adapter's own declaration. A read-only bank
    makes no payouts, even if its adapter could.
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
    """Return whether a bank makes payouts in this way, or why we forbid it."""
    if way not in provider.capabilities["destinations"]:
        return False
    return "read_only" if provider.read_only else True


_WAYS: Final = ("pix", "bank_account")
_CALLS: Final = (
    *("get_balance", "list_statement", "create_charge", "create_refund", "look_up_key"),
)
