"""Identity providers that mean harm: what they publish and sign, and how long it takes."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_SOURCE = "docs/adr/0084-a-company-s-provider-names-its-people.md"
_SIGNED = "gateway/single_sign_on/signed_tokens.py"
_TESTS = "tests/unit/gateway/single_sign_on"
_TOKENS = f"{_TESTS}/test_signed_tokens.py"
_SIGN_IN = f"{_TESTS}/test_sign_in.py"

ROWS = (
    Mistake(
        name="every-key-of-a-provider-tried",
        promise="A token is compared with a few keys, however many a provider publishes.",
        source=_SOURCE,
        file=_SIGNED,
        right="if _may_sign(each, algorithm)][:_MOST_KEYS]",
        wrong="if _may_sign(each, algorithm)]",
        tests=(f"{_TOKENS}::test_a_few_keys_are_tried_for_a_token",),
    ),
    Mistake(
        name="private-key-of-a-provider-used",
        promise="A private key that a provider publishes is not computed with.",
        source=_SOURCE,
        file=_SIGNED,
        right='return "d" not in published and len(',
        wrong="return len(",
        tests=(f"{_TOKENS}::test_a_key_that_is_very_long_or_private_is_not_used",),
    ),
    Mistake(
        name="key-of-any-length",
        promise="A key of a provider has a size that its signatures are checked in at once.",
        source=_SOURCE,
        file=_SIGNED,
        right='len(str(published.get("n", ""))) <= _LONGEST_MODULUS',
        wrong="len(published) > 0",
        tests=(f"{_TOKENS}::test_a_key_that_is_very_long_or_private_is_not_used",),
    ),
    Mistake(
        name="time-after-the-last-year",
        promise="A time of a token that no date holds is refused, and is no fault of ours.",
        source=_SOURCE,
        file=_SIGNED,
        right="not 0 <= value < _LAST_SECOND\n",
        wrong="not 0 <= value < 1 << 40\n",
        tests=(f"{_TOKENS}::test_a_claim_that_no_store_or_calendar_holds_is_refused",),
    ),
    Mistake(
        name="session-id-that-no-store-holds",
        promise="The session id of a provider is a short printable word.",
        source=_SOURCE,
        file=_SIGNED,
        right='    if claims.get("sid") is not None:\n',
        wrong='    if claims.get("sid") == "":\n',
        tests=(f"{_TOKENS}::test_a_claim_that_no_store_or_calendar_holds_is_refused",),
    ),
    Mistake(
        name="logout-token-s-kind-looked-up",
        promise="A stranger's logout token of a strange kind is refused, and is no fault of ours.",
        source=_SOURCE,
        file=_SIGNED,
        right='not in ("JWT", _LOGOUT_TYPE):',
        wrong='not in {"JWT", _LOGOUT_TYPE}:',
        tests=(f"{_TOKENS}::test_a_logout_token_of_a_kind_that_is_no_word_is_refused",),
    ),
    Mistake(
        name="subject-without-its-blanks",
        promise="A person is known by the exact subject.",
        source=_SOURCE,
        file="gateway/single_sign_on/claims.py",
        right='    return value if isinstance(value, str) else ""\n',
        wrong='    return value.strip() if isinstance(value, str) else ""\n',
        tests=(f"{_SIGN_IN}::test_a_subject_is_compared_exactly",),
    ),
    Mistake(
        name="domain-given-up-signs-in",
        promise="Whose address is of no domain of the company does not sign in by its provider.",
        source="docs/single-sign-on.md",
        file="gateway/single_sign_on/sign_in.py",
        right="        if _domain(found.email) not in provider.domains:\n",
        wrong="        if not found.email:\n",
        tests=(f"{_SIGN_IN}::test_a_user_of_a_domain_that_the_company_gave_up_is_refused",),
    ),
    Mistake(
        name="waiting-sign-in-outlives-its-session",
        promise="A logout of a session at the provider ends sign-ins by it that wait for a code.",
        source=_SOURCE,
        file="gateway/single_sign_on/sign_in.py",
        right="            await self.records.void_challenges_of(",
        wrong="            _ = (",
        tests=(f"{_SIGN_IN}::test_a_logout_ends_a_sign_in_that_waits_for_its_code",),
    ),
    Mistake(
        name="removed-provider-names-somebody",
        promise="A provider that was changed or removed while it was asked names nobody.",
        source=_SOURCE,
        file="gateway/single_sign_on/sign_in.py",
        right="        if await self.records.find(attempt.company_id) != provider:\n",
        wrong="        if await self.records.find(attempt.company_id) is provider:\n",
        tests=(f"{_SIGN_IN}::test_a_provider_changed_during_the_sign_in_is_refused",),
    ),
    Mistake(
        name="all-wait-for-a-provider-that-hangs",
        promise="A provider that hangs keeps few places of sign-ins.",
        source=_SOURCE,
        file="gateway/single_sign_on/issuers.py",
        right="        if self.waits >= AT_ONCE:\n",
        wrong="        if self.waits > AT_ONCE:\n",
        tests=(f"{_TESTS}/test_issuers.py::test_few_wait_for_a_provider_that_hangs",),
    ),
)
