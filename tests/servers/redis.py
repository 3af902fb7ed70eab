"""
Redis for tests: one server a run, emptied before each test.

Found in this order: ``TEST_REDIS_URL`` (its database is emptied: never name one in use);
``redis-server`` or ``valkey-server`` in the path; else the tests skip.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from redis import Redis as Client
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from tests.servers.demand import absent
from tests.servers.process import free_port, serving, wait_until

PASSWORD = "of-the-servers"
SENTINEL_PASSWORD = "of-the-sentinels"


class Tls(NamedTuple):
    """A file with a server's key and certificate, and one with the authority that signed it."""

    pair: Path
    ca: Path


@dataclass(frozen=True, slots=True)
class RedisServer:
    """
    A running server.

    Attributes:
        url: ``redis://`` with host, port and database number.
    """

    url: str

    async def empty(self) -> None:
        client = Redis.from_url(self.url)
        try:
            await client.flushdb()
        finally:
            await client.aclose()


@contextmanager
def running() -> Iterator[RedisServer]:
    """Serve from the first place that has Redis; skip or fail where none has."""
    given = os.environ.get("TEST_REDIS_URL")
    if given:
        yield RedisServer(given)
        return
    with tempfile.TemporaryDirectory(prefix="redis-") as name, served(Path(name)) as port:
        yield RedisServer(f"redis://127.0.0.1:{port}/0")


@contextmanager
def served(folder: Path, *options: str, tls: Tls | None = None) -> Iterator[int]:
    """Run a server with more options; return its port."""
    port = free_port()
    with serving(
        [_program(), "--save", "", "--appendonly", "no", *_where(folder, port, tls), *options],
        log=folder / f"{port}.log",
        ready=lambda: _listening(port),
    ):
        yield port


def _where(folder: Path, port: int, tls: Tls | None) -> Sequence[str]:
    plain, private = (port, 0) if tls is None else (0, port)
    where = ("--bind", "127.0.0.1", "--dir", str(folder), "--port", str(plain))
    if tls is None:
        return where
    files = ("--tls-cert-file", tls.pair, "--tls-key-file", tls.pair, "--tls-ca-cert-file", tls.ca)
    peers = ("--tls-auth-clients", "no", "--tls-replication", "yes", "--tls-cluster", "yes")
    return (*where, "--tls-port", str(private), *map(str, files), *peers)


@contextmanager
def cluster(folder: Path, number: int, tls: Tls | None = None) -> Iterator[str]:
    """Run a Cluster whose servers have as many slots each; return its hosts, with commas."""
    with ExitStack() as stack:
        ports = []
        for _ in range(number):
            # the port of the Cluster's own traffic, which is 10,000 higher unless it is named
            own = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
            name = ("--cluster-config-file", f"nodes-{len(ports)}.conf")
            password = ("--requirepass", PASSWORD)
            port = stack.enter_context(served(folder, *own, *name, *password, tls=tls))
            ports.append((port, own[-1]))
        clients = [_client(stack, port, tls) for port, _ in ports]
        for index, each in enumerate(clients):
            first, end = 16_384 * index // number, 16_384 * (index + 1) // number
            each.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
            each.execute_command("CLUSTER SET-CONFIG-EPOCH", index + 1)
        for port, own in ports[1:]:
            clients[0].execute_command("CLUSTER MEET", "127.0.0.1", port, own)
        for each in clients:
            wait_until(lambda each=each: _knows(each, number))
        yield ",".join(f"127.0.0.1:{port}" for port, _ in ports)


def _knows(client: Client, number: int) -> bool:
    found = client.cluster("info")
    return found["cluster_state"] == "ok" and int(found["cluster_size"]) == number


@contextmanager
def watched(folder: Path, tls: Tls) -> Iterator[tuple[str, Callable[[], int], Callable[[], None]]]:
    """
    Run a primary and a replica under the name ``pix``, and a Sentinel.

    Yields:
        The Sentinel's host; what returns the primary's port, and what fails over.
    """
    with ExitStack() as stack:
        login = ("--requirepass", PASSWORD, "--masterauth", PASSWORD)
        primary = stack.enter_context(served(folder, *login, tls=tls))
        of = ("--replicaof", f"127.0.0.1 {primary}", "--repl-diskless-sync-delay", "0")
        replica = stack.enter_context(served(folder, *login, *of, tls=tls))
        client = _client(stack, replica, tls)
        wait_until(lambda: client.info("replication")["master_link_status"] == "up")
        file = folder / "sentinel.conf"
        file.write_text(
            f"sentinel monitor pix 127.0.0.1 {primary} 1\nsentinel auth-pass pix {PASSWORD}\n"
        )
        options = ("--sentinel", "--requirepass", SENTINEL_PASSWORD)
        port = free_port()
        stack.enter_context(
            serving(
                [_program(), str(file), *_where(folder, port, tls), *options],
                log=folder / "sentinel.log",
                ready=lambda: _listening(port),
            )
        )
        sentinel = _client(stack, port, tls, SENTINEL_PASSWORD)
        wait_until(lambda: bool(sentinel.sentinel_slaves("pix")))
        yield (
            f"127.0.0.1:{port}",
            lambda: sentinel.sentinel_get_master_addr_by_name("pix")[1],
            lambda: wait_until(lambda: _fails_over(sentinel)),
        )


def _fails_over(sentinel: Client) -> bool:
    try:
        sentinel.execute_command("SENTINEL FAILOVER", "pix")
    except ResponseError:  # it has not seen yet that the replica follows
        return False
    return True


def _client(stack: ExitStack, port: int, tls: Tls | None, password: str = PASSWORD) -> Client:
    trusted = {} if tls is None else {"ssl": True, "ssl_ca_certs": str(tls.ca)}
    return stack.enter_context(Client("127.0.0.1", port, password=password, **trusted))


def _program() -> str:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        absent("redis", "no Redis: neither redis-server nor valkey-server in the path")
    return program


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
