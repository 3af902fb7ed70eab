"""The simulated Woovi's callbacks: signed by a key that it shows, to those who asked for them."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from multidict import CIMultiDict, CIMultiDictProxy, MultiDict

from provider_adapters.testing.bank.dialect import BankRequest
from provider_adapters.testing.bank.kernel import books as kept
from provider_adapters.testing.bank.kernel import state
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.woovi import dialect

TO = Listener(id="av_1", url="http://127.0.0.1:1/x", secret="00ff")


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    """Empty books."""
    opened = kept.open_books(
        str(tmp_path / "bank.db"),
        now=lambda: datetime(2026, 11, 22, tzinfo=UTC),
        random_hex=secrets.token_hex,
        settle_after_s=1.0,
    )
    yield opened
    opened.database.close()


def event(kind: EventKind = EventKind.PAYOUT) -> Event:
    return Event(id="evt_1", kind=kind, account_id="cc_1", subject="k1")


def shown(books: Books) -> list[tuple[str, str]]:
    """Return id and PEM of each key that the bank shows."""
    (row,) = (each for each in dialect.WOOVI.rows if each.path.endswith("/public-keys"))
    asked = BankRequest(
        books=books, method="GET", target="", path={}, query=MultiDict(),
        headers=CIMultiDictProxy(CIMultiDict()), raw=b"",
    )  # fmt: skip
    listed = dict(row.answer(asked).document)["public_keys"]  # type: ignore[call-overload]
    return [(each["key_identifier"], each["key"]) for each in listed]


def is_signed(body: bytes, signature: str, pem: str) -> bool:
    key = load_pem_public_key(pem.encode())
    assert isinstance(key, rsa.RSAPublicKey)
    try:
        key.verify(base64.b64decode(signature), body, padding.PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return True


def test_a_callback_bears_both_signatures(books: Books):
    made = dialect.callback(books, event(), TO)

    assert made is not None
    ((_, pem),) = shown(books)
    assert is_signed(made.body, made.headers["x-webhook-signature"], pem)
    wanted = base64.b64encode(hmac.digest(b"\x00\xff", made.body, "sha1")).decode()
    assert made.headers["X-OpenPix-Signature"] == wanted


def test_a_replaced_key_signs_no_more_and_is_still_shown(books: Books):
    ((former, _),) = shown(books)
    dialect.rotate(books)
    made = dialect.callback(books, event(), TO)

    (current, pem), (second, old) = shown(books)
    assert made is not None
    assert (second, current != former) == (former, True)
    assert is_signed(made.body, made.headers["x-webhook-signature"], pem)
    assert not is_signed(made.body, made.headers["x-webhook-signature"], old)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (EventKind.PAYOUT, "OPENPIX:MOVEMENT_CONFIRMED"),
        (EventKind.CHARGE, "OPENPIX:CHARGE_COMPLETED"),
    ],
)
def test_what_nothing_more_is_known_of_is_told_by_its_name(
    books: Books, kind: EventKind, name: str
):
    made = dialect.callback(books, event(kind), TO)

    assert made is not None
    said = json.loads(made.body)
    assert said["event"] == name
    assert "k1" in {said.get(part, {}).get("correlationID") for part in ("payment", "charge")}


@pytest.mark.parametrize("kind", [EventKind.RETURN, EventKind.PAYMENT, EventKind.REFUND])
def test_what_its_customers_are_not_told_is_not_sent(books: Books, kind: EventKind):
    assert dialect.callback(books, event(kind), TO) is None


def test_an_address_gets_what_it_has_asked_for(books: Books):
    asked = json.dumps({"url": TO.url, "event": "OPENPIX:MOVEMENT_FAILED"})
    state.put(books, Kept(kind=dialect.WEBHOOK, name="1", value=asked, account_id="cc_1"))

    assert dialect.callback(books, event(), TO) is None
