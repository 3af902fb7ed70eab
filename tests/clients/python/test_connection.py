"""Where requests go, what they carry, and what no text shows."""

from __future__ import annotations

import base64
import tomllib
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from pixgate_client import AsyncClient, Client, Unknown
from pixgate_client.connection import VERSION, Connection, no_answer
from pixgate_client.exchange import Request
from tests.clients.python.replies import ORDER

ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
ROOT = Path(__file__).parents[3]
PACKAGES = (ROOT / "pyproject.toml", ROOT / "clients/python/pyproject.toml")
SECRET = "gws_of-the-test"


def connection(base_url: str = "https://pix.example.com", **changed: object) -> Connection:
    return Connection(base_url, "cli_1", SECRET, **{"allow_http": False, "sign": None, **changed})


@pytest.mark.parametrize(
    "url",
    [
        "https://pix.example.com",
        "https://pix.example.com:8443/pix/",
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "http://localhost:8080",
    ],
)
def test_an_address_that_keeps_the_secret_is_taken(url: str):
    assert connection(url).base_url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "pix.example.com",
        "ftp://pix.example.com",
        "https://",
        "https://user:word@pix.example.com",
        "https://pix.example.com?a=b",
        "https://pix.example.com#a",
        "https://pix.example.com:word",
        "https://[pix",
        "https://pix.example.com/\x00",
        "http://pix.example.com",
        "http://10.0.0.1",
    ],
)
def test_any_other_address_is_refused_and_not_repeated(url: str):
    with pytest.raises(ValueError, match="http") as refused:
        connection(url)

    assert "word" not in str(refused.value)


def test_plain_http_can_be_asked_for():
    assert connection("http://pix.internal", allow_http=True).base_url == "http://pix.internal"


def test_no_text_shows_the_secret():
    made = connection()
    request = made.request(Request("POST", "/a", b"{}"))
    with Client("https://pix.example.com", ACCOUNT, "cli_1", SECRET) as client:
        texts = [repr(made), str(vars(made)), repr(client), repr(request), repr(request.headers)]

    assert request.headers["Authorization"].startswith("Basic ")
    coded = request.headers["Authorization"].removeprefix("Basic ")
    assert [each for each in texts if SECRET in each or coded in each] == []


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("/withdraw/order%2F1042", b"/withdraw/order%2F1042"),
        ("/withdraw/100%25", b"/withdraw/100%25"),
        ("/withdraw/a%252Fb", b"/withdraw/a%252Fb"),
        ("/withdraw/%C3%A7%20%3F%23", b"/withdraw/%C3%A7%20%3F%23"),
        ("/withdraw/..%2F..", b"/withdraw/..%2F.."),
        ("/withdraw/...", b"/withdraw/..."),
        ("/events?after=a%2Bb&wait=0", b"/events?after=a%2Bb&wait=0"),
    ],
)
def test_a_path_is_sent_as_it_was_encoded(path: str, raw: bytes):
    assert connection().request(Request("GET", path)).url.raw_path == raw


def test_a_payout_is_signed_anew_at_each_attempt():
    """By whatever the caller signs with (the guide's *Signed payouts*)."""
    signed = []

    def sign(method: str, url: str, body: bytes) -> dict[str, str]:
        signed.append((method, url, body))
        return {"Signature": f"sig=:{len(signed)}:"}

    made = connection(sign=sign)
    sent = [made.request(Request("POST", "/withdraw", b"{}")) for _ in range(2)]
    read = made.request(Request("GET", "/balance"))

    assert [each.headers["Signature"] for each in sent] == ["sig=:1:", "sig=:2:"]
    assert signed == [("POST", "https://pix.example.com/withdraw", b"{}")] * 2
    assert "Signature" not in read.headers


def test_an_account_is_named_by_a_uuid():
    with pytest.raises(ValueError, match="UUID"):
        Client("https://pix.example.com", "main", "cli_1", SECRET)
    with Client("https://pix.example.com", UUID(ACCOUNT).hex, "cli_1", SECRET) as client:
        assert ACCOUNT in repr(client)


def test_the_version_is_that_of_the_package_and_of_the_gateway():
    found = [tomllib.loads(each.read_text())["project"]["version"] for each in PACKAGES]

    assert found == [VERSION] * 2


def test_both_clients_have_the_same_calls():
    """Names, parameters and defaults."""
    calls = {name for name in vars(Client) if not name.startswith("_")}

    assert {name for name in vars(AsyncClient) if not name.startswith("_")} == calls
    differ = [
        name
        for name in calls
        if vars(Client)[name].__kwdefaults__ != vars(AsyncClient)[name].__kwdefaults__
        or vars(Client)[name].__code__.co_varnames[:4]
        != vars(AsyncClient)[name].__code__.co_varnames[:4]
    ]
    assert differ == []


def test_only_failures_before_the_first_byte_prove_that_nothing_left():
    """Of every failure that httpx knows."""
    kinds = {httpx.RequestError}
    for _ in range(5):
        kinds |= {below for each in kinds for below in each.__subclasses__()}

    proving = {each for each in kinds if not no_answer(each("")).may_have_left}

    assert proving == {httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout}
    assert len(kinds) > 15


def test_a_client_remembers_lost_requests_of_its_own():
    """A cut connection, and then the gateway's word that nothing was sent."""
    error = {"code": "SVC.ACC.005", "message": "Not sent.", "trace_id": "t-1"}
    replies = iter([httpx.ReadError("cut"), httpx.Response(502, json=error)])

    def reply(_request: httpx.Request) -> httpx.Response:
        said = next(replies)
        if isinstance(said, httpx.Response):
            return said
        raise said

    http = httpx.Client(transport=httpx.MockTransport(reply))
    client = Client("https://pix.example.com", ACCOUNT, "cli_1", SECRET, http=http)
    with http:
        for _ in range(2):
            with pytest.raises(Unknown):
                client.pay(ORDER, first=True, deadline_s=0)


def test_a_client_of_the_caller_changes_neither_credential_nor_target():
    """Its own headers and credential stay out, and its redirects are not followed."""
    came = []

    def redirect(request: httpx.Request) -> httpx.Response:
        came.append(request)
        return httpx.Response(307, headers={"Location": "https://elsewhere.example.com"})

    http = httpx.Client(
        transport=httpx.MockTransport(redirect),
        auth=("other", "secret"),
        headers={"Authorization": "Bearer other"},
        params={"more": "1"},
        follow_redirects=True,
    )
    client = Client("https://pix.example.com", ACCOUNT, "cli_1", SECRET, http=http)
    with http, pytest.raises(Unknown) as unknown:
        client.pay(ORDER, first=True, deadline_s=0)

    [request] = came
    pair = base64.b64encode(f"cli_1:{SECRET}".encode()).decode()
    assert request.headers["Authorization"] == f"Basic {pair}"
    assert str(request.url) == f"https://pix.example.com/baas/v1/account/{ACCOUNT}/withdraw"
    assert unknown.value.status == 307
