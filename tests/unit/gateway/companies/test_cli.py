"""``pixgate company``."""


def test_a_company_is_created_and_listed(shell):
    made = shell.reads("company", "create", "--name", "Padaria São João")

    assert shell.reads("company", "list") == [made]
    assert made["name"] == "Padaria São João"


def test_the_list_is_a_table(shell):
    made = shell.reads("company", "create", "--name", "Padaria")

    head, row = shell.says("company", "list").splitlines()

    assert head.split() == ["id", "name", "created_at", "contact"]
    assert row.split()[:2] == [made["id"], "Padaria"]


def test_a_missing_name_is_a_usage_error(shell):
    assert "--name" in shell.fails("company", "create", status=2)


def test_the_contact_is_set_and_taken_away(shell):
    made = shell.reads("company", "create", "--name", "Padaria", "--contact", "TI@Padaria.example")

    changed = shell.reads("company", "contact", made["id"], "ti@outra.example")
    without = shell.reads("company", "contact", made["id"], "")

    assert [made["contact"], changed["contact"], without["contact"]] == [
        *("ti@padaria.example", "ti@outra.example", ""),
    ]
    assert "e-mail" in shell.fails("company", "contact", made["id"], "nobody")
