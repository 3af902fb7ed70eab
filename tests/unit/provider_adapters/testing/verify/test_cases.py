"""The registration of cases."""

import pytest

from gateway.domain.bank.capabilities import Capabilities, PortCall
from provider_adapters.testing.verify.cases import CASES, Case, add, case
from provider_adapters.testing.verify.trial import Trial


def test_a_case_is_registered_with_the_first_line_of_its_docstring():
    @case("bank.invented", needs={PortCall.PROBE})
    async def invented(trial: Trial) -> None:
        """
        It holds.

        More of it.
        """

    made = CASES.pop("bank.invented")

    assert (made.group, made.title, made.run) == ("bank", "It holds.", invented)
    assert made.lacking(Capabilities(calls=frozenset({PortCall.PROBE}))) == ""
    assert made.lacking(Capabilities()) == "probe is not declared"


def test_an_id_is_taken_once():
    known = next(iter(CASES.values()), None) or Case(
        id="a.b", title="", needs=frozenset(), run=lambda _: None
    )
    CASES.setdefault(known.id, known)

    with pytest.raises(ValueError, match="already"):
        add(known)
