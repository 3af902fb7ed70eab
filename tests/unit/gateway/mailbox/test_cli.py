"""``pixgate mailbox``."""

from tests.unit.gateway.identity.users import ANA


def test_the_newest_message_is_shown_with_its_text(shell):
    shell.says("user", "invite", *ANA, "--role", "viewer")

    said = shell.says("mailbox")

    assert said.splitlines()[0].split() == ["created_at", "to", "subject", "sent_at"]
    assert "--- ana@example.com: [pixgate] Convite" in said
    assert "http://127.0.0.1:8080/panel/invitation?token=" in said


def test_an_empty_mailbox_is_an_empty_list(shell):
    assert shell.reads("mailbox") == []


def test_production_refuses_to_show_the_mailbox(shell):
    """Running a command there is no proof of being another user."""
    shell.environ |= {
        "PIXGATE_ENVIRONMENT": "production",
        "PIXGATE_PEPPER": "a pepper of production, long enough",
        "PIXGATE_SEALING_KEY": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    }

    assert "production" in shell.fails("mailbox")
