"""A partner who pays without a pause until the service goes away."""

from __future__ import annotations

import http.client
import json
import threading
from base64 import b64encode
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.world.waiting import block_until

_WAIT_S = 120
_SAMPLE = 10
_PAUSE_S = 0.12  # below the sustained quota of ten payouts a second


class Traffic:
    """
    Payouts one after the other, from a thread, for the length of a block.

    Attributes:
        accepted: References that were answered 200, oldest first.
    """

    def __init__(self, demo: dict[str, Any]) -> None:
        pair = demo["credentials"]["full"]
        token = b64encode(f"{pair['client_id']}:{pair['client_secret']}".encode()).decode()
        self._where = urlsplit(demo["base_url"])
        self._path = f"/baas/v1/account/{demo['accounts']['main']['id']}/withdraw"
        self._headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._pay)
        self.accepted: list[str] = []

    @property
    def sample(self) -> list[str]:
        """The last of the accepted ones, those that had the least time to be kept."""
        return self.accepted[-_SAMPLE:]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(_WAIT_S)

    def wait_for(self, count: int) -> None:
        """Wait until so many were accepted."""
        block_until(lambda: len(self.accepted) >= count or not self._thread.is_alive())
        assert self._thread.is_alive(), "the service went away by itself"

    def _pay(self) -> None:
        """Pay until no process answers."""
        host, port = self._where.hostname, self._where.port
        connection = http.client.HTTPConnection(host or "", port, timeout=_WAIT_S)
        number = 0
        try:
            while not self._over.wait(_PAUSE_S):
                number += 1
                reference = f"amid-{number}"
                connection.request("POST", self._path, order(reference), self._headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status == http.client.OK:
                    self.accepted.append(reference)
        except (OSError, http.client.HTTPException):  # what the test is about
            pass
        finally:
            connection.close()


def order(reference: str) -> bytes:
    """Write a payout of one real, dated today in UTC."""
    destination = {"tax_number": "529.982.247-25", "key_type": "email", "key": "maria@example.com"}
    body = {
        "method": "pix",
        "reference": reference,
        "value": 1,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "destination": destination,
    }
    return json.dumps(body).encode()
