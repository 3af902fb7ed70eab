"""Search parameters of statements, and of reports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from gateway.banks.port.statements import Direction
from gateway.core import errors, strict
from gateway.core.calls import Input, Parameter, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.windows import LocalWindow
from gateway.reports.texts import Locale
from gateway.statements.model import ReportRequest, StatementSearch
from policies.validation.backoffice import inputs
from policies.validation.backoffice.searches import one_of_query, word_of_query
from policies.validation.inputs import SEARCH
from policies.validation.search import window

_DAYS = frozenset({"init", "ends"})


_UNTIED: Final = ("no",)


_DIRECTIONS: Final = frozenset(each.value for each in Direction)


def statement(asked: RawRequest) -> StatementSearch:
    """Read the query; raises as ``SEARCH`` does, and ``SVC.VAL.011`` for the filters."""
    search, direction = SEARCH.read(asked), word_of_query(asked, "direction", _DIRECTIONS)
    return StatementSearch(
        search=search,
        direction=Direction(direction) if direction else None,
        text=one_of_query(asked, "text", strict.plain_text, "text_form") or "",
        untied=bool(word_of_query(asked, "tied", _UNTIED)),
    )


def _local(parameter: Parameter) -> Parameter:
    return replace(
        parameter, description=parameter.description.replace("UTC day", "day of Brasilia")
    )


STATEMENT: Final[Input[StatementSearch]] = Input(
    read=statement,
    parameters=(
        *map(_local, SEARCH.parameters),
        inputs.word_filter("direction", Direction),
        inputs.text_filter(
            "text", "Part of a description, a name, an end-to-end id or a reference, or an amount."
        ),
        inputs.word_filter(
            "tied", _UNTIED, "Only movements behind which nothing of ours is known."
        ),
    ),
    refuses=(*SEARCH.refuses, errors.PAYLOAD_INVALID),
)


_LOCAL: Final = ("local",)


_LOCAL_DAYS: Final = inputs.word_filter(
    "days", _LOCAL, "Counts days by the clock of Brasilia; without it they are days in UTC."
)


_HIDDEN: Final = ("hidden",)


_TAX_NUMBERS: Final = inputs.word_filter("tax_numbers", _HIDDEN, "Hides both ends of each CPF.")


def report_input(formats: Collection[str]) -> Input[ReportRequest]:
    """Take a report of one of the formats."""
    locales = [each.value for each in Locale if each.value]

    def read(asked: RawRequest) -> ReportRequest:
        days = window(asked)
        wanted = word_of_query(asked, "format", formats)
        if not wanted:
            raise ServiceError(errors.FIELD_MISSING, "missing", field="format")
        return ReportRequest(
            window=LocalWindow(days.init, days.ends)
            if word_of_query(asked, "days", _LOCAL)
            else days,
            format=wanted,
            locale=Locale(word_of_query(asked, "locale", locales)),
            hides_people=bool(word_of_query(asked, "tax_numbers", _HIDDEN)),
        )

    return Input(
        read=read,
        parameters=(
            *(each for each in SEARCH.parameters if each.name in _DAYS),
            Parameter(
                name="format",
                required=True,
                schema={"type": "string", "enum": sorted(formats)},
                description="The kind of file.",
            ),
            inputs.word_filter(
                "locale",
                sorted(locales),
                "For readers in Brazil; only csv is written differently.",
            ),
            _LOCAL_DAYS,
            _TAX_NUMBERS,
        ),
        refuses=(
            errors.FIELD_MISSING,
            errors.DATE_INVALID,
            errors.WINDOW_INVALID,
            errors.PAYLOAD_INVALID,
        ),
    )
