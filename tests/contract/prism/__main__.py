"""
The banks' official documents as mock servers: ``make prism``.

Prism, a third party's program, is started on each document and receives every request that the
adapter can make. A request that violates the document is printed, and the command fails. Prism's
answers are not checked: the documents' own examples violate their schemas.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.contract.apipix import samples as apipix
from tests.contract.apipix.document import corrected as pix_document
from tests.contract.woovi.judge import corrected
from tests.contract.woovi.samples import every_request
from tests.world.waiting import block_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.banks.client.messages import ProviderRequest

_HERE = Path(__file__).parent
_REFUSED = 405
"""Of a path or a method that the document does not have; 404 is an example of its own, too."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A document, and all that its adapter asks; paths begin with ``prefix``, which it lacks."""

    document: Callable[[], Mapping[str, object]]
    requests: Callable[[], Sequence[ProviderRequest]]
    prefix: str = ""


BANKS: Mapping[str, Judged] = {
    "woovi": Judged(lambda: corrected("corrections"), every_request),
    "API Pix": Judged(pix_document, apipix.every_request, prefix="/v2"),
}


@contextmanager
def prism(document: Mapping[str, object]) -> Iterator[str]:
    """Run Prism on a document; returns its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(document, file)
        file.flush()
        where = Path(os.environ.get("PRISM_FOLDER", _HERE)) / "node_modules/.bin/prism"
        command = [str(where), "mock", "-h", "127.0.0.1", "-p", str(port), file.name]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            try:
                block_until(lambda: _listens(server, port))
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()


def _listens(server: subprocess.Popen[bytes], port: int) -> bool:
    """
    Whether it can be asked.

    Raises:
        RuntimeError: it has ended.
    """
    if server.poll() is not None:
        message = f"Prism ended with {server.returncode}"
        raise RuntimeError(message)
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def problems(url: str, bank: Judged, request: ProviderRequest) -> list[str]:
    """Ask Prism, and return what breaks the document."""
    headers = {**request.headers, "Content-Type": "application/json"}
    path = request.path.removeprefix(bank.prefix)
    body = request.body or None
    asked = urllib.request.Request(url + path, body, headers, method=request.method)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(asked) as answer:  # noqa: S310 - loopback
            status, violations = answer.status, answer.headers.get("sl-violations", "[]")
            said = b""
    except urllib.error.HTTPError as answer:
        status, violations = answer.code, answer.headers.get("sl-violations", "[]")
        said = answer.read()
    found = [each for each in json.loads(violations) if each["location"][:1] == ["request"]]
    wrong = [f"{'.'.join(map(str, each['location']))}: {each['message']}" for each in found]
    if status == _REFUSED or b"NO_PATH_MATCHED" in said:
        wrong.append(f"{status}: the document has no such call")
    return wrong


def main() -> int:
    """Judge every bank; returns 1 if anything was wrong."""
    failed = False
    for name, bank in BANKS.items():
        with prism(bank.document()) as url:
            asked = bank.requests()
            for request in asked:
                for problem in problems(url, bank, request):
                    failed = True
                    sys.stdout.write(f"{name}: {request.method} {request.template}: {problem}\n")
        sys.stdout.write(f"{name}: {len(asked)} requests judged by Prism\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
