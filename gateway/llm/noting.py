"""How the offline model words an entry: "I live in Bergen" becomes "Lives in Bergen". Pure.

And which plain statements it takes for durable facts when it looks back at a conversation.
"""

import re
from dataclasses import dataclass

from gateway.llm import hearing


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth an entry. `quote` is verbatim what it rests on."""

    quote: str
    entry: str
    about_person: bool
    single: str = ""
    """The matter of which a person has one only (where they live, their name), else ""."""


def entry(clause: str) -> tuple[str, bool]:
    """The entry for a statement, and whether it is about the person."""
    clause = re.sub(r"\s+", " ", clause).strip()
    if hearing.language(clause) == "ja":
        return _japanese(clause)
    return _english(clause)


def put_in(text: str, old: str, new: str) -> str:
    """The entry with the new words in place of the old: "Lives in Bergen" becomes "Lives in Oslo".

    Where the old words only say what it is about ("my city"), the new ones take the place of its last part.
    """
    at = text.casefold().find(old.casefold())
    if at >= 0 and len(text.casefold()) == len(text):
        return text[:at] + new + text[at + len(old) :]
    if ending := re.match(r"(.*\b(?:in|is|are|at|to|as|for|called) )\S.*$", text):
        return ending[1] + new
    return f"{_sentence(re.sub(r'^my ', '', old, flags=re.IGNORECASE))}: {new}"


# -- English -----------------------------------------------------------------------------------------------


def _english(clause: str) -> tuple[str, bool]:
    clause = clause.replace("’", "'")
    if match := re.match(r"(?:please )?call me (.+)$", clause, re.IGNORECASE):
        return f"Wants to be called {match[1]}", True
    if match := re.match(r"my (.+)$", clause, re.IGNORECASE):
        return _sentence(_theirs(match[1])), True
    if match := re.match(r"i(?P<short>'\w+)?\s+(?P<rest>.+)$", clause, re.IGNORECASE):
        return _sentence(_theirs(_third_person(match["short"] or "", match["rest"]))), True
    if match := re.match(r"to (.+)$", clause, re.IGNORECASE):
        return f"To do: {_theirs(match[1])}", False
    return _sentence(clause), bool(re.search(r"\b(?:I|me|my|mine)\b", clause, re.IGNORECASE))


def _third_person(short: str, rest: str) -> str:
    """`rest` of a sentence that began with "I", as said of somebody else."""
    if short:
        return f"{_SHORT.get(short.casefold(), '')} {rest}".strip()
    words = rest.split(" ")
    at = next((at for at, word in enumerate(words) if not _adverb(word)), 0)
    words[at] = _conjugated(words[at])
    return " ".join(words)


def _adverb(word: str) -> bool:
    return word.casefold() in _ADVERBS or (word.endswith("ly") and len(word) > 4)


def _conjugated(verb: str) -> str:
    if verb.isupper():
        return _conjugated(verb.casefold()).upper()
    plain = verb.casefold()
    if plain in _IRREGULAR:
        return _IRREGULAR[plain]
    if plain in _SAME or (plain.endswith("ed") and plain not in ("need", "feed", "speed")):
        return verb
    if re.search(r"[^aeiou]y$", plain):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", plain) else "s")


def _theirs(text: str) -> str:
    text = re.sub(
        r"\b(and|but)(?: that)? i (\w+)",
        lambda match: f"{match[1]} {_conjugated(match[2])}",
        text,
        flags=re.IGNORECASE,
    )
    for mine, theirs in (("my", "their"), ("mine", "theirs"), ("me", "them"), ("myself", "themselves")):
        text = re.sub(rf"\b{mine}\b", theirs, text, flags=re.IGNORECASE)
    return text


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_SHORT = {"'m": "is", "'ve": "has", "'d": "would", "'ll": "will"}
_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "does not",
    "haven't": "has not",
    "can't": "cannot",
}
_SAME = _words(
    """is was were had did can could will would shall should may might must cannot won't wouldn't couldn't didn't
    went got bought made took saw came left met grew said began became chose drove ate drank found gave kept knew
    lost paid read ran sold sent spent spoke stood taught thought told understood wore won wrote built"""
)
_ADVERBS = _words("always never usually often also now just still only mostly sometimes currently no")


# -- Japanese ----------------------------------------------------------------------------------------------


def _japanese(clause: str) -> tuple[str, bool]:
    """The statement without "I", which an entry about the person does not need."""
    bare = re.sub(r"^(?:私|わたし|僕|ぼく|俺|おれ)(?:は|が|の|も)、?", "", clause).strip("、。 　")
    about_person = bare != clause or not re.search(
        r"サーバ|プロジェクト|システム|会社の|リポジトリ|データベース", clause
    )
    return bare or clause, about_person


# -- looking back ------------------------------------------------------------------------------------------


def facts(text: str) -> tuple[Fact, ...]:
    """The durable facts that somebody states plainly, in order. What was asked for by name is not among them."""
    found = []
    for sentence in re.split(r"(?<=[.!?。！？])\s*|\n+", text):
        if fact := _fact(sentence.strip()):
            found.append(fact)
    return tuple(found)


def single(text: str) -> str:
    """The matter of an entry of which a person has one only (see Fact.single), else ""."""
    return next((matter for pattern, matter in _SINGLE if pattern.search(text)), "")


def _fact(sentence: str) -> Fact | None:
    if not sentence or not isinstance(hearing.wish(sentence), hearing.Chatter):
        return None
    plain = sentence.rstrip(".!。！ ")
    for pattern, single in _JA_FACTS if hearing.language(sentence) == "ja" else _FACTS:
        if match := pattern.search(plain):
            quote = match.group(0).strip(" ,、")
            moved = re.sub(r"^i(?:'ve| have)?(?: just)? moved to", "I live in", quote, flags=re.IGNORECASE)
            text, about_person = entry(moved)
            return Fact(quote, text, about_person, single)
    return None


def _table(*rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(source, re.IGNORECASE), single) for source, single in rows)


_FACTS = _table(
    (r"\bmy (?:full |first |last )?name is .+", "#name"),
    (r"\b(?:please )?call me .+", "#name"),
    (r"\bi (?:now |currently )?live in .+", "#live"),
    (r"\bi(?:'ve| have)?(?: just)? moved to .+", "#live"),
    (r"\bi (?:\w+ly |always |now )?(?:prefer|speak|work|study|own|play|collect|drive|keep) .+", ""),
    (r"\bi (?:really |absolutely )?(?:like|love|enjoy|hate|dislike) .+", ""),
    (r"\bi(?:'m| am) (?:allergic|vegetarian|vegan|a |an |from |married|born) ?.*", ""),
    (r"\bi was born .+", ""),
    (r"\bi have (?:a|an|two|three|four|\d+) (?!question|problem|feeling|doubt|look)[\w ]+", ""),
    (r"\bmy (?!question|point|guess|bad|problem)[\w ]{2,40} (?:is|are) .+", ""),
    (r"^(?:please )?(?:always|never) .+", ""),
)
_SINGLE = _table(
    (r"^(?:now |currently )?lives in |^moved to |^[^、が]+に住んで", "#live"),
    (r"^(?:full |first |last )?name is |^wants to be called |^is called |^名前は|と呼んで", "#name"),
)
_JA_FACTS = _table(
    (r"(?:(?:私|わたし|僕|俺)の)?名前は.+", "#name"),
    (r".+と呼んで(?:ください|ね|ほしい)?", "#name"),
    (r"(?:(?:私|わたし|僕|俺)は)?[^、]+に住んで(?:いま|ま|い|る).*", "#live"),
    (r"(?:(?:私|わたし|僕|俺)は)?[^、]+(?:が|は)(?:大)?(?:好き|嫌い|苦手).*", ""),
    (r"(?:(?:私|わたし|僕|俺)は)?[^、]+で(?:働いて|勤めて).*", ""),
    (r"(?:(?:私|わたし|僕|俺)は)?[^、]+アレルギー.*", ""),
    (r"(?:(?:私|わたし|僕|俺)の)(?:誕生日|趣味|仕事|職業|妻|夫|息子|娘|犬|猫).*は.+", ""),
    (r"(?:いつも|必ず).+(?:して|で)(?:ください|ほしい).*", ""),
)
