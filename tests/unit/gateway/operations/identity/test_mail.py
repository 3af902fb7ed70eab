"""Mail to users."""

import hashlib

from gateway.domain.identity.challenges import Purpose
from gateway.operations.identity.mail import Mailer


async def test_a_link_is_kept_as_its_digest_alone(door, maria):
    await Mailer(door.context).send_reset_link(maria)

    token = await door.link()
    now = door.clock.now()
    row = await door.store.identity.challenges.use_mail_token(
        hashlib.sha256(token.encode()).digest(), Purpose.RESET, now
    )
    assert row is not None
    assert row.user_id == maria.id


async def test_people_are_addressed_by_name(door, maria):
    await Mailer(door.context).send_invitation(maria)

    text = (await door.mails())[0]
    assert text.startswith("Olá, Maria!")
    assert "https://pix.example/panel/invitation?token=" in text


async def test_a_notice_holds_no_link(door, maria):
    await Mailer(door.context).notify(maria, "Aviso", "Algo mudou.")

    assert "://" not in (await door.mails())[0]
