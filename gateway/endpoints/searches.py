"""Search parameters of endpoints."""

from __future__ import annotations

from typing import Final

from gateway.endpoints.model import EndpointSearch, EndpointState
from policies.validation.backoffice import inputs

ENDPOINTS: Final = inputs.filters(
    lambda given: EndpointSearch(
        paging=given.paging(),
        company_id=given.uuid("company_id"),
        state=given.read("state", EndpointState),
    ),
    inputs.uuid_filter("company_id", "Only those of this company."),
    inputs.word_filter("state", EndpointState),
    *inputs.PAGING,
)
