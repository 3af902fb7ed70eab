"""The back office: rights, scopes of companies, four eyes, stops, reviews, refunds, records."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_HTTP = "tests/unit/gateway/http/backoffice"
_OPERATIONS = "tests/unit/gateway/operations/backoffice"
_VALIDATION = "tests/unit/policies/validation/backoffice"

_ACCESS_DOMAIN = "tests/unit/gateway/domain/backoffice/test_access_orders.py"
_ACCESS_ORDERS = f"{_OPERATIONS}/test_access_orders.py"
_APPROVALS = f"{_OPERATIONS}/test_approvals.py"
_APPROVALS_DOMAIN = "tests/unit/gateway/domain/backoffice/test_approvals.py"
_APPROVALS_SHOWN = f"{_HTTP}/decisions/test_approvals.py"
_ADMIN = f"{_OPERATIONS}/test_scoped_records_admin_services.py"
_AUDIT = f"{_HTTP}/oversight/test_audit.py"
_CALLBACKS = f"{_HTTP}/oversight/test_callbacks.py"
_CARRIERS = f"{_OPERATIONS}/test_access_carriers.py"
_CREDENTIALS = f"{_HTTP}/administration/test_credentials.py"
_DOSSIERS = f"{_HTTP}/money/test_dossiers.py"
_EXECUTION = f"{_OPERATIONS}/test_order_execution.py"
_EXPORTS = f"{_OPERATIONS}/downloads/test_exports.py"
_FAILURES = f"{_HTTP}/test_callers_failures.py"
_FILES = f"{_OPERATIONS}/downloads/test_files.py"
_INPUTS = f"{_VALIDATION}/test_inputs.py"
_FINDER = f"{_OPERATIONS}/test_payout_finder.py"
_LINKED = f"{_OPERATIONS}/money/test_linked_statements.py"
_MONEY_ORDERS = f"{_OPERATIONS}/test_money_orders.py"
_NAMES = f"{_HTTP}/administration/test_names.py"
_NO_PROOF = "test_a_failed_repetition_proves_nothing_of_a_refund_that_may_have_been_given"
_OVERSIGHT = f"{_OPERATIONS}/test_oversight.py"
_PAYOUTS = f"{_HTTP}/money/test_payouts.py"
_PIX_KEYS = f"{_HTTP}/money/test_pix_keys.py"
_PROBES = f"{_OPERATIONS}/money/test_unresolved_probes.py"
_REQUESTS = f"{_HTTP}/oversight/test_requests.py"
_REVIEWS = f"{_OPERATIONS}/test_reviews.py"
_SCOPED = f"{_OPERATIONS}/test_scoped_records.py"
_SEARCH = f"{_HTTP}/money/test_search.py"
_STOPS = f"{_OPERATIONS}/test_stops.py"
_SURFACE = f"{_HTTP}/test_surface.py"

ROWS = (
    Mistake(
        name="order-about-oneself-approved",
        promise="Nobody approves an order that gives something to themselves.",
        source="decisions 11 (four eyes)",
        file="gateway/operations/backoffice/approvals.py",
        right="if approval.subject == person.user_id:",
        wrong="if approval.subject == person.email:",
        tests=(f"{_ACCESS_ORDERS}::test_nobody_agrees_to_an_order_about_themselves",),
    ),
    Mistake(
        name="order-approved-after-its-day",
        promise="An order is approved until the end of its day and no later.",
        source="ADR 18",
        file="gateway/operations/backoffice/approvals.py",
        right=(
            "        if self.terms.now() >= approval.ends_at:\n"
            "            raise not_possible(*OVER)\n"
        ),
        wrong="",
        tests=(f"{_APPROVALS}::test_its_day_over_nobody_agrees_any_more",),
    ),
    Mistake(
        name="orderer-without-the-right",
        promise="An order holds only while its orderer has the right to order it.",
        source="decisions 11 (four eyes)",
        file="gateway/domain/backoffice/approvals.py",
        right=(
            "if not any(right.covers(NEEDED[approval.kind]) for right in rights_of(orderer.roles)):"
        ),
        wrong="if not rights_of(orderer.roles):",
        tests=(f"{_APPROVALS_DOMAIN}::test_an_order_holds_while_its_orderer_may_order_it",),
    ),
    Mistake(
        name="secret-fetched-twice",
        promise="The secret of an approved order can be fetched once.",
        source="ADR 18",
        file="gateway/domain/backoffice/approvals.py",
        right=("if not wanted or self.decided_at is None or self.collected_at is not None:"),
        wrong="if not wanted or self.decided_at is None:",
        tests=(f"{_APPROVALS_DOMAIN}::test_there_is_nothing_else_to_fetch",),
    ),
    Mistake(
        name="roles-for-a-wider-person",
        promise="An order for roles is void once its person sees more companies than it said.",
        source="ADR 18",
        file="gateway/domain/backoffice/access_orders.py",
        right="return shown is None or scope_of(frozenset(shown)).covers(user.companies)",
        wrong="return shown is None or not scope_of(user.companies).everything",
        tests=(f"{_ACCESS_DOMAIN}::test_an_order_fits_while_it_gives_no_more_than_it_said",),
    ),
    Mistake(
        name="enabled-after-another-change",
        promise="An order to enable somebody is void once they were changed.",
        source="ADR 18",
        file="gateway/domain/backoffice/access_orders.py",
        right="return user.active or user.updated_at == changed_at",
        wrong="return user.active or user.updated_at >= changed_at",
        tests=(f"{_ACCESS_DOMAIN}::test_an_order_fits_while_it_gives_no_more_than_it_said",),
    ),
    Mistake(
        name="no-company-is-every-company",
        promise="Taking the last company away from somebody never shows them every company.",
        source="docs/people.md",
        file="gateway/operations/backoffice/access_orders.py",
        right="kept = found.companies & wanted or found.companies",
        wrong="kept = found.companies & wanted",
        tests=(f"{_ACCESS_ORDERS}::test_companies_are_taken_at_once_and_given_by_two",),
    ),
    Mistake(
        name="raised-limit-at-once",
        promise="A credential's limit is raised by two people.",
        source="ADR 18",
        file="gateway/operations/backoffice/access_orders.py",
        right="if not (self.rules.credentials and credential.limits.raised_by(limits)):",
        wrong="if not (self.rules.credentials and limits.raised_by(credential.limits)):",
        tests=(f"{_ACCESS_ORDERS}::test_only_raising_a_limit_waits",),
    ),
    Mistake(
        name="secret-shown-to-the-approver",
        promise="The secret of an approved order is shown to its orderer alone.",
        source="ADR 18",
        file="gateway/operations/backoffice/access_orders.py",
        right="if approval.ordered_by != person.user_id or until is None or now >= until:",
        wrong="if until is None or now >= until:",
        tests=(f"{_ACCESS_ORDERS}::test_a_secret_is_shown_to_nobody_but_who_ordered_it",),
    ),
    Mistake(
        name="changed-between-decision-and-deed",
        promise="An order about a person is refused if they change before it is carried out.",
        source="ADR 18",
        file="gateway/operations/backoffice/access_carriers.py",
        right="users = replace(self.services.users, fits=partial(still_fits, order))",
        wrong="users = self.services.users",
        tests=(f"{_CARRIERS}::test_what_changes_between_the_decision_and_the_deed_refuses_it",),
    ),
    Mistake(
        name="order-beyond-the-orderer-s-companies",
        promise="An order is void once its orderer does not see all the companies it gives.",
        source="ADR 18",
        file="gateway/operations/backoffice/access_carriers.py",
        right="if not all(scope_of(orderer.companies).covers(each) for each in limits):",
        wrong="if not any(scope_of(orderer.companies).covers(each) for each in limits):",
        tests=(f"{_CARRIERS}::test_an_orderer_who_does_not_see_it_all_by_now_has_ordered_nothing",),
    ),
    Mistake(
        name="refund-closed-by-a-failed-repetition",
        promise="A repetition that fails proves nothing of a refund that may have been given.",
        source="ADR 3",
        file="gateway/operations/backoffice/order_execution.py",
        right="is_proof = not was_open or (told is not None and told[0] is Outcome.MOVED)",
        wrong="is_proof = not was_open or told is not None",
        tests=(f"{_EXECUTION}::{_NO_PROOF}",),
    ),
    Mistake(
        name="repeated-while-under-way",
        promise="An approved order is not repeated while it is being carried out.",
        source="ADR 3",
        file="gateway/operations/backoffice/order_execution.py",
        right="if approval.outcome is Outcome.NONE and self.now() < began + _CARRYING:",
        wrong="if approval.outcome is Outcome.NONE and self.now() < began:",
        tests=(f"{_EXECUTION}::test_while_one_call_is_under_way_a_second_one_tells_nothing",),
    ),
    Mistake(
        name="repetition-not-on-record",
        promise="Who repeats an approved order is in the audit log.",
        source="docs/people.md",
        file="gateway/operations/backoffice/order_execution.py",
        right='        await self.audit.append(self.event(person.actor, "repeated", approval))\n',
        wrong="",
        tests=(f"{_EXECUTION}::test_whoever_repeats_an_approval_is_on_record",),
    ),
    Mistake(
        name="failed-refund-is-not-sent",
        promise="A refund whose bank failed may have been given: its outcome is unknown.",
        source="decisions 6",
        file="gateway/operations/backoffice/money_orders.py",
        right='    ProviderError: (Outcome.UNKNOWN, ""),\n',
        wrong="    ProviderError: (Outcome.NOT_SENT, identity_errors.REFUND_NOT_SENT.code),\n",
        tests=(f"{_MONEY_ORDERS}::test_a_failure_leaves_an_outcome",),
    ),
    Mistake(
        name="order-answered-with-another-payout",
        promise="An order under a reference of another payout is refused.",
        source="contract 2.6",
        file="gateway/operations/backoffice/money_orders.py",
        right=(
            "        if payout.fingerprint != order.fingerprint():\n"
            '            raise ServiceError(errors.PAYOUT_REFERENCE_IN_USE, "other_content")\n'
        ),
        wrong="",
        tests=(f"{_APPROVALS}::test_a_repeat_of_what_was_paid_is_answered_with_it",),
    ),
    Mistake(
        name="order-taken-while-stopped",
        promise="While payouts are stopped no order of one is taken.",
        source="decisions 11 (kill switch)",
        file="gateway/operations/backoffice/money_orders.py",
        right="            await self.payouts.guards.go_on(_caller(user_id, account))\n",
        wrong="",
        tests=(f"{_APPROVALS}::test_while_payouts_are_stopped_no_order_is_taken",),
    ),
    Mistake(
        name="one-person-is-two",
        promise="Two opinions of one person, spelt differently, are one.",
        source="decisions 11 (four eyes)",
        file="gateway/operations/backoffice/reviews.py",
        right='return " ".join(name(text).casefold().split())',
        wrong='return " ".join(name(text).split())',
        tests=(f"{_REVIEWS}::test_one_person_is_one_person_however_spelt",),
    ),
    Mistake(
        name="opinion-of-an-earlier-review",
        promise="What was said of an earlier attempt decides nothing about this one.",
        source="decisions 11 (four eyes)",
        file="gateway/operations/backoffice/reviews.py",
        right="opinions = [each for each in given if each.is_about(payout)]",
        wrong="opinions = [*given]",
        tests=(f"{_REVIEWS}::test_an_opinion_of_an_earlier_review_counts_no_more",),
    ),
    Mistake(
        name="disagreement-decides",
        promise="A payout in review is ended by two people who agree.",
        source="decisions 11 (four eyes)",
        file="gateway/operations/backoffice/reviews.py",
        right="agreeing = [each for each in opinions if each.verdict is judgement.verdict]",
        wrong="agreeing = opinions",
        tests=(f"{_REVIEWS}::test_a_differing_verdict_is_kept_and_told",),
    ),
    Mistake(
        name="stop-that-ended-before-it-began",
        promise="A stop ends in the future: it holds when the call returns.",
        source="docs/people.md",
        file="gateway/operations/backoffice/stops.py",
        right="if not now < order.ends_at <= now + LONGEST:",
        wrong="if order.ends_at > now + LONGEST:",
        tests=(f"{_STOPS}::test_every_stop_has_an_end_within_thirty_days",),
    ),
    Mistake(
        name="stop-of-no-account",
        promise="A stop names its account as the store does, or it would stop nothing.",
        source="docs/people.md",
        file="gateway/operations/backoffice/stops.py",
        right="return _there(account.id if account else None, scope, subject)",
        wrong="return _there(subject if account else None, scope, subject)",
        tests=(f"{_STOPS}::test_an_id_is_stored_in_lower_case",),
    ),
    Mistake(
        name="provider-stopped-by-a-limited-person",
        promise="Who is limited to companies stops no whole bank.",
        source="docs/people.md",
        file="gateway/operations/backoffice/scoped_records.py",
        right="            case StopScope.PROVIDER:\n                return False\n",
        wrong="            case StopScope.PROVIDER:\n                return True\n",
        tests=(f"{_SCOPED}::test_only_what_is_in_scope_can_be_stopped",),
    ),
    Mistake(
        name="unlimited-person-by-a-limited-one",
        promise="Who is limited to companies makes nobody who sees every company.",
        source="docs/people.md",
        file="gateway/operations/backoffice/scoped_records.py",
        right="if not self.scope.covers(companies):",
        wrong="if not all(map(self.scope.includes, companies)):",
        tests=(f"{_SCOPED}::test_nobody_gives_a_wider_limit_than_their_own",),
    ),
    Mistake(
        name="judged-by-nobody",
        promise="Every act of an administrator is done in their own name.",
        source="docs/people.md",
        file="gateway/operations/backoffice/scoped_records.py",
        right="reviews=replace(self.reviews, acting=acting),",
        wrong="reviews=self.reviews,",
        tests=(f"{_ADMIN}::test_every_register_acts_in_the_name_and_scope_that_are_given",),
    ),
    Mistake(
        name="acts-of-others-counted",
        promise="Who is limited to companies is not told how many acts there are of others.",
        source="docs/people.md",
        file="gateway/operations/backoffice/oversight.py",
        right=(
            "        if scope.everything:\n            return Proof(events=length)\n"
            "        _, visible"
        ),
        wrong="        return Proof(events=length)\n        _, visible",
        tests=(f"{_OVERSIGHT}::test_a_proof_is_of_the_whole_log_and_counts_what_is_visible",),
    ),
    Mistake(
        name="second-page-of-every-company",
        promise="Every page of an exported file is of the companies that its reader sees.",
        source="docs/people.md",
        file="gateway/operations/backoffice/downloads/exports.py",
        right="page = await self.finder.directory.page(replace(query, after=place), scope)",
        wrong=(
            "page = await self.finder.directory.page(\n"
            "                replace(query, after=place),\n"
            "                scope if place is None else type(scope)(None),\n"
            "            )"
        ),
        tests=(f"{_EXPORTS}::test_each_page_is_asked_for_within_the_scope_and_the_filter",),
    ),
    Mistake(
        name="files-without-a-limit",
        promise="One person reads at most two exported files at once.",
        source="docs/people.md",
        file="gateway/operations/backoffice/downloads/files.py",
        right="if len(self._held.get(user_id, ())) >= MOST_OF_A_PERSON:",
        wrong="if len(self._held) >= MOST_OF_A_PERSON:",
        tests=(f"{_FILES}::test_a_turn_ends_however_its_file_does",),
    ),
    Mistake(
        name="sums-of-what-is-filtered",
        promise="A statement's sums are of the whole window, whatever is filtered.",
        source="ADR 21",
        file="gateway/operations/backoffice/money/linked_statements.py",
        right="sums, days = _summed(entries)",
        wrong="sums, days = _summed(_chosen(entries, wanted))",
        tests=(f"{_LINKED}::test_sums_are_of_the_window_and_filters_of_the_page",),
    ),
    Mistake(
        name="probe-is-proof",
        promise="A payout counts as proven only when the bank's answer ended it.",
        source="docs/people.md",
        file="gateway/operations/backoffice/money/unresolved_probes.py",
        right=("return self.result is ProbeResult.ASKED and self.payout.state in FINAL_STATES"),
        wrong="return self.result is ProbeResult.ASKED",
        tests=(f"{_PROBES}::test_each_is_asked_about_once_and_each_act_is_on_record",),
    ),
    Mistake(
        name="refund-told-as-not-sent",
        promise="A refund that may have been given is never told as not sent.",
        source="decisions 6",
        file="gateway/http/backoffice/callers.py",
        right=("**bank_fails(identity_errors.REFUND_UNKNOWN, errors.TRANSACTION_NOT_FOUND),"),
        wrong="**bank_fails(identity_errors.REFUND_NOT_SENT, errors.TRANSACTION_NOT_FOUND),",
        tests=(f"{_FAILURES}::test_a_refund_is_unknown_unless_it_is_certain_that_it_was_not_sent",),
    ),
    Mistake(
        name="credential-named-to-anybody",
        promise="A credential's name is told to who may read credentials.",
        source="docs/people.md",
        file="gateway/http/backoffice/administration/names.py",
        right="if sees_all or each.kind is not RecordKind.CREDENTIAL]",
        wrong="if sees_all or each.name]",
        tests=(f"{_NAMES}::test_a_credential_is_named_to_who_may_read_credentials",),
    ),
    Mistake(
        name="credential-found-by-anybody",
        promise="A search shows a credential to who may read credentials.",
        source="docs/people.md",
        file="gateway/http/backoffice/money/search.py",
        right="credential=found.credential if may(_CREDENTIALS) else None,",
        wrong="credential=found.credential if may(_ACCOUNTS) else None,",
        tests=(f"{_SEARCH}::test_a_credential_is_shown_to_who_may_read_credentials",),
    ),
    Mistake(
        name="stop-lifted-without-a-factor",
        promise="A stop is lifted with a second factor of the last five minutes.",
        source="decisions 6 (`STEP_UP_REQUIRED`)",
        file="gateway/http/backoffice/surface.py",
        right="fresh = (*known, FreshFactor(now, always=True), *named)",
        wrong="fresh = (*known, FreshFactor(now), *named)",
        tests=(f"{_SURFACE}::test_lifting_a_stop_always_asks_for_a_fresh_factor",),
    ),
    Mistake(
        name="payout-of-a-blocked-account",
        promise="A person pays from an account that is active and verified, and no other.",
        source="contract 5.1",
        file="gateway/http/backoffice/surface.py",
        right="policies=(*visible, AccountState()),",
        wrong="policies=visible,",
        tests=(f"{_SURFACE}::test_questions_are_asked_in_the_order_decided",),
    ),
    Mistake(
        name="approved-payout-told-as-paid",
        promise="Whoever approves a payout is told `processing`, whatever the bank said.",
        source="decisions 2 (states and answers)",
        file="gateway/http/backoffice/decisions/approvals.py",
        right=(
            "    if isinstance(moved, Payout):\n"
            '        return {"approval": shown, "status": "processing"}\n'
        ),
        wrong=(
            "    if isinstance(moved, Payout):\n"
            '        return {"approval": shown, "status": "paid"}\n'
        ),
        tests=(f"{_APPROVALS_SHOWN}::test_an_approved_payout_is_told_as_processing",),
    ),
    Mistake(
        name="credential-for-a-foreign-account",
        promise="Nobody issues a credential for an account that they do not see.",
        source="docs/people.md",
        file="gateway/http/backoffice/administration/credentials.py",
        right="            await self._visible(who).require_account(wanted.account_id)\n",
        wrong="            self._visible(who)\n",
        tests=(f"{_CREDENTIALS}::test_nobody_issues_a_credential_for_what_they_do_not_see",),
    ),
    Mistake(
        name="foreign-credential-revoked",
        promise="Nobody revokes a credential of a company that they do not see.",
        source="docs/people.md",
        file="gateway/http/backoffice/administration/credentials.py",
        right=("        await self.read(who, client_id)\n        with explained():\n"),
        wrong="        with explained():\n",
        tests=(f"{_CREDENTIALS}::test_a_person_is_shown_their_companies_credentials_alone",),
    ),
    Mistake(
        name="hold-of-a-paid-payout",
        promise="A payout is told as held only while its bank holds it.",
        source="ADR 23",
        file="gateway/http/backoffice/money/payouts.py",
        right=(
            "held = found.payout.held_until if found.payout.state is PayoutState.ACCEPTED else None"
        ),
        wrong="held = found.payout.held_until",
        tests=(f"{_PAYOUTS}::test_users_are_told_until_when_the_bank_holds_a_payout",),
    ),
    Mistake(
        name="whole-number-of-a-key-s-owner",
        promise="The tax number of a person behind a key is shown without its ends.",
        source="docs/people.md",
        file="gateway/http/backoffice/money/pix_keys.py",
        right='"tax_number": hidden_tax_number(found.tax_number),',
        wrong='"tax_number": found.tax_number,',
        tests=(
            f"{_PIX_KEYS}::test_the_ends_of_a_persons_number_are_hidden_whatever_the_bank_tells",
        ),
    ),
    Mistake(
        name="next-look-at-a-final-payout",
        promise="Of a payout that has ended no next look is told.",
        source="docs/people.md",
        file="gateway/http/backoffice/money/dossiers.py",
        right="is_open = found.number == about.attempt and about.state not in FINAL_STATES",
        wrong="is_open = found.number == about.attempt",
        tests=(f"{_DOSSIERS}::test_only_the_latest_try_of_an_open_payout_is_looked_at_again",),
    ),
    Mistake(
        name="exported-act-without-its-microseconds",
        promise="An exported act holds all that its hash is made of.",
        source="ADR 15",
        file="gateway/http/backoffice/oversight/audit.py",
        right='return {**act(found), "at": found.event.at.isoformat()}',
        wrong="return {**act(found)}",
        tests=(f"{_AUDIT}::test_an_exported_act_holds_what_its_hash_is_made_of",),
    ),
    Mistake(
        name="instant-of-no-zone",
        promise="An instant without a time zone is refused.",
        source="decisions 7",
        file="policies/validation/backoffice/inputs.py",
        right="    if found.tzinfo is None:\n        raise strict.Malformed\n",
        wrong="",
        tests=(f"{_INPUTS}::test_an_instant_has_one_form",),
    ),
    Mistake(
        name="first-of-two-filters",
        promise="A filter that is given twice is refused.",
        source="decisions 7",
        file="policies/validation/backoffice/inputs.py",
        right="if len(values) > 1:",
        wrong="if len(values) > 1 and not values[0]:",
        tests=(f"{_INPUTS}::test_what_is_given_twice_is_refused",),
    ),
    Mistake(
        name="opinions-of-an-earlier-try-shown",
        promise="A payout in review shows the opinions of this review alone.",
        source="docs/people.md",
        file="gateway/store/backoffice/lists.py",
        right="opinions=[each for each in opinions_given if each.is_about(payout)],",
        wrong="opinions=[*opinions_given],",
        tests=(f"{_REVIEWS}::test_a_review_is_listed_with_its_own_opinions",),
    ),
    Mistake(
        name="payouts-of-every-company-found",
        promise="A search of payouts finds those of one's own companies alone.",
        source="docs/people.md",
        file="gateway/store/backoffice/payout_directory.py",
        right="return [*_open_to(query.wanted), *of_account(payouts.c.account_id, scope)]",
        wrong="return [*_open_to(query.wanted)]",
        tests=(f"{_FINDER}::test_a_search_shows_and_counts_what_is_in_scope",),
    ),
    Mistake(
        name="callbacks-of-every-company",
        promise="Who is limited to companies sees callbacks about their accounts alone.",
        source="docs/people.md",
        file="gateway/store/backoffice/callbacks.py",
        right="        wanted = wanted.where(*of_company(callbacks.c.company_id, scope))\n",
        wrong="",
        tests=(f"{_CALLBACKS}::test_who_is_limited_is_shown_what_banks_say_of_their_accounts",),
    ),
    Mistake(
        name="requests-of-every-company",
        promise="Who is limited to companies sees requests of these alone.",
        source="docs/people.md",
        file="gateway/store/backoffice/request_log.py",
        right="        yield from of_company(requests.c.company_id, scope)\n",
        wrong="",
        tests=(f"{_REQUESTS}::test_who_is_limited_sees_their_companies_requests",),
    ),
    Mistake(
        name="stop-lifted-twice",
        promise="A stop is lifted once; a second time is told as such.",
        source="docs/people.md",
        file="gateway/store/backoffice/stops.py",
        right=(".where(stops.c.id == stop_id, stops.c.lifted_at.is_(None), stops.c.ends_at > at)"),
        wrong=".where(stops.c.id == stop_id, stops.c.ends_at > at)",
        tests=(f"{_STOPS}::test_a_stop_is_lifted_once",),
    ),
)
