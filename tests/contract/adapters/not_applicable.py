"""
Which cases of the suite do not apply to which adapter, and why, in the case's own words.

Cases of calls that are not declared are left out: the declarations say that. A case that stops
applying for any other reason is not passed over in silence, but has to be entered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TOKENS: Final = dict.fromkeys(
    ("access.tokens", "access.payout_without_token"),
    "the bank gives no access tokens",
)
_CERTIFICATES: Final = dict.fromkeys(
    ("access.certificate_renewed", "access.certificate_absent", "access.certificate_of_another"),
    "the bank asks for no certificate of an account",
)
_SEVERAL: Final = {"callbacks.several": "the stage's bank sends a callback for each thing"}
_PLAIN: Final = {**_TOKENS, **_CERTIFICATES, **_SEVERAL}
_NO_KEYS: Final = dict.fromkeys(
    ("bank.duplicate", "bank.duplicate_by_account"),
    "the bank ignores keys, so the gateway never repeats an order",
)
_IDS_ALONE: Final = {"bank.absent_then_visible": "payouts are found by the bank's id alone"}
_NO_DOUBT: Final = {
    "bank.doubtful_refusals": "the stage names no documented refusal that proves nothing (doubtful)"
}
_SENDER_ALONE: Final = {
    "callbacks.altered": "its proof says who sent a callback, and covers no body"
}
_SEARCHES: Final = {
    "reads.absent_in_any_form": "a charge is searched for in a list, which is never absent"
}
_NO_E2E_ID: Final = "the bank's answer shows no e2e_id"

WITHOUT: Final[Mapping[str, Mapping[str, str]]] = {
    "sandbox": _PLAIN,
    "starkbank": {
        **_PLAIN,
        **_SEARCHES,
        **_NO_DOUBT,
        "bank.held": "the bank does not tell that it holds a transfer",
        "bank.malformed_e2e_id": _NO_E2E_ID,
        "bank.found_with_malformed_e2e_id": _NO_E2E_ID,
    },
    "woovi": {
        **_PLAIN,
        **_NO_DOUBT,
        "bank.held": "the bank does not tell whether it holds a payout",
        "bank.malformed_e2e_id": _NO_E2E_ID,
    },
    "apipix": {
        **_NO_DOUBT,
        **_SENDER_ALONE,
        "bank.held": "the bank tells of no payout that held",
        "bank.returned": "the bank tells of no payout that returns",
        "bank.other_recipient": "the bank's answer shows no destination",
    },
    "asaas": {
        **_PLAIN,
        **_SEARCHES,
        **_NO_DOUBT,
        **_NO_KEYS,
        **_IDS_ALONE,
        **_SENDER_ALONE,
        "bank.held": "no document of the bank tells of payouts under analysis",
    },
}
_BARE_ANSWER: Final = {
    f"bank.{case}": f"the bank's answer shows no {what}"
    for case, what in (
        ("other_amount", "amount"),
        ("other_key", "key"),
        ("other_recipient", "destination"),
        ("malformed_e2e_id", "e2e_id"),
    )
}

OF_PROFILE: Final[Mapping[str, Mapping[str, str]]] = {
    "inter": {
        **_NO_KEYS,
        **_IDS_ALONE,
        **_SENDER_ALONE,
        "bank.refusals": "the stage lists no refusals",
        **_BARE_ANSWER,
        "bank.held": "the bank tells of no payout that held",
        "bank.returned": "the bank tells of no payout that returns",
    },
    **dict.fromkeys(("sicoob", "bb", "sicredi"), _SENDER_ALONE),
}
"""Likewise for the profiles of API Pix beside the one that stands for the adapter."""
