"""`hikae pair` on the bot's machine: the same as `/pair`, whether or not a gateway runs."""

from datetime import UTC, datetime, timedelta

from gateway import app
from gateway.chat import Chat, Person
from gateway.conversation import pairing
from gateway.conversation.access import Access, Standing
from gateway.store import outbox, people
from tests.flows.test_cli import Machine, core, machine  # fixtures

__all__ = ["core", "machine"]

MALLORY, PAUL = Person("telegram", "666"), Person("telegram", "777")


def asks(core: app.Core, person: Person) -> str:
    """A stranger has written; the code it was told."""
    access = Access(core.home, core.loaded.settings)
    with core.db.write() as tx:
        asked = pairing.code_for(tx, access, person, Chat(person.platform, person.id), datetime.now(UTC))
    assert asked is not None
    return asked.code


def standing(core: app.Core, person: Person) -> Standing:
    with core.db.read() as rd:
        return Access(core.home, core.loaded.settings).standing(rd, person)


def test_a_code_is_approved_and_taken_back(machine: Machine, core: app.Core) -> None:
    """Whoever was let in hears it as soon as a gateway runs, and nothing more once taken out."""
    code = asks(core, MALLORY)
    assert machine.hikae("pair", "approve", code.lower(), "--json").json == {
        "person": "telegram:666",
        "space": "telegram-666",
    }
    assert standing(core, MALLORY) is Standing.ALLOWED
    with core.db.read() as rd:
        told = outbox.by_dedupe(rd, f"let-in-{code}")
    assert told is not None and told.status == "waiting"

    assert machine.hikae("pair", "revoke", "telegram:666").code == 0

    assert standing(core, MALLORY) is Standing.STRANGER
    with core.db.read() as rd:
        assert outbox.get(rd, told.id).status == "dropped"
    again = machine.hikae("pair", "approve", code)
    assert (again.code, again.err) == (1, "This code was decided or has run out.\n")


def test_the_list_names_who_asks_and_who_is_let_in(machine: Machine) -> None:
    """One row for each account, with what can be done about it."""
    machine.configure("access: {owners: ['telegram:123']}")
    core = app.open_core(machine.home)
    try:
        assert machine.hikae("pair", "approve", asks(core, PAUL)).code == 0
        code = asks(core, MALLORY)
    finally:
        core.close()

    listed = machine.hikae("pair", "list", "--json").json
    assert [(row["person"], row["role"], row["space"], row["code"], row["in_settings"]) for row in listed] == [
        ("telegram:666", "asking", None, code, False),
        ("telegram:777", "allowed", "telegram-777", None, False),
        ("telegram:123", "owner", "owner", None, True),
    ]
    assert datetime.fromisoformat(listed[0]["expires_at"]) > datetime.now(UTC) + timedelta(minutes=55)
    lines = machine.hikae("pair", "list").out.splitlines()
    assert lines[0].split()[:4] == ["telegram:666", "asking", "–", code]
    assert lines[2].split() == ["telegram:123", "owner", "owner", "config.yaml"]


def test_a_no_is_listed_with_the_way_back(machine: Machine, core: app.Core) -> None:
    """Whoever was taken out by mistake need not ask again."""
    machine.hikae("pair", "approve", asks(core, PAUL))
    machine.hikae("pair", "revoke", "telegram:777")

    row, way_back = machine.hikae("pair", "list").out.splitlines()
    listed = machine.hikae("pair", "list", "--json").json

    assert row.split()[:3] == ["telegram:777", "revoked", "–"]
    assert way_back == "`hikae pair approve PLATFORM:ID` lets in who was ignored or revoked."
    assert [(each["role"], each["since"] is not None) for each in listed] == [("revoked", True)]
    assert machine.hikae("pair", "approve", "telegram:777").code == 0
    assert standing(core, PAUL) is Standing.ALLOWED


def test_as_joins_an_account_to_a_person_and_doctor_lists_the_space_it_left(
    machine: Machine, core: app.Core
) -> None:
    """What nobody uses any more is not forgotten by accident."""
    machine.hikae("pair", "approve", asks(core, MALLORY))
    joined = machine.hikae("pair", "approve", "telegram:666", "--as", "owner", "--json")

    assert joined.json == {"person": "telegram:666", "space": "owner"}
    assert standing(core, MALLORY) is Standing.OWNER
    assert "telegram-666 is closed: nobody uses it any more; its files are kept." in machine.hikae("doctor").out


def test_what_cannot_be_is_refused_and_changes_nothing(machine: Machine) -> None:
    """With what to do instead, and an exit code for scripts."""
    machine.configure("access: {allowed: ['telegram:456']}")
    core = app.open_core(machine.home)
    try:
        refused = [
            machine.hikae("pair", *words)
            for words in (
                ("approve", "ZZZZ9999"),
                ("approve", asks(core, MALLORY), "--as", "nobody"),
                ("approve", "telegram:777", "--as", "owner"),
                ("approve", "telegram:456"),
                ("revoke", "telegram:456"),
                ("revoke", "telegram:777"),
                ("revoke", "nonsense"),
            )
        ]
        assert [ran.code for ran in refused] == [1] * 7
        assert refused[4].err.startswith("telegram:456 is named in access.allowed in config.yaml.")
        assert standing(core, MALLORY) is Standing.STRANGER
        with core.db.read() as rd:
            assert people.let_in(rd) == []
    finally:
        core.close()
