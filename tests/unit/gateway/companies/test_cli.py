"""``pixgate company``."""


def test_a_company_is_created_and_listed(shell):
    made = shell.reads("company", "create", "--name", "Padaria São João")

    assert shell.reads("company", "list") == [made]
    assert made["name"] == "Padaria São João"


def test_the_list_is_a_table(shell):
    made = shell.reads("company", "create", "--name", "Padaria")

    head, row = shell.says("company", "list").splitlines()

    assert head.split() == ["id", "name", "created_at"]
    assert row.split()[:2] == [made["id"], "Padaria"]


def test_a_missing_name_is_a_usage_error(shell):
    assert "--name" in shell.fails("company", "create", status=2)
