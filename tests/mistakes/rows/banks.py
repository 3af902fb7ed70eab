"""Banks: what is sent, to whom, how often, and what of their word is believed."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_ACCOUNTS = "tests/unit/gateway/accounts/test_service.py"
_ADDRESSES = "tests/unit/gateway/banks/client/test_addresses.py"
_ANSWERS = "tests/unit/gateway/banks/port/test_answers.py"
_BREAKER = "tests/unit/provider_adapters/kit/test_admission_breaker.py"
_BULKHEAD = "tests/unit/provider_adapters/kit/test_bank_limits_bulkhead.py"
_CALLBACKS = "tests/unit/provider_adapters/sandbox/test_callbacks.py"
_CHECKED = "tests/unit/gateway/banks/test_checked_adapter.py"
_CHECKS = "tests/unit/provider_adapters/test_checks.py"
_DIAL = "tests/unit/gateway/banks/client/test_connector.py"
_HTTP = "tests/unit/provider_adapters/kit/test_client.py"
_KIT_OUTCOMES = "tests/unit/provider_adapters/kit/test_outcomes.py"
_MESSAGES = "tests/unit/gateway/banks/client/test_messages.py"
_OFFERED = "tests/unit/gateway/banks/test_connections_options.py"
_CALLBACK_LOOKS = "tests/unit/gateway/callbacks/test_processing.py"
_OPERATIONS_CALLBACKS = "tests/unit/gateway/callbacks/test_reception.py"
_OUTCOMES = "tests/unit/gateway/banks/port/test_answers_outcomes.py"
_PAYOUTS = "tests/unit/provider_adapters/sandbox/test_payouts.py"
_PROOFS = "tests/unit/provider_adapters/kit/test_proofs.py"
_PROXIED = "tests/unit/gateway/net/server/test_front_proxied.py"
_SPLIT = "tests/unit/gateway/banks/client/test_connection.py"
_TRANSCRIPT = "tests/unit/provider_adapters/kit/test_transcript.py"

_TOLERANT = "tests/unit/provider_adapters/kit/test_tolerant.py"
_REPAIR = "tests/unit/provider_adapters/kit/test_tolerant_repair.py"
_TYPED = "tests/contract/adapters/test_typed_texts.py"

ROWS = (
    Mistake(
        name="payouts-read-tolerantly",
        promise="What decides whether money moved is read strictly.",
        source="decisions 11",
        file="provider_adapters/kit/tolerant.py",
        right="*(frozenset(PortCall) - _DECIDING)",
        wrong="*frozenset(PortCall)",
        tests=(f"{_TOLERANT}::test_answers_that_decide_about_money_are_read_strictly",),
    ),
    Mistake(
        name="unreadable-list-is-empty",
        promise="A list of which no row can be read is an error, and not an empty list.",
        source="decisions 11",
        file="provider_adapters/kit/tolerant.py",
        right="        if not any(lists):",
        wrong="        if not lists:",
        tests=(f"{_TOLERANT}::test_rows_are_not_left_out_where_this_could_hide_something",),
    ),
    Mistake(
        name="depth-hides-callbacks",
        promise="A part of a callback that is nested too deep does not hide the others.",
        source="decisions 11",
        file="provider_adapters/kit/tolerant.py",
        right="_PIECE.findall(shallow(body).decode",
        wrong="_PIECE.findall(body.decode",
        tests=(f"{_TYPED}::test_a_value_nested_too_deep_drops_no_part_of_a_callback",),
    ),
    Mistake(
        name="depth-read-past-in-payouts",
        promise="What decides whether money moved is not read past what is nested too deep.",
        source="decisions 11",
        file="provider_adapters/kit/answers.py",
        right="[: 1 + may_be_tolerant]",
        wrong="[:2]",
        tests=(f"{_REPAIR}::test_values_nested_too_deep_hide_no_other_value",),
    ),
    Mistake(
        name="damaged-text-joins",
        promise="Damage in a text is replaced and never dropped: no name becomes another.",
        source="ADR 0051",
        file="provider_adapters/kit/tolerant.py",
        right="            return REPLACEMENT",
        wrong='            return ""',
        tests=(f"{_REPAIR}::test_damaged_money_fields_and_truncated_documents_are_refused",),
    ),
    Mistake(
        name="damaged-id-kept",
        promise="An id with a damaged character is no id: another payout could be looked up by it.",
        source="ADR 0051",
        file="gateway/banks/port/answers.py",
        right="    if _UNREADABLE in str(value):",
        wrong="    if _UNREADABLE == str(value):",
        tests=(f"{_ANSWERS}::test_an_id_with_a_replacement_character_is_invalid",),
    ),
    Mistake(
        name="odd-row-takes-the-page",
        promise="A row that cannot be right is left out, and the others are shown.",
        source="decisions 11",
        file="gateway/banks/port/answers.py",
        right="    except WrongAnswer:\n        return _right_ones(found, check)",
        wrong="    except ZeroDivisionError:\n        return _right_ones(found, check)",
        tests=(f"{_ANSWERS}::test_an_invalid_row_is_left_out_and_counted",),
    ),
    Mistake(
        name="undeclared-call-asked",
        promise="What a bank does not declare is not asked of it.",
        source="ADR 0022",
        file="gateway/banks/connections.py",
        right="    if call in bank.adapter.capabilities.calls:",
        wrong="    if call in PortCall:",
        tests=(f"{_OFFERED}::test_undeclared_capabilities_are_not_supported",),
    ),
    Mistake(
        name="put-of-another-key",
        promise="Money moves by a PUT only to the path that ends in our key.",
        source="ADR 0022",
        file="gateway/banks/client/messages.py",
        right='return self.method == "PUT" and self.key != "" and named',
        wrong='return self.method == "PUT"',
        tests=(f"{_MESSAGES}::test_any_other_request_that_moves_money_is_refused",),
    ),
    Mistake(
        name="half-request-is-whole",
        promise="Half of a request without a body is no request.",
        source="docs/reliability.md",
        file="gateway/banks/client/connection.py",
        right="if body_at < len(data) else body_at // 2",
        wrong="if body_at < len(data) else body_at",
        tests=(f"{_SPLIT}::test_each_fail_point_is_before_or_after_the_request_is_sent",),
    ),
    Mistake(
        name="exit-of-an-adapter",
        promise="What an adapter raises while it is loaded ends as one line, an exit too.",
        source="ADR 0022",
        file="provider_adapters/checks.py",
        right="    except BaseException as problem:",
        wrong="    except Exception as problem:",
        tests=(f"{_CHECKS}::test_an_error_raised_by_an_adapter_is_reported_without_its_text",),
    ),
    Mistake(
        name="sync-method-loaded",
        promise="A declared call is an async method.",
        source="ADR 0022",
        file="provider_adapters/checks.py",
        right="elif not inspect.iscoroutinefunction(method):",
        wrong="elif not callable(method):",
        tests=(f"{_CHECKS}::test_an_invalid_factory_is_refused_with_its_reason",),
    ),
    Mistake(
        name="money-call-repeated",
        promise="A call that moves money is made once.",
        source="ADR 0003",
        file="provider_adapters/kit/client.py",
        right="return await self._once(request, translate, progress, self._limits.payout_s)",
        wrong="return await self.read(request, translate, send_by)",
        tests=(f"{_HTTP}::test_a_payout_is_never_sent_twice",),
    ),
    Mistake(
        name="breaker-never-opens",
        promise="Five failures in a row leave a bank alone for a while.",
        source="decisions 6",
        file="provider_adapters/kit/admission.py",
        right="self._failures += 1",
        wrong="self._failures = 1",
        tests=(f"{_BREAKER}::test_five_consecutive_failures_open_the_breaker",),
    ),
    Mistake(
        name="bulkhead-without-a-wall",
        promise="One slow bank gets so many calls at once and no more.",
        source="decisions 6",
        file="provider_adapters/kit/bank_limits.py",
        right="if self.in_flight >= self._limits.in_flight:",
        wrong="if self.in_flight > self._limits.in_flight:",
        tests=(f"{_BULKHEAD}::test_calls_enter_up_to_the_limit_and_are_counted",),
    ),
    Mistake(
        name="any-host-name",
        promise="A bank's certificate names the host that we call.",
        source="ADR 0007",
        file="gateway/banks/client/tls.py",
        right="context.hostname_checks_common_name = False",
        wrong="context.check_hostname = False",
        tests=(f"{_DIAL}::test_a_certificate_for_another_name_is_refused",),
    ),
    Mistake(
        name="bank-inside-our-network",
        promise="A configured address does not lead into our own network.",
        source="ADR 0007",
        file="gateway/banks/client/addresses.py",
        right="meant.is_global and not is_special",
        wrong="meant.is_global or not is_special",
        tests=(_ADDRESSES,),
    ),
    Mistake(
        name="another-payout-s-answer",
        promise="An answer about another payout than the one asked for proves nothing.",
        source="ADR 0003",
        file="provider_adapters/kit/outcomes.py",
        right="shown.provider_key is not None and shown.provider_key != expected.provider_key:",
        wrong='shown.provider_key == "":',
        tests=(f"{_PAYOUTS}::test_a_mismatched_answer_is_unknown_in_any_state",),
    ),
    Mistake(
        name="callback-signature-not-checked",
        promise="A callback is believed to be the bank's only if its signature is right.",
        source="decisions 1 (callbacks)",
        file="provider_adapters/sandbox/callbacks.py",
        right="return (_notice(came.body, event),) if any(right) else None",
        wrong="return (_notice(came.body, event),) if right else None",
        tests=(f"{_CALLBACKS}::test_a_callback_with_a_changed_header_is_refused",),
    ),
    Mistake(
        name="callback-of-the-future",
        promise="A callback more than five minutes old, or ahead, is refused.",
        source="decisions 1 (callbacks)",
        file="provider_adapters/kit/proofs.py",
        right="return abs(now.timestamp() - int(text)) <= within_s",
        wrong="return now.timestamp() - int(text) <= within_s",
        tests=(f"{_CALLBACKS}::test_a_callback_with_an_older_or_newer_time_is_refused",),
    ),
    Mistake(
        name="altered-signature",
        promise="A signature has one spelling; one that was altered by a byte proves nothing.",
        source="docs/providers/callbacks.md",
        file="provider_adapters/kit/proofs.py",
        right='return found if base64.b64encode(found).decode() == signature else b""',
        wrong="return found",
        tests=(f"{_PROOFS}::test_a_published_body_with_any_changed_byte_is_refused",),
    ),
    Mistake(
        name="certificate-of-a-stranger",
        promise="A certificate in a header is believed of our own proxies alone.",
        source="docs/providers/callbacks.md",
        file="gateway/net/server/peer.py",
        right='is_believed = self.is_proxy and self.limits.client_address == "forwarded"',
        wrong='is_believed = self.limits.client_address == "forwarded"',
        tests=(f"{_PROXIED}::test_a_certificate_forwarded_by_an_untrusted_peer_is_ignored",),
    ),
    Mistake(
        name="callback-of-several-companies",
        promise="What is kept of a callback shows no company the account of another.",
        source="docs/providers/callbacks.md",
        file="gateway/callbacks/reception.py",
        right='return part or (came.body if len(notices) == 1 else b"")',
        wrong="return part or came.body",
        tests=(f"{_OPERATIONS_CALLBACKS}::test_several_notices_in_one_body_are_stored_separately",),
    ),
    Mistake(
        name="callback-believed",
        promise="A callback moves nothing: the bank is read before it is done.",
        source="decisions 1 (callbacks)",
        file="gateway/callbacks/processing.py",
        right=(
            "        seen = payout if is_final else await self.look(payout, named, heard.append)\n"
            "        # One that its bank holds has a schedule of its own.\n"
            "        if seen.state in FINAL_STATES or seen.is_held(self.now()) or last:\n"
            "            return CallbackState.DONE\n"
            "        return CallbackState.RECEIVED"
        ),
        wrong="        return CallbackState.DONE",
        tests=(f"{_CALLBACK_LOOKS}::test_a_payout_is_read_at_its_bank",),
    ),
    Mistake(
        name="callback-of-another-bank",
        promise="A bank speaks of its own payouts alone.",
        source="decisions 1 (callbacks)",
        file="gateway/callbacks/processing.py",
        right="return payout if payout and payout.provider == callback.provider else None",
        wrong="return payout",
        tests=(
            f"{_CALLBACK_LOOKS}::test_a_callback_about_another_bank_s_payout_makes_no_status_query",
        ),
    ),
    Mistake(
        name="below-a-harmless-name",
        promise=(
            "Of a bank's documents only fields named harmless are shown, and nothing below them."
        ),
        source="docs/operations.md",
        file="provider_adapters/kit/transcript.py",
        right="if name in harmless and not isinstance(item, dict | list)",
        wrong="if name in harmless",
        tests=(f"{_TRANSCRIPT}::test_fields_below_a_shown_field_are_hidden_unless_named",),
    ),
    Mistake(
        name="bank-credentials-in-clear",
        promise="What a bank wants from us is stored sealed.",
        source="SECURITY.md",
        file="gateway/accounts/service.py",
        right='return self.seal(shown.text, account_id) if shown.text else b""',
        wrong='return shown.text.encode() if shown.text else b""',
        tests=(f"{_ACCOUNTS}::test_credentials_at_the_provider_are_sealed_for_this_account",),
    ),
    Mistake(
        name="not-sent-though-bytes-left",
        promise="An adapter's `NotSent` of which bytes have left is not believed.",
        source="docs/providers/outcomes.md",
        file="gateway/banks/port/answers.py",
        right="if result.evidence.reason not in REFUSED_BEFORE_EXECUTION:",
        wrong="if not result.evidence.reason:",
        tests=(f"{_OUTCOMES}::test_a_contradictory_answer_to_a_payout_is_invalid",),
    ),
    Mistake(
        name="known-key-compared-by-nobody",
        promise="A key that the bank knows is ours only when amount and destination were compared.",
        source="docs/providers/outcomes.md",
        file="gateway/banks/port/answers.py",
        right="if result.evidence.reason == Reason.DUPLICATE:",
        wrong="if result.evidence.reason == Reason.REFUSED:",
        tests=(f"{_OUTCOMES}::test_a_contradictory_answer_to_a_payout_is_invalid",),
    ),
    Mistake(
        name="another-destination-is-ours",
        promise="A known key of an order to somebody else is never taken for ours.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/kit/outcomes.py",
        right="all(shown.get(name) == text for name, text in self.place.items())",
        wrong="bool(shown)",
        tests=(f"{_PAYOUTS}::test_a_payout_read_back_must_have_the_ordered_destination",),
    ),
    Mistake(
        name="bare-status-is-not-sent",
        promise="A refusal before execution is believed with the bank's own code alone.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/kit/outcomes.py",
        right="reason = listed.get((answer.status, code))",
        wrong="reason = {status: why for (status, _), why in listed.items()}.get(answer.status)",
        tests=(f"{_KIT_OUTCOMES}::test_a_status_or_a_code_alone_does_not_match_the_list",),
    ),
    Mistake(
        name="words-of-a-bank-in-a-reason",
        promise="A reason that is none of our words is told to nobody.",
        source="docs/providers/outcomes.md",
        file="gateway/banks/port/answers.py",
        right="return str(reason) if is_ours else Reason.UNLISTED_REASON.value",
        wrong="return str(reason)",
        tests=(f"{_CHECKED}::test_a_provider_error_keeps_its_class_and_loses_the_bank_s_words",),
    ),
    Mistake(
        name="answer-to-another-question",
        promise="A charge of another reference than the one asked for is shown to nobody.",
        source="docs/providers/outcomes.md",
        file="gateway/banks/port/answers.py",
        right='    same_as(found.reference, reference, "charge.reference")\n',
        wrong="",
        tests=(f"{_ANSWERS}::test_an_answer_about_another_record_is_refused",),
    ),
)
