"""A catalogue of codes."""

import pytest

from gateway.core.catalogue import Catalogue


@pytest.mark.parametrize(
    ("name", "message"), [("one", "Other."), ("other", "One.")], ids=["name", "meaning"]
)
def test_an_error_with_a_declared_name_or_message_is_refused(name: str, message: str):
    catalogue = Catalogue()
    catalogue.declare("one", ("SVC.X", 400), "One.", "Do.")

    with pytest.raises(ValueError, match="declared twice"):
        catalogue.declare(name, ("SVC.X", 400), message, "Do.")


def test_one_code_may_have_several_messages():
    catalogue = Catalogue()

    catalogue.declare("one", ("SVC.X", 400), "One.", "Do.")
    catalogue.declare("other", ("SVC.X", 400), "Other.", "Do.")
    catalogue.declare("third", ("SVC.X", 502), "One.", "Do.")

    assert list(catalogue.by_name) == ["one", "other", "third"]
