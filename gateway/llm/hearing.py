"""What a message asks of the offline model, in English and Japanese. Pure.

A handful of patterns, tried in order; whatever fits none of them is Chatter.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remember:
    fact: str


@dataclass(frozen=True, slots=True)
class Replace:
    """`new` is a whole statement or, where `part` is true, only what takes the place of `old`.

    Where both are the same, the person did not say what it replaces ("actually I live in Oslo").
    """

    old: str
    new: str
    part: bool


@dataclass(frozen=True, slots=True)
class Remove:
    what: str


@dataclass(frozen=True, slots=True)
class Search:
    query: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about what is noted; `about` is "" when it is about everything."""

    about: str


@dataclass(frozen=True, slots=True)
class Chatter:
    pass


Wish = Remember | Replace | Remove | Search | Ask | Chatter

MOST_CHARS = 4_000
"""A longer message is Chatter: nobody asks for one thing in so many words."""
_REVIEW = "Background review:"
"""How a review's instruction begins (see memory/review.py); a person's message begins with its time."""


_FLUSH = "Memory flush:"
"""How that of a flush begins, before a session is compressed."""
_COMPRESSION = "Compression:"
"""How the request for a summary begins (see conversation/shortening.py)."""
_TIDY = "Memory tidy:"
"""How the instruction of a tidy begins (see memory/tidying.py)."""


def is_tidy(content: str) -> bool:
    """Whether a user message asks to make a memory file smaller."""
    return content.startswith(_TIDY)


def is_review(content: str) -> bool:
    """Whether a user message is the instruction of a review, or of a flush."""
    return content.startswith((_REVIEW, _FLUSH))


def is_compression(content: str) -> bool:
    """Whether a user message asks for a summary."""
    return content.startswith(_COMPRESSION)


def newest(instruction: str) -> int:
    """How many of the person's last messages a review is about."""
    said = re.search(r"the last (\d+) messages of the person", instruction)
    return int(said[1]) if said else 1


def language(text: str) -> str:
    """`ja` for anything with kana or kanji, else `en`."""
    return "ja" if re.search("[ぁ-んァ-ヴ一-龯]", text) else "en"


def own_words(content: str) -> str:
    """A user message without its time, its speaker, our name and the lines of others (they begin with a bar)."""
    lines = [line.strip() for line in _STAMP.sub("", content).split("\n")]
    own = "\n".join(line for line in lines if not _FOREIGN.match(line)).strip()
    return _CALLED.sub("", own)


_STAMP = re.compile(r"\A\[[^\]\n]{0,40}\d{1,2}:\d{2}[^\]\n]{0,20}\]\s*")
_CALLED = re.compile(r"\A(?:[^\n:]{1,64}: )?@\w+[\s,:]+")
"""In a group: who speaks, and the name by which we were called."""
_FOREIGN = re.compile(r"\| |\|\Z|\((?:words of .*|from a tool:|recalled from .*)\)?\s*\Z")


def wish(text: str) -> Wish:
    """What the person wants."""
    if len(text) > MOST_CHARS:
        return Chatter()
    return _japanese(text.strip()) if language(text) == "ja" else _english(text.strip())


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.IGNORECASE | re.DOTALL) for source in sources)


# -- English -----------------------------------------------------------------------------------------------


def _english(text: str) -> Wish:
    text = _POLITE.sub("", text.replace("’", "'"))
    if match := _first(_SEARCHES, text):
        return Search(_ARTICLE.sub("", _bare(match["query"])))
    if _EVERYTHING.match(text):
        return Ask("")
    if match := _first(_REMEMBERS, text):
        fact = _bare(match["fact"])
        return _english_replace(fact) or Remember(fact)
    if match := _REMOVE.match(text):
        what = _bare(match["what"])
        return Chatter() if what.casefold() in ("it", "that", "this", "me") else Remove(what)
    if replaced := _english_replace(text):
        return replaced
    return Ask(text) if _QUESTION.search(text) else Chatter()


def _english_replace(text: str) -> Replace | None:
    if text.endswith("?"):
        return None
    if match := _first(_CHANGES, text):
        return Replace(_bare(match["old"]), _bare(match["new"]), part=True)
    if match := _first(_CORRECTIONS, text):
        return Replace(_bare(match["old"]), _bare(match["new"]), part=False)
    if match := _ACTUALLY.match(text):
        return Replace(_bare(match["new"]), _bare(match["new"]), part=False)
    return None


def _bare(text: str) -> str:
    """Without what surrounds a clause: blanks, quotes, the full stop, a last "please"."""
    text = re.sub(r",?\s+please[.!?]*$", "", text.strip(), flags=re.IGNORECASE)
    text = text.strip().rstrip(".!?。！？").strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] + text[-1] in ('""', "''", "“”", "「」") else text


_POLITE = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|please|so|well|oh|by the way|btw|also|and|hikae)[,!.:]?\s+)*"
    r"(?:(?:can|could|would|will) you (?:please )?(?!tell|know)|i(?:'d like| want) you to )?(?:please )?",
    re.IGNORECASE,
)
_SEARCHES = _patterns(
    r"(?:search|look|find)\s+(?:(?:in|through|our|my|the|all|past|old|earlier|previous)\s+)*"
    r"(?:(?:conversations?|chats?|history|messages|sessions?|talks?)\s+)?(?:for|about|up)\s+(?P<query>.+)",
    r"search\s+(?P<query>.+)",
    r"what (?:did|have) (?:we|i|you) (?:\w+ )?"
    r"(?:say|said|talk(?:ed)?|discuss(?:ed)?|decided?|agreed?|mention(?:ed)?)"
    r"(?: about| on| regarding)?\s+(?P<query>.+)",
    r"(?:when |where |have |did )+(?:we|i) (?:ever |last |once )?"
    r"(?:talk|talked|speak|spoke|discuss|discussed|mention|mentioned|say|said)"
    r"(?: (?:anything |something )?about)?\s+(?P<query>.+)",
)
_ARTICLE = re.compile(r"^(?:the|a|an|our|my|your)\s+(?=\S)", re.IGNORECASE)
_EVERYTHING = re.compile(
    r"(?:what (?:do|can|did|have) you (?:know|known|remember|remembered|note|noted|save|saved|keep|kept)"
    r"|(?:tell|show) me (?:everything|all|what) you (?:know|remember|noted|have noted)"
    r"|do you (?:know|remember)|what is in your (?:memory|notes)|what's in your (?:memory|notes)"
    r"|(?:list|show)(?: me)?(?: all)?(?: of)?(?: your)? (?:memory|memories|notes|entries)|who am i)"
    r"(?: (?:about|of) me| me)?(?: so far)?[\s?.!]*$",
    re.IGNORECASE,
)
_TO_REMEMBER = (
    r"(?:remember|memori[sz]e|note(?: down)?|keep in mind|(?:make|take) a note|(?:don't|do not|never) forget"
    r"|save|store|(?:write|jot) down)"
)
_REMEMBERS = _patterns(
    _TO_REMEMBER + r"(?:,? (?:this|the following|for me|for later|(?:to|in) (?:your )?memory))*"
    r"\s*(?::|,|-|–)?\s*(?:that|of the fact that|about)\b\s*(?::|,)?\s*(?P<fact>.+)",
    _TO_REMEMBER + r"(?:,? (?:this|the following|for me|for later|(?:to|in) (?:your )?memory))*"
    r"\s*(?:\s|:|,|-|–)\s*(?P<fact>(?!me\b|when\b|what\b|where\b|who\b|how\b).+(?<!\?))$",
    r"(?P<fact>.+?)[.,;!:]?\s+(?:please )?" + _TO_REMEMBER + r"(?: (?:that|this|it))?(?:,? please)?[.!]*$",
)
_REMOVE = re.compile(
    r"(?:you can |you may |please )?(?:forget|erase|delete|remove)\s+"
    r"(?:(?:about|the (?:fact|note|entry)(?: that| about)?|that|everything about|what you know about)\s+)?"
    r"(?P<what>.+?)(?:\s+from (?:your |the |my )?(?:memory|notes|profile))?[.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_CHANGES = _patterns(
    r"(?:actually,? )?(?:change|replace|correct|update|fix)\s+(?P<old>.+?)\s+(?:to|with|by|into)\s+(?P<new>.+)$",
    r"(?:actually,? )?i(?:'ve| have)? (?:just |now |since )?(?:moved|switched|changed)(?: \w+)? from (?P<old>.+?) "
    r"to (?P<new>.+)$",
)
_CORRECTIONS = _patterns(
    r"(?:actually|no|correction|update|sorry)[,:]?\s+(?P<new>.+?)(?:,?\s+now)?,?\s+(?:and )?not\s+"
    r"(?:in |at |to |as )?(?P<old>[^,]+?)(?:\s+any\s?more)?$",
    r"(?P<new>.+?),?\s+now,?\s+(?:and )?not\s+(?:in |at |to |as )?(?P<old>[^,]+?)(?:\s+any\s?more)?$",
    r"(?P<new>.+?),?\s+(?:and )?not\s+(?:in |at |to |as )?(?P<old>[^,]+?)\s+(?:any\s?more|any longer)[.!]*$",
    r"(?:actually,? )?(?P<new>.+?)(?:\s+now)?,?\s+(?:instead of|no longer|rather than) (?:in |at |to |as )?"
    r"(?P<old>[^,]+)$",
    r"(?:actually,? )?i (?:don't|do not|no longer) (?:\w+ )?(?:in |at |to |as )?(?P<old>[^,.]+?)"
    r"(?:\s+(?:any\s?more|any longer))?[,.;]\s*(?:but |now )*(?P<new>i .+?)(?:\s+now)?[.!]*$",
)
_ACTUALLY = re.compile(
    r"(?:actually|correction|update)[,:]?\s+(?P<new>(?:i|i'm|my)\s.+?)(?:\s+now)?[.!]*$", re.I | re.S
)
_QUESTION = re.compile(
    r"\?\s*$|^(?:what|where|who|whom|whose|when|which|how|why|do|does|did|is|are|am|was|were|have|has|can|could"
    r"|tell me|remind me|what's|where's|who's)\b",
    re.IGNORECASE,
)


# -- Japanese ----------------------------------------------------------------------------------------------


def _japanese(text: str) -> Wish:
    if match := _first(_JA_SEARCHES, text):
        return Search(_ja_bare(match["query"]))
    if _JA_EVERYTHING.match(text):
        return Ask("")
    if match := _first(_JA_REMEMBERS, text):
        fact = _ja_bare(match["fact"])
        return _japanese_replace(fact) or Remember(fact)
    if match := _JA_REMOVE.match(text):
        return Remove(_ja_bare(match["what"]))
    if _JA_QUESTION.search(text):
        return Ask(text)
    return _japanese_replace(text) or Chatter()


def _japanese_replace(text: str) -> Replace | None:
    if match := _JA_CHANGE.match(text):
        return Replace(_ja_bare(match["old"]), _ja_bare(match["new"]), part=True)
    if match := _first(_JA_CORRECTIONS, text):
        return Replace(_JA_I.sub("", _ja_bare(match["old"])), _ja_bare(match["new"]), part=False)
    if match := _JA_ACTUALLY.match(text):
        return Replace(_ja_bare(match["new"]), _ja_bare(match["new"]), part=False)
    return None


def _ja_bare(text: str) -> str:
    return _bare(text.strip(" 　、。:：,")).strip("「」『』 　")


_JA_I = re.compile(r"^(?:実は|今は|いまは|もう|、)*(?:私|わたし|僕|ぼく|俺|おれ)(?:は|が|の|も)?、?")
_JA_PLEASE = r"(?:おいて|おいといて|いて|ください|下さい|ほしい|欲しい|くれ|くれる|ね|よ|です|。|！|!|\s)*$"
_JA_KEEP = r"(?:覚えと|覚えて|憶えて|おぼえて|記憶して|メモして|記録して|忘れないで)"
_JA_REMEMBERS = _patterns(
    rf"(?:次のことを|これを|このことを)?{_JA_KEEP}(?:おいて|いて|ください|下さい|ほしい|くれ|ね|よ)*"
    r"[：:、,。\s　]+(?P<fact>.+)$",
    r"(?P<fact>.+?)(?:ということ|っていうこと|ってこと|こと)?(?:だと|を|は|も|と|って|、|。|\s|　)*"
    rf"(?:ちゃんと|しっかり)?{_JA_KEEP}{_JA_PLEASE}",
)
_JA_REMOVE = re.compile(
    r"(?P<what>.+?)(?:ということ|っていうこと|ってこと|のこと|こと)?(?:について|に関して)?(?:を|は|も)?(?:もう)?"
    r"(?:忘れて|削除して|消して|消去して)" + _JA_PLEASE,
    re.DOTALL,
)
_JA_CHANGE = re.compile(
    r"(?P<old>.+?)を(?P<new>.+?)(?:に|へ)(?:変えて|変更して|直して|修正して|書き換えて|更新して|置き換えて)"
    + _JA_PLEASE,
    re.DOTALL,
)
_JA_CORRECTIONS = _patterns(
    r"(?P<old>[^、。]+?)(?:では|じゃ|で)なく(?:て)?、?(?:今は|いまは)?(?P<new>.+)$",
    r"(?:実は|今は|いまは|訂正[:：]?|、)*(?P<new>[^、。]+)[、。](?:もう)?(?P<old>[^、。]+?)"
    r"(?:では|じゃ)(?:もう)?(?:ありません|ないです|ない)。?$",
)
_JA_ACTUALLY = re.compile(r"(?:実は|訂正[:：]?)、?(?:今は|いまは)?、?(?P<new>.+)$", re.DOTALL)
_JA_SEARCHES = _patterns(
    r"(?:検索|けんさく)(?:して)?[：:\s　]+(?P<query>.+)$",
    r"(?P<query>.+?)(?:について|のこと|に関して)?(?:(?:話した|言った)こと)?(?:を|で|、)?(?:検索|探し|さがし)(?:して|て)?"
    + _JA_PLEASE,
    r"(?P<query>.+?)(?:について|のことを?|に関して)(?:は|、)*(?:前に|以前|この前)?(?:私たちは?|私は)?"
    r"(?:何|なに|なん)(?:を|て|と|か)?(?:話|言|い[いっ]).*$",
)
_JA_EVERYTHING = re.compile(
    r"(?:(?:私|わたし|僕|ぼく|俺)(?:について|に関して|のことを?|のことは)?(?:は|、)?)?"
    r"(?:(?:何|なに)(?:を|か)?(?:知って|覚えて|記憶して).*|(?:知っている|覚えている)ことを?(?:全部|すべて)?教えて.*"
    r"|全部教えて.*|誰(?:です)?(?:か)?[？?。]*)$"
)
_JA_QUESTION = re.compile(
    r"[?？]\s*$|か[。\s]*$|(?:教えて|おしえて)" + _JA_PLEASE + r"|(?:何|なに|どこ|誰|だれ|いつ|どれ|どんな|どの)"
)
