"""Payouts and refunds: stored first, sent once, reported only as far as proven."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_CALLBACK_LOOKS = "tests/unit/gateway/callbacks/test_processing.py"
_APPROVALS = "tests/unit/gateway/approvals/test_service.py"
_CREDENTIALS = "tests/contract/stores/test_credentials.py"
_CERTAINTY = "tests/unit/gateway/payouts/test_model_certainty.py"
_DOMAIN_APPROVALS = "tests/unit/gateway/core/test_approvals.py"
_FOLLOWUP = "tests/unit/gateway/payouts/test_followup.py"
_FIRST = "tests/unit/gateway/payouts/test_first_payees.py"
_HOLDS = "tests/unit/gateway/payouts/test_holds.py"
_PAYERS = "tests/unit/gateway/payouts/test_holds_payers.py"
_STORED_HOLDS = "tests/contract/stores/test_holds.py"
_STORED_STOPS = "tests/contract/stores/test_stops.py"
_HTTP = "tests/unit/provider_adapters/kit/test_client.py"
_NIGHT = "tests/unit/gateway/core/test_night.py"
_NIGHT_ON_THE_WIRE = "tests/surfaces/banking/test_night.py"
_OPERATIONS_PAYOUTS = "tests/unit/gateway/payouts/test_create.py"
_PAYOUTS = "tests/unit/gateway/payouts/test_model.py"
_PAYOUT_GUARDS = "tests/unit/gateway/payouts/test_create_guards.py"
_PAYOUT_LIMITS = "tests/contract/stores/test_payout_limits.py"
_REFUND_REQUESTS = "tests/unit/gateway/refunds/test_orders.py"
_REFUND_ORDERS = "tests/surfaces/backoffice/test_refund_orders.py"
_REPRESENT = "tests/unit/gateway/payouts/test_documents_partners.py"
_REVIEWS = "tests/unit/gateway/reviews/test_service.py"
_RULES = "tests/payouts/test_rules.py"
_STOPS = "tests/unit/gateway/stops/test_model.py"
_STORE_FAILURES = "tests/payouts/test_store_failures.py"
_VERIFICATION = "tests/unit/gateway/payouts/test_verification.py"
_SURFACE = "tests/surfaces/banking/test_payouts.py"

ROWS = (
    Mistake(
        name="payout-stored-by-a-full-store",
        promise="A full store refuses a payout before it is stored.",
        source="ADR 0066, decisions 2 (step 20)",
        file="gateway/payouts/create.py",
        right="        if self.writes.are_refused:\n",
        wrong="        if self.writes is None:\n",
        tests=(f"{_PAYOUT_GUARDS}::test_a_full_store_refuses_a_payout_before_it_is_stored",),
    ),
    Mistake(
        name="holder-of-the-secret-releases-its-hold",
        promise="Whoever ordered a secret of a credential may not release its held payouts.",
        source="ADR 0058",
        file="gateway/payouts/holds.py",
        right="        if await self.payers.has_secret(person.user_id, payout):\n",
        wrong="        if payout.client_id == person.user_id:\n",
        tests=(f"{_HOLDS}::test_the_orderer_of_a_secret_refuses_its_held_payouts_only",),
    ),
    Mistake(
        name="former-secret-keeps-its-hold",
        promise="A secret that had ended before a payout keeps nobody from letting it go.",
        source="ADR 0058",
        file="gateway/credentials/store.py",
        right="secrets.c.expires_at > since)",
        wrong="secrets.c.expires_at.is_not(None))",
        tests=(f"{_CREDENTIALS}::test_a_secret_was_shown_to_its_orderer_until_it_ended",),
    ),
    Mistake(
        name="amount-not-in-fingerprint",
        promise="The same reference with another amount is another payout, and refused.",
        source="contract 2.6, decisions 2 (step 18)",
        file="gateway/payouts/model.py",
        right=("            self.value.centavos,\n            normal_destination"),
        wrong="            normal_destination",
        tests=(f"{_PAYOUTS}::test_every_other_field_changes_the_fingerprint",),
    ),
    Mistake(
        name="other-content-answered",
        promise="A known reference with other content is refused, never answered as paid.",
        source="decisions 2 (step 18)",
        file="gateway/payouts/create.py",
        right="if stored.fingerprint != request.fingerprint():",
        wrong="if stored.reference != request.reference:",
        tests=(f"{_SURFACE}::test_other_content_under_a_known_reference_is_refused",),
    ),
    Mistake(
        name="provider-key-without-account",
        promise="The key a bank knows a payout by is of one account.",
        source="ADR 0003",
        file="gateway/payouts/model.py",
        right='parts = ("v1", environment.value, account_id, reference)',
        wrong='parts = ("v1", environment.value, reference)',
        tests=(
            f"{_PAYOUTS}::test_the_provider_key_is_a_hash_of_environment_account_and_reference",
        ),
    ),
    Mistake(
        name="scheduled-payout-taken",
        promise="A payout is dated today in UTC; a later day is refused.",
        source="contract 2.6",
        file="gateway/payouts/create.py",
        right="if request.date != self.config.now().date():",
        wrong="if request.date < self.config.now().date():",
        tests=(
            f"{_OPERATIONS_PAYOUTS}::test_a_new_payout_for_another_day_is_refused_and_not_stored",
        ),
    ),
    Mistake(
        name="sent-before-stored",
        promise="The intent is stored before the first byte leaves.",
        source="decisions 2 (step 21), ADR 0003",
        file="gateway/payouts/create.py",
        right="                stored = await self._add(caller, intent, attempt, first)\n",
        wrong="                stored = None\n",
        tests=(f"{_RULES}::test_r1_the_intent_is_stored_before_the_bank_is_called",),
    ),
    Mistake(
        name="sent-though-not-stored",
        promise="An intent that could not be stored is not sent (500).",
        source="contract 4.1, decisions 2 (step 21)",
        file="gateway/payouts/create.py",
        right=('            tell("intent_failed")\n            raise'),
        wrong=('            tell("intent_failed")\n            return None'),
        tests=(f"{_STORE_FAILURES}::test_an_intent_that_was_not_stored_is_not_sent",),
    ),
    Mistake(
        name="unknown-sent-again",
        promise="A payout whose outcome is not known is never sent again.",
        source="decisions 6, ADR 0003",
        file="gateway/payouts/create.py",
        right='return {"after": PayoutState.UNKNOWN}',
        wrong='return {"after": PayoutState.NOT_SENT}',
        tests=(f"{_RULES}::test_r3_an_unknown_payout_is_never_sent_again",),
    ),
    Mistake(
        name="no-answer-is-not-sent",
        promise="Only a call of which no byte left counts as certainly not sent.",
        source="decisions 6",
        file="provider_adapters/kit/client.py",
        right="            if progress.bytes_left:\n                return Unknown(evidence)",
        wrong="            if progress.http_status:\n                return Unknown(evidence)",
        tests=(f"{_HTTP}::test_a_payout_times_out_and_distinguishes_whether_it_was_sent",),
    ),
    Mistake(
        name="adapter-mistake-is-not-sent",
        promise="Whatever an adapter raises proves nothing about the money.",
        source="ADR 0003",
        file="gateway/payouts/create.py",
        right='return Unknown(_unexplained("adapter_raised"))',
        wrong='return NotSent(_unexplained("adapter_raised"))',
        tests=(f"{_RULES}::test_r6_an_adapter_s_exception_proves_nothing",),
    ),
    Mistake(
        name="absence-believed-at-once",
        promise="`Not found` proves nothing before the bank's quiet period is over.",
        source="ADR 0003",
        file="gateway/payouts/model.py",
        right="return payout.lease_until + absent_after",
        wrong="return payout.lease_until",
        tests=(f"{_FOLLOWUP}::test_absence_is_accepted_only_after_lease_and_quiet_period",),
    ),
    Mistake(
        name="another-bank-account-believed",
        promise="Only the bank account that a payout was sent from says what became of it.",
        source="decisions 2",
        file="gateway/payouts/model.py",
        right=(
            "return (bank.name, bank.account.provider_account)"
            " == (self.provider, self.provider_account)"
        ),
        wrong="return bank.name == self.provider",
        tests=(f"{_FOLLOWUP}::test_another_account_at_the_bank_is_not_queried",),
    ),
    Mistake(
        name="failed-though-the-bank-paid",
        promise="Two people do not call failed what the bank shows as paid.",
        source="decisions 11",
        file="gateway/reviews/service.py",
        right="if judgement.verdict is Verdict.FAILED and shown is not None:",
        wrong="if judgement.verdict is Verdict.FAILED and shown is judgement:",
        tests=(f"{_REVIEWS}::test_a_payout_the_bank_shows_as_paid_cannot_be_judged_failed",),
    ),
    Mistake(
        name="sending-told-as-not-sent",
        promise="The word for a payout under way is that it may have left.",
        source="decisions 6",
        file="gateway/payouts/model.py",
        right="PayoutState.SENDING: Certainty.SENT_UNKNOWN,",
        wrong="PayoutState.SENDING: Certainty.NOT_SENT,",
        tests=(_CERTAINTY,),
    ),
    Mistake(
        name="reached-called-unsent",
        promise="What may have reached a bank is never called certainly not sent.",
        source="ADR 0053",
        file="gateway/payouts/model.py",
        right="return Absence.BANK if has_left else None",
        wrong="return None",
        tests=(f"{_CERTAINTY}::test_a_state_change_records_who_proved_the_absence",),
    ),
    Mistake(
        name="old-filter-loses-rows",
        promise="A search by a word of old finds all that the word stood for.",
        source="ADR 0053",
        file="gateway/payouts/model.py",
        right="CertaintySought.NOT_SENT: UNSENT,",
        wrong="CertaintySought.NOT_SENT: frozenset({Certainty.NOT_SENT}),",
        tests=(f"{_CERTAINTY}::test_a_search_for_an_older_certainty_finds_both_newer_ones",),
    ),
    Mistake(
        name="smaller-amount-called-paid",
        promise="A payout settled with another amount is never called paid.",
        source="ADR 0003",
        file="gateway/payouts/followup.py",
        right="if isinstance(said, Settled) and said.value != payout.value:",
        wrong="if isinstance(said, Settled) and said.value > payout.value:",
        tests=(f"{_FOLLOWUP}::test_another_amount_at_the_bank_requires_a_review",),
    ),
    Mistake(
        name="rejection-told-unstored",
        promise="A rejection is told only once it is stored.",
        source="ADR 0003",
        file="gateway/payouts/create.py",
        right="case Rejected(failure=code, forbidden=forbidden) if recorded:",
        wrong="case Rejected(failure=code, forbidden=forbidden):",
        tests=(f"{_RULES}::test_r7_a_rejection_is_answered_once_stored",),
    ),
    Mistake(
        name="creation-tells-the-outcome",
        promise="Creating a payout answers `processing`, also on a replay.",
        source="contract 2.6, decisions 5",
        file="gateway/payouts/documents.py",
        right='    shown["status"], shown["settled_at"] = "processing", ""\n',
        wrong="",
        tests=(_REPRESENT,),
    ),
    Mistake(
        name="kill-switch-not-asked",
        promise="No payout is sent while payouts are stopped.",
        source="decisions 2 (step 20)",
        file="gateway/payouts/create.py",
        right="        await self.go_on(caller)\n        if",
        wrong="        if",
        tests=(f"{_PAYOUT_GUARDS}::test_a_stop_refuses_a_payout_before_it_is_stored",),
    ),
    Mistake(
        name="ended-stop-holds",
        promise="A stop holds until it ends, and no longer.",
        source="decisions 2 (step 20)",
        file="gateway/stops/model.py",
        right="return now < self.ends_at and concerns",
        wrong="return concerns",
        tests=(_STOPS,),
    ),
    Mistake(
        name="same-amount-guard-blind",
        promise="A payout like another one under another reference is told, or refused.",
        source="decisions 2 (step 20)",
        file="gateway/payouts/create.py",
        right="if similar:",
        wrong="if len(similar) > 1:",
        tests=(f"{_PAYOUT_GUARDS}::test_a_similar_payout_is_reported_or_refused",),
    ),
    Mistake(
        name="unknown-payouts-free-of-limits",
        promise="What may have left counts against the credential's limit of a day.",
        source="decisions 11 (extension codes)",
        file="gateway/payouts/model.py",
        right="*(PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN),",
        wrong="*(PayoutState.HELD, PayoutState.SENDING),",
        tests=(f"{_PAYOUT_LIMITS}::test_payouts_proven_unsent_or_refused_do_not_count",),
    ),
    Mistake(
        name="limits-not-held",
        promise=(
            "Of two payouts at once the second counts the first against the limit, "
            "on PostgreSQL too."
        ),
        source="decisions 11 (extension codes), ADR 0005",
        file="gateway/payouts/limits.py",
        right=("\n    .with_for_update(key_share=True)\n"),
        wrong="\n",
        tests=(_PAYOUT_LIMITS,),
    ),
    Mistake(
        name="night-without-a-sum",
        promise="The payouts of a night are counted against its limit, across midnight in UTC.",
        source="ADR 0059",
        file="gateway/payouts/limits.py",
        right="if span and _is_above(centavos, self.left.get((payout.client_id, span))):",
        wrong="if _is_above(centavos, self.left.get((payout.client_id, payout.date))):",
        tests=(_PAYOUT_LIMITS,),
    ),
    Mistake(
        name="night-by-the-first-attempt",
        promise="A payout counts in the night in which its last attempt began.",
        source="ADR 0059",
        file="gateway/payouts/limits.py",
        right='attempts.c.started_at >= bindparam("begins", type_=attempts.c.started_at.type),',
        wrong='payouts.c.created_at >= bindparam("begins", type_=attempts.c.started_at.type),',
        tests=(f"{_PAYOUT_LIMITS}::test_a_payout_counts_in_the_night_it_is_sent",),
    ),
    Mistake(
        name="night-ends-an-instant-late",
        promise="06:00:00 is day, as 20:00:00 is night.",
        source="ADR 0059",
        file="gateway/core/night.py",
        right="if span.since <= at < span.until:",
        wrong="if span.since <= at <= span.until:",
        tests=(_NIGHT,),
    ),
    Mistake(
        name="default-limit-of-the-night-forgotten",
        promise="The gateway's limits of the night hold for a credential without any of its own.",
        source="ADR 0059",
        file="gateway/core/night.py",
        right="return has_default and self.span_of(at) is not None",
        wrong="return False",
        tests=(_NIGHT_ON_THE_WIRE,),
    ),
    Mistake(
        name="limits-asked-of-all",
        promise="By day a payout of a credential without limits costs no statement for limits.",
        source="ADR 0059",
        file="gateway/core/night.py",
        right="return has_default and self.span_of(at) is not None",
        wrong="return has_default",
        tests=(_NIGHT,),
    ),
    Mistake(
        name="own-order-approved",
        promise="Nobody agrees to their own order.",
        source="decisions 11 (four eyes)",
        file="gateway/approvals/service.py",
        right=("if approval.ordered_by == person.user_id:\n        raise"),
        wrong=("if approval.orderer == person.user_id:\n        raise"),
        tests=(f"{_APPROVALS}::test_no_user_approves_their_own_order",),
    ),
    Mistake(
        name="disabled-orderer-holds",
        promise="An order is void once its orderer may not order it any more.",
        source="decisions 11 (four eyes)",
        file="gateway/core/approvals.py",
        right="if orderer is None or not orderer.active:",
        wrong="if orderer is None:",
        tests=(f"{_DOMAIN_APPROVALS}::test_an_order_is_valid_while_its_orderer_has_the_right",),
    ),
    Mistake(
        name="refund-above-the-rest",
        promise="No order waits for a refund above what is left of its payment.",
        source="decisions 1 (refunds)",
        file="gateway/refunds/refunding.py",
        right="payment.value.centavos - payment.refunded.centavos",
        wrong="payment.value.centavos",
        tests=(
            f"{_REFUND_ORDERS}::test_a_refund_above_the_remaining_amount_is_refused_when_ordered",
        ),
    ),
    Mistake(
        name="other-refund-answered",
        promise="A known reference of a refund with another amount is refused.",
        source="decisions 6 (`SVC.GTW.009`)",
        file="gateway/refunds/orders.py",
        right=("            self.value == known.value\n            and self.description"),
        wrong="            self.description",
        tests=(f"{_REFUND_REQUESTS}::test_a_repeated_refund_must_have_the_same_fields",),
    ),
    Mistake(
        name="hold-without-an-end",
        promise="A bank's hold hides a payout for an hour at most.",
        source="ADR 0023",
        file="gateway/payouts/model.py",
        right="return min(until, now + LONGEST_HOLD)",
        wrong="return until",
        tests=(
            f"{_OPERATIONS_PAYOUTS}::test_a_payout_held_by_the_bank_is_accepted_with_a_deadline_of_at_most_an_hour",
        ),
    ),
    Mistake(
        name="hold-put-off-for-ever",
        promise="A payout that is accepted for a day goes to review, however long it is held.",
        source="ADR 0023",
        file="gateway/payouts/schedule.py",
        right="if payout.state in FINAL_STATES or now - payout.updated_at >= _GIVES_UP:",
        wrong="if payout.state in FINAL_STATES:",
        tests=("tests/unit/gateway/payouts/test_schedule.py",),
    ),
    Mistake(
        name="return-beside-a-failed-payout",
        promise="What came back stands beside payouts that are paid, and beside no other.",
        source="ADR 0023",
        file="gateway/payouts/verification.py",
        right=" or row.state is not PayoutState.PAID:",
        wrong=":",
        tests=(f"{_VERIFICATION}::test_a_failed_payout_with_a_partial_return_is_a_difference",),
    ),
    Mistake(
        name="settled-payouts-polled",
        promise="A settled payout is looked at for a callback about a return, and for no other.",
        source="ADR 0023",
        file="gateway/callbacks/processing.py",
        right="seen = payout if is_final else await self.look(payout, named, heard.append)",
        wrong="seen = await self.look(payout, named, heard.append)",
        tests=(f"{_CALLBACK_LOOKS}::test_a_settled_payout_is_not_queried_for_other_callbacks",),
    ),
    Mistake(
        name="letters-sent-to-any-bank",
        promise="A CNPJ with letters is sent to no bank that does not take it.",
        source="decisions 7",
        file="gateway/banks/connections.py",
        right="if bank is not None and not bank.adapter.capabilities.alphanumeric_cnpj:",
        wrong="if bank is None:",
        tests=("tests/unit/gateway/banks/test_connections.py",),
    ),
    Mistake(
        name="held-payout-sent-early",
        promise="A held payout is sent when its hold is over, and not before.",
        source="ADR 0058",
        file="gateway/payouts/followup.py",
        right="and until is not None and self._certain() >= until",
        wrong="and until is not None",
        tests=(f"{_HOLDS}::test_a_held_payout_is_not_sent_before_its_hold_ends",),
    ),
    Mistake(
        name="hold-released-twice",
        promise="Of two processes that end a hold, one sends.",
        source="ADR 0058",
        file="gateway/payouts/create.py",
        right=(
            "            self.config.count(Event.CAS_LOSS, bank.name)\n"
            "            return False\n"
            '        self.config.failpoint("after_release")'
        ),
        wrong=(
            "            self.config.count(Event.CAS_LOSS, bank.name)\n"
            '        self.config.failpoint("after_release")'
        ),
        tests=(f"{_HOLDS}::test_of_two_processes_ending_a_hold_one_sends",),
    ),
    Mistake(
        name="held-payout-claimed-from-any-attempt",
        promise="A hold ends by compare-and-set: one claim of several wins.",
        source="ADR 0058",
        file="gateway/payouts/writes.py",
        right='    was = (*_KEY, "attempt", "state")\n',
        wrong="    was = _KEY\n",
        tests=(f"{_STORED_HOLDS}::test_a_refused_held_payout_cannot_be_claimed_or_released",),
    ),
    Mistake(
        name="orderer-lets-go",
        promise="Who ordered a payout does not decide on its hold.",
        source="ADR 0058",
        file="gateway/payouts/holds.py",
        right="        if payout.client_id == client_of(person.user_id):",
        wrong="        if payout.client_id == person.user_id:",
        tests=(f"{_HOLDS}::test_the_orderer_cannot_decide_on_a_held_payout",),
    ),
    Mistake(
        name="hold-survives-midnight",
        promise="A hold that is open at midnight UTC ends failed, as not sent.",
        source="ADR 0058, decisions 2",
        file="gateway/payouts/followup.py",
        right="_UNSENT = frozenset({PayoutState.HELD, PayoutState.NOT_SENT})",
        wrong="_UNSENT = frozenset({PayoutState.NOT_SENT})",
        tests=(f"{_HOLDS}::test_a_held_payout_fails_as_not_sent_at_midnight",),
    ),
    Mistake(
        name="stop-forgotten-at-release",
        promise="A stop that came meanwhile keeps a held payout from being sent.",
        source="ADR 0058",
        file="gateway/payouts/create.py",
        right=(
            "        await self.guards.go_on(caller)\n"
            "        if not await self._claim(caller, claimed, attempt, held.state):"
        ),
        wrong="        if not await self._claim(caller, claimed, attempt, held.state):",
        tests=(f"{_HOLDS}::test_a_held_payout_fails_when_a_stop_was_set_meanwhile",),
    ),
    Mistake(
        name="lifted-stop-lets-go",
        promise="Lifting a stop sends nothing that was held during it.",
        source="ADR 0058",
        file="gateway/stops/service.py",
        right="was_lifted_later = or_(stops.c.lifted_at.is_(None), stops.c.lifted_at > since)",
        wrong="was_lifted_later = stops.c.lifted_at.is_(None)",
        tests=(f"{_STORED_STOPS}::test_ended_stops_are_found_for_the_time_they_were_active",),
    ),
    Mistake(
        name="held-from-a-forbidden-place",
        promise="What a credential ordered and is held fails when its rule or keys change.",
        source="ADR 0058",
        file="gateway/payouts/holds.py",
        right="if changed_at is not None and ordered.created_at <= changed_at + _HEARD_WITHIN:",
        wrong="if changed_at is not None and ordered.created_at <= changed_at:",
        tests=(f"{_PAYERS}::test_a_held_payout_older_than_a_change_of_rules_or_keys_is_refused",),
    ),
    Mistake(
        name="typed-number-makes-known",
        promise="A known tax number at another key is a first payee.",
        source="ADR 0058",
        file="gateway/payouts/model.py",
        right='    return {**mine, "name": ""} == {**theirs, "name": ""}',
        wrong='    return mine["tax_number"] == theirs["tax_number"]',
        tests=(f"{_HOLDS}::test_a_known_tax_number_with_another_key_is_a_first_payee",),
    ),
    Mistake(
        name="first-payee-paid-in-pieces",
        promise="A sum to a first payee in pieces is held as a whole one.",
        source="ADR 0058",
        file="gateway/payouts/first_payees.py",
        right="if ordered > intent.first.most.centavos:",
        wrong="if intent.payout.value.centavos > intent.first.most.centavos:",
        tests=(f"{_HOLDS}::test_small_payouts_to_a_first_payee_are_added_up",),
    ),
    Mistake(
        name="first-payee-spelled-otherwise",
        promise="A bank account is one first payee, however it is spelled.",
        source="ADR 0058",
        file="gateway/payouts/model.py",
        right='destination.branch.lstrip("0"), account.lstrip("0")',
        wrong="destination.branch, account",
        tests=(
            f"{_FIRST}::test_a_bank_account_gets_the_amount_once_however_it_is_spelled",
            f"{_FIRST}::test_orders_to_another_spelling_of_the_payee_count",
        ),
    ),
    Mistake(
        name="first-payee-paid-by-two-at-once",
        promise="Of two payouts of a batch to a first payee the second counts the first.",
        source="ADR 0058",
        file="gateway/payouts/first_payees.py",
        right="        self.ordered[place] = ordered\n",
        wrong="        del ordered\n",
        tests=(f"{_STORED_HOLDS}::test_concurrent_payouts_to_a_first_payee_stay_within_its_limit",),
    ),
    Mistake(
        name="centavo-makes-known",
        promise="A payee is known a day after it was paid, not as soon as a hold would be over.",
        source="ADR 0058",
        file="gateway/payouts/model.py",
        right="KNOWN_AFTER: Final = timedelta(days=1)",
        wrong="KNOWN_AFTER: Final = timedelta(minutes=30)",
        tests=(f"{_HOLDS}::test_a_payout_within_the_last_day_makes_no_payee_known",),
    ),
    Mistake(
        name="held-payout-counts-twice",
        promise="A held payout counts towards the limit of its day once.",
        source="ADR 0058",
        file="gateway/payouts/limits.py",
        right="centavos_of_day = 0 if sending.was_held else centavos",
        wrong="centavos_of_day = centavos",
        tests=(f"{_STORED_HOLDS}::test_a_held_payout_counts_once_towards_its_daily_limit",),
    ),
)
