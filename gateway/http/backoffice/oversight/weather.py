"""The weather at banks: how the calls of every process went, lately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.backoffice.weather import Calls, WeatherWindow
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area
from gateway.domain.requests.calls import Input, RawRequest
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from gateway.operations.backoffice.figures.weather import Weather, WeatherReports
from policies.validation.backoffice import inputs

Operation = Annotated[str, Meta(examples=["get_balance"])]
_DIGITS = 4


class CallFigures(TypedDict):
    """
    How calls went.

    ``success`` is the share that went well, from 0 to 1, a refusal by the bank included;
    ``p95_s`` is interpolated. Each is absent where there was no call.
    """

    calls: int
    success: NotRequired[float]
    p95_s: NotRequired[float]


class WeatherStep(CallFigures):
    """Those from ``at`` on."""

    at: Instant


class WeatherOperation(CallFigures):
    """Those of one operation of the provider port."""

    operation: Operation


class WeatherDocument(CallFigures):
    """
    How the calls of every process to a bank went.

    The last failure is the latest minute with one, and its word; empty where every call
    went well. Each process tells its minutes once a minute.
    """

    provider: str
    window: Literal["15m", "24h", "7d"]
    since: Instant
    last_failed_at: Instant
    last_failed_operation: Annotated[str, Meta(examples=["get_balance"])]
    last_failure: Annotated[str, Meta(examples=["timeout"])]
    steps: list[WeatherStep]
    by_operation: list[WeatherOperation]


class WeatherList(TypedDict):
    """The weather at every configured bank, by name."""

    data: list[WeatherDocument]
    meta: Total


_WINDOW: Final = inputs.word_filter("window", WeatherWindow)


def weather_rows(does: WeatherReports) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows; providers belong to no company."""
    return _of_every_bank(does), _of_one(does)


def _of_every_bank(does: WeatherReports) -> Row[BackOfficeCaller]:
    async def every(_who: BackOfficeCaller, window: WeatherWindow) -> Sequence[Weather]:
        return await does.read_all(window)

    return route(
        "GET",
        "/weather",
        name="backoffice.weather",
        summary="Read how calls to every bank went, of every process; no bank is asked.",
        needs=reading(Area.PROVIDER),
        limits=NO_BODY,
        takes=inputs.filters(_window, _WINDOW),
        runs=every,
        shows=_list,
        fails=STORE_FAILS,
        raises=(),
    )


def _of_one(does: WeatherReports) -> Row[BackOfficeCaller]:
    async def one(_who: BackOfficeCaller, asked: tuple[str, WeatherWindow]) -> Weather:
        return await does.read(*asked)

    return route(
        "GET",
        "/providers/{provider}/weather",
        name="backoffice.provider_weather",
        summary="Read how calls to a bank went, of every process; the bank is not asked.",
        needs=reading(Area.PROVIDER),
        limits=NO_BODY,
        takes=_of_provider(inputs.filters(_window, _WINDOW)),
        runs=one,
        shows=_one,
        fails=STORE_FAILS,
        raises=(NOT_FOUND,),
    )


def _window(given: inputs.Filters) -> WeatherWindow:
    return given.read("window", WeatherWindow) or WeatherWindow.QUARTER


def _of_provider(window: Input[WeatherWindow]) -> Input[tuple[str, WeatherWindow]]:
    """Take the provider of the path, too."""
    named = inputs.word_of_path("provider")

    def read(asked: RawRequest) -> tuple[str, WeatherWindow]:
        return named.read(asked), window.read(asked)

    refuses = (*named.refuses, *window.refuses)
    return Input(read=read, parameters=window.parameters, refuses=refuses)


def _list(found: Sequence[Weather], _who: BackOfficeCaller) -> WeatherList:
    return {"data": [weather(each) for each in found], "meta": {"total": len(found)}}


def _one(found: Weather, _who: BackOfficeCaller) -> WeatherDocument:
    return weather(found)


def weather(found: Weather) -> WeatherDocument:
    """Show the weather at a bank."""
    failure = found.last_failure
    return {
        "provider": found.provider,
        "window": found.window.value,
        "since": instant(found.since),
        "last_failed_at": instant(failure.minute if failure else None),
        "last_failed_operation": failure.operation if failure else "",
        "last_failure": failure.word if failure else "",
        "steps": _steps(found.steps),
        "by_operation": [
            {"operation": name, **_figures(each)} for name, each in sorted(found.operations.items())
        ],
        **_figures(found.all),
    }


def _steps(found: Mapping[datetime, Calls]) -> list[WeatherStep]:
    return [{"at": instant(at), **_figures(each)} for at, each in sorted(found.items())]


def _figures(found: Calls) -> CallFigures:
    figures: CallFigures = {"calls": found.calls}
    if found.success is not None:
        figures["success"] = round(found.success, _DIGITS)
    if found.p95_s is not None:
        figures["p95_s"] = round(found.p95_s, _DIGITS)
    return figures
