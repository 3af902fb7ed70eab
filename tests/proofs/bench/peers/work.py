"""What several tests of work share."""

import hmac

from bench.peers.given import Given

ACCOUNT = "3b4b54ab-7c8c-46df-ab88-830d630ec997"
TOLD = Given(
    port=1,
    bank=2,
    key="key",
    client_id="cli_1",
    digest=hmac.digest(b"key", b"right", "sha256").hex(),
    account=ACCOUNT,
    bank_path="/saldo",
    token="bank",
)
