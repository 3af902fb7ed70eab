"""The signature of the sandbox bank, against the worked example of Standard Webhooks."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from provider_adapters.testing.sandbox.callbacks import sign

SECRET = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
BODY = b'{"test": 2432232314}'


def test_the_published_example_is_signed_as_published():
    at = datetime.fromtimestamp(1614265330, UTC)

    assert sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, BODY) == {
        "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "Webhook-Timestamp": "1614265330",
        "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
