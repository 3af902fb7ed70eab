"""Search parameters of credentials."""

from __future__ import annotations

from typing import Final

from gateway.core import strict
from gateway.credentials.model import CredentialSearch, CredentialState
from policies.validation.backoffice import inputs

CREDENTIALS: Final = inputs.filters(
    lambda given: CredentialSearch(
        paging=given.paging(),
        company_id=given.read("company_id", strict.uuid_text),
        state=given.read("state", CredentialState),
        text=given.text("text"),
    ),
    inputs.text_filter("company_id", "Only those of this company."),
    inputs.word_filter("state", CredentialState),
    inputs.text_filter("text", "In the name, or how the client id begins."),
    *inputs.PAGING,
)
