"""How the simulated bank writes amounts: texts in reais with two decimals."""

from __future__ import annotations

import re

from provider_adapters.testing.bank.messages import Fields, invalid

_REAIS = re.compile(r"([0-9]{1,13})\.([0-9]{2})", re.ASCII)


def show(centavos: int) -> object:
    """Write an amount."""
    sign = "-" if centavos < 0 else ""
    return f"{sign}{abs(centavos) // 100}.{abs(centavos) % 100:02}"


def read(body: Fields, name: str) -> int:
    """Read an amount, above zero; raises ``INVALID_REQUEST``."""
    found = _REAIS.fullmatch(body.text(name))
    centavos = int(found[1]) * 100 + int(found[2]) if found else 0
    if not centavos:
        problem = f"{name} is a text in reais, above zero, with two decimals"
        raise invalid(problem)
    return centavos
