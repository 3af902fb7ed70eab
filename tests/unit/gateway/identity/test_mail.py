"""Mail to users."""

import hashlib
from dataclasses import replace

from gateway.core.user import Preferences
from gateway.identity.challenges import Purpose
from gateway.identity.mail import Mailer


async def test_a_link_is_kept_as_its_digest_alone(identity_world, maria):
    await Mailer(identity_world.context).send_reset_link(maria)

    token = await identity_world.link()
    now = identity_world.clock.now()
    row = await identity_world.store.identity.challenges.use_mail_token(
        hashlib.sha256(token.encode()).digest(), Purpose.RESET, now
    )
    assert row is not None
    assert row.user_id == maria.id


async def test_people_are_addressed_by_name(identity_world, maria):
    await Mailer(identity_world.context).send_invitation(maria)

    text = (await identity_world.mails())[0]
    assert text.startswith("Olá, Maria!")
    assert "https://pix.example/panel/invitation?token=" in text


async def test_a_notice_holds_no_link(identity_world, maria):
    await Mailer(identity_world.context).notify(
        maria, ("Aviso", "Notice"), ("Algo mudou.", "A change.")
    )

    assert "://" not in (await identity_world.mails())[0]


async def test_whoever_chose_english_for_the_panel_gets_mail_in_english(identity_world, maria):
    english = replace(maria, preferences=Preferences(language="en"))

    await Mailer(identity_world.context).send_reset_link(english)

    (text,) = await identity_world.mails()
    assert text.startswith("Hello, Maria!\n\nSomebody asked for a new password")
    assert "https://pix.example/panel/reset?token=" in text
