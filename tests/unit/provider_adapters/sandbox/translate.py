"""What several tests of translate share."""

from __future__ import annotations

import json

from gateway.banks.client.messages import ProviderAnswer

AT = "2026-11-20T12:00:00.000Z"
KEY = {"id": "CH1", "chave": "a@b.c", "tipo": "email", "situacao": "ATIVA", "criada_em": AT}


def saying(document: object, status: int = 200) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={}, body=json.dumps(document).encode())


def refusing(status: int, code: str) -> ProviderAnswer:
    return saying({"error": {"code": code, "message": "canary"}}, status)
