"""
Formats of money, times and tax numbers, Brazilian in every language.

Reading a decimal comma as a thousands separator is a thousandfold mistake, so no language changes
the format.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.money import MAX_CENTAVOS, Money, Sum
from gateway.core.permissions import CredentialLimits
from gateway.core.strict import hidden_tax_number
from gateway.core.windows import LOCAL, local_end, local_start, local_time, written

ZONE: Final = LOCAL
"""Of every time and every day in the panel."""

_BOX: Final = "\N{OPEN BOX}"
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_CNPJ: Final = 14


def money(value: Decimal | Sum) -> str:
    """Write reais as ``1.234,56``, without sign and currency."""
    reais = Decimal(str(value)) if isinstance(value, Sum) else value
    return f"{abs(reais):,.2f}".translate(_SWAPPED)


def is_negative(value: Decimal | Sum) -> bool:
    """Return whether an amount is below zero."""
    return (value.centavos if isinstance(value, Sum) else value) < 0


def is_nonzero(value: Decimal | Sum | None) -> bool:
    """Return whether an amount is known and not zero."""
    return value is not None and bool(value.centavos if isinstance(value, Sum) else value)


_TYPED: Final = re.compile(
    r"(?:R\$[\s\xa0]*)?(?!\d+\.\d+$)(\d{1,3}(?:\.\d{3}){1,6}|\d{1,18})(?:,(\d{2}))?", re.ASCII
)
"""Of a bounded length: Python reads no number of thousands of digits."""


def typed_money(text: str, field: str) -> Money:
    """
    Read an amount as it is typed: ``1.234,56``, ``1234,56``, ``1234`` or ``R$ 5,00``.

    Raises:
        ServiceError: ``SVC.VAL.011`` that names the field: the point of ``1.234`` or ``12.50``
            could have meant thousands or centavos.
    """
    typed = _TYPED.fullmatch(text)
    centavos = int(typed[1].replace(".", "") + (typed[2] or "00")) if typed else -1
    if not 0 <= centavos <= MAX_CENTAVOS:
        raise ServiceError(errors.PAYLOAD_INVALID, "typed_amount", field=field)
    return Money(centavos)


def typed_key(text: str, kind: str) -> str:
    """
    Read a PIX key as it is typed; a Brazilian telephone need not have +55.

    ``(11) 98888-7777``, ``011 98888 7777`` and ``+55 11 98888-7777`` are +5511988887777. Of any
    other telephone the blanks, brackets, points and hyphens alone are left out.
    """
    if kind != "phone":
        return text
    bare = _SEPARATORS.sub("", text)
    found = _BRAZILIAN.fullmatch(bare)
    return f"+55{found[1]}" if found else bare


_SEPARATORS: Final = re.compile(r"[\s().\-]")
_BRAZILIAN: Final = re.compile(r"(?:\+?55|0)?([1-9]{2}[0-9]{8,9})", re.ASCII)
_SWAPPED: Final = str.maketrans(",.", ".,")
_AMOUNTS: Final = frozenset(
    {"value", *(f"limit_{name}" for name in CredentialLimits.__struct_fields__)}
)
"""Names of what acts on record tell in reais."""


def detail_amount(text: str, name: str) -> Decimal | None:
    """Read an amount in an act's details, ``12.34``; None for anything else."""
    is_one = name in _AMOUNTS and re.fullmatch(r"\d{1,13}\.\d{2}", text, re.ASCII)
    return Decimal(text) if is_one else None


def number(value: int) -> str:
    """Write a count as ``1.234``."""
    return f"{value:,}".replace(",", ".")


def percent(share: float | Decimal) -> str:
    """Write a share from 0 to 1 as ``98,7 %``; only a complete share is 100."""
    tenths = int(share * 1000)
    return f"{tenths // 10},{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def seconds(value: float | Decimal) -> str:
    """Write a duration: ``318 ms``, ``1,4 s``, ``12 min``."""
    if value < _SECOND:
        return f"{round(value * 1000)} ms"
    if value < _LONG_S:
        return f"{value:.1f} s".replace(".0 ", " ").replace(".", ",")
    return f"{round(value / 60)} min"


_SECOND: Final = 1
_LONG_S: Final = 120


def moment(value: str | int | datetime) -> datetime:
    """
    Read a time of a document: RFC 3339, ``YYYY-MM-DD HH:MM`` in UTC, or seconds since 1970.

    Returns:
        It in São Paulo's time; one of the first or last day of all in UTC.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, datetime):
        at = value
    elif isinstance(value, int):
        at = datetime.fromtimestamp(value, UTC)
    else:
        at = datetime.fromisoformat(value)
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return local_time(aware)


def local(value: str | int | datetime, form: str = "minute") -> str:
    """
    Write a time in São Paulo.

    Args:
        value: As ``moment`` reads it.
        form: ``minute`` for ``20/11/2026 10:40``, ``second`` for ``10:40:05``,
            ``millisecond``, ``full`` for date and second, ``day`` for the date alone.
    """
    at = moment(value)
    if form == "millisecond":
        return f"{at:%H:%M:%S},{at.microsecond // 1000:03}"
    return written(at, _FORMS[form])


_FORMS: Final = {
    "minute": "%d/%m/%Y %H:%M",
    "second": "%H:%M:%S",
    "full": "%d/%m/%Y %H:%M:%S",
    "day": "%d/%m/%Y",
}


def universal(value: str | int | datetime) -> str:
    """Write a time in UTC, for the tooltip of a local time."""
    return written(moment(value).astimezone(UTC), "%d/%m/%Y %H:%M:%S UTC")


def machine(value: str | int | datetime) -> str:
    """Write a time for programs: RFC 3339 in UTC."""
    return written(moment(value).astimezone(UTC), "%Y-%m-%dT%H:%M:%SZ")


def epoch_ms(value: str | int | datetime) -> int:
    """Write a time for scripts: milliseconds since 1970."""
    return int(moment(value).timestamp() * 1000)


def days_left(value: str | int | datetime, now: datetime) -> tuple[int, int]:
    """Return the days until a time, and the remaining hours."""
    hours = max(0, int((moment(value) - now).total_seconds())) // 3600
    return divmod(hours, 24)


def time_left(value: str | int | datetime, now: datetime) -> str:
    """Write the time left as ``9 h 04 min`` or ``4 min 05 s``, as the script does."""
    left_s = max(0, round((moment(value) - now).total_seconds()))
    hours, rest = divmod(left_s, 3600)
    minutes, last_s = divmod(rest, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {last_s:02} s"


DAY_FORM: Final = "%d/%m/%Y"
"""As people type a day; a browser's own field would show that of its language."""


def day_of(text: str) -> date | None:
    """Read a day as a person or a program writes it: 20/11/2026, 2026-11-20; else None."""
    for form in (DAY_FORM, "%Y-%m-%d"):
        try:
            return datetime.strptime(text, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None


def day_begins(day: str) -> str:
    """Write the beginning of a day in São Paulo for programs; empty for an unreadable day."""
    found = day_of(day)
    return machine(local_start(found)) if found else ""


def day_ends(day: str) -> str:
    """Write the end of a day in São Paulo, as ``day_begins`` does."""
    found = day_of(day)
    return machine(local_end(found)) if found else ""


def tax_number(value: str) -> str:
    """Write a CNPJ in full and a CPF masked; other texts unchanged."""
    if len(value) == _CNPJ and value.isalnum():
        return f"{value[:2]}.{value[2:5]}.{value[5:8]}/{value[8:12]}-{value[12:]}"
    return hidden_tax_number(value)


def browser(agent: str) -> str:
    """Write ``Firefox 140 · Windows``; other programs by their own name."""
    known = next(filter(None, (each.search(agent) for each in _BROWSERS)), None)
    if known is None:
        return agent
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return " · ".join(filter(None, (f"{_CALLED.get(known[1], known[1])} {known[2]}", system)))


# The first that is found: Edge and Opera call themselves Chrome too, and Chrome Safari.
_BROWSERS: Final = tuple(
    map(re.compile, (r"(Edg|OPR|Firefox)/(\d+)", r"(Chrome)/(\d+)", r"(Version)/(\d+).*Safari/"))
)
_CALLED: Final = {"Edg": "Edge", "OPR": "Opera", "Version": "Safari"}
_SYSTEMS: Final = (
    *(("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad")),
    *(("Mac OS X", "macOS"), ("Linux", "Linux")),
)


def milliseconds(value: Decimal | float) -> str:
    """Write a duration as ``1.234,5``, in milliseconds."""
    return f"{value:,.1f}".translate(_SWAPPED)


def visible(value: object) -> str:
    """Write foreign text with a box for each invisible character."""
    return "".join(
        _BOX if unicodedata.category(char) in _INVISIBLE else char for char in str(value)
    )
