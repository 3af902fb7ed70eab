"""Search parameters of approvals."""

from __future__ import annotations

from typing import Final

from gateway.core.approvals import ApprovalSearch, ApprovalState
from policies.validation.backoffice import inputs

APPROVALS: Final = inputs.filters(
    lambda given: ApprovalSearch(paging=given.paging(), state=given.read("status", ApprovalState)),
    inputs.word_filter("status", ApprovalState),
    *inputs.PAGING,
)
