"""What browsers are asked for, and which answers are taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import ServiceError
from gateway.core.user_errors import PASSKEY_INVALID
from gateway.identity.model import Passkey
from gateway.identity.webauthn import (
    Assertion,
    AssertionResponse,
    AttestationResponse,
    Registration,
    RelyingParty,
    assertion,
    challenge_of,
    registration,
)
from gateway.security.secrets import base64url
from tests.world.authenticator import Authenticator
from tests.world.standing import NOON
from tests.world.stores.people import user

PARTY = RelyingParty("https://pix.example", "pixgate")
WHO = user(user_id="6f1c2b3a-0000-4000-8000-000000000001")
CHALLENGE = b"c" * 56


def registered(authenticator: Authenticator) -> Passkey:
    options = PARTY.registration_options(CHALLENGE, WHO, [])
    made = PARTY.register(authenticator.registration(options), CHALLENGE)
    return Passkey(
        id="one",
        user_id=WHO.id,
        name="Telefone",
        credential_id=made.credential_id,
        credential=made.credential,
        sign_count=made.sign_count,
        created_at=NOON,
    )


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://pix.example", "pix.example"),
        ("https://pix.example:8443", "pix.example"),
        ("http://localhost:8080", "localhost"),
        ("http://pix.example", ""),
        ("http://127.0.0.1:8080", ""),
        ("https://192.0.2.1", ""),
        ("https://[2001:db8::1]", ""),
    ],
)
def test_passkeys_are_of_the_configured_host_where_browsers_use_them(origin: str, host: str):
    """WebAuthn takes no IP address, and plain HTTP of localhost alone."""
    assert RelyingParty(origin, "pixgate").id == host


def test_registration_options_demand_verification_and_prefer_discoverable_passkeys():
    known = registered(Authenticator())

    asked = PARTY.registration_options(CHALLENGE, WHO, [known])

    assert asked["rp"] == {"id": "pix.example", "name": "pixgate"}
    assert asked["authenticatorSelection"] == {
        "residentKey": "preferred",
        "userVerification": "required",
    }
    assert [each["id"] for each in asked["excludeCredentials"]] == [known.credential_id]
    assert asked["attestation"] == "none"
    assert WHO.email not in asked["user"]["id"]


def test_assertion_options_demand_verification():
    known = registered(Authenticator())

    asked = PARTY.assertion_options(CHALLENGE, [known])

    assert (asked["rpId"], asked["userVerification"]) == ("pix.example", "required")
    assert [each["id"] for each in asked["allowCredentials"]] == [known.credential_id]


def test_a_passkey_is_verified_and_its_counter_returned():
    authenticator = Authenticator()
    passkey = registered(authenticator)

    answer = authenticator.assertion(PARTY.assertion_options(CHALLENGE, []))

    assert challenge_of(answer) == CHALLENGE
    assert PARTY.verify(answer, CHALLENGE, passkey) == passkey.sign_count + 1


WRONG: Mapping[str, Mapping[str, Any]] = {
    "without user verification": {"is_verifying": False},
    "of another origin": {"origin": "https://evil.example"},
    "of a subdomain": {"origin": "https://login.pix.example"},
    "of another port": {"origin": "https://pix.example:8443"},
    "of plain HTTP": {"origin": "http://pix.example"},
    "for another host": {"rp_id": "evil.example"},
}


@pytest.mark.parametrize("changed", WRONG.values(), ids=WRONG)
def test_a_wrong_registration_is_refused(changed: Mapping[str, Any]):
    answer = Authenticator(**changed).registration(PARTY.registration_options(CHALLENGE, WHO, []))

    with pytest.raises(ServiceError) as refused:
        PARTY.register(answer, CHALLENGE)

    assert refused.value.error is PASSKEY_INVALID


@pytest.mark.parametrize("changed", WRONG.values(), ids=WRONG)
def test_a_wrong_use_is_refused(changed: Mapping[str, Any]):
    authenticator = Authenticator()
    passkey = registered(authenticator)
    wrong = authenticator.elsewhere(**changed)

    with pytest.raises(ServiceError) as refused:
        PARTY.verify(wrong.assertion(PARTY.assertion_options(CHALLENGE, [])), CHALLENGE, passkey)

    assert refused.value.error is PASSKEY_INVALID


def test_another_key_challenge_or_user_is_refused():
    authenticator = Authenticator()
    passkey = registered(authenticator)
    asked = PARTY.assertion_options(CHALLENGE, [])
    forged = Authenticator(credential_id=authenticator.credential_id)
    somebody = authenticator.elsewhere(user_handle=base64url(b"x" * 16))
    answers = [
        (forged.assertion(asked), CHALLENGE),
        (authenticator.assertion(asked), b"d" * 56),
        (somebody.assertion(asked), CHALLENGE),
    ]

    for answer, challenge in answers:
        with pytest.raises(ServiceError):
            PARTY.verify(answer, challenge, passkey)


def test_a_registration_answer_is_no_use_and_the_other_way_round():
    authenticator = Authenticator()
    passkey = registered(authenticator)
    created = authenticator.create(PARTY.registration_options(CHALLENGE, WHO, []))["response"]
    got = authenticator.get(PARTY.assertion_options(CHALLENGE, []))["response"]
    swapped = Assertion(
        id=passkey.credential_id,
        response=AssertionResponse(
            client_data=created["clientDataJSON"],
            authenticator_data=got["authenticatorData"],
            signature=got["signature"],
        ),
    )

    with pytest.raises(ServiceError):
        PARTY.verify(swapped, CHALLENGE, passkey)


BYTES = st.binary(min_size=1, max_size=300).map(base64url)


@given(BYTES, BYTES)
def test_any_bytes_as_a_registration_are_refused(client: str, attestation: str):
    answer = Registration(id="AAAA", response=AttestationResponse(client, attestation))

    with pytest.raises(ServiceError) as refused:
        PARTY.register(answer, CHALLENGE)

    assert refused.value.error is PASSKEY_INVALID


@given(BYTES, BYTES, BYTES)
def test_any_bytes_as_a_use_are_refused(client: str, data: str, signature: str):
    passkey = registered(Authenticator())
    answer = Assertion(
        id=passkey.credential_id, response=AssertionResponse(client, data, signature)
    )

    with pytest.raises(ServiceError) as refused:
        PARTY.verify(answer, CHALLENGE, passkey)

    assert refused.value.error is PASSKEY_INVALID


@pytest.mark.parametrize(
    "client",
    [b"", b"{", b"[]", b"1", b"null", b"{}", b'{"challenge": 1}', b'{"challenge": "*"}', b"\xff"],
)
def test_client_data_without_a_challenge_is_refused(client: bytes):
    answer = Registration(id="AAAA", response=AttestationResponse(base64url(client), "AAAA"))

    with pytest.raises(ServiceError) as refused:
        challenge_of(answer)

    assert refused.value.error is PASSKEY_INVALID


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"id": "AAAA"}', '{"id": 1, "response": {}}', "\ud800"]
)
def test_a_malformed_field_of_a_form_is_refused(text: str):
    for read in (assertion, registration):
        with pytest.raises(ServiceError) as refused:
            read(text)
        assert refused.value.error is PASSKEY_INVALID


def test_a_form_field_holds_what_the_browser_writes():
    """With fields that are not needed."""
    authenticator = Authenticator()
    created = authenticator.create(PARTY.registration_options(CHALLENGE, WHO, []))

    assert registration(json.dumps(created)).id == created["id"]
