"""Search parameters of accounts in the back office."""

from __future__ import annotations

from typing import Final

from gateway.accounts.model import AccountSearch
from gateway.core import errors, strict
from gateway.core.calls import Input, RawRequest
from policies.validation.backoffice import inputs
from policies.validation.backoffice.searches import one_of_query
from policies.validation.search import paging


def accounts(asked: RawRequest) -> AccountSearch:
    """
    Read the query.

    Raises:
        ServiceError: ``SVC.VAL.009`` for page or limit, ``SVC.VAL.011`` for a
            company that is no UUID or named twice.
    """
    return AccountSearch(
        paging(asked), one_of_query(asked, "company_id", strict.uuid_text, "uuid_form")
    )


ACCOUNTS: Final[Input[AccountSearch]] = Input(
    read=accounts,
    parameters=(
        *inputs.PAGING,
        inputs.uuid_filter("company_id", "Of this company alone."),
    ),
    refuses=(errors.NUMBER_INVALID, errors.PAYLOAD_INVALID),
)
