"""YAML of which only the plain part is taken."""

import pytest

from gateway.config.documents import Items, Section, Value, joined, parse
from gateway.telemetry.logs.redaction import mask_quoted


def test_ambiguous_yaml_values_stay_text():
    """YAML 1.1 reads `no` as false, `12:30` as 750 and `010` as 8."""
    cases = [
        ("true", True),
        ("false", False),
        ("no", "no"),
        ("Yes", "Yes"),
        ("12:30", "12:30"),
        ("2026-11-20", "2026-11-20"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("1e3", "1e3"),
        (".nan", ".nan"),
        ("8080", 8080),
        ("-1", -1),
        ("0.5", 0.5),
        ("null", None),
        ("~", None),
        ("", None),
        ('"8080"', "8080"),
        ("9" * 19, "9" * 19),
    ]

    for written, content in cases:
        root = parse(f"a: {written}").root

        assert root == Section({"a": Value(content, 1)}, 1)
        assert type(root.nodes["a"].content) is type(content)


def test_a_list_and_a_section_keep_their_lines():
    root = parse("a:\n  - 1\n  - b: 2\n").root

    assert root.nodes["a"] == Items((Value(1, 2), Section({"b": Value(2, 3)}, 3)), 2)


def test_a_name_that_is_repeated_is_reported_with_its_path_and_lines():
    document = parse("server:\n  port: 1\n  host: a\n  port: 2\n")

    assert document.problems == ["server.port: stands twice (lines 2 and 4)"]


def test_yaml_features_beyond_plain_values_are_refused():
    cases = [
        ("a: &x 1", "anchors, aliases and tags are not taken (line 1)"),
        ("a: 1\nb: *x", "anchors, aliases and tags are not taken (line 2)"),
        ("a: !!python/object/apply:os.system ['true']", "anchors, aliases and tags are not taken"),
        ("a: !!int '1'", "anchors, aliases and tags are not taken"),
        ("a: [", "not YAML"),
        ("a: 1\n---\na: 2", "another document (line 2)"),
        ("a: \x00", "a character that YAML does not take"),
        ("[" * 5000, "nested too deeply"),
        ("{a: 1}: 2", "a name is a text (line 1)"),
    ]

    for text, problem in cases:
        document = parse(text)

        assert len(document.problems) == 1
        assert problem in document.problems[0]


def test_the_error_for_an_invalid_file_quotes_nothing_of_it():
    """PyYAML quotes a part of the file, which may contain a secret."""
    document = parse("pepper: canary\n: [\n")

    assert document.problems
    assert "canary" not in document.problems[0]


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_text_is_an_empty_section(text: str):
    document = parse(text)

    assert (document.root, document.problems) == (Section({}, 0), [])


def test_paths_are_joined_by_dots():
    assert (joined("", "a"), joined("a", "b")) == ("a", "a.b")


def test_yaml_errors_keep_their_marks_after_redaction():
    """Log lines mask quoted text: positions in the file are shown, and its text is not."""
    cases = [
        ("a: [1", "(file): not YAML: expected `,` or `]`, but got `<stream end>` (line 1)"),
        ("a: !hush!b", "(file): not YAML: found undefined tag handle '***' (line 1)"),
    ]

    for text, logged in cases:
        assert [mask_quoted(problem) for problem in parse(text).problems] == [logged]
