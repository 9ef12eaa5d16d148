"""The message catalog: every sentence that a person reads, by key and language.

`text("write.unknown", "en", id=17)` fills the `{id}` of that entry. English is complete; a key that another
language lacks falls back to English. Values are shown as they are: escape people's words before.
"""

from collections.abc import Mapping

LANGUAGES = ("en",)

_EN: Mapping[str, str] = {
    # -- house ---------------------------------------------------------------------------------------
    "session.unknown": "There is no session {id}. `hikae sessions list` shows them.",
    "write.unknown": "There is no write {id}. /memory pending shows what waits.",
    # -- store ---------------------------------------------------------------------------------------
    "message.unknown": "There is no message {id}.",
    "space.unknown": "There is no space {name}. `hikae memory show` names them.",
    "outgoing.unknown": "That message is no longer known here.",
    "review.unknown": "There is no review of session {session} up to turn {turn}. `hikae reviews list` shows them.",
    "session.prompt_gone": "That prompt of session {id} is no longer kept.",
    "file.unreadable": "{path} cannot be read: {why} (mode {mode}). Nothing was changed. Give me read access to it.",
    "file.unwritable": "{path} cannot be changed: {why} (mode {mode}). It is as it was. Give me write access to it.",
    "file.dangling": "{path} is a link to {target}, which is not there. Nothing was changed. Bring it back or remove the link.",
    # -- memory --------------------------------------------------------------------------------------
    "memory.disabled": "The store {target} is switched off here. Switch it on in config.yaml, section memory.",
    "memory.bad_bytes": "{file} holds {count} bytes that are no UTF-8. They stay in the file; I see � instead.",
    "memory.left_out": "{file} is over twice its budget: {count} entries at its end are not in the prompt.",
    "memory.not_shown": "{count} entries of {file} are not in the prompt: they look like an attack, a secret or "
    "hidden text, and nobody has approved them.",
    "write.cannot_edit": "Write {id} has no single text to edit. Approve or reject it.",
    "reason.secret": "It holds a key, a password or a card number. Secrets are not kept, not even here.",
    "reason.override": "It tells the model to drop its instructions.",
    "reason.hidden_characters": "It holds characters that hide text.",
    "reason.control_characters": "It holds control characters.",
    "reason.separator": "It holds a line with only § in it, which is what separates entries.",
    "reason.content_missing": "There is no text in it.",
    "reason.old_text_missing": "It does not say which entry it means.",
    "reason.over_budget": "No room: it would put the file at {after} of {limit} characters, {over} too many.",
    "reason.gone": "The entry it would change is gone.",
    "reason.ambiguous": "Several entries could be meant by now.",
    "reason.changed": "The file was changed at the same moment; it was not written over.",
    "reason.entry_changed": "The entry it would change reads differently now. Look again before you approve.",
    "reason.redrawn": "This changed since it was shown to you. Look again before you approve.",
    "reason.unwritable": "The file cannot be written.",
    "flag.override": "it sounds like an instruction to drop instructions",
    "flag.persona": "it tells the model to be somebody else",
    "flag.conceal": "it asks to hide something from you",
    "flag.exfiltration": "it could send something out",
    "flag.persistence": "it would change or run something on a machine",
    "flag.approval": "it is about switching off your approval",
    "flag.markup": "it holds markup that can hide or load something",
    "flag.template": "it imitates the frame of a prompt",
    "flag.obfuscated": "it says something in disguise",
    "flag.foreign": "it rests on words that are not yours",
    "flag.not_found": "the words it rests on are nowhere in what you said",
    "flag.unquoted": "it quotes nothing that you said",
    "flag.mixed": "it does not say whether it rests on your words or on somebody else's",
    # -- models --------------------------------------------------------------------------------------
    # -- telegram ------------------------------------------------------------------------------------
    # -- jobs ----------------------------------------------------------------------------------------
    # -- conversation --------------------------------------------------------------------------------
    "prompt.file_left_out": "({file} was left out: it looks like an attack. `hikae doctor` says more.)",
    "turn.too_many_rounds": "I stopped: this took too many steps. Ask again with a smaller question.",
    "turn.model_silent": "The model does not answer right now. Your message is kept; please say it again in a while.",
    "turn.model_refused": "The model's server refused the request ({status}). {hint}",
    "turn.cut": "\n\n(The answer was cut at the model's length limit.)",
    "notice.memory_updated": "💾 Memory updated",
    "notice.added": "💾 Memory ➕ {new}",
    "notice.replaced": '💾 Memory ✏️ "{old}" → "{new}"',
    "notice.removed": "💾 Memory ➖ {old}",
    "notice.not_saved": "⚠️ Not saved to memory: {reason}",
    "notice.nothing_saved": "⚠️ Not saved to memory: the change could not be made.",
    "what.add": "add to {target}",
    "what.replace": "replace in {target}",
    "what.remove": "remove from {target}",
    "what.batch": "several changes to {target}",
    "card.head": "🗂 May I remember this? {id} · {what}",
    "card.add": '➕ "{new}"',
    "card.replace": '➖ "{old}"\n➕ "{new}"',
    "card.remove": '➖ "{old}"',
    "card.rests_on": 'Because you said: "{quote}"',
    "card.usage": "Memory would then be at {usage}",
    "card.commands": "/memory approve {id} · /memory reject {id}",
    "card.remembered": "✓ Remembered: {what}{who}\nIn the prompt from the next conversation on.",
    "card.rejected": "✗ {id} was rejected{who}.",
    "card.by": " (by {by})",
    "card.expired": "{id} expired without a decision. Nothing was changed.",
    "card.failed": "{id} could not be remembered: {reason}",
    "button.approve": "Approve",
    "button.reject": "Reject",
    "button.use_now": "Use now",
    "button.ask_first": "Ask first",
    "button.remember_freely": "Remember freely",
    "pending.none": "Nothing waits for your yes.",
    "pending.count": "Waiting for your yes: {count}",
    "pending.commands": "/memory approve ID…|all · /memory reject ID…|all",
    "welcome.kept": "Hello! I am hikae. I keep a short memory of what is worth keeping, and our conversations.",
    "welcome.asks": "I ask you before I remember something.",
    "welcome.tells": "When I remember something I tell you: 💾 Memory updated.",
    "welcome.owner": "It stays on this machine; what we say also goes to the model that answers. Only you can read it.",
    "welcome.allowed": "It stays on the owner's machine; what we say also goes to the model that answers. Besides you, "
    "the owner can read it.",
    "welcome.forget": "/memory shows what I remember, and I remove an entry when you ask me to. /help lists everything "
    "else.",
    "ask_first.question": "Ask me before I remember? (/memory approval on|off changes it later.)",
    "ask_first.asks": "✓ I ask you before I remember something. /memory approval off changes it.",
    "ask_first.tells": "✓ I remember freely and tell you each time. /memory approval on changes it.",
    "say.apology": "Something went wrong on my side. Your message is kept; please try again. (Reference {reference})",
    "say.queue_full": "That is too much at once: {most} messages are waiting already, and I did not keep this one. "
    "Please send it again when I have answered.",
    "say.unreadable": "I can only read text so far: no pictures, voice messages or files. Please write it to me.",
    "say.daily_limit": "You have used your {turns} messages for today. I did not keep this one; please come back tomorrow.",
    "say.code_wrong": "This code does not work, or does not work any more. Ask the owner for a new one.",
    "say.group_refused": "I only talk in private chats so far. Write to me there.",
    "answer.later": "/{name} is not there yet.",
    "answer.unknown_command": "I do not know this command. Did you mean /{nearest}? /help lists all of them.",
    "answer.new": "✓ A new conversation begins with your next message.",
    "answer.stopped": "✓ Stopped.",
    "answer.refine": "✓ I look through this conversation for what is worth keeping ({turns} messages of yours).",
    "answer.model": "The model is {model}. Another one is set in config.yaml (model.name), read at the next start.",
    "answer.whoami": "You are {person} ({standing}); your memory is the space {space}.",
    "answer.home": "✓ Cards and notices come to this chat.",
    "answer.code_wrong": "This code does not work, or does not work any more.",
    "answer.approval_on": "Memory waits for your yes. /memory approval off changes it.",
    "answer.approval_off": "Memory is written without asking, and you are told. /memory approval on changes it.",
    "answer.refreshed": "✓ This conversation now sees the memory as it is.",
    "command.owner_only": "Only the owner may use /{name}.",
    "refine.nothing": "There is nothing new to look through.",
    "memory.usage": "Use /memory, /memory pending, /memory approve ID…|all, /memory reject ID…|all, "
    "/memory approval on|off or /memory refresh.",
    "memory.approval_usage": "Use /memory approval on or /memory approval off.",
    "memory.which": "Say which: /memory approve 17, several ids, or all. /memory pending lists them.",
    "memory.memory": "MEMORY ({usage})",
    "memory.user": "USER ({usage})",
    "memory.empty": "(empty)",
    "remember.usage": "Say what: /remember The printer is in the cellar.",
    "remember.off": "Memory is switched off (memory.memory_enabled and memory.user_profile_enabled in config.yaml).",
    "remember.applied": "✓ Remembered. In the prompt from the next conversation on; /memory refresh uses it now.",
    "remember.staged": "It looks unusual, so it waits for your yes: see the card.",
    "remember.already_there": "I remember that already.",
    "decision.applied": "{id} ✓ remembered: {gist}",
    "decision.rejected": "{id} ✗ rejected",
    "decision.failed": "{id} could not be remembered: {reason}",
    "decision.redrawn": "{id} still waits: {reason}",
    "decision.already": "{id} was decided before",
    "terminal.not_kept": "This was not kept: {reason}. Please say it again.",
    "tap.unknown": "This button does not work any more.",
    "tap.not_yours": "This is not for you to decide.",
    "tap.decided": "Already decided.",
    "status.no_session": "No conversation is open; the next message begins one.",
    "status.session": "Conversation {id}: {turns} messages, begun {age} ago, memory as of {snapshot_age} ago",
    "status.pending": "Waiting for your yes: {count}",
    "status.reviews": "Reviews: {due} due, {running} running, {failed} failed",
    "status.model": "Model: {model}",
    "span.days": "{count} d",
    "span.hours": "{count} h",
    "span.minutes": "{count} min",
    "span.seconds": "{count} s",
    "help.start": "what I keep, who can read it",
    "help.help": "this list",
    "help.memory": "show what I remember; pending, approve, reject, approval on|off, refresh",
    "help.remember": "remember this text as it is",
    "help.refine": "look through this conversation now for what is worth keeping",
    "help.new": "begin a new conversation (also /reset)",
    "help.stop": "stop the answer that is being written",
    "help.status": "this conversation, what waits, the reviews",
    "help.model": "which model answers",
    "help.home": "cards and notices come to this chat",
    "help.whoami": "who you are to me",
    "cli.no_terminal": "{question} Say --yes to do it: there is no terminal to ask in.",
    "review.not_failed": "Review {id} has not failed, so there is nothing to retry.",
    "review.which": "Say which: ids as `hikae reviews list` shows them, or all.",
    "gateway.running": "A gateway already runs on {home} (pid {pid}). Stop it first, or use another --home.",
}

_CATALOGS: Mapping[str, Mapping[str, str]] = {"en": _EN}


def text(key: str, language: str, **values: object) -> str:
    """The sentence for `key` in `language`, with `{name}` filled from `values`. KeyError: no such key."""
    sentence = _CATALOGS.get(language, _EN).get(key) or _EN[key]
    return sentence.format_map({name: str(value) for name, value in values.items()})


def has(key: str) -> bool:
    """Whether the catalog knows this key."""
    return key in _EN
