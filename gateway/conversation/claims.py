"""Whether somebody asked for memory to change, or a model says that it did (design.md 7.7). Pure.

Wording decides nothing but whether to look: whether memory was changed is what the turn's records say. A wish or a
claim read where there is none costs a sentence that is true all the same; one that is overlooked leaves the person
where the model left them. So the patterns are short, and in the languages that the scan knows.
"""

import functools
import re

_LOOKED_AT = 2000
"""Of an answer so much from its beginning and from its end: what was done is said there."""


def asks(text: str) -> bool:
    """Whether a person's own words ask to remember or to forget something."""
    return _says(_plain(text), _ASKING, _ASKED)


def claims(answer: str) -> bool:
    """Whether an answer says that something was, or will be, remembered or forgotten."""
    return _says(_plain(answer), _CLAIMING, _CLAIMED)


def to_forget(text: str) -> str:
    """What a person's own words ask to forget; "" where they ask nothing, or name nothing."""
    plain = _CALLED.sub("", text.replace("’", "'")[: 2 * _LOOKED_AT])
    for source in _FORGETTING:
        if found := _any((source,)).search(plain):
            what = _any((_BEFORE_IT, _BEHIND_IT)).sub("", found["what"]).strip(" \t　\"'”」』.。!！,、")
            return "" if _any((_NAMES_NOTHING,)).fullmatch(what) else what
    return ""


def is_question(text: str) -> bool:
    """Whether a person asks: "Yes, I noted that" may then be true of an earlier answer."""
    return text.rstrip(" \n\t　\"'”」)").endswith(("?", "？", "؟", "か", "か。"))


def _says(plain: str, stems: tuple[str, ...], sources: tuple[str, ...]) -> bool:
    """Most texts hold none of the stems, which is known a hundred times sooner."""
    lower = plain.lower()
    return any(stem in lower for stem in stems) and _any(sources).search(plain) is not None


def _plain(text: str) -> str:
    text = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    return text.replace("’", "'").replace("*", "").replace("_", "")


@functools.cache  # compiled when it is first asked for: most commands ask nothing
def _any(sources: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{source})" for source in sources), re.IGNORECASE)


_BEGINS = (
    r"(?:^|[.!?:;,\n。！？、，]|\b(?:please|and|also|(?:can|could|would|will) you|want you to|you (?:should|must)"
    r"|por favor|y|bitte|und|kannst du|s'il (?:te|vous) pla[iî]t|et|peux[- ]tu|пожалуйста|и)\b)"
    r"[\s\"'«»“„¡]*(?:please )?"
)
"""Where a sentence begins, or what asks politely."""
_ITS_MEMORY = r"(?:to|in|into|from) (?:your |my |the )?(?:long-term )?memory\b"

_ASKING = (
    *(
        "memor",
        "remember",
        "in mind",
        "forget",
        "a note",
        "note down",
        "覚え",
        "憶え",
        "おぼえ",
        "記憶",
        "メモ",
        "忘",
    ),
    *("记", "記", "기억", "메모", "잊", "recuerd", "recuérd", "acuérd", "apunta", "anota", "olvid", "en cuenta"),
    *("merk", "vergiss", "notier", "denk daran", "souv", "retien", "retenez", "oublie", "mémoris", "note"),
    *("запомн", "забу", "забыв", "в виду", "запиш"),
)
_ASKED = (
    _BEGINS
    + r"(?:remember|memori[sz]e|keep in mind|(?:don't|do not|never) forget|(?:make|take) a note|note down)\b"
    r"(?!\s*(?:\?|when\b|how\b|the (?:time|day)\b|me\s+(?:of|to)\b))",
    _BEGINS + r"forget (?:that|about|my|the|everything|all)\b",
    r"\b(?:save|store|add|put|write|keep|commit|delete|remove|erase)\b.{0,200}?\b" + _ITS_MEMORY,
    r"(?:覚えて|憶えて|おぼえて|記憶して|メモして|忘れないで|忘れて)"
    r"(?:おいて|おいといて|いて|ください|下さい|欲しい|ほしい|くれ|ね|よ|[。！!\s]|$)|覚えといて",
    r"(?:记住|记下|记一下|牢记|記住|記下|別忘|别忘|忘掉)(?!了?[吗嗎])",
    r"(?:기억|메모)\s*해\s*(?:줘|주세요|주십시오|둬|두세요|라|[.!]|$)|잊지\s*(?:마|말)|잊어\s*(?:줘|주세요|버려)",
    _BEGINS
    + r"(?:recuerda|recuérdalo|acuérdate|apunta|anota|memoriza|no (?:te )?olvides|ten en cuenta|olvida que)\b",
    _BEGINS + r"(?:merke? (?:dir|es dir)|merk's dir|vergiss (?:nicht|bitte nicht|dass|,)|notiere? dir|denk daran)",
    _BEGINS + r"(?:souviens-toi|souvenez-vous|retiens|retenez|n'oublie[zs]? pas|mémorise[zr]?)\b",
    _BEGINS + r"(?:note|oublie)[zs]? que\b",
    _BEGINS + r"(?:запомни|запомните|не забудь|не забудьте|не забывай|имей в виду|запиши|забудь|забудьте)\b",
)

_CALLED = re.compile(r"^\s*@\w+[,:]?\s+")
"""In a group somebody is called by name first."""
_FORGETTING = (
    _BEGINS + r"forget (?P<what>[^!?\n]*?\w)(?=(?<=\w{3})\.\s|[!?\n]|\.?\s*$)",
    r"\b(?:delete|remove|erase) (?P<what>[^.!?\n]*\w[^!?\n]*?) from (?:your |my )?memory\b",
    r"(?P<what>[^。！？!?\n、]{2,}?)(?:は|を|も)?、?(?:もう|全部|すべて|すっかり|完全に|きれいに)?"
    r"忘れて(?:ください|下さい|欲しい|ほしい|くれ|ね|よ|[。！!\s]|$)",
)
"""What is asked for is the group `what`. Only words that ask for it; whether anything is found decides the rest."""
_BEFORE_IT = (
    r"^(?:about |that |the fact that |everything |all |what I (?:said|told you) about |I(?:'m| am|'ve| have)? |we "
    r"|my |our |the |私(?:の|は|が)?|わたし(?:の|は|が)?|僕(?:の|は|が)?|俺(?:の|は|が)?|お願いだから|どうか)+"
)
_BEHIND_IT = r"(?:のこと|という(?:こと|話)|って(?:こと|話)|こと|話)$"
_NAMES_NOTHING = (
    r"(?:it|this|that|them|me|him|her|you|everything|all|all (?:of )?(?:it|that|this)|about it|what I said"
    r"|それ|これ|あれ|全部|すべて|今の(?:話|こと)?|さっきの(?:話|こと)?)?"
)

_CLAIMING = (
    *(
        "memor",
        "remember",
        "in mind",
        "a note",
        "saved",
        "stored",
        "noted",
        "recorded",
        "forgotten",
        "覚え",
        "憶え",
    ),
    *(
        "おぼえ",
        "記憶",
        "メモ",
        "記録",
        "忘",
        "记",
        "記",
        "保存",
        "存入",
        "기억",
        "메모",
        "저장",
        "guardado",
        "anotado",
    ),
    *("apuntado", "recordaré", "acordaré", "merk", "notiert", "gespeichert", "vergessen", "noté", "retenu"),
    *("enregistré", "mémoris", "souviendrai", "retiens", "запомн", "помнить", "записал", "сохранил"),
)
_CLAIMED = (
    r"\bI(?:'ve| have)? (?:now |just |also )?(?:saved|stored|noted|memori[sz]ed|recorded|forgotten|remembered) "
    r"(?:it|that|this|your|to|in|down)\b",
    r"\bI(?:'ll| will| shall) (?:now |also |always |definitely |certainly )?"
    r"(?:remember|keep (?:it|that|this) in mind|make a note)\b",
    r"(?:^|[.!,\n]) *(?:(?:got it|ok(?:ay)?|sure|alright|done|no worries|no problem)[,.!:;]? )?(?:and |I )?"
    r"(?:saved|noted|stored|remembered|memori[sz]ed)(?: (?:it|that|this|down))?(?: now)?\s*(?:[.,!:;✓✅👍]|$)",
    r"\b(?:saved|stored|added|written|committed|removed|deleted|erased)\b.{0,80}?"
    r"\b(?:to|in|from) (?:my|your) memory\b",
    r"(?:覚え|憶え|おぼえ|記憶し|メモし|記録し|忘れ)(?:ました|ておきま|ておくね|ておく。|たよ|ときま)|(?:メモリ|記憶)に保存しました",
    r"(?:我|已|都|会|會|经|經)?(?:记住|记下|記住|記下)了|我(?:会|會)记住|我會記住|已(?:保存|存入|记录|記錄|忘记)",
    r"(?:기억|메모|저장)\s*(?:했|하겠|할게|해\s*(?:둘게|두겠|두었|뒀))",
    r"\b(?:lo|la) he (?:guardado|anotado|apuntado|memorizado)|\blo recordaré|\bme acordaré|(?:^|[.!,] ?)anotado\b",
    r"\b(?:habe|hab)\b.{0,60}?\b(?:gemerkt|notiert|gespeichert|vergessen)\b|\bmerke? ich mir\b|\bich merke? mir\b"
    r"|(?:^|[.!,] ?)(?:ist )?(?:notiert|gemerkt|gespeichert)\b",
    r"\bc'est (?:noté|retenu|enregistré)|\bj'ai (?:bien )?(?:noté|retenu|enregistré|mémorisé)\b",
    r"\bje (?:le |m'en )?(?:retiens|souviendrai)|(?:^|[.!,] ?)noté\b",
    r"\b(?:запомнила?|я запомню|буду помнить|записала?|сохранила?)\b",
)
