"""How the offline model finds what it knows: the memory blocks of a prompt, and notes that fit a question. Pure.

Words are compared by stem and by meaning in a small table of everyday matters, across English and Japanese.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """One entry as the model sees it. `target` is the store that holds it: memory or user."""

    target: str
    text: str


def blocks(system: str) -> tuple[Note, ...]:
    """The entries of the MEMORY and USER PROFILE blocks of a system prompt, in order."""
    found: list[Note] = []
    for match in _HEAD.finditer(system):
        target = "memory" if match["title"].startswith("MEMORY") else "user"
        body = _body(system[match.end() :], int(match["chars"].replace(",", "")))
        found += [Note(target, entry.strip()) for entry in body.split("\n§\n") if entry.strip()]
    return tuple(found)


def _body(after: str, chars: int) -> str:
    """A block's text: as long as its heading says, or to the next blank line where that does not fit."""
    rest = after[chars:]
    if len(after) >= chars and (not rest or rest.startswith(("\n\n", "\n═"))):
        return after[:chars]
    return re.split("\n\n|\n═", after, maxsplit=1)[0]


_HEAD = re.compile(
    r"^═{46}\n(?P<title>MEMORY|USER PROFILE) \([^\n]*\) \[\d+% — (?P<chars>[\d,]+)/[\d,]+ chars\]\n═{46}\n",
    re.MULTILINE,
)


def fitting(question: str, notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes that answer a question best; none when no note shares half of what it is about."""
    about = meanings(question)
    scores = [len(about & meanings(note.text)) for note in notes]
    best = max(scores, default=0)
    if best == 0 or best * 2 < len(about):
        return ()
    return tuple(note for note, score in zip(notes, scores, strict=True) if score == best)


def in_short(asked: str) -> str:
    """What the persons of a conversation said, from a request for its summary: the newest lines, as they are."""
    said: list[str] = []
    speaker = ""
    for line in asked.splitlines():
        if line.startswith("|   ") and speaker in ("Person:", "(Summary of what came before:)"):
            said.append(" ".join(line[4:].split())[:_MOST_LINE_CHARS])
        elif line.startswith("| "):
            speaker = line[2:]
    return "\n".join(said[-_MOST_LINES:])


_MOST_LINES, _MOST_LINE_CHARS = 20, 160


def naming(words: str, notes: Sequence[Note]) -> Note | None:
    """The one note that a person means: the only one that holds these words, else the one that fits them best."""
    among = holding(words, notes) or tuple(notes)
    best = among if len(among) == 1 and holding(words, among) else fitting(words, among)
    return best[0] if len(best) == 1 else None


def holding(words: str, notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes in which these words stand."""
    plain = _plain(words)
    return tuple(note for note in notes if plain and plain in _plain(note.text))


def is_personal(question: str) -> bool:
    """Whether a question is about the person, as far as it shows."""
    personal = re.search(r"\b(?:i|i'm|me|my|mine)\b|私|わたし|僕|ぼく|俺", _plain(question))
    return personal is not None or any(meaning.startswith("#") for meaning in meanings(question))


def meanings(text: str) -> frozenset[str]:
    """What a text is about: the everyday matters it touches, and the stems of its other words."""
    plain = _plain(text)
    found = {matter for matter, (_, japanese) in _MATTERS.items() if any(sign in plain for sign in japanese)}
    for word in re.findall(r"[^\W_]+(?:'[a-z]+)?", plain):
        found.update(_japanese(word) if _CJK.search(word) else _english(word))
    return frozenset(found)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").strip()


def _english(word: str) -> Iterable[str]:
    word = word.removesuffix("'s")
    if word in _EMPTY:
        return ()
    stem = _stem(word)
    return (_MATTER_OF.get(stem, stem),)


def _stem(word: str) -> str:
    for ending, least in (("ing", 6), ("ed", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def _japanese(word: str) -> Iterable[str]:
    """The nouns of a stretch of Japanese: runs of kanji, katakana or letters, without what says nothing."""
    for run in re.findall(r"[一-龯々]+|[ァ-ヴー]+|[^\W_ぁ-んァ-ヴー一-龯々]+", word):
        if run in _EMPTY or all(sign in _EMPTY_KANJI for sign in run):
            continue
        if not any(sign in run for _, signs in _MATTERS.values() for sign in signs):
            yield run


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_CJK = re.compile("[ぁ-んァ-ヴー一-龯々]")
_EMPTY_KANJI = "私僕俺何誰今教知覚言思方事時分日本当名際々君彼彼女"
_EMPTY = _words(
    """a an the i i'm i've i'd i'll me my mine you your we our us he she it its they their this that these those is
    are am was were be been do does did don't have has had can could would will shall should may might must to of in
    on at for from by with about as and or but not no if so than then there here now still again also just very what
    what's where where's who who's whom whose when which how why tell remind say said know knew remember remembered
    please hey hi ok any some something anything everything one ones thing things kind get got go been being
    into out up down fact note noted notes more anymore longer any"""
)
_MATTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "#live": ("live reside home hometown city town address move moved based", ("住", "暮らし", "引っ越", "居住")),
    "#name": ("name named call nickname", ("名前", "呼ん", "呼び", "という名")),
    "#like": ("like love prefer favourite favorite enjoy fond", ("好き", "好み", "好物", "お気に入り")),
    "#work": (
        "work job employer employed company profession occupation career",
        ("仕事", "働", "勤", "職", "会社"),
    ),
    "#eat": (
        "eat food diet meal vegetarian vegan allergic allergy",
        ("食べ", "料理", "アレルギー", "ベジタリアン"),
    ),
    "#drink": ("drink tea coffee beverage", ("飲", "お茶", "コーヒー", "紅茶")),
    "#born": ("born birthday birth", ("誕生日", "生まれ")),
    "#age": ("age old years", ("年齢", "歳", "何才")),
    "#pet": ("pet dog cat puppy kitten", ("犬", "猫", "ペット", "いぬ", "ねこ")),
    "#partner": ("wife husband partner married spouse", ("妻", "夫", "結婚", "奥さん", "旦那")),
    "#child": ("child children kid kids son daughter", ("子供", "子ども", "息子", "娘")),
    "#speak": ("speak language languages answer reply", ("言語", "話せ", "日本語", "英語", "返事")),
    "#hobby": ("hobby hobbies pastime spare", ("趣味",)),
}
_MATTER_OF = {_stem(word): matter for matter, (english, _) in _MATTERS.items() for word in english.split()}
