"""Proofs of callbacks: the published signatures, and whatever is near them and wrong."""

from __future__ import annotations

import base64
import hmac
import string
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from multidict import CIMultiDict

from gateway.banks.port.provider_callbacks import ProofRefused
from provider_adapters.kit.proofs import (
    Hmac,
    KeySignature,
    PeerCertificate,
    SharedToken,
    decoded,
    is_recent,
    only_value,
    token_text,
)
from provider_adapters.kit.public_keys import GivenKeys
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.signers import OPENPIX, STARK, WOOVI, Signer, ecdsa, rsa_of
from tests.world.standing import NOON
from tests.world.tables import cases

PUBLISHED = [
    *((STARK, case) for case in STARK["valid"]),
    *((WOOVI, case) for case in WOOVI["valid"]),
]
BODY = b'{"evento": "teste"}'
SECRET, FORMER = b"s" * 16, b"f" * 16


@cases(("bank", "case"), PUBLISHED)
async def test_a_published_signature_is_verified(bank: dict[str, str], case: dict[str, str]):
    proof = KeySignature(GivenKeys([bank["public_key_pem"]]))

    assert await proof.proves(case["signature_base64"], case["body"].encode())


@cases(("bank", "case"), PUBLISHED)
async def test_a_published_body_with_any_changed_byte_is_refused(
    bank: dict[str, str], case: dict[str, str]
):
    """
    Each seventh byte of the body, and every byte of the signature's own text.

    The text's last letter has bits that may be ignored: no other letter may replace it.
    """
    proof = KeySignature(GivenKeys([bank["public_key_pem"]]))
    body, signature = case["body"].encode(), case["signature_base64"]

    bodies = [body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :] for at in range(0, len(body), 7)]
    texts = [
        signature[:at] + ("A" if signature[at] != "A" else "B") + signature[at + 1 :]
        for at in range(len(signature))
    ]

    last = len(signature.rstrip("=")) - 1
    texts += [
        signature[:last] + letter + signature[last + 1 :]
        for letter in string.ascii_letters + string.digits + "+/"
        if letter != signature[last]
    ]

    assert not any([await proof.proves(signature, each) for each in (*bodies, body + b" ", b"")])
    assert not any([await proof.proves(each, body) for each in texts])


async def test_the_published_forgery_is_refused():
    proof = KeySignature(GivenKeys([STARK["public_key_pem"]]))

    for case in STARK["valid"]:
        assert not await proof.proves(
            STARK["invalid_for_any_of_these_bodies"], case["body"].encode()
        )


def test_the_published_hmac_is_verified_and_variants_are_refused():
    proof = Hmac([OPENPIX["secret"].encode()], digest="sha1")
    (case,) = OPENPIX["valid"]
    body, signature = case["body"].encode(), case["signature_base64"]

    assert proof.proves(signature, body)
    assert not proof.proves(signature, body + b"\n")
    assert not Hmac([OPENPIX["secret"].encode()]).proves(signature, body)
    assert not Hmac([b"another"], digest="sha1").proves(signature, body)


@cases("text", ["base64", "hex"])
@cases("digest", ["sha1", "sha256"])
@cases("secret", [SECRET, FORMER])
def test_any_current_secret_verifies_an_hmac(text: str, digest: str, secret: bytes):
    """During a rotation there are two."""
    made = hmac.digest(secret, BODY, digest)
    signature = made.hex() if text == "hex" else base64.b64encode(made).decode()

    assert Hmac([SECRET, FORMER], digest, text).proves(signature, BODY)  # type: ignore[arg-type]
    assert not Hmac([b"third"], digest, text).proves(signature, BODY)  # type: ignore[arg-type]


@cases("signature", ["", "é", "%%", "AAA", "=" * 8, " AAAA", "AAAA\n", "AA", "AB=="])
def test_an_unreadable_signature_proves_nothing(signature: str):
    assert decoded(signature) == b""
    assert not Hmac([SECRET]).proves(signature, BODY)


def test_a_shared_token_is_compared_completely():
    proof = SharedToken([SECRET, FORMER])

    assert proof.proves(SECRET.decode())
    assert proof.proves(FORMER.decode())
    for other in ("", "s" * 15, "s" * 17, "S" * 16, "\udcff", "é" * 16):
        assert not proof.proves(other)


@cases("kind", [Hmac, SharedToken])
@cases("secrets", [[], [b""], [SECRET, b""]])
def test_a_proof_without_a_secret_is_refused(
    kind: Callable[[list[bytes]], object], secrets: list[bytes]
):
    with pytest.raises(ProofRefused, match=r"callbacks\.secret"):
        kind(secrets)


@cases("made", [ecdsa, rsa_of])
async def test_a_replaced_key_is_accepted_until_it_is_removed(made: Callable[[], Signer]):
    former, current, stranger = made(), made(), made()
    both = KeySignature(GivenKeys([current.pem, former.pem]))

    assert await both.proves(former.sign(BODY), BODY)
    assert await both.proves(current.sign(BODY), BODY)
    assert not await both.proves(stranger.sign(BODY), BODY)
    assert not await KeySignature(GivenKeys([current.pem])).proves(former.sign(BODY), BODY)


async def test_a_named_key_is_the_only_one_tried():
    """Woovi's published key identifier is that of the DER form."""
    one, other = ecdsa(), ecdsa()
    keys = GivenKeys([one.pem, other.pem, WOOVI["public_key_pem"]])
    first, second, woovi = [each.id for each in await keys.known()]
    proof = KeySignature(keys)

    assert woovi == WOOVI["key_identifier_sha256_of_spki"]
    assert await proof.proves(one.sign(BODY), BODY, first)
    assert not await proof.proves(one.sign(BODY), BODY, second)
    assert not await proof.proves(one.sign(BODY), BODY, "nobody")


def test_a_header_must_occur_once_in_printable_ascii():
    headers = CIMultiDict(
        {"X-Good": "v1", "X-Accent": "é", "X-Control": "a\tb", "X-Long": "x" * 4097}
    )
    headers.add("X-Twice", "a")
    headers.add("x-twice", "a")

    assert only_value(headers, "x-good") == "v1"
    for name in ("X-Accent", "X-Control", "X-Long", "X-Twice", "X-Absent"):
        assert only_value(headers, name) == ""


@cases(("late_s", "wanted"), [(0, True), (300, True), (-300, True), (301, False)])
def test_a_signed_time_must_be_recent(late_s: int, wanted: bool):
    at = str(int(NOON.timestamp()) - late_s)

    assert is_recent(at, NOON) is wanted


@cases("text", ["", "-1", "1e9", "٣", "9" * 30, " 1", "1.5"])
def test_a_malformed_time_is_never_recent(text: str):
    assert not is_recent(text, NOON)


def now() -> datetime:
    """The authority's certificates are of today."""
    return datetime.now(UTC)


def der(file: Path) -> bytes:
    return x509.load_pem_x509_certificate(file.read_bytes()).public_bytes(Encoding.DER)


def test_a_certificate_of_the_bank_s_authority_is_accepted(authority: Authority, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    stranger = Authority(tmp_path / "elsewhere")
    proof = PeerCertificate(authority.file.read_text(), now)

    assert proof.proves(der(authority.sign("bank")))
    assert not proof.proves(der(stranger.sign("bank")))
    assert not proof.proves(der(authority.sign("old", EXPIRED)))
    assert not proof.proves(b"")
    assert not proof.proves(b"\x30\x82")


def test_a_trusted_certificate_is_accepted_until_it_expires(authority: Authority):
    file = authority.sign("bank")
    ends = x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
    pem = file.read_text()

    assert PeerCertificate(pem, lambda: ends).proves(der(file))
    assert not PeerCertificate(pem, lambda: ends + timedelta(seconds=1)).proves(der(file))
    assert not PeerCertificate(pem, now).proves(der(authority.sign("other")))


def test_a_name_restricts_a_shared_authority(authority: Authority):
    pem = authority.file.read_text()
    named = authority.sign("pix.bank.example", names=[x509.DNSName("Callbacks.Bank.example")])

    for name in ("callbacks.bank.example", "PIX.bank.example"):
        assert PeerCertificate(pem, now, [name]).proves(der(named))
    assert not PeerCertificate(pem, now, ["bank.example"]).proves(der(named))


@cases("pem", ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_an_invalid_certificate_is_refused_at_startup(pem: str):
    with pytest.raises(ProofRefused, match="no certificate in PEM"):
        PeerCertificate(pem, now)


def test_a_proof_does_not_print_its_secret():
    shown = repr([SharedToken([SECRET]), Hmac([SECRET])])

    assert SECRET.decode() not in shown


@cases(
    ("secret", "text"),
    [(b"entered by a person", "entered by a person"), (b"\x80\x01", "8001"), (b"", "")],
)
def test_a_secret_of_any_bytes_fits_into_a_header(secret: bytes, text: str):
    assert token_text(secret) == text
