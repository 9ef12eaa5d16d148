"""/language: in which language this chat is spoken to."""

from gateway import words
from gateway.conversation.commands.call import Call, Said, Services
from gateway.errors import Refused
from gateway.store import people
from gateway.store.db import Transaction


def language(services: Services, call: Call) -> Said:
    """Say which language this chat has, or choose one. The answer is read in the language chosen."""
    if not call.words:
        return Said("language.now")
    chosen = words.spoken(call.words[0])
    if not chosen or len(call.words) > 1:
        raise Refused("language.usage")

    def choose(tx: Transaction) -> None:
        people.set_language(tx, call.message.chat, chosen)

    # A terminal is a new chat each time: there the choice does not last.
    key = "language.chosen_terminal" if call.message.chat.platform == "terminal" else "language.chosen"
    return Said(key, {"language": chosen}, commit=choose)
