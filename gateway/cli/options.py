"""Types of options: parse an operator's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast

import click

from gateway.core.money import Money
from gateway.core.strict import amount

_DURATION = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
Read = TypeVar("Read")


class Option(click.ParamType[Read]):
    """The type of an option; its parser's ``ValueError`` explains an invalid text."""

    def __init__(self, name: str, read: Callable[[str], Read]) -> None:
        self.name = name
        self._read = read

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Read:
        """Parse the text."""
        try:
            return self._read(value) if isinstance(value, str) else cast("Read", value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


def _duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if found is None:
        problem = f"{text!r} is no duration such as 24h or 30d"
        raise ValueError(problem)
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _reais(text: str) -> Money:
    try:
        found = amount(text)
    except ValueError:
        problem = f"{text!r} is no amount such as 1500.00"
        raise ValueError(problem) from None
    if found.centavos <= 0:
        problem = "an amount is above zero"
        raise ValueError(problem)
    return found


DURATION = Option("duration", _duration)
"""A number and a unit: ``0s``, ``90m``, ``24h``, ``30d``."""
REAIS = Option("reais", _reais)
"""An amount above zero, such as ``1500.00``."""
