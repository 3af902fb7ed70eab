"""The Python client: what it proves, what it repeats, and digits."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_CLIENT = "clients/python/pixgate_client"
_TESTS = "tests/clients/python"
_DECISIONS = f"{_TESTS}/test_decisions.py"
_SEQUENCES = f"{_DECISIONS}::test_a_sequence_of_replies_ends_as_what_is_proven"
_ADR = "docs/adr/0078-clients-that-keep-the-promise.md"
_GUIDE = "docs/partner-guide.md"

ROWS = (
    Mistake(
        name="client-forgets-a-lost-request",
        promise="A request that may arrive late is never followed by NotSent.",
        source=_ADR,
        file=f"{_CLIENT}/payouts.py",
        right="self.lost = self.lost or proof is Proof.LOST",
        wrong="self.lost = proof is Proof.LOST",
        tests=(_SEQUENCES,),
    ),
    Mistake(
        name="client-takes-a-failed-connection-for-not-sent",
        promise="A failed connection says nothing about earlier calls with the reference.",
        source=_ADR,
        file=f"{_CLIENT}/payouts.py",
        right="evidence = Evidence(order.reference, unsent=first, ",
        wrong="evidence = Evidence(order.reference, unsent=True, ",
        tests=(_SEQUENCES,),
    ),
    Mistake(
        name="client-believes-a-proxy",
        promise="An answer without a code of the gateway proves nothing.",
        source=_ADR,
        file=f"{_CLIENT}/payouts.py",
        right="        return Proof.LOST\n    listed",
        wrong="        return Proof.LATER\n    listed",
        tests=(_SEQUENCES,),
    ),
    Mistake(
        name="client-repeats-under-another-reference",
        promise="A repetition has the same bytes.",
        source=_GUIDE,
        file=f"{_CLIENT}/payouts.py",
        right="        request = replace(request, delay_s=pause_s)\n",
        wrong="        again = replace(order, reference=f'{order.reference}-2')\n"
        "        body = body_of(again, tries.clock.now().date())\n"
        "        request = replace(request, delay_s=pause_s, body=body)\n",
        tests=(f"{_DECISIONS}::test_a_repetition_has_identical_bytes",),
    ),
    Mistake(
        name="client-comes-before-retry-after",
        promise="No repetition comes sooner than Retry-After.",
        source=_GUIDE,
        file=f"{_CLIENT}/retries.py",
        right="max(at_least_s or 0.0, ",
        wrong="max(0.0, ",
        tests=(f"{_DECISIONS}::test_pauses_double_and_are_never_shorter_than_retry_after",),
    ),
    Mistake(
        name="client-reads-floats",
        promise="An amount is read as a decimal, digit by digit.",
        source=_GUIDE,
        file=f"{_CLIENT}/documents.py",
        right="parse_float=Decimal",
        wrong="parse_float=lambda text: Decimal(round(float(text), 1))",
        tests=(f"{_TESTS}/test_documents.py::test_no_digit_is_lost",),
    ),
    Mistake(
        name="client-rounds-an-order",
        promise="An amount with a part of a centavo is refused, not rounded.",
        source=_GUIDE,
        file=f"{_CLIENT}/orders.py",
        right="if exact != value:",
        wrong="if exact > value + 1:",
        tests=(f"{_TESTS}/test_orders.py::test_an_invalid_amount_is_refused_before_a_request",),
    ),
    Mistake(
        name="client-takes-any-signature",
        promise="A delivery is taken only with a signature of one of the secrets.",
        source="docs/events.md",
        file=f"{_CLIENT}/webhooks.py",
        right="hmac.compare_digest(one, other) for one",
        wrong="len(one) == len(other) for one",
        tests=(f"{_TESTS}/test_webhooks.py::test_an_altered_or_unsigned_delivery_is_refused",),
    ),
)
