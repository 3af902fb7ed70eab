"""Signatures of requests: the vectors of RFC 9421 and 9530, and the one form that is read."""

from __future__ import annotations

from base64 import b64decode

import pytest

from gateway.security.message_signatures import (
    is_digest_of,
    is_signed,
    read_input,
    read_signature,
    signature_base,
)

KEY = b64decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=")
"""``test-key-ed25519`` of RFC 9421, appendix B.1.4."""
COMPONENTS = [
    ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
    ("@method", "POST"),
    ("@path", "/foo"),
    ("@authority", "example.com"),
    ("content-type", "application/json"),
    ("content-length", "18"),
]
PARAMETERS = (
    '("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
SIGNATURE = (
    "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKR"
    "Cw==:"
)
"""Appendix B.2.6."""

BODY = b'{"hello": "world"}'
SHA_256 = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
SHA_512 = (
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJw"
    "ew==:"
)
"""Of RFC 9530, appendix D, without its line feed: RFC 9421, appendix B.2."""

COVERED = '"@method" "@path" "content-digest"'
RIGHT = f'sig=({COVERED});created=1;nonce="0123456789abcdef";keyid="k";alg="ed25519"'


def test_the_example_of_rfc_9421_verifies():
    base, signature = signature_base(COMPONENTS, PARAMETERS), read_signature(SIGNATURE, "sig-b26")

    assert base.decode().splitlines()[-1] == f'"@signature-params": {PARAMETERS}'
    assert is_signed(KEY, signature, base)
    assert not is_signed(KEY, signature, base.replace(b"/foo", b"/bar"))
    assert not is_signed(bytes(31) + b"\x01", signature, base)


def test_an_input_is_read_with_its_parameters_as_sent():
    read = read_input(RIGHT + ";expires=300")

    assert (read.label, read.covered) == ("sig", ("@method", "@path", "content-digest"))
    assert (read.created, read.expires, read.key_id) == (1, 300, "k")
    assert read.parameters == RIGHT.removeprefix("sig=") + ";expires=300"
    assert read_input(RIGHT).expires is None


WRONG_INPUTS = {
    "nothing": "",
    "no list": "sig=1;created=1",
    "two signatures": f"{RIGHT}, two={RIGHT.removeprefix('sig=')}",
    "blanks that are not signed": RIGHT.replace('"@method" ', '"@method"  '),
    "blank before a parameter": RIGHT.replace(";nonce", "; nonce"),
    "blank behind": RIGHT + " ",
    "line feed behind": RIGHT + "\n",
    "label in capitals": RIGHT.replace("sig", "Sig"),
    "component in capitals": RIGHT.replace("@method", "@METHOD"),
    "component with a parameter": RIGHT.replace('"@path"', '"@path";req'),
    "component twice": RIGHT.replace('"@path"', '"@path" "@path"'),
    "no component": RIGHT.replace(COVERED, ""),
    "parameter twice": RIGHT + ";created=1",
    "unknown parameter": RIGHT + ';tag="pay"',
    "parameter without a value": RIGHT + ";expires",
    "created as text": RIGHT.replace("created=1", 'created="1"'),
    "created as a fraction": RIGHT.replace("created=1", "created=1.5"),
    "created with a zero before": RIGHT.replace("created=1", "created=01"),
    "created below zero": RIGHT.replace("created=1", "created=-1"),
    "created beyond 15 digits": RIGHT.replace("created=1", "created=1000000000000000"),
    "keyid as a number": RIGHT.replace('keyid="k"', "keyid=1"),
    "keyid with a quote": RIGHT.replace('keyid="k"', 'keyid="\\""'),
    "keyid beyond ASCII": RIGHT.replace('keyid="k"', 'keyid="é"'),
    "another algorithm": RIGHT.replace("ed25519", "hmac-sha256"),
    "short nonce": RIGHT.replace("0123456789abcdef", "0123456789abcde"),
    "long nonce": RIGHT.replace("0123456789abcdef", "n" * 129),
    **{
        f"without {name}": RIGHT.replace(part, "")
        for name, part in {
            "created": ";created=1",
            "nonce": ';nonce="0123456789abcdef"',
            "keyid": ';keyid="k"',
            "alg": ';alg="ed25519"',
        }.items()
    },
}


@pytest.mark.parametrize("field", WRONG_INPUTS.values(), ids=WRONG_INPUTS)
def test_a_malformed_signature_input_is_refused(field: str):
    with pytest.raises(ValueError, match="not a signature"):
        read_input(field)


@pytest.mark.parametrize(
    "field",
    [
        "",
        SIGNATURE.replace("sig-b26", "sig"),
        f"{SIGNATURE}, sig=:{'A' * 86}==:",
        SIGNATURE.replace("=:wqcA", "=:"),
        SIGNATURE.replace("==:", ":"),
        SIGNATURE.replace("sig-b26=:", "sig-b26=wq").replace("==:", "=="),
        SIGNATURE + " ",
    ],
)
def test_a_malformed_signature_is_refused(field: str):
    with pytest.raises(ValueError, match="not a signature"):
        read_signature(field, "sig-b26")


@pytest.mark.parametrize(
    "field", [SHA_256, SHA_512, f"{SHA_256}, {SHA_512}", f"{SHA_512},{SHA_256}"]
)
def test_a_content_digest_matches_only_its_body(field: str):
    assert is_digest_of(field, BODY)
    assert not is_digest_of(field, BODY + b"\n")


@pytest.mark.parametrize(
    "field",
    [
        "",
        SHA_256.replace("sha-256", "sha-512"),
        SHA_256.replace("sha-256", "SHA-256"),
        SHA_256.replace("sha-256", "md5"),
        f"{SHA_256}, unixsum=:AAA=:",
        f"{SHA_256},",
        f"{SHA_256};q=1",
        SHA_256.replace("X48E", "X48F"),
        SHA_256.replace("=:", "==:"),
        SHA_256.replace(":", ""),
    ],
)
def test_a_malformed_or_unsupported_digest_matches_nothing(field: str):
    assert not is_digest_of(field, BODY)
