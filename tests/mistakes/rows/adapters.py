"""Adapters: what each bank is sent, and which of its answers prove that money moved or did not."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_APIPIX = "tests/unit/provider_adapters/apipix"
_ASAAS = "tests/unit/provider_adapters/asaas"
_SANDBOX = "tests/unit/provider_adapters/sandbox"
_STARKBANK = "tests/unit/provider_adapters/starkbank"
_WOOVI = "tests/unit/provider_adapters/woovi"

ROWS = (
    Mistake(
        name="woovi-asked-is-paid",
        promise="What Woovi says was paid is told as the amount, not what was asked for.",
        source="contract 2.6, docs/providers/outcomes.md",
        file="provider_adapters/woovi/payouts.py",
        right="paid=None if paid.value is None else Money(paid.value),",
        wrong="paid=None,",
        tests=(f"{_WOOVI}/test_payouts.py::test_a_confirmed_payout_has_the_amount_really_paid",),
    ),
    Mistake(
        name="woovi-unlisted-sentence-rejects",
        promise="A refusal of Woovi whose sentence is not listed leaves a payout unknown.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/woovi/mapping.py",
        right='    (400, "NOT_ENOUGH_BALANCE"): FailureCode.INSUFFICIENT_FUNDS,\n',
        wrong=(
            '    (400, "NOT_ENOUGH_BALANCE"): FailureCode.INSUFFICIENT_FUNDS,\n'
            '    (400, "OTHER"): FailureCode.REJECTED,\n'
        ),
        tests=(f"{_WOOVI}/test_payouts.py::test_any_unlisted_answer_is_a_provider_error",),
    ),
    Mistake(
        name="woovi-bank-by-compe",
        promise="Woovi is told a bank by its ISPB.",
        source="Woovi, docs/flows/validate-bank-data-manual.md",
        file="provider_adapters/kit/banks.py",
        right="    return bank.ispb",
        wrong="    return bank.compe or bank.ispb",
        tests=(f"{_WOOVI}/test_requests.py::test_a_bank_is_identified_by_its_ispb",),
    ),
    Mistake(
        name="woovi-callback-without-a-secret",
        promise="Where no secret is configured, no HMAC proves a callback of Woovi.",
        source="docs/providers/callbacks.md, ADR 0024",
        file="provider_adapters/woovi/callbacks.py",
        right=(
            "return self._hmac is not None and bool(given) and self._hmac.proves(given, came.body)"
        ),
        wrong="return bool(given) and (self._hmac is None or self._hmac.proves(given, came.body))",
        tests=(f"{_WOOVI}/test_callbacks.py::test_an_hmac_proves_nothing_without_a_secret",),
    ),
    Mistake(
        name="woovi-refund-under-way-not-counted",
        promise="A refund that is under way counts as given back.",
        source="ADR 0009, provider_adapters/woovi/README.md",
        file="provider_adapters/woovi/received.py",
        right="if mapping.REFUND_STATUSES.get(each.status) is not RefundStatus.FAILED",
        wrong="if mapping.REFUND_STATUSES.get(each.status) is RefundStatus.PAID",
        tests=(f"{_WOOVI}/test_received.py::test_failed_refunds_are_not_added_up",),
    ),
    Mistake(
        name="woovi-charge-shows-its-second-payment",
        promise="Of several payments of a charge the first that reaches its amount is shown.",
        source="provider_adapters/woovi/README.md",
        file="provider_adapters/woovi/received.py",
        right="paid = min(enough, key=at) if enough",
        wrong="paid = max(enough, key=at) if enough",
        tests=(
            f"{_WOOVI}/test_received.py::test_the_first_sufficient_payment_of_a_charge_is_used",
        ),
    ),
    Mistake(
        name="woovi-balance-of-another-account",
        promise="The balance that is shown is that of the account that was asked for.",
        source="contract 2.3, provider_adapters/woovi/README.md",
        file="provider_adapters/woovi/mapping.py",
        right="        if account.account_id != asked:",
        wrong="        if not account.account_id:",
        tests=(
            f"{_WOOVI}/test_mapping_translate.py::test_a_balance_must_be_of_the_requested_account",
        ),
    ),
    Mistake(
        name="woovi-unknown-refund-failed",
        promise="A refund whose state we do not know is under way, so that it is not given twice.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/woovi/refunds.py",
        right="RefundStatus.PROCESSING, unknown)",
        wrong="RefundStatus.FAILED, unknown)",
        tests=(
            f"{_WOOVI}/test_refunds.py::test_an_unknown_refund_status_is_processing_and_counted",
        ),
    ),
    Mistake(
        name="starkbank-one-listed-code-rejects",
        promise="A refusal of Stark Bank rejects a payout only if each of its codes is listed.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/starkbank/payouts.py",
        right="    if set(codes) <= mapping.REJECTIONS.keys():",
        wrong="    if codes[0] in mapping.REJECTIONS:",
        tests=(
            f"{_STARKBANK}/test_payouts.py::test_any_other_refusal_is_unknown_and_may_be_a_duplicate",
        ),
    ),
    Mistake(
        name="starkbank-first-of-two",
        promise="Two transfers under one key of ours are unknown, and a person decides.",
        source="ADR 0003",
        file="provider_adapters/starkbank/payouts.py",
        right=(
            "        if len(ours) > 1:\n"
            "            return Unknown(answer.evidence(Reason.KEY_MISMATCH))\n"
        ),
        wrong="",
        tests=(f"{_STARKBANK}/test_payouts.py::test_two_transfers_with_our_tag_are_unknown",),
    ),
    Mistake(
        name="starkbank-ted-instead-of-pix",
        promise="Stark Bank is told eight digits of a bank, for three of them mean TED.",
        source="Stark Bank, SDK, `Transfer.bank_code`",
        file="provider_adapters/starkbank/requests.py",
        right="        ispb = bank.ispb",
        wrong="        ispb = bank.compe",
        tests=(f"{_STARKBANK}/test_requests.py::test_a_bank_is_identified_by_its_ispb",),
    ),
    Mistake(
        name="starkbank-key-of-somebody-else",
        promise="A payout by key goes to the owner that the order names.",
        source="contract 2.6",
        file="provider_adapters/starkbank/requests.py",
        right="    if not may_be(to.tax_number, entry.tax_id):",
        wrong="    if not entry.tax_id:",
        tests=(f"{_STARKBANK}/test_adapter.py::test_a_payout_to_another_person_s_key_is_rejected",),
    ),
    Mistake(
        name="starkbank-any-currency",
        promise="A balance in another currency is not told as reais.",
        source="contract 2.3",
        file="provider_adapters/starkbank/mapping.py",
        right="    if held.currency != _REAIS:",
        wrong="    if not held.currency:",
        tests=(
            f"{_STARKBANK}/test_mapping_translate.py::test_a_balance_other_than_one_in_brl_is_a_bad_reply",
        ),
    ),
    Mistake(
        name="starkbank-day-ends-in-utc",
        promise="An invoice that is due on a day can be paid until the day ends in Sao Paulo.",
        source="contract 2.4, provider_adapters/starkbank/README.md",
        file="provider_adapters/starkbank/charges.py",
        right="datetime.combine(day, time.max, _ZONE)",
        wrong="datetime.combine(day, time.max, UTC)",
        tests=(f"{_STARKBANK}/test_charges.py::test_a_due_day_ends_in_sao_paulo_time",),
    ),
    Mistake(
        name="starkbank-callback-without-a-signature",
        promise="A callback of Stark Bank without a signature proves nothing.",
        source="docs/providers/callbacks.md, ADR 0024",
        file="provider_adapters/starkbank/callbacks.py",
        right="if not given or not await self._signature.proves(given, came.body):",
        wrong="if given and not await self._signature.proves(given, came.body):",
        tests=(f"{_STARKBANK}/test_callbacks.py::test_a_forged_signature_is_refused",),
    ),
    Mistake(
        name="asaas-429-of-a-proxy",
        promise="A 429 means not sent only if the bank's own header says that no calls are left.",
        source="docs/providers/outcomes.md, Asaas, reference/api-limits",
        file="provider_adapters/asaas/payouts.py",
        right=(
            'if answer.status == _TOO_MANY and answer.headers.get("RateLimit-Remaining", "") '
            '== "0":'
        ),
        wrong="if answer.status == _TOO_MANY:",
        tests=(f"{_ASAAS}/test_payouts.py::test_any_other_answer_to_an_order_is_a_provider_error",),
    ),
    Mistake(
        name="asaas-centavos-as-reais",
        promise="Asaas is told amounts in reais.",
        source="ADR 0004, Asaas, SDK, TransferSaveRequest",
        file="provider_adapters/asaas/requests.py",
        right='        "value": money.as_number(order.value),\n        "operationType": _PIX,',
        wrong='        "value": order.value.centavos,\n        "operationType": _PIX,',
        tests=(f"{_ASAAS}/test_requests.py::test_a_transfer_by_key_is_sent_as_pix_with_our_key",),
    ),
    Mistake(
        name="asaas-times-as-utc",
        promise="Times of Asaas, which name no zone, are those of Sao Paulo.",
        source="contract 2.1, provider_adapters/asaas/README.md",
        file="provider_adapters/asaas/mapping.py",
        right="    return times.instant(text, ZONE)",
        wrong='    return times.instant(text, ZoneInfo("UTC"))',
        tests=(
            (
                f"{_ASAAS}/test_mapping_translate.py"
                "::test_a_movement_has_the_start_of_its_day_in_sao_paulo"
            ),
        ),
    ),
    Mistake(
        name="asaas-expected-payment-received",
        promise="A payment counts as received only once the bank says that it is done.",
        source="contract 2.5, provider_adapters/asaas/README.md",
        file="provider_adapters/asaas/mapping.py",
        right='    return row.type == "CREDIT" and row.status == DONE',
        wrong='    return row.type == "CREDIT"',
        tests=(f"{_ASAAS}/test_mapping_translate.py::test_a_refused_payment_is_not_found",),
    ),
    Mistake(
        name="asaas-boleto-in-the-pix-statement",
        promise="A charge that was paid by boleto or card is no Pix movement.",
        source="contract 2.7",
        file="provider_adapters/asaas/mapping.py",
        right="if row.type == CHARGE_RECEIVED and row.payment_id in pix_charges",
        wrong="if row.type == CHARGE_RECEIVED",
        tests=(f"{_ASAAS}/test_mapping_translate.py::test_only_listed_kinds_are_pix",),
    ),
    Mistake(
        name="asaas-key-of-either-environment",
        promise="An API key of one environment of Asaas is refused in the other.",
        source="docs/providers/accounts.md, Asaas, docs/authentication",
        file="provider_adapters/asaas/secrets.py",
        right='{Environment.PRODUCTION: "$aact_prod_", Environment.SANDBOX: "$aact_hmlg_"}',
        wrong='dict.fromkeys(Environment, "$aact_")',
        tests=(
            f"{_ASAAS}/test_secrets.py::test_a_key_of_another_environment_is_refused_and_not_quoted",
        ),
    ),
    Mistake(
        name="asaas-unknown-charge-paid",
        promise="A charge whose state we do not know is not told as paid.",
        source="contract 2.4, docs/providers/outcomes.md",
        file="provider_adapters/asaas/charges.py",
        right="ChargeStatus.ACTIVE, unknown)",
        wrong="ChargeStatus.PAID, unknown)",
        tests=(
            (
                f"{_ASAAS}/test_charges.py"
                "::test_a_removed_charge_is_canceled_and_an_unknown_state_active"
            ),
        ),
    ),
    Mistake(
        name="apipix-order-repeated-with-another-token",
        promise="An order whose token was refused is not sent again with another one.",
        source="ADR 0003",
        file="provider_adapters/apipix/access.py",
        right="            await self.tokens.drop(credentials, token)\n        return outcome",
        wrong=(
            "            await self.tokens.drop(credentials, token)\n"
            "            token = await self.tokens.of(credentials)\n"
            "            return await self.client.pay(_bearing(request, token), translate, "
            "send_by)\n"
            "        return outcome"
        ),
        tests=(f"{_APIPIX}/test_access.py::test_an_order_with_a_revoked_token_is_sent_only_once",),
    ),
    Mistake(
        name="apipix-charge-paid-by-a-centavo",
        promise="A payment that does not reach a charge's amount does not pay it.",
        source="provider_adapters/apipix/README.md",
        file="provider_adapters/apipix/charges.py",
        right=" and amount(each.valor) >= least",
        wrong="",
        tests=(
            f"{_APIPIX}/test_charges.py::test_an_insufficient_payment_does_not_make_a_charge_paid",
        ),
    ),
    Mistake(
        name="apipix-charge-shows-its-second-payment",
        promise="A charge that was paid twice shows the payment that paid it.",
        source="API Pix 2.9.0, `CONCLUIDA`",
        file="provider_adapters/apipix/charges.py",
        right="return True, min(enough",
        wrong="return True, max(enough",
        tests=(f"{_APIPIX}/test_charges.py::test_a_charge_paid_twice_keeps_its_first_payment",),
    ),
    Mistake(
        name="apipix-due-on-a-holiday",
        promise="A due date moves to the next working day, and what follows it too.",
        source="API Pix 2.9.0, `validadeAposVencimento`",
        file="provider_adapters/apipix/charges.py",
        right="working_day_from(working_day_from(due) + valid)",
        wrong="working_day_from(due + valid)",
        tests=(
            (
                f"{_APIPIX}/test_charges.py"
                "::test_a_charge_with_a_due_date_expires_after_its_last_day_in_sao_paulo"
            ),
        ),
    ),
    Mistake(
        name="apipix-amount-with-a-minus",
        promise="An amount of API Pix has no sign.",
        source="API Pix 2.9.0, `valor`",
        file="provider_adapters/kit/money.py",
        right="    if found.centavos < 0:",
        wrong="    if found.centavos == 0:",
        tests=(
            f"{_APIPIX}/test_access.py::test_an_amount_with_a_sign_or_three_decimals_is_refused",
        ),
    ),
    Mistake(
        name="apipix-callback-secret-shown",
        promise="The address of callbacks is shown without the step that proves them.",
        source="docs/providers/callbacks.md",
        file="provider_adapters/apipix/callbacks.py",
        right='        return re.sub(_STEP + ends + r"\\Z", "", url)',
        wrong='        return re.sub(ends + r"\\Z", "", url)',
        tests=(
            (
                f"{_APIPIX}/test_callbacks.py"
                "::test_an_address_is_registered_for_every_key_without_the_secret"
            ),
        ),
    ),
    Mistake(
        name="apipix-unread-refund-rejected",
        promise="A refund that cannot be read back after a refusal is unknown.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/apipix/received.py",
        right="        except ProviderError:\n            return Unknown(evidence)",
        wrong=(
            "        except ProviderError:\n"
            "            return Rejected(evidence=evidence, failure=FailureCode.OTHER)"
        ),
        tests=(
            f"{_APIPIX}/test_received.py::test_a_refused_refund_that_cannot_be_read_is_unknown",
        ),
    ),
    Mistake(
        name="apipix-midnight-on-two-days",
        promise="What happens at the end of a window belongs to the next one alone.",
        source="contract 8, API Pix 2.9.0, `fim`",
        file="provider_adapters/apipix/lists.py",
        right="return self.start <= at < self.end",
        wrong="return self.start <= at <= self.end",
        tests=(f"{_APIPIX}/test_lists.py::test_a_time_range_excludes_its_end",),
    ),
    Mistake(
        name="inter-doubtful-word-is-failed",
        promise="A state of Inter about which sources disagree proves nothing.",
        source="docs/providers/outcomes.md",
        file="provider_adapters/apipix/inter/words.py",
        right='    "FALHA": FailureCode.OTHER,\n',
        wrong='    "FALHA": FailureCode.OTHER,\n    "NAO_DEBITADO": FailureCode.OTHER,\n',
        tests=(f"{_APIPIX}/inter/test_payouts.py::test_an_ambiguous_state_is_unknown_and_counted",),
    ),
    Mistake(
        name="inter-time-as-utc",
        promise="A time of Inter that names no zone is the bank's own.",
        source="contract 2.1, provider_adapters/apipix/README.md",
        file="provider_adapters/apipix/inter/payouts.py",
        right="instant(text, ZONE)",
        wrong='instant(text + "Z", ZONE)',
        tests=(
            f"{_APIPIX}/inter/test_payouts.py::test_a_paid_payout_is_settled_at_the_bank_s_time",
        ),
    ),
    Mistake(
        name="sandbox-returned-payout-failed",
        promise="A payout that came back was paid; its return is money that came in.",
        source="ADR 0023",
        file="provider_adapters/sandbox/mapping.py",
        right='"DEVOLVIDA": Settled,',
        wrong='"DEVOLVIDA": Rejected,',
        tests=(f"{_SANDBOX}/test_payouts.py::test_a_returned_payout_is_still_settled",),
    ),
    Mistake(
        name="sandbox-refund-404-rejects",
        promise="A 404 to an order of a refund proves nothing.",
        source="docs/providers/outcomes.md, provider_adapters/sandbox/README.md",
        file="provider_adapters/sandbox/refunds.py",
        right='    (422, "KEY_REUSED"): (IN_USE, FailureCode.OTHER),\n',
        wrong=(
            '    (422, "KEY_REUSED"): (IN_USE, FailureCode.OTHER),\n'
            '    (404, "NOT_FOUND"): (Reason.NOT_FOUND, FailureCode.OTHER),\n'
        ),
        tests=(
            f"{_SANDBOX}/test_refunds.py::test_any_other_answer_to_a_refund_is_a_provider_error",
        ),
    ),
    Mistake(
        name="sandbox-payout-without-its-key",
        promise="A payout travels with the key by which the bank pays it once.",
        source="ADR 0003, decisions 9",
        file="provider_adapters/sandbox/requests.py",
        right=(
            '"create_payout", "/transferencias")\n'
            '    return paying(request, document, order.provider_key, header="Idempotency-Key")'
        ),
        wrong=(
            '"create_payout", "/transferencias")\n'
            "    return paying(request, document, order.provider_key)"
        ),
        tests=(
            f"{_SANDBOX}/test_requests_orders.py::test_a_payout_order_is_a_payout_request_with_our_key",
        ),
    ),
    Mistake(
        name="sandbox-absent-key-is-absent-payout",
        promise="Only the bank's own word about a payout says that it is absent.",
        source="docs/providers/outcomes.md, ADR 0003",
        file="provider_adapters/sandbox/mapping.py",
        right="listed_error(answer, error_code(answer), ERRORS)",
        wrong="listed_error(answer, error_code(answer), {**REFUSALS, **ERRORS})",
        tests=(f"{_SANDBOX}/test_payouts.py::test_only_the_bank_s_own_error_code_means_not_found",),
    ),
    Mistake(
        name="sandbox-direction-guessed",
        promise="A movement that says neither in nor out is refused.",
        source="contract 2.7",
        file="provider_adapters/sandbox/mapping.py",
        right="direction=listed(DIRECTIONS, document.natureza),",
        wrong='direction=DIRECTIONS.get(document.natureza, DIRECTIONS["C"]),',
        tests=(
            (
                f"{_SANDBOX}/test_mapping_translate.py"
                "::test_an_unreadable_entry_makes_the_page_a_bad_reply"
            ),
        ),
    ),
    Mistake(
        name="sandbox-bank-on-another-machine",
        promise="The sandbox bank is on this machine.",
        source="ADR 0006, decisions 10",
        file="provider_adapters/sandbox/factory.py",
        right="        base_url = loopback_of(place, chosen.base_url)",
        wrong="        base_url = chosen.base_url",
        tests=(f"{_SANDBOX}/test_factory.py::test_the_sandbox_bank_must_be_on_this_machine",),
    ),
)
