"""
Gateways that others would write, which do what ours does for a balance, each in a few lines.

Their packages are fetched into ``var/peers``, pinned by ``requirements.txt``. One that cannot be
had, or started, is told and left out.
"""

from __future__ import annotations

import hmac
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import bank, load, system
from bench.load import Order, traced
from bench.proxy import CANNED
from bench.rounds import Subject, WrongAnswer
from bench.trees import OURS
from tests.servers.process import free_port

if TYPE_CHECKING:
    from bench.partner import Partner
    from bench.stage import Stage

FASTAPI: Final = "FastAPI + aiohttp client"
LITESTAR: Final = "Litestar on Granian + aiohttp client"

_SCRIPTS: Final = {FASTAPI: "fastapi_peer.py", LITESTAR: "litestar_peer.py"}
_HERE: Final = Path(__file__).parent / "peers"
_HOME: Final = OURS / "var" / "peers"
_KEY: Final = "bench-key"
_UNAUTHORIZED: Final = "HTTP/1.1 401 "


def standing(stage: Stage, partner: Partner, connections: int) -> Iterator[Subject]:
    """
    Start them; each is asked the same as the gateway.

    Raises:
        WrongAnswer: one lets a wrong secret in.
    """
    try:
        python = _installed()
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"peers are left out: {problem}", file=sys.stderr)
        return
    for name, script in _SCRIPTS.items():
        port = free_port()
        told = {
            "port": port,
            "bank": f"http://127.0.0.1:{stage.bank}{bank.path(bank.ACCOUNT)}",
            "token": bank.TOKEN,
            "key": _KEY,
            "client_id": partner.client_id,
            "digest": hmac.digest(_KEY.encode(), partner.client_secret.encode(), "sha256").hex(),
            "account": partner.account,
        }
        environment = [f"BENCH_PEER={json.dumps(told)}", f"PYTHONPATH={OURS}"]
        command = ["/usr/bin/env", *environment, str(python), str(_HERE / script)]
        try:
            pid = stage.start(command, port)
        except system.NotStarted as problem:
            print(f"{name} is left out: {problem}", file=sys.stderr)
            continue
        wrong = load.ask(Order(port=port, requests=iter([partner.wrong_request()])))
        if not wrong.startswith(_UNAUTHORIZED):
            problem = f"{name} let a wrong secret in:\n{wrong}"
            raise WrongAnswer(problem)
        yield Subject(
            name=name,
            pid=pid,
            order=Order(port=port, requests=traced(partner.request(partner.account))),
            right=CANNED.decode(),  # headers differ by taste
            connections=connections,
        )


def _installed() -> Path:
    """Make the environment once, and again when other packages are wanted."""
    python, stamp = _HOME / "bin" / "python", _HOME / "made"
    requirements = _HERE / "requirements.txt"
    wanted = requirements.read_text()
    if not stamp.is_file() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(_HOME)], check=True)
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]
        subprocess.run([str(python), *install, str(requirements)], check=True)
        stamp.write_text(wanted)
    return python
