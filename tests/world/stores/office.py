"""What several tests of office share."""

from __future__ import annotations

from datetime import timedelta

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback
from gateway.core.approvals import (
    Approval,
    ApprovalKind,
)
from gateway.request_log.model import LoggedRequest
from tests.world.stores.samples import (
    ACCOUNT,
    COMPANY,
    NOW,
)

END = NOW + timedelta(hours=8)
APPROVAL = Approval(
    id="a1",
    kind=ApprovalKind.PAYOUT,
    account_id=ACCOUNT,
    company_id=COMPANY,
    subject=ACCOUNT,
    reference="pedido/1 ção",
    centavos=1050,
    sealed_order=b"\x00sealed",
    ordered_by="u1",
    orderer="user:maria@example.com",
    ordered_at=NOW,
    ends_at=END,
)
CALLBACK = Callback(
    id="c1",
    provider="sandbox",
    event="e1",
    kind=CallbackKind.PAYOUT,
    subject="key",
    received_at=NOW,
    body=b'{"a":\xff}',
    due_at=NOW,
)
REQUEST = LoggedRequest(
    at=NOW,
    trace_id="t1",
    surface="banking",
    route="banking.balance",
    status=200,
    code="",
    client_id="cli_a",
    user_id="",
    company_id=COMPANY,
    line='{"a":1}',
)
