"""Attacks that are no wording: commands of a shell, markup that hides or loads, the frames of a prompt. Pure.

Here too is what the rules of wording want marked in a text: addresses, files that hold secrets, long numbers.
"""

import functools
import re
from collections.abc import Iterator, Mapping

from gateway.scan.ideas import Idea

_LOOT = (
    r"(?:\.aws/credentials|\.ssh/(?:id_\w+|[\w.-]{0,40}key)|id_rsa\b|id_ed25519\b|\.netrc|\.pgpass|\.git-credentials|\.kube/config|"
    r"/etc/(?:passwd|shadow)|(?:^|[\s/~])\.env\b(?![.\w]))"
)
_ADDRESS = (
    r"https?://|www\.|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.\w|"
    r"\b[\w-]{2,40}\.(?:com|net|org|io|dev|ru|cn|jp|kr|example|xyz|info|me|app|top)\b"
)
_WHO_SPEAKS = (
    r"^[\s*_#>(\[-]{0,8}(?:system|systeme|sistema|система|システム|系统|系統|시스템|developer|administrator|admin)"
    r"(?: (?:message|prompt|note|directive))?[*_\])]{0,2} ?(?:[:：]|(?<=\]))"
)
_GOODS = (
    r"(?:it|this|that|them|everything|all|memory|(?:the|all|every|any|this|our|your|my|their|whole|full|user)"
    r"(?: \w+){0,2} (?:conversations?|chats?|messages?|history|memory|memories|transcripts?|secrets?"
    r"|keys?|passwords?|credentials?|tokens?|notes|contents|data))"
)
_SEND = r"(?:send|post|upload|forward|e ?mail|exfiltrate|transmit|submit|leak|report|copy|deliver)"

TEMPLATE = "flag.template"

_RULES: Mapping[str, tuple[str, str]] = {
    "flag.exfiltration": (
        r"[@$]|://|www\.|\.[a-z]|/etc|id_",
        rf"\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp)\b[^\n]{{0,160}}{_LOOT}"
        r"|\b(?:curl|wget)\b[^\n]{0,80}"
        r"(?:https?://\S{0,120}\$|(?:-d|-f|--data\S{0,12}|--form|--post-data)[ =]\S{0,60}\$)"
        rf"|\b(?:cat|type|less|more|head|tail|cp|base64|xxd|strings)\b[^\n]{{0,80}}{_LOOT}"
        rf"|(?:^|[.!?;:\n] *|\b(?:always|must|then|and|please|should|to|now) )"
        rf"{_SEND} {_GOODS}\b[^\n]{{0,60}}(?:{_ADDRESS})"
        rf"|\b(?:whenever|every time|each time|always)\b[^\n]{{0,100}}"
        rf"\b(?:bcc|cc|{_SEND})\b[^\n]{{0,60}}(?:{_ADDRESS})",
    ),
    "flag.persistence": (
        r">|\||\brm -",
        r">>?\s{0,4}\S{0,80}(?:\.bashrc|\.zshrc|\.profile|\.bash_profile|authorized_keys|/etc/cron)"
        r"|\|\s{0,4}(?:sudo )?(?:ba|z|da)?sh\b|\brm -rf? +[~/]",
    ),
    "flag.markup": (
        r"<|:|!\[",
        r"<[a-z][^>]{0,200}(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|font-size\s{0,4}:\s{0,4}0|"
        r"opacity\s{0,4}:\s{0,4}0\b)"
        r"|<(?:script|iframe|object|embed)\b|\bjavascript:|\bdata:text/html"
        r"|!\[[^\]]{0,200}\]\(\s{0,4}(?:https?:)?//"
        r"|<!--[^>]{0,200}\b(?:ignore|obey|execute|instructions?)\b",
    ),
    TEMPLATE: (
        r"[<\[═━=#§(:@]|human|assistant",
        r"<\|[\w./-]{2,40}\|>|\[/?(?:inst|system_prompt)\]|<</?sys>>|</?(?:system|assistant)(?:[_-]?prompt)?>|</?s>"
        r"|<(?:start|end)_of_turn>|</?(?:memory|user_profile|memory-context|tool_call|tool_response|function_calls?)>"
        r"|</\s?(?:[a-z]+[_-])?(?:untrusted|tool|user|document|context|memory|web|data|input|instructions)"
        r"(?:[_-][a-z_-]{1,40})?\s?>"
        r"|^\W{0,4}new (?:system )?(?:instructions?|directives?|prompt)\W{0,3}:|^@(?:assistant|ai|bot)\b"
        r"|[═━]{4,}|={20,}\n[^\n]{1,80}\n={20,}"
        r"|\(your personal notes\)|\(who the user is\)|\[\d{1,4}% [—–-] [\d.,]+/[\d.,]+ chars\]"
        r"|^#{2,} {0,4}(?:system|instructions?|human|assistant|user)\b {0,4}:|^[ \t]{0,8}§+[ \t§]{0,8}$"
        r"|^\s{0,8}\[(?:entry [0-9a-f]{4,} is|\d[\d.,]* more entr(?:y|ies))"
        r"|^\((?:words of [^\n]{0,80}, (?:quoted|forwarded):|from a tool:|"
        r"recalled from an external memory:|attached, and not)"
        r"|^ {0,4}(?:human|assistant): ?[^\n]*\n(?:[^\n]*\n){0,6}? {0,4}(?:human|assistant):",
    ),
}


def flags(form: str) -> Iterator[str]:
    """The flags of a folded text that its wording does not show."""
    for flag, gate, pattern in _compiled():
        if gate.search(form) and pattern.search(form):
            yield flag


def frames(form: str) -> bool:
    """Whether a folded text imitates a part of a prompt: a block's head, a turn of a template, a note of ours."""
    return any(flag == TEMPLATE for flag in flags(form))


def marked(form: str) -> str:
    """The text with a word in front of what the rules of wording must know about."""
    for gate, pattern, word in _marks():
        if gate.search(form):
            form = pattern.sub(word, form)
    return form


WORD_OF = {
    Idea.ADDRESS: "zzaddress",
    Idea.SECRET_FILE: "zzsecretfile",
    Idea.LONG_NUMBER: "zznumber",
    Idea.SYSTEM_SAYS: "zzsystem",
}


# Compiled when the first text is scanned: most commands scan none, and compiling takes longer than they do.
@functools.cache
def _compiled() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (flag, re.compile(gate, re.MULTILINE), re.compile(pattern, re.MULTILINE))
        for flag, (gate, pattern) in _RULES.items()
    )


@functools.cache
def _marks() -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
    """What must be there, what is marked, and with what."""
    kinds = (
        (Idea.SYSTEM_SAYS, r"[:\]]", _WHO_SPEAKS),
        (Idea.SECRET_FILE, r"\.[a-z]|id_|/etc", _LOOT),
        (Idea.ADDRESS, r"://|@|\.[a-z]", _ADDRESS),
        (Idea.LONG_NUMBER, r"\d[\d -]{4}", r"\d[\d -]{4,40}\d"),
    )
    return tuple(
        (re.compile(gate), re.compile(found, re.MULTILINE), rf" {WORD_OF[idea]} \g<0>")
        for idea, gate, found in kinds
    )
