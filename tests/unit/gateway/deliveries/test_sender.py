"""One try of a delivery: what is sent, what counts, and where it never goes."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from standardwebhooks import Webhook

from gateway.deliveries.model import PING, Delivery, Outcome, TryFailure
from gateway.deliveries.sender import Sender, SenderConfig, retry_after
from gateway.security.secrets import new_signing_secret
from tests.servers.streams import listening
from tests.world.banks.authority import Authority
from tests.world.deliveries import (
    ENDPOINT,
    PATIENT,
    SECRET,
    Receiver,
    Reply,
    ok,
    receiving,
    silence,
    with_status,
)
from tests.world.stores.samples import COMPANY, NOW
from tests.world.tables import cases

FORMER = new_signing_secret(lambda size: b"f" * size)
BODY = b'{"type":"endpoint.ping"}'
DELIVERY = Delivery(
    id="dlv_1",
    endpoint_id=ENDPOINT,
    company_id=COMPANY,
    is_ping=True,
    event_id="evt_1",
    type=PING,
    at=NOW,
    body=BODY,
)
BRIEF = replace(PATIENT, whole_s=0.3)
"""For receivers that never end."""
NAMED = "https://events.example.com/pix"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look a name up for as long as a busy machine may need."""
    monkeypatch.setattr("gateway.net.common.names.LOOK_UP_S", 600)


def ticking() -> Callable[[], float]:
    return iter(range(1000)).__next__


@asynccontextmanager
async def open_sender(config: SenderConfig = PATIENT) -> AsyncIterator[Sender]:
    sender = Sender(config, lambda: datetime.now(UTC), ticking())
    try:
        yield sender
    finally:
        await sender.close()


async def try_once(
    url: str, config: SenderConfig = PATIENT, secrets: Sequence[str] = (SECRET,)
) -> Outcome:
    async with open_sender(config) as sender:
        return await sender.send(DELIVERY, url, secrets)


async def outcome_of(reply: Reply, config: SenderConfig = PATIENT) -> tuple[Outcome, Receiver]:
    async with receiving(reply) as receiver:
        return await try_once(receiver.url, config), receiver


def leading_to(*addresses: str) -> Callable[[str], Sequence[str]]:
    return lambda _host: addresses


async def test_a_delivery_is_verified_by_the_library_of_standard_webhooks():
    async with receiving() as receiver:
        outcome = await try_once(receiver.url)

    [came] = receiver.came
    assert (outcome.status, outcome.failure, outcome.ms) == (200, TryFailure.NONE, 1000)
    assert came.body == BODY
    assert came.id == DELIVERY.event_id
    assert came.headers["Content-Type"] == "application/json"
    assert Webhook(SECRET).verify(came.body, dict(came.headers)) == {"type": PING}


async def test_both_secrets_sign_while_one_is_rotated():
    async with receiving() as receiver:
        await try_once(receiver.url, secrets=[SECRET, FORMER])

    [came] = receiver.came
    for each in (SECRET, FORMER):
        Webhook(each).verify(came.body, dict(came.headers))


async def test_the_time_that_is_signed_is_that_of_the_try():
    at = NOW + timedelta(hours=5)
    async with receiving() as receiver:
        sender = Sender(PATIENT, lambda: at, ticking())
        await sender.send(DELIVERY, receiver.url, [SECRET])
        await sender.close()

    assert receiver.came[0].headers["webhook-timestamp"] == str(int(at.timestamp()))


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (200, TryFailure.NONE),
        (204, TryFailure.NONE),
        (299, TryFailure.NONE),
        (300, TryFailure.REDIRECT),
        (301, TryFailure.REDIRECT),
        (307, TryFailure.REDIRECT),
        (400, TryFailure.STATUS),
        (404, TryFailure.STATUS),
        (410, TryFailure.GONE),
        (429, TryFailure.STATUS),
        (500, TryFailure.STATUS),
    ],
)
async def test_only_2xx_counts(status: int, failure: TryFailure):
    outcome, _ = await outcome_of(with_status(status))

    assert (outcome.status, outcome.failure) == (status, failure)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(status: int):
    async with receiving(ok) as aim, receiving(with_status(status, Location=aim.url)) as receiver:
        outcome = await try_once(receiver.url)

    assert outcome.failure is TryFailure.REDIRECT
    assert not aim.came
    assert len(receiver.came) == 1


async def test_an_endless_answer_counts_by_its_status_and_is_not_read_to_its_end():
    written = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal written
        answer = web.StreamResponse()
        await answer.prepare(request)
        while True:
            await answer.write(b"x" * 65_536)
            written += 65_536

    outcome, _ = await outcome_of(endless)

    assert outcome.failure is TryFailure.NONE
    assert written < 64 * 1024 * 1024


async def test_an_answer_that_breaks_off_amid_its_body_counts_by_its_status():
    async def broken(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(status=500, headers={"Content-Length": "10"})
        await answer.prepare(request)
        await answer.write(b"x")
        assert request.transport is not None
        request.transport.close()
        return answer

    outcome, _ = await outcome_of(broken)

    assert (outcome.status, outcome.failure) == (500, TryFailure.STATUS)


async def test_no_answer_is_a_timeout():
    outcome, _ = await outcome_of(silence, BRIEF)

    assert (outcome.status, outcome.failure) == (None, TryFailure.TIMEOUT)


async def test_a_closed_port_is_a_failed_connection():
    async with receiving() as receiver:
        url = receiver.url

    assert (await try_once(url)).failure is TryFailure.CONNECTION


async def test_an_answer_that_is_not_http_is_a_failure():
    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await writer.drain()

    async with listening(speak) as port:
        outcome = await try_once(f"http://127.0.0.1:{port}/")

    assert outcome.failure is TryFailure.ANSWER


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        ("10.0.0.7",),
        ("169.254.169.254",),
        ("::1",),
        ("fd00::7",),
        ("::ffff:10.0.0.7",),
        ("64:ff9b::a00:7",),
        ("64:ff9b:1::a00:7",),
        ("::10.0.0.7",),
        ("fec0::7",),
        ("fe80::7%1",),
        ("100.64.0.1",),
        ("224.0.0.1",),
        ("0.0.0.0",),  # noqa: S104 - leads to this machine
        ("10.0.0.7", "192.168.0.7"),
    ],
)
async def test_a_name_that_leads_inward_is_never_connected_to(
    addresses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    made: list[object] = []

    def note(*given: object) -> socket.socket:
        made.append(given)
        raise AssertionError

    monkeypatch.setattr("gateway.deliveries.sender.socket", note)
    outcome = await try_once(
        NAMED, replace(PATIENT, allow_local=False, look_up=leading_to(*addresses))
    )

    assert outcome.failure is TryFailure.NAME
    assert not made


@pytest.mark.parametrize("address", ["2804:14d::7", "200.160.2.3", "64:ff9b::c8a0:203"])
async def test_nothing_is_sent_to_our_networks_with_public_addresses(address: str):
    config = replace(
        PATIENT,
        look_up=leading_to(address),
        own_networks=[ip_network("2804:14d::/48"), ip_network("200.160.2.0/24")],
    )

    assert (await try_once(NAMED, config)).failure is TryFailure.NAME


async def test_a_name_of_ours_that_leads_inward_looks_like_one_that_there_is_not():
    """Whoever types addresses would else learn which names we have."""

    def unknown(_host: str) -> Sequence[str]:
        raise OSError

    config = replace(PATIENT, allow_local=False, look_up=unknown)
    there_is_none = await try_once(NAMED, config)
    inward = await try_once(NAMED, replace(config, look_up=leading_to("10.0.0.7")))

    seen = [(each.status, each.failure, each.ms) for each in (there_is_none, inward)]
    assert seen == [(None, TryFailure.NAME, 0)] * 2


async def test_few_addresses_of_a_name_are_tried(monkeypatch: pytest.MonkeyPatch):
    made: list[object] = []

    def note(*given: object) -> socket.socket:
        made.append(given)
        raise ConnectionRefusedError

    monkeypatch.setattr("gateway.deliveries.sender.socket", note)
    many = [f"200.160.2.{number}" for number in range(100)]
    outcome = await try_once(NAMED, replace(PATIENT, look_up=leading_to(*many)))

    assert outcome.failure is TryFailure.CONNECTION
    assert len(made) == 4 + 3 + 2 + 1  # see ``aiohttp.TCPConnector``


async def test_little_of_an_answer_is_taken_at_once(monkeypatch: pytest.MonkeyPatch):
    """Interim answers come without end, and what came at once is parsed in one turn of the loop."""
    made: list[socket.socket] = []
    sizes: list[int] = []

    def note(family: int, kind: int, protocol: int) -> socket.socket:
        made.append(socket.socket(family, kind, protocol))
        return made[-1]

    async def size(_request: web.Request) -> web.StreamResponse:
        sizes.append(made[0].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))
        return web.Response()

    monkeypatch.setattr("gateway.deliveries.sender.socket", note)
    await outcome_of(size)

    [taken] = sizes
    assert taken <= 16_384


async def test_an_address_that_became_private_is_not_connected_to():
    """A name is looked up for each connection, and its address checked then."""
    answers = iter([("127.0.0.1",), ("10.0.0.7",)])
    config = replace(PATIENT, look_up=lambda _host: next(answers))
    async with receiving(with_status(200, Connection="close")) as receiver:
        url = receiver.url.replace("127.0.0.1", "events.example.com")
        first = await try_once(url, config)
        second = await try_once(url, config)

    assert (first.failure, second.failure) == (TryFailure.NONE, TryFailure.NAME)
    assert len(receiver.came) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://events.example.com/",
        "https://127.0.0.1/",
        "https://93.184.216.34/",
        "https://2130706433/",
        "https://localhost/",
        "https://events.example.com:22/",
        "https://user@events.example.com/",
    ],
)
async def test_an_address_that_breaks_the_rules_by_now_is_not_called(url: str):
    asked: list[str] = []

    def look_up(host: str) -> Sequence[str]:
        asked.append(host)
        raise OSError

    outcome = await try_once(url, replace(PATIENT, allow_local=False, look_up=look_up))

    assert outcome.failure is TryFailure.ADDRESS
    assert not asked


async def test_this_machine_is_called_where_the_settings_say_so_and_no_other_private_address():
    config = replace(PATIENT, look_up=leading_to("10.0.0.7"))

    assert (await try_once("http://events.example.com/", config)).failure is TryFailure.NAME
    assert (await outcome_of(ok))[0].failure is TryFailure.NONE


async def test_a_name_without_an_address_is_a_failure_of_its_own():
    def unknown(_host: str) -> Sequence[str]:
        raise OSError

    outcome = await try_once(NAMED, replace(PATIENT, allow_local=False, look_up=unknown))

    assert (outcome.status, outcome.failure) == (None, TryFailure.NAME)


@pytest.mark.parametrize(
    ("is_trusted", "failure"), [(True, TryFailure.NONE), (False, TryFailure.TLS)]
)
async def test_certificates_are_verified(tmp_path: Path, is_trusted: bool, failure: TryFailure):
    authority = Authority(tmp_path)

    def trusting() -> ssl.SSLContext:
        return ssl.create_default_context(cafile=authority.file if is_trusted else None)

    config = replace(PATIENT, tls=trusting)
    async with receiving(ssl=authority.server()) as receiver:
        outcome = await try_once(receiver.url, config)

    assert outcome.failure is failure
    assert len(receiver.came) == is_trusted


@pytest.mark.parametrize("names", [(), (x509.DNSName("other.example.com"),)])
async def test_a_certificate_for_another_name_is_refused(
    tmp_path: Path, names: Sequence[x509.GeneralName]
):
    """The common name, which is that of the endpoint here, names nobody."""
    authority = Authority(tmp_path)
    config = replace(PATIENT, tls=lambda: ssl.create_default_context(cafile=authority.file))
    async with receiving(ssl=authority.server(names=names)) as receiver:
        outcome = await try_once(receiver.url.replace("127.0.0.1", "localhost"), config)

    assert outcome.failure is TryFailure.TLS
    assert not receiver.came


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    outcome, receiver = await outcome_of(ok)

    assert outcome.failure is TryFailure.NONE
    assert len(receiver.came) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_of_a_failure_is_reported(status: int):
    outcome, _ = await outcome_of(with_status(status, Retry_After="120"))

    assert outcome.retry_after == timedelta(minutes=2)


@cases(
    ("text", "wish"),
    [
        ("0", None),
        ("1", timedelta(seconds=1)),
        ("Fri, 20 Nov 2026 12:40:15 GMT", timedelta(minutes=10)),
        ("Fri, 20 Nov 2026 12:20:15 GMT", None),
        ("Fri, 20 Nov 2026 12:40:15", None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("soon", None),
        ("9" * 40, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str, wish: timedelta | None):
    assert retry_after(text, NOW.replace(microsecond=0)) == wish
