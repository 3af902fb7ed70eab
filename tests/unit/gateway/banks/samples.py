"""A bank of which little is known."""

from typing import Any

from gateway.banks.model import Provider
from gateway.banks.port.capabilities import Capabilities, described

NOTHING: dict[str, Any] = {
    "adapter": "sandbox",
    "problem": "",
    "read_only": False,
    "operations": [],
    "capabilities": described(Capabilities()),
    "breakers": {},
    "open_until": {},
    "in_flight": 0,
    "in_flight_limit": 10,
    **dict.fromkeys(("last_call_at", "last_ok_at", "last_failed_at", "certificate_ends_at")),
    **dict.fromkeys(("last_operation", "last_outcome", "last_failed_operation"), ""),
    "last_failure": "",
}


def provider(name: str = "p", **known: Any) -> Provider:
    return Provider(name=name, **NOTHING | known)
