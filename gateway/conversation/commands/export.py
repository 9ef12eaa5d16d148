"""`/export`: everything that is kept about somebody, as a file in their own chat."""

import gzip

from gateway import words
from gateway.chat import Attachment
from gateway.conversation.commands.call import Call, Said, Services
from gateway.conversation.notices import Rendered
from gateway.errors import Refused
from gateway.records import NewOutgoing, Outgoing
from gateway.store import outbox, people, textfile
from gateway.store.transaction import Transaction

KIND = "export"
LARGEST = 9_000_000
"""Bytes that every platform takes as one file; a larger export is packed."""


def export(services: Services, call: Call) -> Said:
    """Send the file. In a group it goes to the owner's own chat."""
    to = call.message.chat
    if not call.private:
        with services.db.read() as rd:
            home = people.home_chat(rd, services.access.owners(rd))
        if home is None:
            raise Refused("export.homeless")
        to = home

    def put(tx: Transaction) -> None:
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"export-{call.message.id}",
                kind=KIND,
                chat=to,
                space=call.space.id,
                created_at=services.clock.now(),
            ),
        )

    return Said("export.coming" if to == call.message.chat else "export.elsewhere", after=put)


def rendered(services: Services, row: Outgoing, language: str) -> Rendered:
    """The file, made when it is sent; in a terminal it is written into the home."""
    with services.db.read() as rd:
        space = people.space(rd, row.space)
    content = "".join(services.exporting.text(space)).encode("utf-8", "replace")
    stem = f"hikae-{space.name}-{services.clock.now():%Y-%m-%d}"
    if row.chat.platform == "terminal":
        path = services.home.exports / space.name / f"{stem}.json"
        textfile.make_private_folder(services.home.exports)
        textfile.make_private_folder(path.parent)
        textfile.write_private(path, content)
        return Rendered(words.text("export.written", language, path=path), escaped=False)
    name = f"{stem}.json"
    if len(content) > LARGEST:
        content, name = gzip.compress(content), f"{stem}.json.gz"
    if len(content) > LARGEST:
        return Rendered(words.text("export.too_large", language, space=space.name))
    return Rendered(words.text("export.file", language), file=Attachment(name, content))
