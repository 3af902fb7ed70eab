"""The groups that operations are shown in, by the words of their paths."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

from gateway.http.route import Row

OTHER: Final = "Other"
"""Of a path whose word is in no group: a mistake that a test names."""

_GROUPS: Final = MappingProxyType(
    {
        "Balance": ("What the account holds, live from the bank.", "balance blocks"),
        "PIX keys": ("The keys through which the account is paid.", "pix/keys"),
        "Charges": ("Requests for payment: PIX QR codes.", "pix/qrcode"),
        "PIX transactions": ("Charges as payments, and payments received.", "pix/transactions"),
        "Refunds": ("Payments given back.", "pix/refunds"),
        "Statement": ("Movements of the account.", "transactions report"),
        "Payouts": ("Money paid out, by PIX key or to a bank account.", "withdraw withdraws"),
        "Accounts": ("Accounts as registered, and the bank behind each.", "accounts provider"),
        "Companies": ("The owners of accounts and credentials.", "companies"),
        "Credentials": ("What partners' servers authenticate with.", "credentials"),
        "People": ("Operators: who they are and what they may do.", "users roles"),
        "Stops": ("Kill switches: payouts refused for a while.", "stops"),
        "Reviews": ("Payouts whose outcome two users decide.", "reviews"),
        "Approvals": ("Orders that wait for a second person.", "approvals"),
        "Records": (
            "Audit log, request log, callbacks and mail.",
            "audit requests webhooks outbox",
        ),
        "Providers": ("The banks behind the gateway.", "providers"),
        "Sign-in": ("From a password to a session.", "login mfa refresh logout session step-up"),
        "Own sign-ins": ("Where one is signed in.", "sessions"),
        "Own password": ("Set, changed, forgotten.", "password invitations"),
        "Own second factor": (
            "The authenticator app and its recovery codes.",
            "totp recovery-codes",
        ),
        "Service": ("Name, health and error codes; open to everybody.", "info health error-codes"),
    }
)

_GROUP_OF: Final = {word: name for name, (_, words) in _GROUPS.items() for word in words.split(" ")}
_ABOVE: Final = frozenset({"account", "accounts", "auth"})
"""What stands in front of the word that tells, where another follows."""


def tag_of(row: Row[Any]) -> str:
    """Return the group of an operation."""
    words = [word for word in row.path.split("/") if word and not word.startswith("{")]
    if len(words) > 1 and words[0] in _ABOVE:
        words = words[1:]
    word = "/".join(words[:2]) if words[:1] == ["pix"] else "".join(words[:1])
    return _GROUP_OF.get(word, OTHER)


def shown_tags(names: Iterable[str]) -> list[dict[str, str]]:
    """Describe the groups that are used, in their order."""
    used = set(names)
    told = {name: description for name, (description, _) in _GROUPS.items()}
    told[OTHER] = "Everything else."
    return [
        {"name": name, "description": description}
        for name, description in told.items()
        if name in used
    ]
