"""The banks that a payout to a bank account may name, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict, cast

from msgspec import Meta

from gateway.domain.bank.payout_orders import NumberedBank
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading
from gateway.http.common import STORE_FAILS
from gateway.http.resources.documents import Total
from gateway.http.route import Row, route
from policies.validation.inputs import NOTHING


class BankNumberDocument(TypedDict):
    """
    A bank, or another institution with a number.

    ``name`` is the one the Banco Central lists; ``pix`` says how it takes part in Pix, and is
    empty for one that does not.
    """

    compe: Annotated[str, Meta(examples=["341"])]
    ispb: Annotated[str, Meta(examples=["60701190"])]
    name: Annotated[str, Meta(examples=["ITAU UNIBANCO S.A."])]
    pix: Literal["direct", "indirect", ""]


class BankNumberList(TypedDict):
    """Every bank with a COMPE number, by that number."""

    data: list[BankNumberDocument]
    meta: Total


def bank_number_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row; the list is part of the program, and no bank and no store is asked."""

    async def listed(_who: BackOfficeCaller, _taken: None) -> Sequence[NumberedBank]:
        return does.listed_banks()

    return (
        route(
            "GET",
            "/bank-numbers",
            name="backoffice.bank_numbers",
            summary="List Brazilian banks by their COMPE number, with their ISPB.",
            needs=reading(Area.PAYOUT),
            limits=NO_BODY,
            takes=NOTHING,
            runs=listed,
            shows=_bank_numbers,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _bank_numbers(found: Sequence[NumberedBank], _who: BackOfficeCaller) -> BankNumberList:
    data = [_bank_number(each) for each in found]
    return {"data": data, "meta": {"total": len(data)}}


def _bank_number(found: NumberedBank) -> BankNumberDocument:
    pix = cast("Literal['direct', 'indirect', '']", found.pix)
    return {"compe": found.compe, "ispb": found.ispb, "name": found.name, "pix": pix}
