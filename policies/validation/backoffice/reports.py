"""Which days as which file?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Window
from gateway.domain.requests.calls import Input, Parameter, RawRequest
from policies.validation.inputs import SEARCH
from policies.validation.search import window

_DAYS = frozenset({"init", "ends"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAsked:
    """
    A report that is asked for.

    Attributes:
        locale: Empty for the plain form.
    """

    window: Window
    format: str
    locale: str


@dataclass(frozen=True, slots=True)
class ReportReader:
    """Reads which report; the words it takes are those of the writers."""

    formats: Collection[str]
    locales: Collection[str]

    def __call__(self, asked: RawRequest) -> ReportAsked:
        """
        Read the query.

        Raises:
            ServiceError: for the window as everywhere; ``SVC.VAL.001`` without a
                format, ``SVC.VAL.011`` for a format or locale that is unknown or
                given twice.
        """
        days = window(asked)
        wanted = _word(asked, "format", self.formats)
        if not wanted:
            raise ServiceError(errors.FIELD_MISSING, "missing", field="format")
        return ReportAsked(window=days, format=wanted, locale=_word(asked, "locale", self.locales))


def _word(asked: RawRequest, name: str, words: Collection[str]) -> str:
    """Read one of the words; empty where it is absent or empty."""
    values = asked.query.get(name, ())
    if len(values) == 0 or list(values) == [""]:
        return ""
    if len(values) != 1 or values[0] not in words:
        reason = "not_one_of" if len(values) == 1 else "repeated"
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name)
    return values[0]


def report_input(formats: Collection[str], locales: Collection[str]) -> Input[ReportAsked]:
    """Take a report of one of the formats, in one of the locales."""
    return Input(
        read=ReportReader(formats, locales),
        parameters=(
            *(each for each in SEARCH.parameters if each.name in _DAYS),
            Parameter(
                name="format",
                required=True,
                schema={"type": "string", "enum": sorted(formats)},
                description="The kind of file.",
            ),
            Parameter(
                name="locale",
                required=False,
                schema={"type": "string", "enum": sorted(locales)},
                description="For readers in Brazil; only csv is written differently.",
            ),
        ),
        refuses=(
            errors.FIELD_MISSING,
            errors.DATE_INVALID,
            errors.WINDOW_INVALID,
            errors.PAYLOAD_INVALID,
        ),
    )
