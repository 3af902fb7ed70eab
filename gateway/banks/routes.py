"""Back-office routes of banks."""

from __future__ import annotations

from typing import Final

from gateway.banks.model import WeatherWindow
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.http.routing import ABSENT, Routes
from policies.validation.backoffice import inputs

_WINDOW: Final = inputs.filters(
    lambda given: given.read("window", WeatherWindow) or WeatherWindow.QUARTER,
    inputs.word_filter("window", WeatherWindow),
)
_OF_ONE: Final = {"provider": inputs.word_of_path("provider"), "window": _WINDOW}


def routes(banks: BankReports, readings: Readings) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/providers", "providers", banks.providers)
    office.get("/weather", "weather", banks.weather, takes={"window": _WINDOW})
    office.get(
        "/providers/{provider}/weather",
        "provider_weather",
        banks.weather_of,
        takes=_OF_ONE,
        raises=ABSENT,
    )
    office.get("/readings", "readings", readings.look)
    return office
