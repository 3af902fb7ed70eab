"""The stage of the simulated Woovi; the suite on it is run by the contract tests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.pix_keys import PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackKind
from provider_adapters.testing.verify.stage import Fate, NotApplicable
from provider_adapters.testing.woovi.stage import WooviStage
from provider_adapters.woovi import translate, words
from tests.world.banks.woovi import answer


def test_every_refusal_that_the_adapter_lists_is_on_the_stage():
    shown = [each.answer for each in WooviStage().refusals()]
    listed = {(each.status, translate.error_code(answer(each.body, each.status))) for each in shown}

    assert listed == {*words.REJECTIONS, *words.REFUSED_BEFORE}


async def test_what_the_bank_has_not_is_said():
    stage = WooviStage()

    with pytest.raises(NotApplicable):
        await stage.wish(Fate.HELD)
    with pytest.raises(NotApplicable):
        stage.fields(PortCall.LIST_REFUNDS)
    assert stage.new_key().type is PixKeyType.EVP


async def test_both_accounts_have_app_ids_and_callbacks_a_key():
    stage = WooviStage()
    try:
        await stage.start()
        first, second = stage.accounts
        assert first.secrets != second.secrets != stage.stranger().secrets
        await stage.rotate_secrets()
        with pytest.raises(NotApplicable):
            await stage.callback(first, CallbackKind.REFUND, "k", datetime.now(UTC))
    finally:
        await stage.close()
