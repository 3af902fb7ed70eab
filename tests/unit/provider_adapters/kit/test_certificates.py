"""What authors may use of certificates in memory."""

from __future__ import annotations

import ssl

import pytest

from provider_adapters.kit.certificates import CertificatePair, PairRefused, load_pair


def test_what_is_no_pair_is_refused_without_an_echo():
    with pytest.raises(PairRefused) as refused:
        load_pair(
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            CertificatePair(certificate="canary-1", key="canary-2"),
        )

    assert "canary" not in str(refused.value)
