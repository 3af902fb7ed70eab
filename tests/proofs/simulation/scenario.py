"""What kind of life a seed draws: which bank, how much goes wrong, who stops when."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from gateway.banks.port.capabilities import Repeat

UNHELD = 2_500
"""Two payouts in three or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    Chances and counts of one life; chances are per event.

    Attributes:
        kind: What the bank does with a key it has seen.
        lookup: The bank can be asked by our key.
        statement_keys: Its statement repeats our key.
        loss, slow, double: Messages that are lost, late, or arrive twice.
        refused: Connections that are refused, or take too long.
        bank_errors: Answers that say nothing about what was done.
        rejects, fails_late, mismatch: Orders refused, failed later, paid with another amount.
        holds: Orders that the bank analyses for up to an hour before it decides.
        first_payee: Payouts are held for half an hour: nobody was ever paid.
        unheld: What the payee gets in a day without a hold, in centavos.
        decides: Held payouts on which a second person decides before their time is over.
        returns: Payouts of which something comes back after they settled.
        hidden: Payouts that a look-up does not show for a while.
        read_errors: Look-ups that fail.
        store_faults: Statements that fail before, during or after they are done.
        store_slow: Statements that take seconds.
        crashes, stops, pauses: Processes killed, told to stop, or halted, between two steps.
        midnight, dawn: The life begins minutes before, or after, a day ends; else at noon.
        restore: A backup is restored, then payouts are looked up before they are sent.
        strangers: Orders of other content under a reference that is taken.
        patient: Partners that ask again the next day.
        similar: The guard against similar payouts looks.
        references, partners, posts: How much is asked, and by how many at once.
        crowd: They all begin at the same moment, at the same node.
    """

    kind: Repeat = Repeat.SAME_ANSWER
    lookup: bool = True
    statement_keys: bool = True
    loss: float = 0.0
    slow: float = 0.0
    double: float = 0.0
    refused: float = 0.0
    bank_errors: float = 0.0
    rejects: float = 0.0
    fails_late: float = 0.0
    mismatch: float = 0.0
    holds: float = 0.0
    first_payee: bool = False
    unheld: int = 0
    decides: float = 0.0
    returns: float = 0.0
    hidden: float = 0.0
    read_errors: float = 0.0
    store_faults: float = 0.0
    store_slow: float = 0.0
    crashes: int = 0
    stops: int = 0
    pauses: int = 0
    midnight: bool = False
    dawn: bool = False
    restore: bool = False
    strangers: float = 0.0
    patient: float = 0.0
    similar: bool = False
    references: int = 1
    partners: int = 1
    posts: int = 3
    crowd: bool = False


def drawn(chance: Random) -> Scenario:
    """Draw a life in which anything may go wrong; some lives are rough, some nearly quiet."""
    rough = chance.choice((0.3, 1.0, 1.0, 2.0))

    def some(share: float, most: float) -> float:
        """Zero, but in a share of all lives up to ``most``."""
        return chance.random() * most * rough if chance.random() < share else 0.0

    crowd = chance.random() < 0.3
    return Scenario(
        kind=chance.choice(tuple(Repeat)),
        lookup=chance.random() < 0.9,
        statement_keys=chance.random() < 0.5,
        loss=some(0.6, 0.3),
        slow=some(0.5, 0.3),
        double=some(0.4, 0.3),
        refused=some(0.4, 0.3),
        bank_errors=some(0.6, 0.4),
        rejects=some(0.4, 0.4),
        fails_late=some(0.3, 0.3),
        mismatch=some(0.05, 0.3),
        holds=some(0.3, 0.5),
        first_payee=chance.random() < 0.25,
        decides=chance.choice((0.0, 0.5, 1.0)),
        returns=some(0.3, 0.5),
        hidden=some(0.5, 0.5),
        read_errors=some(0.4, 0.4),
        store_faults=some(0.5, 0.06),
        store_slow=some(0.2, 0.05),
        crashes=chance.choice((0, 1, 1, 2, 3)),
        stops=chance.choice((0, 0, 0, 1)),
        pauses=chance.choice((0, 0, 1, 2)),
        midnight=chance.random() < 0.3,
        dawn=chance.random() < 0.15,
        restore=chance.random() < 0.12,
        strangers=some(0.3, 0.5),
        patient=some(0.2, 0.3),
        similar=chance.random() < 0.3,
        references=chance.choice((3, 4, 6) if crowd else (1, 1, 2)),
        partners=chance.choice((1, 2, 2)),
        posts=chance.choice((2, 3, 4)),
        crowd=crowd,
        unheld=UNHELD if crowd else 0,
    )
