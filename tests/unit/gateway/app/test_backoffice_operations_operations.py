"""What the rows run."""

from __future__ import annotations

import dataclasses

import pytest

from gateway.app.backoffice_operations import BackOfficeOperations


def test_they_stay_as_they_were_put_together():
    """Rows hold them for as long as the process lives."""
    names = [each.name for each in dataclasses.fields(BackOfficeOperations)]
    made = BackOfficeOperations(**dict.fromkeys(names))  # type: ignore[arg-type]

    with pytest.raises(dataclasses.FrozenInstanceError):
        made.approvals = None  # type: ignore[misc,assignment]


def test_no_operation_has_a_default():
    fields = dataclasses.fields(BackOfficeOperations)

    assert {each.default for each in fields} == {dataclasses.MISSING}
