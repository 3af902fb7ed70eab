"""Search parameters of files of payouts and of their rows."""

from __future__ import annotations

from typing import Final

from gateway.batches.model import BatchSearch, RowSearch
from gateway.core.calls import Input, Parameter
from policies.validation.backoffice import inputs


def _files(given: inputs.Filters) -> BatchSearch:
    return BatchSearch(
        paging=given.paging(), account_id=given.uuid("account_id"), text=given.text("text")
    )


def _is_odd(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(text)
    return text == "true"


def _rows(given: inputs.Filters) -> RowSearch:
    return RowSearch(paging=given.paging(), is_odd=bool(given.read("odd", _is_odd)))


BATCHES: Final[Input[BatchSearch]] = inputs.filters(
    _files,
    inputs.uuid_filter("account_id", "Of this account alone."),
    inputs.text_filter("text", "A part of the file's name, or the whole reference of a row."),
    *inputs.PAGING,
)
ROWS: Final[Input[RowSearch]] = inputs.filters(
    _rows,
    Parameter(
        name="odd",
        required=False,
        schema={"type": "boolean"},
        description="Only rows in which something stands out.",
    ),
    *inputs.PAGING,
)
