"""English phrases that ideas alone (`rules`) would take too coarsely. They are matched on plain words. Pure.

"Do not tell the user's wife" deceives no user, and "you are now a father" makes nobody somebody else.
"""

import functools
import re
from collections.abc import Iterator, Mapping

_WHO = r"(?:the )?(?:user|owner|human|operator|person)\b(?! s\b| of\b| interface)"
_SEND = r"(?:send|post|upload|forward|e ?mail|exfiltrate|transmit|submit|leak|report|copy|deliver)"

_PHRASES: Mapping[str, tuple[str, ...]] = {
    "flag.override": (
        r"\bnew (?:system )?(?:rules|instructions|prompt|orders) (?:follow|below|apply)\b",
        r"\b(?:follow|obey) (?:these|this|the following|my) (?:new )?(?:instructions?|rules|directions) instead\b",
        r"\bcomply with the following\b",
        r"\b(?:instructions?|note|message|order) (?:for|to) (?:any |all |the )?"
        r"(?:ai|ais|language models?|assistants?|llms?|chatbots?)\b",
        r"\boverride your (?:system )?(?:prompt|instructions|rules)\b",
        r"\b(?:decode|decrypt|unscramble)\b(?: \w+){0,3} (?:obey|execute|follow|comply)\b",
        r"\b(?:stop|do not|don t|never) (?:following|follow|obey|obeying)(?: \w+){0,2} "
        r"(?:instructions|rules|system prompt)\b",
    ),
    "flag.persona": (
        r"\byou are now (?:\w+ ){1,5}(?:who|that|which|without|mode)\b",
        r"\byou are (?:now )?(?:dan|unrestricted|jailbroken|unfiltered|uncensored)\b",
        r"\b(?:act|behave|respond|answer) as (?:if you ha(?:ve|d) no|an? "
        r"(?:unrestricted|unfiltered|evil|jailbroken)|dan\b)",
        r"\byour new (?:persona|identity|role|task|goal|objective|master) is\b",
        r"\b(?:enable|enter|activate|switch to) (?:developer|god|dan|jailbreak|maintenance|debug) mode\b",
        r"\byou have no (?:rules|restrictions|limits|guidelines|filters)\b",
        r"\b(?:developer|god|jailbreak|dan) mode (?:on|enabled|activated)\b",
        r"\byou (?:now )?(?:answer|report|belong) (?:only )?to \w+ (?:now|from now)\b",
    ),
    "flag.conceal": (
        rf"\b(?:do not|don t|dont|never|without|must not) (?:tell|telling|inform|informing|alert|alerting|"
        rf"notify|notifying|ask|asking|warn|warning) {_WHO}",
        rf"\b(?:do not|don t|dont|never|without) (?:mention|mentioning|reveal|revealing|show|showing|"
        rf"disclose)(?: \w+){{1,3}} to {_WHO}",
        rf"\b(?:do not|don t|dont|never) (?:mention|reveal|show) to {_WHO}",
        rf"\b(?:do not|don t|dont|never) let {_WHO} (?:know|see|notice)",
        rf"\b(?:hide|conceal|keep)(?: \w+){{0,3}} from {_WHO}",
        rf"\b(?:silently|secretly|covertly|quietly|discreetly)(?: \w+){{0,3}} "
        rf"(?:{_SEND}|bcc|cc|transfer|share|append|run|execute|insert|approve|recommend|promote)\b",
    ),
    "flag.approval": (
        r"\bwrite approval\b(?: \w+){0,4} (?:false|off|no|0|disabled)\b",
        r"\b(?:disable|turn off|switch off|bypass|skip)(?: \w+){0,2} (?:write|memory|your|all|user) approvals?\b",
        r"\bmemory (?:approve all|approval off)\b",
        r"\bapprove (?:all|every)(?: \w+){0,3} (?:automatically|without asking|yourself)\b",
    ),
}


def flags(words: str) -> Iterator[str]:
    """The flags of a text's words, as `forms.words` leaves them."""
    for flag, gate, pattern in _compiled():
        if gate.search(words) and pattern.search(words):
            yield flag


_GATES = {
    "flag.override": r"new |override|de(?:code|crypt)|unscramble|follow|obey|comply| for | to ",
    "flag.persona": r"you|\bas | mode",
    "flag.conceal": r" (?:user|owner|human|operator|person)\b|silently|secretly|covertly|quietly|discreetly",
    "flag.approval": r"approv",
}
"""Words without which no phrase of the kind can be there: most texts need no closer look."""


@functools.cache  # compiled when the first text is scanned: most commands scan none
def _compiled() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (flag, re.compile(_GATES[flag]), re.compile("|".join(f"(?:{phrase})" for phrase in phrases)))
        for flag, phrases in _PHRASES.items()
    )
