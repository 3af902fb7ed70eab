"""Secrets of an account at a bank of API Pix; profiles decide which are required."""

from __future__ import annotations

import msgspec

from provider_adapters.kit.secrets import PemCertificate, PemKey, SecretText


class ApiPixSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """
    An account's secrets at its bank; each profile decides which are required.

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
    """Efí requires all of them."""

    client_secret: SecretText
    certificate: PemCertificate
    key: PemKey
    pix_key: SecretText


class SicoobSecrets(ApiPixSecrets, frozen=True, kw_only=True):
    """Sicoob identifies a client by its certificate: there is no secret."""

    certificate: PemCertificate
    key: PemKey


class SicrediSecrets(ApiPixSecrets, frozen=True, kw_only=True):
    """Sicredi requires secret and certificate."""

    client_secret: SecretText
    certificate: PemCertificate
    key: PemKey


class BbSecrets(SicrediSecrets, frozen=True, kw_only=True):
    """
    Banco do Brasil requires the application's key beside them.

    Attributes:
        app_key: Its ``developer_application_key``, for the environment.
    """

    app_key: SecretText


class InterSecrets(SicrediSecrets, frozen=True, kw_only=True):
    """
    Inter requires the account beside them.

    Attributes:
        account: Its number with the check digit, in digits alone.
    """

    account: SecretText
