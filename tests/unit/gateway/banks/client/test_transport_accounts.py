"""A certificate for each account, at a bank in this process that asks for one."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import ssl
import threading
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.banks.client import transport
from gateway.banks.client.messages import Identity, Kind, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles, TlsFilesRefused, TlsSetup
from gateway.banks.client.transport import AccountTransports
from gateway.banks.port.providers import ProviderError, Unavailable, Unreachable
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.certificates import CertificatePair, NoMemoryFiles
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import BulkheadLimits, ClientLimits
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing
from tests.world.waiting import until

FAR = Deadline(10.0, lambda: 0.0)
LIMITS = ClientLimits(connect_s=60.0, bulkhead=BulkheadLimits(in_flight=8))

money = pytest.mark.parametrize("pays", [False, True], ids=["read", "payout"])
versions = pytest.mark.parametrize("version", ["1.2", "1.3"])


def request(identity: Identity | None, *, pays: bool = False) -> ProviderRequest:
    kind = {"kind": Kind.PAYOUT, "method": "POST", "body": b"{}"} if pays else {"method": "GET"}
    return ProviderRequest(operation="x", template="/", path="/", identity=identity, **kind)


def progress(*, pays: bool = False) -> SendProgress:
    return SendProgress(FAR if pays else None)


@dataclass
class MutualBank:
    """A bank that asks for a certificate, and notes which one came on which connection."""

    authority: Authority
    version: str = ""
    seen: list[tuple[str, int]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    entered: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.server = ScriptedBank(self._says, keeps=True)

    async def _says(self, line: Line) -> None:
        subject = dict(part[0] for part in line.writer.get_extra_info("peercert")["subject"])
        self.seen.append((subject["commonName"], line.writer.get_extra_info("peername")[1]))
        self.entered.set()
        if self.gate is not None:
            await self.gate.wait()
        await line.say(answer(b"{}"))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.seen]

    def account(self, name: str, pair: CertificatePair | None = None) -> Identity:
        return Identity(account_id=name, pair=pair or self.authority.pair(name))

    @asynccontextmanager
    async def open(self, runtime: Runtime | None = None) -> AsyncIterator[AccountTransports]:
        secure = self.authority.server(clients=self.authority, version=self.version)
        async with standing(self.server, ssl=secure):
            setup = TlsSetup(
                files=TlsFiles(ca_file=str(self.authority.file)), certificate_required=True
            )
            url = f"https://127.0.0.1:{self.server.port}"
            to = AccountTransports(url, LIMITS, Environment.SANDBOX, runtime, setup)
            await to.start()
            try:
                yield to
            finally:
                await to.close()


async def failed(to: AccountTransports, asked: ProviderRequest, so_far: SendProgress) -> object:
    try:
        return await to.call(asked, so_far)
    except ProviderError as failure:
        return failure


@versions
async def test_each_account_shows_its_own_certificate_on_connections_of_its_own(
    authority: Authority, version: str
):
    bank = MutualBank(authority, version)
    one, two = bank.account("one"), bank.account("two")
    async with bank.open() as to:
        for _ in range(3):
            for identity in (one, two):
                await to.call(request(identity), progress())
                await to.call(request(identity, pays=True), progress(pays=True))

    ports = {name: {port for seen, port in bank.seen if seen == name} for name in ("one", "two")}
    assert bank.names == ["one", "one", "two", "two"] * 3
    assert ports["one"].isdisjoint(ports["two"])
    assert len(ports["one"]) == 1 + 3  # reads share one, each payout has its own


async def test_two_accounts_with_one_certificate_share_no_connection(authority: Authority):
    bank = MutualBank(authority)
    pair = authority.pair("both")
    async with bank.open() as to:
        for name in ("one", "two", "one", "two"):
            await to.call(request(bank.account(name, pair)), progress())

    assert len({port for _, port in bank.seen}) == 2


@money
@pytest.mark.parametrize(
    ("pair", "reason"), [(None, "certificate_missing"), ("old", "certificate_expired")]
)
async def test_without_a_valid_certificate_no_connection_is_opened(
    authority: Authority, pair: str | None, reason: str, pays: bool
):
    """In TLS 1.3 the bank would refuse it only after a payout was written."""
    bank = MutualBank(authority)
    shown = authority.pair("old", EXPIRED) if pair else None
    so_far = progress(pays=pays)
    async with bank.open() as to:
        identity = Identity(account_id="one", pair=shown)
        found = await failed(to, request(identity, pays=pays), so_far)

    assert isinstance(found, Unreachable)
    assert (found.reason, so_far.bytes_left, so_far.refused_here) == (reason, False, True)
    assert bank.server.connections == 0


@contextmanager
def alerting(secure: ssl.SSLContext) -> Iterator[int]:
    """Open a bank that says by an alert why it refuses; asyncio's own server does not."""

    def serve() -> None:
        while True:
            try:
                line, _ = door.accept()
            except OSError:
                return
            with secure.wrap_socket(line, server_side=True, do_handshake_on_connect=False) as said:
                with contextlib.suppress(ssl.SSLError):
                    said.do_handshake()
                said.shutdown(socket.SHUT_WR)
                with contextlib.suppress(OSError):
                    while said.recv(4096):
                        pass

    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=serve)
        thread.start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)
    thread.join()


@money
@versions
async def test_a_certificate_the_bank_refuses_is_reported_as_our_fault(
    authority: Authority, tmp_path: Path, version: str, pays: bool
):
    """In TLS 1.2 nothing was sent; in TLS 1.3 the request was written before the check."""
    stranger = Authority(tmp_path, "stranger").pair("stranger")
    so_far = progress(pays=pays)
    with alerting(authority.server(clients=authority, version=version)) as port:
        setup = TlsSetup(files=TlsFiles(ca_file=str(authority.file)))
        to = AccountTransports(f"https://127.0.0.1:{port}", LIMITS, Environment.SANDBOX, tls=setup)
        await to.start()
        identity = Identity(account_id="one", pair=stranger)
        found = await failed(to, request(identity, pays=pays), so_far)
        await to.close()

    assert isinstance(found, Unreachable if version == "1.2" else Unavailable)
    assert found.reason == "certificate_refused"
    assert so_far.bytes_left is (version == "1.3")


async def test_a_renewed_certificate_is_used_at_once_while_calls_finish(authority: Authority):
    bank = MutualBank(authority)
    bank.gate = asyncio.Event()
    former, new = bank.account("one"), bank.account("one", authority.pair("renewed"))
    async with bank.open() as to:
        running = [
            asyncio.create_task(to.call(request(former, pays=pays), progress(pays=pays)))
            for pays in (False, True)
        ]
        await bank.entered.wait()
        later = asyncio.create_task(to.call(request(new), progress()))
        await until(lambda: len(bank.seen) == 3)
        assert len(to) == 2
        bank.gate.set()
        answers = await asyncio.gather(*running, later)
        await to.call(request(new), progress())
        open_after = len(to)

    assert [each.status for each in answers] == [200, 200, 200]
    assert sorted(bank.names) == ["one", "one", "renewed", "renewed"]
    assert open_after == 1


async def test_the_least_recently_used_account_is_evicted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport, "MOST_ACCOUNTS", 2)
    bank = MutualBank(authority)
    names = ("one", "two", "one", "three", "one")
    accounts = {name: bank.account(name) for name in names}
    async with bank.open() as to:
        for name in names:
            await to.call(request(accounts[name]), progress())
            assert len(to) <= 2
        assert list(to._accounts) == ["three", "one"]

    assert len({port for name, port in bank.seen if name == "one"}) == 1


async def test_an_account_in_use_is_never_evicted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport, "MOST_ACCOUNTS", 1)
    bank = MutualBank(authority)
    bank.gate = asyncio.Event()
    async with bank.open() as to:
        running = asyncio.create_task(to.call(request(bank.account("one")), progress()))
        await bank.entered.wait()
        so_far = progress()
        found = await failed(to, request(bank.account("two")), so_far)
        bank.gate.set()
        done = await running

    assert isinstance(found, Unreachable)
    assert (found.reason, so_far.refused_here) == ("bulkhead_full", True)
    assert (done.status, bank.names) == (200, ["one"])


async def test_idle_connections_are_kept_for_as_many_accounts_as_calls(authority: Authority):
    bank = MutualBank(authority)
    accounts = [bank.account(f"account-{number}") for number in range(12)]
    async with bank.open() as to:
        for identity in accounts:
            await to.call(request(identity), progress())
        idle = [name for name, one in to._accounts.items() if one.transport._pool.idle]

    assert idle == [identity.account_id for identity in accounts[-8:]]


async def test_concurrent_calls_of_an_account_make_one_tls_context(authority: Authority):
    bank = MutualBank(authority)
    identity = bank.account("one")
    async with bank.open() as to:
        calls = [to.call(request(identity), progress()) for _ in range(5)]
        found = await asyncio.gather(*calls)
        assert len(to) == 1

    assert [each.status for each in found] == [200] * 5


async def test_a_call_cancelled_during_context_creation_affects_no_other(
    authority: Authority,
):
    bank = MutualBank(authority)
    identity = bank.account("one")
    async with bank.open() as to:
        first = asyncio.create_task(to.call(request(identity), progress()))
        second = asyncio.create_task(to.call(request(identity), progress()))
        await asyncio.sleep(0)
        first.cancel()
        found = await second

    assert found.status == 200
    assert first.cancelled()


async def test_a_call_without_an_account_uses_no_certificate(authority: Authority):
    """A probe has no account: this bank refuses it, without an account at fault."""
    bank = MutualBank(authority)
    async with bank.open() as to:
        await to.call(request(bank.account("one")), progress())
        found = await failed(to, request(None), progress())

    assert isinstance(found, ProviderError)
    assert bank.names == ["one"]


async def test_the_expiry_of_an_account_is_not_reported_as_the_provider_s(authority: Authority):
    told: list[object] = []
    bank = MutualBank(authority)
    async with bank.open(Runtime(on_certificate=told.append)) as to:
        await to.call(request(bank.account("one")), progress())

    assert told == []


async def test_an_unusable_certificate_pair_sends_nothing(authority: Authority):
    """It was stored by hand, or with an older OpenSSL."""
    bank = MutualBank(authority)
    good = authority.pair("one")
    broken = CertificatePair(certificate=good.certificate, key=authority.pair("two").key)
    so_far = progress(pays=True)
    async with bank.open() as to:
        found = await failed(to, request(bank.account("one", broken), pays=True), so_far)

    assert isinstance(found, Unreachable)
    assert (found.reason, so_far.bytes_left, so_far.refused_here) == ("tls_failed", False, True)


async def test_nothing_is_opened_before_the_start_or_after_the_end(authority: Authority):
    bank = MutualBank(authority)
    async with bank.open() as to:
        pass
    found = await failed(to, request(bank.account("one")), progress())

    assert isinstance(found, Unreachable)
    assert (found.reason, len(to)) == ("closed", 0)


async def test_common_settings_of_accounts_are_checked_at_startup(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def to(ca: Path) -> AccountTransports:
        setup = TlsSetup(files=TlsFiles(ca_file=str(ca)), certificate_required=True)
        return AccountTransports("https://localhost:1", LIMITS, Environment.SANDBOX, tls=setup)

    with pytest.raises(TlsFilesRefused, match=r"tls\.ca"):
        await to(tmp_path / "absent.pem").start()
    monkeypatch.setattr("gateway.net.common.certificates._DESCRIPTORS", "/nowhere/fd")
    with pytest.raises(NoMemoryFiles):
        await to(authority.file).start()


async def test_an_evicted_account_s_context_is_freed_at_once(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    """Sessions and their context form a cycle, which the collector would free late."""
    monkeypatch.setattr(transport, "MOST_ACCOUNTS", 1)
    bank = MutualBank(authority)
    async with bank.open() as to:
        for pays in (False, True):
            await to.call(request(bank.account("one"), pays=pays), progress(pays=pays))
        credentials = to._accounts["one"].transport._credentials
        assert credentials is not None
        context = weakref.ref(await credentials.current())
        assert context()._sessions
        del credentials

        gc.disable()
        try:
            await to.call(request(bank.account("two")), progress())
            await until(lambda: context() is None)
        finally:
            gc.enable()

    assert context() is None
