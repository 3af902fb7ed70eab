"""An account's secret at the bank: its API key, whose prefix names the environment."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gateway.core.account import Environment
from provider_adapters.kit.secrets import in_environments

ApiKey = Annotated[
    str,
    msgspec.Meta(min_length=20, max_length=1024),  # about 170 characters in 2026
    in_environments({Environment.PRODUCTION: "$aact_prod_", Environment.SANDBOX: "$aact_hmlg_"}),
]
"""Source of the beginnings: docs.asaas.com/docs/authentication, 22 November 2026."""


class AsaasSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """
    The secrets of an account.

    Attributes:
        api_key: With the dollar sign that it begins with.
    """

    api_key: ApiKey
