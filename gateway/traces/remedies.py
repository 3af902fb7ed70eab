"""
Remedies by the reason of a refusal, for operators.

Texts with ``{names}`` of ``explanations``; one whose value is not known is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.core.reasons import Unsigned

_REPEAT_LATER: Final = ("Repeat the call after the seconds of Retry-After.",)
_NEW_CREDENTIAL: Final = ("Issue another credential; one that has ended does not come back.",)
_GIVE_BANK: Final = "Give the account a bank that offers this."

REMEDIES: Final[Mapping[str, Sequence[str]]] = {
    "invalid": (
        "Compare client id and secret with what was issued, and the environment with this one.",
        "Rotate the credential if its secret is lost.",
    ),
    "revoked": _NEW_CREDENTIAL,
    "expired": _NEW_CREDENTIAL,
    "throttled": (
        "Call with the right secret: it is served at once.",
        "Otherwise wait a minute, and find out who calls with wrong secrets.",
    ),
    "address_blocked": (
        "Wait a minute, and find out who calls with wrong secrets from this address.",
    ),
    "quota_read": ("Wait as many seconds as Retry-After says, or raise ratelimits.read.",),
    "quota_payout": ("Wait as many seconds as Retry-After says, or raise ratelimits.payout.",),
    "quota_company": ("Wait as many seconds as Retry-After says, or raise ratelimits.company.",),
    **dict.fromkeys(
        (Unsigned.MISSING, Unsigned.FORM, Unsigned.COVERAGE),
        (
            "Sign the request with a registered key, as the partner guide shows.",
            "If the partner signed nothing, somebody else has the secret: rotate the credential.",
        ),
    ),
    Unsigned.TIME: ("Sign at most 300 seconds before the call, with a clock that is right.",),
    Unsigned.KEY: ("Sign with a key that is registered for this credential, or register the key.",),
    **dict.fromkeys(
        (Unsigned.SIGNATURE, Unsigned.DIGEST),
        (
            (
                "Send the bytes that were signed, to the path that was signed; a proxy must change"
                " neither."
            ),
        ),
    ),
    "no_caller_rule": ("Decide where the credential may be used.",),
    "network": ("Call from an allowed network, or allow the one it came from.",),
    "certificate": ("Call with an allowed client certificate, or allow the one shown.",),
    "permission": ("Issue a credential with {needed}.",),
    "uuid_form": ("Send the id as a UUID with hyphens.",),
    "not_visible": (
        "Call about an account of {company}.",
        "Or call with a credential of the account's own company.",
    ),
    "scope": (
        "Call about the credential's own account, {own_account} ({own_account_id}).",
        "Or issue a credential for the whole company with {needed}.",
    ),
    "inactive": ("Activate the account.",),
    "unverified": ("Verify the account.",),
    "no_provider": (_GIVE_BANK,),
    "no_bank_credentials": ("Store what the account's bank asks for.",),
    "not_supported": (_GIVE_BANK,),
    "read_only": ("Give the account a bank that takes payouts, or end read-only for {provider}.",),
    "stopped": ("Lift the stop, or wait for its end.",),
    "similar": ("If both are meant, send this one again when the earlier one is old enough.",),
    "limit_per_payout": ("Send a smaller payout, or raise the credential's limit of a payout.",),
    "limit_per_day": ("Wait for the next day in UTC, or raise the credential's limit of a day.",),
    "limit_per_payout_at_night": (
        "Send a smaller payout, wait for the morning, or raise the credential's limit at night.",
    ),
    "limit_per_night": ("Wait for the morning, or raise the credential's limit of a night.",),
    "not_today": ("Send today's date in UTC.",),
    "other_content": (
        "Use a new reference for another payout.",
        "To ask for the first one again, repeat its content exactly.",
    ),
    "in_flight": _REPEAT_LATER,
    "loop_lag": _REPEAT_LATER,
    "store_wait": _REPEAT_LATER,
    "strangers": _REPEAT_LATER,
    "draining": _REPEAT_LATER,
    "final": ("Nothing does: a submitted payout is final.",),
}
"""By reason; where there is none, the catalogue of codes says what to do."""
