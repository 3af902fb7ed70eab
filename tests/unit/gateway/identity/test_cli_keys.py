"""``pixgate keys``."""


def test_the_next_key_is_published_before_it_signs(shell):
    first = shell.reads("keys", "rotate", "--now")
    following = shell.reads("keys", "rotate")

    listed = shell.reads("keys", "list")

    assert [(each["id"], each["state"]) for each in listed] == [
        (first["id"], "signs"),
        (following["id"], "next"),
    ]


def test_a_key_that_signed_before_only_verifies(shell):
    shell.says("keys", "rotate", "--now")
    shell.says("keys", "rotate", "--now")

    assert sorted(each["state"] for each in shell.reads("keys", "list")) == ["signs", "verifies"]


def test_a_key_is_retired(shell):
    old = shell.reads("keys", "rotate", "--now")["id"]
    shell.says("keys", "rotate", "--now")

    assert "may live" in shell.fails("keys", "retire", old)
    assert shell.reads("keys", "retire", old, "--now") == {"id": old, "state": "retired"}

    states = {each["id"]: each["state"] for each in shell.reads("keys", "list")}
    assert states[old] == "retired"


def test_the_only_key_stays(shell):
    only = shell.reads("keys", "rotate", "--now")["id"]

    assert "rotate first" in shell.fails("keys", "retire", only, "--now")


def test_no_private_half_is_printed(shell):
    made = shell.reads("keys", "rotate", "--now")

    assert set(made) == {"id", "state", "created_at", "signs_from", "retired_at"}
