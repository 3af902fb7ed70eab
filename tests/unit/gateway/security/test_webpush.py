"""Web push: the example of RFC 8291, and the proof of RFC 8292."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.security.webpush import PushSigner, encrypt, new_private_key, read_keys

PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
    "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
    "lcy4a-fN"
)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_example_of_rfc_8291_is_encrypted_as_it_shows():
    private = ec.derive_private_key(int.from_bytes(decoded(SENDER)), ec.SECP256R1())
    content = b"When I grow up, I want to be a watermelon"

    body = encrypt(content, read_keys(PUBLIC, AUTH), private, lambda _size: decoded(SALT))

    assert body == decoded(BODY)


def test_no_two_messages_have_the_same_key():
    assert new_private_key().private_numbers() != new_private_key().private_numbers()


@pytest.mark.parametrize(
    ("public", "auth"),
    [
        (PUBLIC[:-4], AUTH),
        (PUBLIC, AUTH[:-3]),
        (PUBLIC.replace("_", "!"), AUTH),
        ("é", AUTH),
        ("", ""),
        (base64.urlsafe_b64encode(b"\x04" + bytes(64)).decode(), AUTH),
    ],
)
def test_keys_that_are_none_are_refused(public: str, auth: str):
    with pytest.raises(ValueError, match=r"."):
        read_keys(public, auth)


def test_a_message_proves_its_sender_to_one_push_service_for_half_a_day():
    signer = PushSigner(b"k" * 32, "https://pix.example")

    scheme, _, rest = signer.authorization("https://push.example/send/x", NOW).partition(" ")

    token, _, public = rest.removeprefix("t=").partition(", k=")
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public))
    claims = jwt.decode(
        token,
        key,
        algorithms=["ES256"],
        audience="https://push.example",
        options={"verify_exp": False},
    )
    assert (scheme, public) == ("vapid", signer.public)
    assert claims["sub"] == "https://pix.example"
    assert claims["exp"] - NOW.timestamp() == 12 * 3600
