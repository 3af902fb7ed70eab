"""The proxies of ``deploy`` in front of two gateways: the whole files, with a test's addresses."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.peer import found, listens
from tests.servers.process import free_port, serving

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
_AS_IT_IS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """
    A gateway on the loopback.

    Attributes:
        ops: Its operations port, which HAProxy asks.
    """

    port: int
    ops: int


@dataclass(frozen=True, slots=True)
class Front:
    """
    A running proxy.

    Attributes:
        url: Where it ends TLS; its certificate is nobody's whom a client trusts.
        log: What it writes.
        metrics: Where HAProxy is scraped.
        commands: HAProxy's socket for commands.
        pid: Of the process.
    """

    url: str
    log: Path
    metrics: str = ""
    commands: Path = Path()
    pid: int = 0


@contextmanager
def haproxy(
    one: Node,
    two: Node,
    certificate: Path,
    words: Mapping[str, str] = _AS_IT_IS,
    clients: Path | None = None,
) -> Iterator[Front]:
    """
    Keep deploy/haproxy.cfg running in front of two; ``words`` of the file are replaced.

    With ``clients``, the authorities in that file sign certificates that callers may show.
    """
    asked = {} if clients is None else {"PIXGATE_CLIENT_CA": str(clients)}
    nodes = {
        **asked,
        "PIXGATE_ONE": f"127.0.0.1:{one.port}",
        "PIXGATE_ONE_OPS": str(one.ops),
        "PIXGATE_TWO": f"127.0.0.1:{two.port}",
        "PIXGATE_TWO_OPS": str(two.ops),
    }
    with haproxy_with(nodes, certificate, words) as front:
        yield front


@contextmanager
def patient_haproxy(
    one: Node, two: Node, certificate: Path, clients: Path | None = None
) -> Iterator[Front]:
    """
    The same for a gateway that shares its loop with its callers.

    Its ``/readyz`` may be late, or say that it is not ready since the store was late; HAProxy
    would leave it out and answer 503 itself. So its checks are connections alone.
    """
    late = {f"timeout {what} 2s": f"timeout {what} 60s" for what in ("check", "connect")}
    words = {"option httpchk GET /readyz": "option tcp-check", **late}
    with haproxy(one, two, certificate, words, clients) as front:
        yield front


@contextmanager
def haproxy_of_cells(
    cells: Mapping[str, Node], routes: Path, commands: Path, certificate: Path
) -> Iterator[Front]:
    """Run deploy/haproxy.cfg and cells.cfg; one process of a cell represents both."""
    nodes = {"PIXGATE_CELLS": str(routes), "PIXGATE_STATS_SOCKET": str(commands)}
    for name, node in cells.items():
        for which in ("ONE", "TWO"):
            nodes[f"PIXGATE_{name.upper()}_{which}"] = f"127.0.0.1:{node.port}"
            nodes[f"PIXGATE_{name.upper()}_{which}_OPS"] = str(node.ops)
    with haproxy_with(nodes, certificate, more=(DEPLOY / "cells.cfg",)) as front:
        yield front


@contextmanager
def haproxy_with(
    nodes: Mapping[str, str],
    certificate: Path,
    words: Mapping[str, str] = _AS_IT_IS,
    more: Sequence[Path] = (),
) -> Iterator[Front]:
    """
    Keep deploy/haproxy.cfg running; its settings are variables, ``words`` are replaced.

    It reads the files ``more`` as well.
    """
    program, port, metrics = found("haproxy"), free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="pixgate-haproxy-") as folder:
        log, config, commands = (Path(folder, name) for name in ("log", "haproxy.cfg", "commands"))
        environ = {
            "PIXGATE_BIND": f"127.0.0.1:{port}",
            "PIXGATE_CERTIFICATE": certificate,
            "PIXGATE_METRICS_BIND": f"127.0.0.1:{metrics}",
            "PIXGATE_STATS_SOCKET": commands,
            **nodes,
        }
        variables = [f"{name}={value}" for name, value in environ.items()]
        config.write_text(_changed((DEPLOY / "haproxy.cfg").read_text(), words))
        command = ["/usr/bin/env", *variables, program, "-W", "-db", "-f", config]
        command += [word for file in more for word in ("-f", file)]
        with serving(command, log=log, ready=lambda: listens(port)) as process:
            scraped = f"http://127.0.0.1:{metrics}/metrics"
            commands = Path(environ["PIXGATE_STATS_SOCKET"])
            yield Front(f"https://127.0.0.1:{port}", log, scraped, commands, process.pid)


@contextmanager
def nginx(one: Node, two: Node, certificate: Path, clients: Path | None = None) -> Iterator[Front]:
    """
    Keep deploy/nginx.conf running, with the addresses and files that it asks to be changed.

    With ``clients``, the two lines that ask for certificates are in force.
    """
    asked = {
        "#ssl_verify_client optional;": "ssl_verify_client optional;",
        "#ssl_client_certificate /etc/nginx/client-ca.pem;": f"ssl_client_certificate {clients};",
    }
    program, port = found("nginx"), free_port()
    with tempfile.TemporaryDirectory(prefix="pixgate-nginx-") as folder:
        log, config = Path(folder, "log"), Path(folder, "nginx.conf")
        config.write_text(
            _changed(
                (DEPLOY / "nginx.conf").read_text(),
                {
                    "10.0.0.21:8080": f"127.0.0.1:{one.port}",
                    "10.0.0.22:8080": f"127.0.0.1:{two.port}",
                    "listen 443 ": f"listen 127.0.0.1:{port} ",
                    "/etc/nginx/pix.example.pem": f"{certificate}",
                    "/etc/nginx/pix.example.key": f"{certificate}",
                    "/run/nginx.pid": f"{folder}/pid",
                    **({} if clients is None else asked),
                },
            )
        )
        command = [program, "-g", "daemon off;", "-c", config]
        with serving(command, log=log, ready=lambda: listens(port)):
            yield Front(f"https://127.0.0.1:{port}", log)


def _changed(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


Deployed = Callable[[Node, Node, Path], AbstractContextManager[Front]]
FRONTS: Mapping[str, Deployed] = {"haproxy": haproxy, "nginx": nginx}
