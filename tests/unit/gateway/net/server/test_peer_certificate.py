"""Certificates as proxies pass them on."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from urllib.parse import quote

import pytest

from gateway.net.server.peer import forwarded_certificate
from tests.world.banks.authority import Authority


@pytest.fixture
def der(tmp_path: Path) -> bytes:
    pem = Authority(tmp_path).file.read_text()
    return ssl.PEM_cert_to_DER_cert(pem)


def test_a_certificate_in_the_form_of_rfc_9440_is_read(der: bytes):
    assert forwarded_certificate([f" :{base64.b64encode(der).decode()}:"]) == der


def test_a_certificate_in_the_form_of_nginx_is_read(der: bytes):
    assert forwarded_certificate([quote(ssl.DER_cert_to_PEM_cert(der), safe="")]) == der
    assert forwarded_certificate([quote(ssl.DER_cert_to_PEM_cert(der), safe="/+=- ")]) == der


def test_invalid_certificate_headers_are_ignored():
    """Some proxies send an empty one for a caller without a certificate."""
    others = [
        [], [""], [":"], ["::"], [":AAAA"], [":%:"], [":AAA:"], ["nonsense"], ["%FF"],
        [":AAAA:"] * 2,
    ]  # fmt: skip

    assert [values for values in others if forwarded_certificate(values) != b""] == []
