"""Search parameters of endpoints."""

from __future__ import annotations

from typing import Final

from gateway.core import strict
from gateway.endpoints.model import EndpointSearch, EndpointState
from policies.validation.backoffice import inputs

ENDPOINTS: Final = inputs.filters(
    lambda given: EndpointSearch(
        paging=given.paging(),
        company_id=given.read("company_id", strict.uuid_text),
        state=given.read("state", EndpointState),
    ),
    inputs.text_filter("company_id", "Only those of this company."),
    inputs.word_filter("state", EndpointState),
    *inputs.PAGING,
)
