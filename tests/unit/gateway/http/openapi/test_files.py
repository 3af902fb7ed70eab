"""Files as examples; what is in them is compared with their writers beside the documents."""

from __future__ import annotations

from gateway.http.openapi.files import file_example


def test_a_file_is_shown_by_the_row_that_answers_with_it():
    assert file_example("backoffice.report", "application/pdf").startswith("%PDF")
    assert file_example("panel.report", "image/png") == ""
    assert file_example("backoffice.another", "application/pdf") == ""
