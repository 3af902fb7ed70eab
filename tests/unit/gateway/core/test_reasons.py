"""The words for why, beside every place that refuses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import WHY, Reason
from gateway.config.settings import RateLimits
from gateway.core.reasons import REASONS, UNTOLD, Unsigned, public_word, sentence
from gateway.net.common.certificates import PemFlaw
from gateway.sandbox.control import ABSENT, AWAY
from provider_adapters.kit.secrets import Flaw as SecretsFlaw
from tests.world.tree import ROOT

ALLOWANCES = {
    "owner_lookups",
    "owner_mismatches",
    "exports",
    "exported_rows",
    "alarming_rows",
    "listed_rows",
}
"""Limits that services draw from, whose words are their own."""

REFUSING = {"ServiceError": 1, "RuleViolation": 1, "too_many": 1, "not_possible": 0, "Shed": 0}
"""What refuses, and at which place the word stands."""

WORKED_OUT = {
    "gateway/payouts/holds.py: state": ("revoked", "expired"),
    "gateway/payouts/holds.py: why": ("own_secret", "own_file"),
    "gateway/http/admission.py: reason": ("in_flight", "loop_lag", "store_wait", "strangers"),
    "gateway/http/admission.py: _FULL": (),
    "gateway/callbacks/reception.py: reason": ("forged", "unproven"),
    "gateway/http/routing.py: problem.reason": (),
    "gateway/sandbox/partners.py: problem.reason": (),
    "gateway/sandbox/self_service.py: problem.reason": (),
    "provider_adapters/testing/embedded.py: ABSENT": (ABSENT,),
    "provider_adapters/testing/embedded.py: AWAY": (AWAY,),
    "gateway/http/panel/pages/kept.py: KEPT": (),
    "gateway/http/rendering.py: reason": tuple(Reason),
    "gateway/http/rendering.py: type(problem).__name__": (),
    "gateway/core/user_access.py: NETWORK_NEW": ("network_new",),
    "gateway/identity/panel_sessions.py: NETWORK_NEW": ("network_new",),
    "gateway/core/allowances.py: reason": (
        *("owner_lookups", "owner_mismatches", "exports", "exported_rows"),
    ),
    "gateway/approvals/service.py: *DECIDED": ("decided",),
    "gateway/approvals/service.py: *OVER": ("over",),
    "gateway/approvals/service.py: *_MEANWHILE": ("meanwhile",),
    "gateway/approvals/service.py: *_VOID": ("void",),
    "gateway/approvals/execution.py: *DECIDED": ("decided",),
    "gateway/approvals/execution.py: *OVER": ("over",),
    "gateway/approvals/execution.py: *_UNDER_WAY": ("under_way",),
    "gateway/approvals/execution.py: _VOID": ("void",),
    "gateway/approvals/execution.py: reason": (
        *("decided", "over", "meanwhile", "under_way", "void"),
    ),
    "gateway/accounts/service.py: problem.reason": (*SecretsFlaw, *PemFlaw),
    "gateway/banks/acts.py: reason": tuple(WHY),
    "gateway/identity/throttling.py: reason": (
        *("account_ip", "ip", "consecutive", "factor", "reset_ip", "link"),
    ),
    "gateway/identity/users.py: problem.reason": (),
    "gateway/notifications/service.py: problem.reason": (),
    "gateway/payouts/create.py: STORE_FULL": ("store_full",),
    "gateway/payouts/create.py: reason": (*Reason, "not_sent"),
    "gateway/payouts/create.py: outcome.evidence.reason": tuple(Reason),
    "gateway/payouts/create.py: failure.code.lower() if failure else 'rejected'": tuple(
        each.value.lower() for each in FailureCode
    ),
    "gateway/payouts/create.py: f'limit_{problem}'": (
        "limit_per_payout",
        "limit_per_day",
        "limit_per_payout_at_night",
        "limit_per_night",
    ),
    "gateway/identity/tokens.py: str(problem)": (
        *("form", "kid", "not_yet", "expired", "head", "alg_or_typ", "time", "id"),
    ),
    "policies/authorization/credential.py: reason": (
        *("no_caller_rule", "network", "certificate"),
    ),
    "policies/authentication/basic.py: reason": (
        *("missing", "malformed", "wrong_scheme", "invalid", "revoked", "expired"),
        *Unsigned,
    ),
    "policies/authentication/basic.py: 'malformed' if run_together else 'wrong_scheme'": (
        *("malformed", "wrong_scheme"),
    ),
    "policies/authentication/bearer.py: reason": ("expired", "revoked", "invalid"),
    "policies/traffic/quota.py: f'quota_{self._name}'": tuple(
        f"quota_{each.name}"
        for each in msgspec.structs.fields(RateLimits)
        if each.name not in ALLOWANCES
    ),
    "policies/traffic/throttle.py: reason": ("throttled", "address_blocked"),
    "policies/validation/fields.py: reason": (),
    "policies/validation/bodies.py: refusal.reason": (
        *("json", "media_type", "content_coding", "amount_form", "not_positive"),
    ),
    "policies/validation/bodies.py: reason": (
        *("missing", "length", "form", "out_of_range", "not_one_of", "wrong_type", "text_form"),
    ),
    "gateway/payouts/bodies.py: f'{name}_form'": (
        *("bank_number_form", "branch_form", "account_form"),
    ),
    "gateway/payouts/bodies.py: reason": ("missing_for_bank_account",),
    "policies/validation/backoffice/searches.py: reason": ("not_one_of", "repeated"),
    "policies/validation/search.py: reason": ("window_backwards", "window_long"),
}
"""Words that are no text where they are used, and what they can be."""


@dataclass(frozen=True)
class Used:
    """A word where it is used; ``place`` distinguishes computed ones."""

    place: str
    word: str | None


def _used() -> Iterator[Used]:
    for folder in ("gateway", "policies", "provider_adapters"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from _used_in(path)


def _used_in(path: Path) -> Iterator[Used]:
    name, text = path.relative_to(ROOT).as_posix(), path.read_text()
    if not any(each in text for each in REFUSING):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        given = [each.value for each in node.keywords if each.arg == "reason"]
        if called in REFUSING:
            given += node.args[REFUSING[called] :][:1]
            yield from (_use(name, each) for each in given)


def _use(name: str, given: ast.expr) -> Used:
    if isinstance(given, ast.Constant):
        return Used(name, str(given.value))
    return Used(f"{name}: {ast.unparse(given)}", None)


@pytest.fixture(scope="module")
def used() -> list[Used]:
    """Search once, when a test asks: every worker of a run collects this module."""
    return list(_used())


def test_the_search_finds_known_reasons(used: list[Used]):
    assert len(used) > 100
    assert {"missing", "not_visible", "fetch_site"} < {each.word for each in used}


def test_every_literal_reason_is_declared(used: list[Used]):
    words = {each.word for each in used if each.word}

    assert sorted(words - REASONS.keys() - UNTOLD.keys()) == []


def test_every_computed_reason_is_declared():
    undeclared = {
        place: set(words) - REASONS.keys() - UNTOLD.keys() for place, words in WORKED_OUT.items()
    }

    assert {place: words for place, words in undeclared.items() if words} == {}


def test_every_place_that_computes_a_reason_is_listed(used: list[Used]):
    assert set(WORKED_OUT) == {each.place for each in used if each.word is None}


def test_every_word_of_a_bank_call_is_reported():
    words = [*Reason, *WHY, *(each.value.lower() for each in FailureCode)]

    assert [word for word in words if public_word(word) != word] == []


def test_reasons_are_words_and_their_meanings_sentences():
    said = {word: sentence(word, "The field") for word in REASONS}

    assert [word for word in said if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", word)] == []
    assert [word for word in said if not re.fullmatch(r"[A-Z][ -~]+\.", said[word])] == []
    assert [word for word in said if "{" in sentence(word, "")] == []


def test_no_reason_is_both_public_and_private():
    assert not UNTOLD.keys() & REASONS.keys()


@pytest.mark.parametrize("word", ["", "KeyError", "challenge_unknown"])
def test_a_private_reason_is_not_shown(word: str):
    assert (public_word(word), sentence(word, "key")) == ("", "")


def test_a_reason_s_sentence_names_the_field():
    assert sentence("not_positive", "value") == "value must be above zero."
