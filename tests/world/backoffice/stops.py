"""What several tests of stops share."""

from gateway.operations.backoffice.stops import KillSwitches, Subjects
from tests.world.registers import Registers


def stops_of(office: Registers) -> KillSwitches:
    subjects = Subjects(
        providers=("sandbox",),
        companies=office.store.companies,
        accounts=office.store.accounts,
        credentials=office.store.credentials,
    )
    return KillSwitches(
        stops=office.store.stops, subjects=subjects, acting=office.acting, new_id=office.new_id
    )
