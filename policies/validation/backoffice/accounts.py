"""Which page of the accounts, and of which company?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gateway.domain.kernel import errors, strict
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.calls import Input, Parameter, RawRequest
from policies.validation.inputs import SEARCH
from policies.validation.search import paging

_PAGING = frozenset({"page", "limit"})


@dataclass(frozen=True, slots=True)
class AccountsAsked:
    """A page of accounts; ``company_id`` None is every company's."""

    paging: Paging
    company_id: str | None


def accounts(asked: RawRequest) -> AccountsAsked:
    """
    Read the query.

    Raises:
        ServiceError: ``SVC.VAL.009`` for page or limit, ``SVC.VAL.011`` for a
            company that is no UUID or named twice.
    """
    return AccountsAsked(paging(asked), _company(asked))


def _company(asked: RawRequest) -> str | None:
    values = asked.query.get("company_id", ())
    if len(values) == 0 or list(values) == [""]:
        return None
    try:
        (text,) = values
        return strict.uuid_text(text)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "uuid_form", field="company_id") from problem


ACCOUNTS: Final[Input[AccountsAsked]] = Input(
    read=accounts,
    parameters=(
        *(each for each in SEARCH.parameters if each.name in _PAGING),
        Parameter(
            name="company_id",
            required=False,
            schema={"type": "string", "format": "uuid"},
            description="Of this company alone.",
        ),
    ),
    refuses=(errors.NUMBER_INVALID, errors.PAYLOAD_INVALID),
)
