"""Signatures of Standard Webhooks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.security.webhooks import secret_bytes, signed_headers
from tests.world.tables import cases

# The example of the specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
AT = datetime.fromtimestamp(1614265330, UTC)
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_signature_is_that_of_the_specification():
    headers = signed_headers([secret_bytes(SECRET)], ID, AT, BODY)

    assert headers == {
        "webhook-id": ID,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


def test_each_secret_signs():
    other = signed_headers([b"other"], ID, AT, BODY)["webhook-signature"]

    both = signed_headers([b"other", secret_bytes(SECRET)], ID, AT, BODY)

    assert both["webhook-signature"] == f"{other} {SIGNATURE}"


@cases("text", ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_é", "whsec_a"])
def test_a_malformed_secret_is_refused(text: str):
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        secret_bytes(text)
