"""Search parameters of chats."""

from __future__ import annotations

from typing import Final

from gateway.notifications.model import ChatSearch
from policies.validation.backoffice import inputs

CHATS: Final = inputs.filters(
    lambda given: ChatSearch(paging=given.paging(), company_id=given.uuid("company_id")),
    inputs.uuid_filter("company_id", "Only those of this company."),
    *inputs.PAGING,
)
