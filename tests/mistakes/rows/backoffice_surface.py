"""The back office's surface: rights, what is taken and shown, and lists of one's companies."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_HTTP = "tests/unit/gateway/http"
_VALIDATION = "tests/unit/policies/validation/backoffice"
_APPROVALS_SHOWN = "tests/unit/gateway/approvals/test_routes.py"
_AUDIT = "tests/unit/gateway/audit/test_service.py"
_CALLBACKS = "tests/unit/gateway/callbacks/test_service.py"
_CREDENTIALS = "tests/unit/gateway/credentials/test_service.py"
_FAILURES = "tests/unit/gateway/banks/test_failures.py"
_INPUTS = f"{_VALIDATION}/test_inputs.py"
_FINDER = "tests/unit/gateway/payouts/test_staff_searches.py"
_ACCOUNTS = "tests/unit/gateway/accounts/test_service.py"
_PAYOUTS = "tests/unit/gateway/payouts/test_documents.py"
_MONEY = "tests/surfaces/backoffice/test_money.py"
_PIX_KEYS = "tests/unit/gateway/pix_keys/test_routes.py"
_REQUESTS = "tests/unit/gateway/request_log/test_service.py"
_REVIEWS = "tests/unit/gateway/reviews/test_service.py"
_SEARCH = "tests/unit/gateway/search/test_service.py"
_STOPS = "tests/unit/gateway/stops/test_service.py"
_SURFACE = f"{_HTTP}/test_gates.py"

ROWS = (
    Mistake(
        name="refund-told-as-not-sent",
        promise="A refund that may have been given is never told as not sent.",
        source="decisions 6",
        file="gateway/banks/failures.py",
        right=("**bank_fails(user_errors.REFUND_UNKNOWN, errors.TRANSACTION_NOT_FOUND),"),
        wrong="**bank_fails(user_errors.REFUND_NOT_SENT, errors.TRANSACTION_NOT_FOUND),",
        tests=(f"{_FAILURES}::test_a_refund_is_unknown_unless_it_is_certain_that_it_was_not_sent",),
    ),
    Mistake(
        name="credential-named-to-anybody",
        promise="A credential's name is told to who may read credentials.",
        source="docs/people.md",
        file="gateway/accounts/service.py",
        right="            if kind is not RecordKind.CREDENTIAL or who.may(_READS_CREDENTIALS)\n",
        wrong="            if kind is not RecordKind.CREDENTIAL or who.acting\n",
        tests=(f"{_ACCOUNTS}::test_records_are_named_within_the_reader_s_rights",),
    ),
    Mistake(
        name="credential-found-by-anybody",
        promise="A search shows a credential to who may read credentials.",
        source="docs/people.md",
        file="gateway/search/service.py",
        right="_CREDENTIALS, _CREDENTIAL, named)",
        wrong="_ACCOUNTS, _CREDENTIAL, named)",
        tests=(f"{_SEARCH}::test_a_credential_is_found_only_by_roles_that_may_read_credentials",),
    ),
    Mistake(
        name="stop-lifted-without-a-factor",
        promise="A stop is lifted with a second factor of the last five minutes.",
        source="decisions 6 (`STEP_UP_REQUIRED`)",
        file="gateway/http/gates.py",
        right="fresh = (*known, FreshFactor(now, always=True), *named)",
        wrong="fresh = (*known, FreshFactor(now), *named)",
        tests=(f"{_SURFACE}::test_lifting_a_stop_always_requires_a_fresh_factor",),
    ),
    Mistake(
        name="payout-of-a-blocked-account",
        promise="A person pays from an account that is active and verified, and no other.",
        source="contract 5.1",
        file="gateway/http/gates.py",
        right="active = (*visible, AccountState())",
        wrong="active = visible",
        tests=(f"{_SURFACE}::test_policies_of_each_gate_are_in_the_decided_order",),
    ),
    Mistake(
        name="approved-payout-told-as-paid",
        promise="Whoever approves a payout is told `processing`, whatever the bank said.",
        source="decisions 2 (states and answers)",
        file="gateway/approvals/execution.py",
        right=(
            "        if isinstance(self.moved, Payout):\n"
            '            return {"approval": shown, "status": "processing"}\n'
        ),
        wrong=(
            "        if isinstance(self.moved, Payout):\n"
            '            return {"approval": shown, "status": "paid"}\n'
        ),
        tests=(f"{_APPROVALS_SHOWN}::test_an_approved_payout_is_reported_as_processing",),
    ),
    Mistake(
        name="credential-for-a-foreign-account",
        promise="Nobody issues a credential for an account that they do not see.",
        source="docs/people.md",
        file="gateway/credentials/service.py",
        right="            if not scope.includes(account.company_id):\n",
        wrong="            if scope.includes(account.company_id) is None:\n",
        tests=(f"{_CREDENTIALS}::test_no_user_issues_a_credential_outside_their_scope",),
    ),
    Mistake(
        name="foreign-credential-revoked",
        promise="Nobody revokes a credential of a company that they do not see.",
        source="docs/people.md",
        file="gateway/credentials/store.py",
        right=(
            "own = (credentials.c.client_id == client_id,"
            " *of_company(credentials.c.company_id, scope))"
        ),
        wrong="own = (credentials.c.client_id == client_id,)",
        tests=(f"{_CREDENTIALS}::test_a_credential_of_another_company_is_not_found",),
    ),
    Mistake(
        name="moved-by-a-payout-that-failed",
        promise="What is not paid has moved nothing, whatever was ordered.",
        source="docs/panel.md",
        file="gateway/payouts/documents.py",
        right="moved_value.centavos) if payout.state is PayoutState.PAID else ZERO,",
        wrong="moved_value.centavos),",
        tests=(f"{_MONEY}::test_a_payout_that_is_not_paid_has_moved_nothing",),
    ),
    Mistake(
        name="hold-of-a-paid-payout",
        promise="A payout is told as held only while its bank holds it.",
        source="ADR 23",
        file="gateway/payouts/documents.py",
        right="held = about.held_until if is_held else None",
        wrong="held = about.held_until",
        tests=(f"{_PAYOUTS}::test_users_see_the_end_of_the_bank_s_hold",),
    ),
    Mistake(
        name="whole-number-of-a-key-s-owner",
        promise="The tax number of a person behind a key is shown without its ends.",
        source="docs/people.md",
        file="gateway/pix_keys/routes.py",
        right="found, tax_number=hidden_tax_number(found.tax_number))",
        wrong="found)",
        tests=(f"{_PIX_KEYS}::test_a_masked_cpf_hides_its_first_and_last_digits",),
    ),
    Mistake(
        name="next-look-at-a-final-payout",
        promise="Of a payout that has ended no next look is told.",
        source="docs/people.md",
        file="gateway/payouts/documents.py",
        right="is_open = found.number == about.attempt and about.state not in FINAL_STATES",
        wrong="is_open = found.number == about.attempt",
        tests=(f"{_PAYOUTS}::test_only_the_latest_attempt_of_an_open_payout_has_a_next_query",),
    ),
    Mistake(
        name="exported-act-without-its-microseconds",
        promise="An exported act holds all that its hash is made of.",
        source="ADR 15",
        file="gateway/audit/searches.py",
        right=', "at": each.event.at.isoformat()}',
        wrong="}",
        tests=(f"{_AUDIT}::test_an_exported_act_has_every_field_of_its_hash",),
    ),
    Mistake(
        name="instant-of-no-zone",
        promise="An instant without a time zone is refused.",
        source="decisions 7",
        file="policies/validation/backoffice/inputs.py",
        right="    if found.tzinfo is None:\n        raise strict.Malformed\n",
        wrong="",
        tests=(f"{_INPUTS}::test_a_malformed_instant_is_refused",),
    ),
    Mistake(
        name="first-of-two-filters",
        promise="A filter that is given twice is refused.",
        source="decisions 7",
        file="policies/validation/backoffice/inputs.py",
        right="if len(values) > 1:",
        wrong="if len(values) > 1 and not values[0]:",
        tests=(f"{_INPUTS}::test_a_repeated_parameter_is_refused",),
    ),
    Mistake(
        name="opinions-of-an-earlier-try-shown",
        promise="A payout in review shows the opinions of this review alone.",
        source="docs/people.md",
        file="gateway/reviews/store.py",
        right="opinions=[each for each in opinions_given if each.is_about(payout)],",
        wrong="opinions=[*opinions_given],",
        tests=(f"{_REVIEWS}::test_a_review_is_listed_with_only_its_own_opinions",),
    ),
    Mistake(
        name="payouts-of-every-company-found",
        promise="A search of payouts finds those of one's own companies alone.",
        source="docs/people.md",
        file="gateway/payouts/search.py",
        right="common = [*_open_to(query), *of_account(payouts.c.account_id, scope)]",
        wrong="common = [*_open_to(query)]",
        tests=(f"{_FINDER}::test_a_search_shows_and_counts_payouts_in_scope",),
    ),
    Mistake(
        name="callbacks-of-every-company",
        promise="Who is limited to companies sees callbacks about their accounts alone.",
        source="docs/people.md",
        file="gateway/callbacks/store.py",
        right="        wanted = wanted.where(*of_company(callbacks.c.company_id, scope))\n",
        wrong="",
        tests=(f"{_CALLBACKS}::test_a_limited_user_sees_callbacks_of_their_accounts",),
    ),
    Mistake(
        name="requests-of-every-company",
        promise="Who is limited to companies sees requests of these alone.",
        source="docs/people.md",
        file="gateway/request_log/store.py",
        right="        yield from of_company(requests.c.company_id, scope)\n",
        wrong="",
        tests=(f"{_REQUESTS}::test_a_user_limited_to_companies_sees_only_their_requests",),
    ),
    Mistake(
        name="stop-lifted-twice",
        promise="A stop is lifted once; a second time is told as such.",
        source="docs/people.md",
        file="gateway/stops/service.py",
        right="    return stops.c.ends_at > at, stops.c.lifted_at.is_(None)\n",
        wrong="    return (stops.c.ends_at > at,)\n",
        tests=(f"{_STOPS}::test_a_stop_can_be_lifted_only_once",),
    ),
)
