"""What several tests of callbacks share."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gateway.app.banks import path_of
from provider_adapters.testing.sandbox import sign
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer


def secret(backoffice_client: BackofficeClient) -> bytes:
    return backoffice_client.world.gateway.kernel.keys.derivation.key("callbacks sandbox")


async def summary(
    backoffice_client: BackofficeClient,
    said: Mapping[str, object] | bytes,
    *,
    event: str = "",
    late_s: float = 0,
    **changed: Any,
) -> Answer:
    """Tell the gateway something, signed unless ``changed`` spoils it."""
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    at = backoffice_client.world.gateway.kernel.now() - timedelta(seconds=late_s)
    headers = sign(
        changed.get("secret", secret(backoffice_client)), event or f"evt_{uuid.uuid4()}", at, body
    )
    headers |= changed.get("headers", {})
    derivation = backoffice_client.world.gateway.kernel.keys.derivation
    token = changed.get("token", path_of("sandbox", derivation).rpartition("/")[2])
    path = f"/callbacks/{changed.get('provider', 'sandbox')}/{token}{changed.get('rest', '')}"
    sent = {name: value for name, value in headers.items() if value}
    return await backoffice_client.world.call(
        "POST", path, data=changed.get("body", body), headers=sent
    )


async def listed(backoffice_client: BackofficeClient, query: str = "") -> list[dict[str, Any]]:
    said = await backoffice_client.ask(
        "GET", f"/backoffice/v1/webhooks?limit=100&{query}", by="viewer"
    )
    assert said.status == 200
    return list(said.document["data"])
