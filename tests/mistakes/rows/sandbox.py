"""The sandbox that partners drive: where it is there, whose account, how many credentials."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_DRIVEN = "tests/surfaces/banking/test_sandbox.py"
_OWN = "tests/surfaces/banking/test_sandbox_credentials.py"
_STORE = "tests/contract/stores/test_sandbox_accounts.py"
_MESSAGES = "tests/unit/provider_adapters/testing/bank/test_messages.py"
_ADR = "docs/adr/0077-partners-drive-the-sandbox.md"

ROWS = (
    Mistake(
        name="sandbox-driven-in-production",
        promise="Production has no path of the sandbox, whatever sandbox.open says.",
        source=_ADR,
        file="gateway/app/sandbox.py",
        right="    if settings.environment is not Environment.SANDBOX:\n        return None\n",
        wrong="",
        tests=("tests/unit/gateway/sandbox/test_routes.py::test_production_has_no_sandbox_routes",),
    ),
    Mistake(
        name="sandbox-driven-where-it-is-not-open",
        promise="Without sandbox.open every path below /sandbox/v1 is 404.",
        source="decisions 1",
        file="gateway/app/services.py",
        right="if tools is None or own is None or not kernel.settings.sandbox.open:",
        wrong="if tools is None or own is None:",
        tests=(f"{_DRIVEN}::test_a_sandbox_that_is_not_open_has_no_such_paths",),
    ),
    Mistake(
        name="open-sandbox-in-production-admitted",
        promise="Production refuses sandbox.open.",
        source="config.yaml",
        file="gateway/config/checks.py",
        right="    if settings.sandbox.open:\n",
        wrong="    if False:\n",
        tests=(
            "tests/unit/gateway/config/test_checks.py::test_errors_only_in_production_are_found_there_only",
        ),
    ),
    Mistake(
        name="faults-ordered-by-who-may-only-read",
        promise="Faults, top-ups and returns need withdraw:write.",
        source="decisions 1",
        file="gateway/sandbox/routes.py",
        right="_PAYOUTS: Final = Permission(Resource.WITHDRAW, Action.WRITE)",
        wrong="_PAYOUTS: Final = Permission(Resource.WITHDRAW, Action.READ)",
        tests=(
            f"{_DRIVEN}::test_each_call_has_its_permission_and_is_at_an_account_of_the_credential",
        ),
    ),
    Mistake(
        name="charge-of-another-account-paid",
        promise="A reference of another account is 404.",
        source="decisions 1",
        file="gateway/sandbox/control.py",
        right='query = {"account": account.provider_account}',
        wrong="query: dict[str, str] = {}",
        tests=(f"{_DRIVEN}::test_a_reference_of_another_account_is_not_found",),
    ),
    Mistake(
        name="fault-of-an-account-met-by-others",
        promise="A fault that a partner orders meets no other account.",
        source=_ADR,
        file="provider_adapters/testing/bank/messages.py",
        right="fault = self._take(account(), operation, key)",
        wrong="fault = self._take(next(reversed(self._waiting)), operation, key)",
        tests=(f"{_DRIVEN}::test_the_fault_of_a_reference_meets_no_other_account",),
    ),
    Mistake(
        name="bank-stopped-by-accounts-of-strangers",
        promise="Where whole_bank is false, failing accounts stop no other account's calls.",
        source="config.yaml",
        file="provider_adapters/kit/admission.py",
        right="opens=self._limits.whole_bank and proves",
        wrong="opens=proves",
        tests=(
            "tests/unit/provider_adapters/kit/test_admission.py::test_failures_of_any_accounts_stop_nobody_else_where_the_bank_has_no_breaker",
        ),
    ),
    Mistake(
        name="customer-looked-up-for-each-fault-of-others",
        promise="Faults of other accounts cost a request one look at its customer, however many.",
        source="provider_adapters/sandbox/README.md",
        file="provider_adapters/testing/bank/messages.py",
        right="fault = self._take(account(), operation, key)",
        wrong="fault = [self._take(account(), operation, key) for _ in self][0]",
        tests=(
            f"{_MESSAGES}::test_faults_of_other_accounts_cost_a_request_one_look_at_its_customer",
        ),
    ),
    Mistake(
        name="faults-of-an-account-for-ever",
        promise="A fault that its account never meets ends a day after the latest order.",
        source="provider_adapters/sandbox/README.md",
        file="provider_adapters/testing/bank/messages.py",
        right="        self._end(at)\n",
        wrong="",
        tests=(f"{_MESSAGES}::test_what_an_account_ordered_ends_a_day_after_its_latest_order",),
    ),
    Mistake(
        name="fault-of-a-payout-met-by-another-payout",
        promise="A fault with a reference is for that payout alone.",
        source=_ADR,
        file="provider_adapters/testing/bank/messages.py",
        right='and fault.key in ("", key)',
        wrong="and key is not None",
        tests=(f"{_DRIVEN}::test_the_outcome_of_one_payout_is_unknown_and_resolves",),
    ),
    Mistake(
        name="fate-of-a-payout-met-by-every-payout",
        promise="What is chosen to become of a payout is for its key alone.",
        source="provider_adapters/sandbox/README.md",
        file="provider_adapters/testing/bank/payouts.py",
        right="fate = books.kept(_FATE, name)",
        wrong="fate = next(iter(books.kept_of(_FATE, account.id)), None)",
        tests=(f"{_DRIVEN}::test_one_payout_fails_after_it_was_accepted",),
    ),
    Mistake(
        name="payment-in-part-pays",
        promise="A payment below a charge's amount names the charge and does not pay it.",
        source="decisions 1",
        file="provider_adapters/testing/bank/charges.py",
        right="centavos is not None and centavos < charge.centavos",
        wrong="centavos is None",
        tests=(f"{_DRIVEN}::test_a_charge_paid_in_part_stays_open_and_names_what_came",),
    ),
    Mistake(
        name="sixth-credential-of-an-address",
        promise="An address gets 5 credentials in 24 hours.",
        source="decisions 1",
        file="gateway/sandbox/store.py",
        right="if len(ends) >= self._of_network:",
        wrong="if len(ends) > self._of_network:",
        tests=(
            f"{_STORE}::test_a_network_has_so_many_until_the_oldest_of_them_ends",
            f"{_OWN}::test_an_address_gets_five_in_a_day_whatever_else_it_claims_to_be",
        ),
    ),
    Mistake(
        name="credentials-for-each-address-of-a-home",
        promise="All addresses of one /64 of IPv6 are one.",
        source="decisions 1",
        file="gateway/sandbox/self_service.py",
        right="network=network(client.address)",
        wrong="network=client.address",
        tests=(f"{_OWN}::test_an_address_gets_five_in_a_day_whatever_else_it_claims_to_be",),
    ),
    Mistake(
        name="credentials-of-processes-counted-at-once",
        promise="Processes that give credentials at once count one after the other.",
        source=_ADR,
        file="gateway/sandbox/store.py",
        right="await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))",
        wrong="pass",
        tests=(f"{_STORE}::test_those_added_at_once_are_counted_one_after_the_other",),
    ),
    Mistake(
        name="ended-account-left-active",
        promise="The worker deactivates an account whose credential has ended.",
        source=_ADR,
        file="gateway/sandbox/self_service.py",
        right="change = AccountChange(active=False)",
        wrong="change = AccountChange()",
        tests=(f"{_OWN}::test_the_worker_closes_an_account_that_has_ended",),
    ),
    Mistake(
        name="ended-account-closed-while-a-payout-is-unknown",
        promise="An account is taken from its bank only after its payouts are followed up.",
        source=_ADR,
        file="gateway/sandbox/store.py",
        right="sandbox_accounts.c.ends_at < before, ~followed.exists()",
        wrong="sandbox_accounts.c.ends_at < before",
        tests=(f"{_OWN}::test_an_account_is_closed_only_after_its_payouts_are_proven",),
    ),
    Mistake(
        name="credential-that-never-ends",
        promise="A credential that a partner got by itself ends after 24 hours.",
        source="decisions 1",
        file="gateway/sandbox/self_service.py",
        right="permissions=_PERMISSIONS, expires_at=ends_at",
        wrong="permissions=_PERMISSIONS",
        tests=(f"{_OWN}::test_the_credential_ends_by_itself_after_a_day",),
    ),
)
