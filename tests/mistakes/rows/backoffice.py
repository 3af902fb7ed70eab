"""The back office: four eyes, orders, reviews, stops, scopes of companies."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_IDENTITY = "tests/unit/gateway/identity"
_ACCESS_DOMAIN = "tests/unit/gateway/identity/test_users_orders.py"
_SERVICES = "tests/unit/gateway/app/test_services.py"
_ACCESS_ORDERS = f"{_IDENTITY}/test_users_orders.py"
_APPROVALS = "tests/unit/gateway/approvals/test_service.py"
_APPROVALS_DOMAIN = "tests/unit/gateway/core/test_approvals.py"
_CREDENTIALS = "tests/unit/gateway/credentials/test_service.py"
_EXECUTION = "tests/unit/gateway/approvals/test_execution.py"
_EXPORTED = "tests/unit/gateway/payouts/test_staff_searches.py"
_FILES = "tests/unit/gateway/reports/test_files.py"
_LINKED = "tests/unit/gateway/statements/test_service.py"
_MONEY_ORDERS = "tests/unit/gateway/approvals/test_money.py"
_NO_PROOF = "test_a_failed_repetition_leaves_a_possibly_given_refund_unknown"
_OVERSIGHT = "tests/unit/gateway/audit/test_service.py"
_PROBES = "tests/unit/gateway/reviews/test_probes.py"
_BANKS = "tests/unit/gateway/accounts/test_service_banks.py"
_REVIEWS = "tests/unit/gateway/reviews/test_service.py"
_PEOPLE = "tests/unit/gateway/identity/test_users_staff.py"
_CHECKS = "tests/unit/gateway/core/test_access.py"
_STOPS = "tests/unit/gateway/stops/test_service.py"
_FOREIGN = "tests/contract/stores/test_foreign_debits.py"
_PUBLIC_KEYS = "tests/unit/gateway/credentials/test_public_keys.py"
_STORED = "tests/contract/stores/test_credentials.py"
_UNDOES_NOTHING = "test_an_order_is_void_after_a_later_change_of_the_credential"

ROWS = (
    Mistake(
        name="order-about-oneself-approved",
        promise="Nobody approves an order that gives something to themselves.",
        source="decisions 11 (four eyes)",
        file="gateway/approvals/service.py",
        right="if approval.subject == person.user_id:",
        wrong="if approval.subject == person.email:",
        tests=(f"{_ACCESS_ORDERS}::test_no_user_approves_an_order_about_themselves",),
    ),
    Mistake(
        name="order-approved-after-its-day",
        promise="An order is approved until the end of its day and no later.",
        source="docs/panel.md",
        file="gateway/approvals/service.py",
        right=(
            "        if self.config.now() >= approval.ends_at:\n"
            "            raise not_possible(*OVER)\n"
        ),
        wrong="",
        tests=(f"{_APPROVALS}::test_an_order_cannot_be_approved_after_its_day",),
    ),
    Mistake(
        name="orderer-without-the-right",
        promise="An order holds only while its orderer has the right to order it.",
        source="decisions 11 (four eyes)",
        file="gateway/core/approvals.py",
        right=(
            "if needed and not any(right.covers(needed) for right in rights_of(orderer.roles)):"
        ),
        wrong="if needed and not rights_of(orderer.roles):",
        tests=(f"{_APPROVALS_DOMAIN}::test_an_order_is_valid_while_its_orderer_has_the_right",),
    ),
    Mistake(
        name="secret-fetched-twice",
        promise="The secret of an approved order can be fetched once.",
        source="ADR 18",
        file="gateway/core/approvals.py",
        right=("if not wanted or self.decided_at is None or self.collected_at is not None:"),
        wrong="if not wanted or self.decided_at is None:",
        tests=(
            f"{_APPROVALS_DOMAIN}::test_only_an_approved_uncollected_credential_can_be_collected",
        ),
    ),
    Mistake(
        name="older-order-gives-a-taken-role-back",
        promise="An order for roles is void once its person's roles or companies have changed.",
        source="docs/people.md",
        file="gateway/identity/context.py",
        right="            if (new.roles, new.companies) != (user.roles, user.companies):",
        wrong="            if new.companies != user.companies:",
        tests=(f"{_ACCESS_ORDERS}::test_an_order_is_void_when_the_user_s_access_changed",),
    ),
    Mistake(
        name="older-order-resets-a-new-factor",
        promise="An order to reset a second factor is void once another app was enrolled.",
        source="docs/people.md",
        file="gateway/identity/model.py",
        right="return user.enrolled_at in {None, self.enrolled_at}",
        wrong="return True",
        tests=(f"{_ACCESS_DOMAIN}::test_an_order_is_valid_while_it_gives_no_more_than_ordered",),
    ),
    Mistake(
        name="enabled-after-another-change",
        promise="An order to enable somebody is void once they were changed.",
        source="ADR 18",
        file="gateway/identity/model.py",
        right="return user.active or user.updated_at == self.changed_at",
        wrong="return user.active or user.updated_at >= self.changed_at",
        tests=(f"{_ACCESS_DOMAIN}::test_an_order_is_valid_while_it_gives_no_more_than_ordered",),
    ),
    Mistake(
        name="order-without-an-executor-of-its-own",
        promise="An approved order is carried out by the noun that it is about, and by no other.",
        source="ADR 18",
        file="gateway/app/services.py",
        right="orders.executors[ApprovalKind.CREDENTIAL_KEY] = self.public_keys\n",
        wrong="\n",
        tests=(f"{_SERVICES}::test_every_order_that_may_wait_has_an_executor",),
    ),
    Mistake(
        name="no-company-is-every-company",
        promise="Taking the last company away from somebody never shows them every company.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="kept = found.companies & companies or found.companies",
        wrong="kept = found.companies & companies",
        tests=(f"{_ACCESS_ORDERS}::test_companies_are_removed_at_once_and_added_after_approval",),
    ),
    Mistake(
        name="older-order-raises-lowered-limits",
        promise="An order of limits is void once the limits have changed since.",
        source="ADR 59",
        file="gateway/credentials/model.py",
        right="        return night.limits(found.limits) in (",
        wrong="        return True or (",
        tests=(f"{_CREDENTIALS}::{_UNDOES_NOTHING}",),
    ),
    Mistake(
        name="lowered-night-of-the-gateway-forgotten",
        promise="An order of limits is compared with those in force, the gateway's night included.",
        source="ADR 59",
        file="gateway/credentials/model.py",
        right="return night.limits(found.limits) in",
        wrong="return night.limits(found.limits) != self.limits or found.limits in",
        tests=(
            f"{_CREDENTIALS}::test_an_order_is_void_after_a_change_of_the_gateway_s_nightly_limit",
        ),
    ),
    Mistake(
        name="older-order-widens-a-narrowed-rule",
        promise="An order of a rule of use is void once the rule has changed since.",
        source="ADR 59",
        file="gateway/credentials/model.py",
        right="return found.callers in (self.callers_before, self.callers)",
        wrong="return True",
        tests=(f"{_CREDENTIALS}::{_UNDOES_NOTHING}",),
    ),
    Mistake(
        name="order-carried-out-after-a-change",
        promise="What changes between the approval and the act is not undone either.",
        source="ADR 59",
        file="gateway/credentials/service.py",
        right=(
            "        if not self._still_fits(order, found):\n"
            "            raise changed_meanwhile(order.client_id)\n"
            "        acting"
        ),
        wrong="        acting",
        tests=(f"{_CREDENTIALS}::test_a_change_during_the_approval_is_not_overwritten",),
    ),
    Mistake(
        name="older-rotation-follows-another",
        promise="A secret is ordered in the place of one secret, and of no later one.",
        source="ADR 59",
        file="gateway/credentials/model.py",
        right="return found.secret_made_at == self.secret_made_at",
        wrong="return True",
        tests=(f"{_CREDENTIALS}::test_a_rotation_is_void_after_another_rotation",),
    ),
    Mistake(
        name="rotations-at-once-replace-each-other",
        promise="Of two rotations at once, an ordered one does not replace the other's secret.",
        source="ADR 59",
        file="gateway/credentials/store.py",
        right="if current.scalar() != rotation.old_made_at:",
        wrong="if current.scalar() is None:",
        tests=(f"{_STORED}::test_a_rotation_of_another_secret_than_the_current_one_is_refused",),
    ),
    Mistake(
        name="older-order-of-a-key",
        promise="An order of a public key is void once the keys have changed since.",
        source="ADR 59",
        file="gateway/credentials/model.py",
        right="return found.key_ids in (self.keys_before, self.keys)",
        wrong="return True",
        tests=(f"{_PUBLIC_KEYS}::test_an_order_is_void_after_another_change_of_the_keys",),
    ),
    Mistake(
        name="raised-limit-at-once",
        promise="A credential's limit is raised by two people.",
        source="ADR 18",
        file="gateway/credentials/service.py",
        right="if waits is None or not now_in_force.raised_by(self.night.limits(limits)):",
        wrong="if waits is None or not limits.raised_by(found.limits):",
        tests=(f"{_CREDENTIALS}::test_only_raising_a_limit_needs_approval",),
    ),
    Mistake(
        name="secret-kept-without-its-approver",
        promise="A secret is kept with who ordered and who approved it.",
        source="ADR 60",
        file="gateway/credentials/service.py",
        right="made_for = MadeFor(approval.ordered_by, approval.decided_by)",
        wrong="made_for = MadeFor(approval.ordered_by)",
        tests=(f"{_CREDENTIALS}::test_a_secret_is_stored_with_who_ordered_and_approved_it",),
    ),
    Mistake(
        name="secret-shown-to-the-approver",
        promise="The secret of an approved order is shown to its orderer alone.",
        source="ADR 18",
        file="gateway/approvals/service.py",
        right="is_own = approval.ordered_by == _person(who).user_id and approval.kind in kinds",
        wrong="is_own = approval.kind in kinds",
        tests=(f"{_CREDENTIALS}::test_a_secret_is_shown_only_to_its_orderer",),
    ),
    Mistake(
        name="changed-between-decision-and-deed",
        promise="An order about a person is refused if they change before it is carried out.",
        source="ADR 18",
        file="gateway/identity/users.py",
        right="await self._do(orderer, order, _Guard(order=order))",
        wrong="await self._do(orderer, order, _Guard())",
        tests=(
            f"{_ACCESS_ORDERS}::test_a_change_of_the_user_during_the_approval_is_not_overwritten",
        ),
    ),
    Mistake(
        name="order-beyond-the-orderer-s-companies",
        promise="An order is void once its orderer does not see all the companies it gives.",
        source="ADR 18",
        file="gateway/identity/users.py",
        right="if not all(scope_of(orderer.companies).covers(each) for each in limits):",
        wrong="if not any(scope_of(orderer.companies).covers(each) for each in limits):",
        tests=(
            f"{_ACCESS_ORDERS}::test_an_order_is_refused_when_its_orderer_no_longer_sees_every_company",
        ),
    ),
    Mistake(
        name="refund-closed-by-a-failed-repetition",
        promise="A repetition that fails proves nothing of a refund that may have been given.",
        source="ADR 9",
        file="gateway/approvals/execution.py",
        right="is_proof = not was_open or (ending is not None and ending[0] is Outcome.MOVED)",
        wrong="is_proof = not was_open or ending is not None",
        tests=(f"{_EXECUTION}::{_NO_PROOF}",),
    ),
    Mistake(
        name="repeated-while-under-way",
        promise="An approved order is not repeated while it is being carried out.",
        source="docs/people.md",
        file="gateway/approvals/execution.py",
        right="if approval.outcome is Outcome.NONE and self.now() < began + _CARRYING:",
        wrong="if approval.outcome is Outcome.NONE and self.now() < began:",
        tests=(f"{_EXECUTION}::test_a_second_approval_during_the_call_is_refused_as_under_way",),
    ),
    Mistake(
        name="repetition-not-on-record",
        promise="Who repeats an approved order is in the audit log.",
        source="docs/people.md",
        file="gateway/approvals/execution.py",
        right='        await self.audit.append(self.event(person.actor, "repeated", approval))\n',
        wrong="",
        tests=(f"{_EXECUTION}::test_the_user_who_repeats_an_approval_is_audited",),
    ),
    Mistake(
        name="failed-refund-is-not-sent",
        promise="A refund whose bank failed may have been given: its outcome is unknown.",
        source="decisions 6",
        file="gateway/approvals/money.py",
        right='    ProviderError: (Outcome.UNKNOWN, ""),\n',
        wrong="    ProviderError: (Outcome.NOT_SENT, user_errors.REFUND_NOT_SENT.code),\n",
        tests=(f"{_MONEY_ORDERS}::test_a_failure_is_mapped_to_an_outcome",),
    ),
    Mistake(
        name="order-answered-with-another-payout",
        promise="An order under a reference of another payout is refused.",
        source="contract 2.6",
        file="gateway/approvals/money.py",
        right=(
            "        if payout.fingerprint != order.fingerprint():\n"
            '            raise ServiceError(errors.PAYOUT_REFERENCE_IN_USE, "other_content")\n'
        ),
        wrong="",
        tests=(f"{_APPROVALS}::test_repeating_a_paid_order_returns_it",),
    ),
    Mistake(
        name="order-taken-while-stopped",
        promise="While payouts are stopped no order of one is taken.",
        source="docs/panel.md",
        file="gateway/approvals/money.py",
        right="            await self.payouts.guards.go_on(_caller(user_id, account))\n",
        wrong="",
        tests=(f"{_APPROVALS}::test_no_order_is_accepted_while_payouts_are_stopped",),
    ),
    Mistake(
        name="one-person-is-two",
        promise="Two opinions of one person, spelt differently, are one.",
        source="docs/panel.md",
        file="gateway/core/user.py",
        right='return " ".join(person.casefold().split())',
        wrong='return " ".join(person.split())',
        tests=(f"{_REVIEWS}::test_spellings_of_one_name_count_as_one_person",),
    ),
    Mistake(
        name="opinion-of-another-read",
        promise="Until a payout is decided, everybody reads their own opinion alone.",
        source="decisions 11",
        file="gateway/payouts/model.py",
        right="return not payout.review or same_name(person) == by",
        wrong="return True",
        tests=(f"{_REVIEWS}::test_opinions_of_others_are_visible_once_the_payout_is_decided",),
    ),
    Mistake(
        name="bank-changed-by-one",
        promise="Another bank of an account takes two people.",
        source="decisions 11",
        file="gateway/accounts/service.py",
        right="if who.person is None or not (self.takes_two and before.had_bank):",
        wrong="if before.provider:",
        tests=(f"{_BANKS}::test_changing_the_bank_needs_approval_and_the_first_bank_does_not",),
    ),
    Mistake(
        name="opinion-of-an-earlier-review",
        promise="What was said of an earlier attempt decides nothing about this one.",
        source="docs/panel.md",
        file="gateway/reviews/service.py",
        right="opinions = [each for each in given if each.is_about(payout)]",
        wrong="opinions = [*given]",
        tests=(f"{_REVIEWS}::test_an_opinion_of_an_earlier_review_does_not_count",),
    ),
    Mistake(
        name="disagreement-decides",
        promise="A payout in review is ended by two people who agree.",
        source="docs/panel.md",
        file="gateway/reviews/service.py",
        right="equal = [other for other in counting if other.agrees(each, payout)]",
        wrong="equal = counting",
        tests=(f"{_REVIEWS}::test_a_differing_opinion_is_kept_and_reported",),
    ),
    Mistake(
        name="stop-that-ended-before-it-began",
        promise="A stop ends in the future: it holds when the call returns.",
        source="docs/people.md",
        file="gateway/stops/service.py",
        right="if not now < ends_at <= now + timedelta(minutes=LONGEST_MIN):",
        wrong="if ends_at > now + timedelta(minutes=LONGEST_MIN):",
        tests=(f"{_STOPS}::test_every_stop_has_a_reason_and_an_end_within_thirty_days",),
    ),
    Mistake(
        name="stop-of-no-account",
        promise="A stop names its account as the store does, or it would stop nothing.",
        source="docs/people.md",
        file="gateway/stops/service.py",
        right="                    found, company_id = account.id, account.company_id\n",
        wrong="                    found, company_id = subject, account.company_id\n",
        tests=(f"{_STOPS}::test_each_scope_can_be_stopped_with_its_stored_id",),
    ),
    Mistake(
        name="provider-stopped-by-a-limited-person",
        promise="Who is limited to companies stops no whole bank.",
        source="docs/people.md",
        file="gateway/stops/service.py",
        right="found = self._wide(kind, subject) if scope.everything else None\n",
        wrong='found, company_id = subject, min(scope.companies or [""])\n',
        tests=(f"{_STOPS}::test_a_limited_user_sees_and_stops_only_their_companies",),
    ),
    Mistake(
        name="service-method-without-its-check",
        promise="A service method runs for those alone who hold the right that it requires.",
        source="docs/architecture.md",
        file="gateway/core/access.py",
        right="            who.require(needed)\n",
        wrong="",
        tests=(
            f"{_STOPS}::test_a_viewer_may_read_stops_and_lifting_requires_a_fresh_second_factor",
        ),
    ),
    Mistake(
        name="page-that-asks-for-no-factor",
        promise="What moves money asks for a second factor that was just given, on pages too.",
        source="docs/people.md",
        file="gateway/core/access.py",
        right="        if needed.fresh_factor or needs_step_up(needed.right):\n",
        wrong="        if needed.fresh_factor:\n",
        tests=(f"{_CHECKS}::test_a_method_that_needs_a_fresh_factor_refuses_an_old_one",),
    ),
    Mistake(
        name="page-that-acts-on-any-account",
        promise="Money moves on an account that is active and verified alone, from pages too.",
        source="docs/people.md",
        file="gateway/core/access.py",
        right="                if needed.active and isinstance(each, Account):\n",
        wrong="                if not needed.active and isinstance(each, Account):\n",
        tests=(f"{_CHECKS}::test_money_moves_only_on_an_active_and_verified_account",),
    ),
    Mistake(
        name="unlimited-person-by-a-limited-one",
        promise="Who is limited to companies makes nobody who sees every company.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="if not who.scope.covers(companies):",
        wrong="if not all(map(who.scope.includes, companies)):",
        tests=(f"{_PEOPLE}::test_a_limited_user_sees_and_invites_within_their_companies",),
    ),
    Mistake(
        name="judged-by-nobody",
        promise="Every act of an administrator is done in their own name.",
        source="docs/people.md",
        file="gateway/reviews/service.py",
        right="by=person(acting.actor),",
        wrong='by="nobody",',
        tests=(f"{_REVIEWS}::test_two_matching_opinions_decide_a_payout",),
    ),
    Mistake(
        name="acts-of-others-counted",
        promise="Who is limited to companies is not told how many acts there are of others.",
        source="docs/people.md",
        file="gateway/audit/service.py",
        right="        if is_limited:  #",
        wrong="        if False and is_limited:  #",
        tests=(f"{_OVERSIGHT}::test_a_proof_covers_the_whole_log_and_counts_visible_acts",),
    ),
    Mistake(
        name="second-page-of-every-company",
        promise="Every page of an exported file is of the companies that its reader sees.",
        source="docs/people.md",
        file="gateway/payouts/staff.py",
        right="directory.page(replace(query, after=place), scope)",
        wrong=(
            "directory.page(\n"
            "                replace(query, after=place),\n"
            "                scope if place is None else type(scope)(None),\n"
            "            )"
        ),
        tests=(f"{_EXPORTED}::test_an_export_has_every_payout_of_the_search_once",),
    ),
    Mistake(
        name="files-without-a-limit",
        promise="One person reads at most two exported files at once.",
        source="docs/people.md",
        file="gateway/core/exports.py",
        right="if len(self._held.get(user_id, ())) >= MOST_OF_A_PERSON:",
        wrong="if len(self._held) >= MOST_OF_A_PERSON:",
        tests=(f"{_FILES}::test_an_export_slot_is_released_however_the_file_ends",),
    ),
    Mistake(
        name="sums-of-what-is-filtered",
        promise="A statement's sums are of the whole window, whatever is filtered.",
        source="ADR 21",
        file="gateway/statements/service.py",
        right="        sums, _ = _summed(entries)\n",
        wrong=(
            "        sums, _ = _summed(\n"
            "            [each for each in entries if each.direction is wanted.direction]\n"
            "        )\n"
        ),
        tests=(f"{_LINKED}::test_sums_cover_the_window_and_day_sums_cover_the_filtered_movements",),
    ),
    Mistake(
        name="probe-is-proof",
        promise="A payout counts as proven only when the bank's answer ended it.",
        source="docs/people.md",
        file="gateway/reviews/probes.py",
        right="return found.result is ProbeResult.ASKED and found.state in FINAL_STATES",
        wrong="return found.result is ProbeResult.ASKED",
        tests=(f"{_PROBES}::test_each_unresolved_payout_is_asked_about_once_and_audited",),
    ),
    Mistake(
        name="everything-stops-nothing",
        promise="A stop of everything holds for every account and credential.",
        source="docs/panel.md",
        file="gateway/stops/model.py",
        right='StopScope.EVERYTHING: "",',
        wrong='StopScope.EVERYTHING: "everything",',
        tests=(
            "tests/unit/gateway/stops/test_model.py::test_a_stop_blocks_its_subject_until_it_ends",
        ),
    ),
    Mistake(
        name="anybody-withdraws",
        promise="An order is withdrawn by whoever ordered it, and by nobody else.",
        source="docs/people.md",
        file="gateway/approvals/service.py",
        right="if approval.ordered_by != person.user_id:",
        wrong="if not approval.ordered_by:",
        tests=(
            "tests/unit/gateway/approvals/test_service.py::test_only_the_orderer_withdraws_and_only_others_reject",
        ),
    ),
    Mistake(
        name="own-payout-as-a-foreign-debit",
        promise="A debit is foreign only once the answer to its payout had time to be written.",
        source="docs/panel.md",
        file="gateway/closings/foreign_debits.py",
        right="each.direction is Direction.DEBIT and each.created_at <= settled",
        wrong="each.direction is Direction.DEBIT",
        tests=(f"{_FOREIGN}::test_a_young_debit_waits_for_the_answer_to_its_payout",),
    ),
    Mistake(
        name="debit-explained-twice",
        promise="What explains a foreign debit is never replaced.",
        source="docs/panel.md",
        file="gateway/closings/foreign_debits.py",
        right="_KEPT.account_id == account_id, _KEPT.line_id == line_id, _OPEN",
        wrong="_KEPT.account_id == account_id, _KEPT.line_id == line_id",
        tests=(f"{_FOREIGN}::test_a_debit_is_explained_once_and_no_longer_counted",),
    ),
)
