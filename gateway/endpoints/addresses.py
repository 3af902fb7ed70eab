"""
The rules for an endpoint's address, as it is typed.

What its name resolves to is not looked up here: that is checked at each connection, for a name may
lead elsewhere by then.
"""

from __future__ import annotations

import re
from typing import Final

from yarl import URL

from gateway.banks.client.addresses import read_literal
from gateway.core import strict
from gateway.core.audit_context import RuleViolation

PORTS: Final = frozenset({443, 8443})
"""Those of https; a port of another service would be asked things that it may obey."""

_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter: resolvers take 127.1 and 0x7f000001 for addresses.
_NAME: Final = re.compile(rf"(?=.{{1,253}}\Z)(?:{_LABEL}\.)+(?=[a-z]){_LABEL}", re.ASCII)
_VISIBLE: Final = re.compile(r"[!-~]+", re.ASCII)


def read_address(text: str, *, allow_local: bool) -> str:
    """
    Read the address of an endpoint, as it is stored and called.

    Args:
        text: As typed.
        allow_local: Admits http, any port, and this machine.

    Raises:
        RuleViolation: it breaks one of the rules.
    """
    try:
        url = URL(strict.plain_text(text.strip()))
        port, host = url.port, url.raw_host or ""
    except ValueError as problem:
        raise _refused() from problem
    is_local = host == "localhost" or _is_loopback(host)
    is_https = url.scheme == "https" and port in PORTS
    if (
        not (is_https or (allow_local and url.scheme in {"http", "https"}))
        or not (_NAME.fullmatch(host) or (allow_local and is_local))
        or url.raw_user is not None
        or url.raw_password is not None
        or "#" in text
        or _VISIBLE.fullmatch(str(url)) is None
    ):
        raise _refused()
    return str(url)


def _is_loopback(host: str) -> bool:
    literal = read_literal(host)
    return literal is not None and literal.is_loopback


def _refused() -> RuleViolation:
    message = (
        "an endpoint is an https address with a name, on port 443 or 8443, without a user, a"
        " password and a fragment"
    )
    return RuleViolation(message, "endpoint_url", field="url")
