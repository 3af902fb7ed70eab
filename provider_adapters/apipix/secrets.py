"""What an account shows to a bank of API Pix; each profile says what of it is required."""

from __future__ import annotations

import msgspec

from provider_adapters.kit.secrets import PemCertificate, PemKey, SecretText


class ApiPixSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """
    What an account shows to its bank; each profile says which of it is required.

    Attributes:
        certificate, key: Ours, as the bank made it for the account.
        pix_key: One of the account's own PIX keys: payouts are made from it, and callbacks
            are registered for it.
    """

    client_id: SecretText
    client_secret: SecretText = ""
    certificate: PemCertificate = ""
    key: PemKey = ""
    pix_key: SecretText = ""


class EfiSecrets(ApiPixSecrets, frozen=True, kw_only=True):
    """Efí asks for all of it."""

    client_secret: SecretText
    certificate: PemCertificate
    key: PemKey
    pix_key: SecretText
