"""Which days a package is of."""

from __future__ import annotations

from datetime import date
from typing import Final

from gateway.closings.days import last_of_month
from gateway.closings.packages import PackageRequest
from gateway.core.calls import Input, Parameter
from gateway.core.errors import ServiceError
from gateway.core.strict import Malformed, plain_text
from gateway.core.user_errors import VALIDATION_FAILED
from policies.validation.backoffice.inputs import Filters, filters, uuid_filter

_MONTH: Final = len("2026-11")


def period(text: str) -> tuple[date, date]:
    """Read a day or a month, ``2026-11-29`` or ``2026-11``; ValueError for another form."""
    written = plain_text(text)
    day = date.fromisoformat(f"{written}-01" if len(written) == _MONTH else written)
    if not day.isoformat().startswith(written):
        raise Malformed
    return (day, day) if len(written) > _MONTH else (day, last_of_month(day))


def package_request(given: Filters) -> PackageRequest:
    """Read the query; raises VALIDATION_FAILED for another form, or without a period."""
    name, days = given.text("period"), given.read("period", period)
    if name is None or days is None:
        raise ServiceError(VALIDATION_FAILED, "missing", field="period")
    return PackageRequest(
        name=name, first=days[0], last=days[1], account_id=given.uuid("account_id")
    )


PACKAGE: Final[Input[PackageRequest]] = filters(
    package_request,
    Parameter(
        name="period",
        required=True,
        schema={
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
            "examples": ["2026-11", "2026-11-29"],
        },
        description="A day or a month of Brasilia that is over.",
    ),
    uuid_filter("account_id", "Only this account."),
)
