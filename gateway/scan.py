"""Is this text safe to show a model? Pure; used at every write and again at every load.

A text is judged in the forms a model might read it in: NFKC, without invisible characters and accents,
look-alike letters as Latin ones, letters pushed together, base64, hex, escapes, rot13 and the like decoded.
REFUSED is kept for what hides from the reader's eye, for secrets, and for a plain command to drop the
instructions. Everything else that looks wrong is SUSPICIOUS: a person is asked, nothing is lost.
Wording cannot be caught in full; the stronger rule is where words come from (`policy`).
"""

import base64
import binascii
import codecs
import functools
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import unquote


class Level(IntEnum):
    CLEAN = 0
    SUSPICIOUS = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reasons` are keys of the catalog: `flag.…` when suspicious, `reason.…` when refused."""

    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def secret(self) -> bool:
        """True when the text must not be kept anywhere."""
        return SECRET in self.reasons


CLEAN = Verdict(Level.CLEAN)
SECRET = "reason.secret"


@functools.lru_cache(maxsize=512)  # every write and every prompt looks at the same few entries again
def check(text: str) -> Verdict:
    """The verdict on a text that is to enter a prompt."""
    if has_secret(text):
        return Verdict(Level.REFUSED, (SECRET,))
    if reason := _hides(text) or _commands(text):
        return Verdict(Level.REFUSED, (reason,))
    flags = _flags(text)
    return Verdict(Level.SUSPICIOUS, flags) if flags else CLEAN


def has_secret(text: str) -> bool:
    """Whether it holds a key, a token, a password or a card number."""
    plain = unicodedata.normalize("NFKC", _without_invisible(text))
    return any(pattern.search(plain) for pattern in _SECRETS) or _has_password(plain) or _has_card(plain)


# -- secrets -----------------------------------------------------------------------------------------------

_SECRETS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bsk-(?:[a-z]{2,12}-)?[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, OpenRouter
        r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
        r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}",
        r"\bglpat-[A-Za-z0-9_-]{18,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{40,}",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",  # AWS
        r"\bAIza[0-9A-Za-z_-]{35}",  # Google
        r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b",  # a Telegram bot
        r"\b[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,}",  # a Discord bot
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",  # a JSON web token
        r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:(?!\$|<|\*)[^\s/@]{3,64}@[\w.-]+",  # user:password@host
    )
)

_SECRET_NAME = (
    r"(?:pass(?:word|wort|phrase|code)|passwd|pwd|kennwort|contraseña|senha|mot de passe|пароль|"
    r"パスワード|暗証番号|密码|密碼|비밀번호|(?:api|secret|access|private)[ _-]?(?:key|token)|"
    r"\b[A-Z][A-Z0-9_]{0,40}_(?:KEY|TOKEN|SECRET|PASSWORD)|\bPIN\b|auth token|bearer token)"
)
_PASSWORD = re.compile(
    rf"(?<![?&]){_SECRET_NAME}[\"'`*]*\s*(?P<told>[:=]|は|\bis\b|\bist\b|\bes\b|\best\b|\bé\b|は、|は:)\s*[\"'`*]*"
    r"(?P<value>[^\s\"'`*,;]{3,})(?P<rest>[\"'`*]*[ \t]*[^\n.;,]{0,20})",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"\$|<|\{|\[|\*{2,}|\.{3}|https?:|[~/]|\d+-?(?:bit|byte|day|hour|char|min|month|year)|(?:none|null|empty|required|optional|unknown|secret|hidden|todo|"
    r"redacted|changeme|example|xxx+|rotated|stored|saved|kept|see|in|not|needed|managed|1password|bitwarden|"
    r"keepass|lastpass|vault|yes|no)(?![a-z])",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\d.])(?:\d[ -]?){12,18}\d(?![\d.]\d)")
_CARD_KINDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35[2-8]\d{13}"
)


def _has_password(plain: str) -> bool:
    return any(_tells_value(match) for match in _PASSWORD.finditer(plain))


def _tells_value(match: re.Match[str]) -> bool:
    """`password: hunter2` tells one, `password: stored in a drawer` and `the password is long` do not."""
    value = match["value"].rstrip(".!?)）。、")
    if _NO_VALUE.match(value) or len(value) < 3:
        return False
    mixed = bool(re.search(r"\d", value)) or bool(re.search(r"[!@#%^&+=]|[a-z][A-Z]", value))
    alone = not match["rest"].strip(" \"'`*.!?)") and match["told"] in ":="
    return mixed or alone


def _has_card(plain: str) -> bool:
    numbers = (re.sub(r"\D", "", match.group()) for match in _CARD.finditer(plain))
    return any(_CARD_KINDS.fullmatch(number) and _passes_luhn(number) for number in numbers)


def _passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


# -- characters that hide text -----------------------------------------------------------------------------

_TAGS = re.compile("[\U000e0000-\U000e007f]")
_FLAGS_OF_NATIONS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_OVERRIDES = re.compile("[\u202a-\u202e]")
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SELECTOR_PLACES = re.compile(f"(?P<base>^|.)(?P<selectors>{_SELECTOR}+)(?=(?P<next>.|$))", re.DOTALL)
_NEVER_NEEDED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180e\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a]"
)
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_JOINED_SCRIPTS = frozenset(
    {"ARABIC", "SYRIAC", "MANDAIC", "NKO", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA"}
    | {"TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "MYANMAR", "KHMER", "THAI", "LAO", "TIBETAN"}
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]|" + _CONTROL.pattern
)


def _hides(text: str) -> str:
    """Why the text may say something that a reader's eye does not see; "" if it does not."""
    if _CONTROL.search(text):
        return "reason.control_characters"
    hidden = (
        _TAGS.search(_FLAGS_OF_NATIONS.sub("", text))
        or _OVERRIDES.search(text)
        or _NEVER_NEEDED.search(text)
        or (_DIRECTION_MARKS.search(text) and not _has_right_to_left(text))
        or any(not _selects(match) for match in _SELECTOR_PLACES.finditer(text))
        or any(not _joins(text, place) for place, char in enumerate(text) if "\u200b" <= char <= "\u200d")
    )
    return "reason.hidden_characters" if hidden else ""


def _selects(match: re.Match[str]) -> bool:
    """One selector may follow what has variants: a symbol, a keycap's digit, a Chinese character."""
    base, selectors = match["base"], match["selectors"]
    if len(selectors) > 1 or not base:
        return False
    if selectors in "\ufe0e\ufe0f":
        keycap = base in "0123456789#*" and match["next"] in ("\u20e3", "", " ")
        symbol = unicodedata.category(base)[0] in "SP" and not base.isascii()
        return keycap or symbol or base == "ℹ"
    return unicodedata.category(base) in ("Lo", "Sm", "Po") and not base.isascii()


def _joins(text: str, place: int) -> bool:
    """Zero-width characters belong inside emoji and between letters of the scripts that need them."""
    before, after = text[:place][-1:], text[place + 1 : place + 2]
    if _script(before) in _JOINED_SCRIPTS:
        return True
    return text[place] == "\u200d" and _is_emoji(before) and _is_emoji(after)


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ")[0] if char else ""


def _is_emoji(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in ("So", "Sk") or char in "\ufe0f\u2640\u2642\U0001f1e6")


def _has_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text if char not in "\u200f\u061c")


def _without_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


# -- a plain command to drop the instructions --------------------------------------------------------------

_QUOTED = re.compile(
    r"\"[^\"]{1,400}\"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|"
    r"`[^`]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)|‘[^’]{1,400}’"
)
_SENTENCE = re.compile(r"[.!?;:\n…]+")
_COMMAND = re.compile(
    r"(?:(?:please|now|and|then|hey|assistant|system|important|attention|you must|you should) )*"
    r"(?:ignore|disregard|forget|override) (?:all |any |every |of |the |your |my |these |those )*"
    r"(?:previous|prior|above|earlier|preceding|former) (?:\w+ )?"
    r"(?:instructions?|prompts?|rules|directions|directives|guidelines|commands)\b"
    r"(?! (?:about|on|for|regarding|concerning|in|from|when|of|to))"
)


def _commands(text: str) -> str:
    for form in _visible_forms(_QUOTED.sub(" … ", text)):
        if any(_COMMAND.match(_words(sentence)) for sentence in _SENTENCE.split(form)):
            return "reason.override"
    return ""


# -- what merely looks wrong -------------------------------------------------------------------------------


def _flags(text: str) -> tuple[str, ...]:
    flags = dict.fromkeys(flag for form in _visible_forms(text) for flag in _flags_of(form))
    if not flags and any(_talks_to_the_model(form) for form in _hidden_forms(text)):
        flags["flag.obfuscated"] = None
    return tuple(flags)


def _flags_of(form: str) -> Iterator[str]:
    words = _words(form)
    for flag, pattern in _in_words():
        if pattern.search(words):
            yield flag
    for flag, pattern in _in_text():
        if pattern.search(form):
            yield flag


def _talks_to_the_model(form: str) -> bool:
    return any(_flags_of(_fold(form))) or bool(_SQUEEZED.search(re.sub(r"[\W_]+", "", _fold(form))))


_WHO = r"(?:the )?(?:user|owner|human|operator|person)\b(?! s\b| of\b| interface)"
_DROP = r"(?:pay no attention to|ignore|disregard|forget|override|bypass|discard|neglect|overrule)"
_TOLD = r"(?:instructions?|prompts?|rules?|directions?|directives?|messages?|guidelines?|commands?|orders?)"
_FORMER = r"(?:previous|prior|above|earlier|former|preceding|existing|system|original|initial|developer)"
_GOODS = (
    r"(?:it|this|that|them|everything|all|memory|(?:the|all|every|any|this|our|your|my|their|whole|full|user)"
    r"(?: \w+){0,2} (?:conversations?|chats?|messages?|history|memory|memories|transcripts?|secrets?"
    r"|keys?|passwords?|"
    r"credentials?|tokens?|notes|contents|data))"
)
_SEND = r"(?:send|post|upload|forward|e ?mail|exfiltrate|transmit|submit|leak|report|copy|deliver)"

_WORD_RULES: Mapping[str, tuple[str, ...]] = {
    "flag.override": (
        rf"\b{_DROP}\b(?: \w+){{0,3}} {_FORMER}\b(?: \w+){{0,2}} {_TOLD}\b",
        rf"\b{_DROP} (?:all|any|every|the|your|these|those|my)(?: \w+){{0,2}} "
        rf"(?:instructions|guidelines|directives)\b",
        rf"\b{_DROP} (?:everything|all|anything|whatever|what)\b(?: \w+){{0,4}} "
        rf"(?:told|said|learned|instructed|above)\b",
        r"\bnew (?:system )?(?:rules|instructions|prompt|orders) (?:follow|below|are|is|apply)\b",
        r"\b(?:reveal|print|show|repeat|leak|output|disclose)(?: me)? (?:your|the) "
        r"(?:system|hidden|initial) (?:prompt|instructions)\b",
        r"\b(?:decode|decrypt|unscramble)\b(?: \w+){0,3} (?:obey|execute|follow|comply)\b",
        r"\b(?:stop|do not|don t|never) (?:following|follow|obey|obeying)(?: \w+){0,2} "
        r"(?:instructions|rules|system prompt)\b",
        # Japanese, Chinese, Korean, French, Spanish, Portuguese, Italian, German, Russian, Hindi, Arabic
        r"(?:以前|これまで|今まで|前の|上記|すべて|全て|全部|あらゆる).{0,12}(?:命令|指示|指令|ルール|規則|プロンプト).{0,12}"
        r"(?:無視|忘れ(?!ない|物|たわけ)|従わ|破棄|上書き|捨て)",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守).{0,12}(?:之前|以前|先前|上述|上面|所有|全部|一切).{0,10}(?:指令|指示|命令|规则|規則|提示)",
        r"(?:이전|앞선|위의|기존|지금까지|모든).{0,12}(?:지시|명령|지침|규칙|프롬프트).{0,14}(?:무시|잊|따르지)",
        r"\b(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne tiens pas compte|ne tenez pas compte)\b.{0,30}\b"
        r"(?:instructions?|consignes|regles|ordres|directives)\b.{0,12}(?:precedent|anterieur|ci dessus)",
        r"\bolvid[ae]\w{0,2} todo lo (?:anterior|que te)"
        r"|\b(?:ignor[ae]\w{0,2}|olvid[ae]\w{0,2}|descart[ae]|haz caso omiso)\b.{0,30}\b"
        r"(?:instrucciones|ordenes|reglas|indicaciones)\b.{0,12}(?:anterior|previa|de arriba)",
        r"\b(?:ignor[ae]\w{0,2}|esquec[ae]|esquece|desconsidere|desconsidera)\b.{0,30}\b"
        r"(?:instrucoes|ordens|regras|orientacoes)\b.{0,12}(?:anterior|previa|acima)",
        r"\b(?:ignora\w{0,2}|dimentica\w{0,2}|scorda\w{0,2})\b.{0,30}\b"
        r"(?:istruzioni|ordini|regole|indicazioni)\b.{0,12}(?:precedent|sopra)",
        r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missacht\w*)\b.{0,20}\b"
        r"(?:vorherig|bisherig|obig|fruher|alle|vorangegangen)\w*.{0,20}\b"
        r"(?:anweisung|regel|befehl|instruktion|vorgabe)",
        r"(?:игнорир|забуд|отбрось)\w*.{0,20}(?:предыдущ|прежн|все|прошл)\w*.{0,20}"
        r"(?:инструкци|указани|правил|команд)",
        r"(?:पिछल|पहले|पूर्व|सभी|उपरोक्त).{0,20}(?:निर्देश|आदेश|नियम).{0,20}"
        r"(?:अनदेखा|नज.?रअंदाज|नजरअंदाज|भूल|उपेक्षा)",
        r"(?:تجاهل|انس|اهمل).{0,20}(?:التعليمات|الأوامر|الاوامر|القواعد|تعليمات).{0,15}(?:السابق|أعلاه)",
    ),
    "flag.persona": (
        r"\byou are now (?:\w+ ){1,5}(?:who|that|which|without|mode)\b",
        r"\byou are (?:now )?(?:dan|unrestricted|jailbroken|unfiltered|uncensored)\b",
        r"\b(?:act|behave|respond|answer) as (?:if you ha(?:ve|d) no|an? "
        r"(?:unrestricted|unfiltered|evil|jailbroken)|dan\b)",
        r"\byou have no (?:rules|restrictions|limits|guidelines|filters)\b",
        r"\b(?:developer|god|jailbreak|dan) mode (?:on|enabled|activated)\b",
    ),
    "flag.conceal": (
        rf"\b(?:do not|don t|dont|never|without|must not) (?:tell|telling|inform|informing|alert|alerting|"
        rf"notify|notifying|ask|asking|warn|warning) {_WHO}",
        rf"\b(?:do not|don t|dont|never|without) (?:mention|mentioning|reveal|revealing|show|showing|"
        rf"disclose)(?: \w+){{1,3}} to {_WHO}",
        rf"\b(?:do not|don t|dont|never) let {_WHO} (?:know|see|notice)",
        rf"\b(?:hide|conceal|keep)(?: \w+){{0,3}} from {_WHO}",
        rf"\b(?:silently|secretly|covertly|quietly|discreetly)(?: \w+){{0,3}} "
        rf"(?:{_SEND}|bcc|cc|transfer|share|append|run|execute|insert|approve|recommend|promote)\b",
        r"(?:ユーザー?|利用者|持ち主|本人)に(?:は|も)?.{0,8}(?:言うな|言わな|知らせ(?:るな|な)|伝え(?:るな|な)|教え(?:るな|な)|話すな|話さな)",
        r"(?:不要|别|不得)(?:告诉|告知|通知)(?:用户|主人)",
        r"사용자에게.{0,8}(?:말하지|알리지)",
    ),
    "flag.exfiltration": (
        r"(?:秘密鍵|パスワード|トークン|apiキー|会話|鍵|記憶).{0,15}(?:送信|送れ|送って|転送|投稿|アップロード)",
        r"(?:密码|密钥|令牌|对话|聊天记录).{0,12}(?:发送|发给|上传|转发)",
    ),
    "flag.approval": (
        r"\bwrite approval\b(?: \w+){0,4} (?:false|off|no|0|disabled)\b",
        r"\b(?:disable|turn off|switch off|bypass|skip)(?: \w+){0,2} (?:write|memory|your|all|user) approvals?\b",
        r"\bmemory (?:approve all|approval off)\b",
        r"\bapprove (?:all|every)(?: \w+){0,3} (?:automatically|without asking|yourself)\b",
    ),
}

_LOOT = (
    r"(?:\.aws/credentials|\.ssh/(?:id_\w+|\S*key)|id_rsa|\.netrc|\.pgpass|\.git-credentials|\.kube/config|"
    r"/etc/(?:passwd|shadow)|(?:^|[\s/~])\.env\b(?![.\w]))"
)
_ADDRESS = r"(?:https?://|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.\w)"

_TEXT_RULES: Mapping[str, tuple[str, ...]] = {
    "flag.exfiltration": (
        rf"\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp)\b[^\n]{{0,160}}{_LOOT}",
        r"\b(?:curl|wget)\b[^\n]{0,80}(?:https?://\S{0,120}\$|"
        r"(?:-d|-f|--data\S{0,12}|--form|--post-data)[ =]\S{0,60}\$)",
        rf"\b(?:cat|type|less|more|head|tail|cp|base64|xxd|strings)\b[^\n]{{0,80}}{_LOOT}",
        rf"(?:^|[.!?;:\n] *|\b(?:always|must|then|and|please|should|to|"
        rf"now) ){_SEND} {_GOODS}\b[^\n]{{0,60}}{_ADDRESS}",
        rf"\b(?:whenever|every time|each time|always)\b[^\n]{{0,100}}\b(?:bcc|"
        rf"cc|{_SEND})\b[^\n]{{0,60}}{_ADDRESS}",
    ),
    "flag.persistence": (
        r">>?\s*\S{0,80}(?:\.bashrc|\.zshrc|\.profile|\.bash_profile|authorized_keys|/etc/cron)",
        r"\|\s*(?:ba|z|da)?sh\b",
        r"\brm -rf? +[~/]",
    ),
    "flag.markup": (
        r"<[a-z][^>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|"
        r"opacity\s*:\s*0\b)",
        r"<(?:script|iframe|object|embed)\b|\bjavascript:|\bdata:text/html",
        r"!\[[^\]]{0,200}\]\(\s*(?:https?:)?//",
        r"<!--[^>]{0,200}\b(?:ignore|obey|execute|instructions?)\b",
    ),
    "flag.template": (
        r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant)(?:_prompt)?>",
        r"═{8,}|^#{2,} *(?:system|instructions?)\b *:",
    ),
}


def _compiled(rules: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (flag, re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.MULTILINE))
        for flag, patterns in rules.items()
    )


# Compiled when the first text is scanned: most commands scan none, and compiling takes longer than they do.
@functools.cache
def _in_words() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return _compiled(_WORD_RULES)


@functools.cache
def _in_text() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return _compiled(_TEXT_RULES)


_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|every|of|the|your|my|these|those)*"
    r"(?:previous|prior|above|earlier|system|preceding|former)(?:instruction|prompt|rule|direction|guideline|command)"
)


# -- the forms a model might read --------------------------------------------------------------------------

_ACCENTS = re.compile("[\u0300-\u036f]")
_GAP = re.compile(r"(?:[^\w\u0300-\u036f\u0900-\u0e7f\u3099\u309a]|_)+")
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝѵⅼɡɑıαοερυνικτвкмнтᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "aeopcyxijshdqwvlgaiaoepuviktbkmhtabcdefghijklmnoprstuvwyz",
)
_LEET = str.maketrans("013457@$!|", "oieastasil")
_DECODED_CHARS = 20_000


def _visible_forms(text: str) -> tuple[str, ...]:
    """As a person reads it, and with look-alike letters as Latin ones."""
    plain = _fold(text)
    return tuple(dict.fromkeys((plain, plain.translate(_LOOK_ALIKES))))


def _hidden_forms(text: str) -> Iterator[str]:
    """As a model could decode it. One encoding inside another is followed once."""
    for form in _decoded(text):
        yield form
        yield from _decoded(form)


def _decoded(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFKC", _without_invisible(text))[:_DECODED_CHARS]
    for decode in _DECODERS:
        decoded = decode(text)
        if decoded and decoded != text:
            yield decoded


def _fold(text: str) -> str:
    """NFKC, lower case, no invisible characters, no accents on Latin, Greek and Cyrillic letters."""
    plain = unicodedata.normalize("NFKC", _without_invisible(text)).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))


def _words(form: str) -> str:
    """Words with one space between, whatever stood there."""
    return _GAP.sub(" ", form).strip()


def _from_base64(text: str) -> str:
    found = re.findall(r"[A-Za-z0-9+/_-]{16,}={0,2}", re.sub(r"(?<=\S{16})\s*\n\s*(?=\S)", "", text))
    return "\n".join(filter(None, map(_base64_text, found)))


def _base64_text(token: str) -> str:
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(body + "=" * (-len(body) % 4)))
    except binascii.Error:
        return ""


def _from_hex(text: str) -> str:
    found = re.findall(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){8,}", text)
    digits = (re.sub(r"0x|\\x|[ ,:]", "", run) for run in found)
    return "\n".join(_readable(bytes.fromhex(run)) for run in digits if len(run) % 2 == 0)


def _readable(data: bytes) -> str:
    """The bytes as text, "" when they are none."""
    text = data.decode("utf-8", "replace")
    return text if sum(char.isprintable() for char in text) > 0.8 * len(text) and "\ufffd" not in text else ""


def _from_escapes(text: str) -> str:
    """`%69`, `&#105;`, `\\x69` and `\\u0069` as the letters they stand for."""
    codes = r"\\x([0-9a-fA-F]{2})|\\u\{?([0-9a-fA-F]{4,6})\}?"
    return re.sub(codes, _letter, html.unescape(unquote(text)))


def _letter(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else ""


def _from_leet(text: str) -> str:
    return text.casefold().translate(_LEET)


def _pushed_together(text: str) -> str:
    """`i g n o r e` and `i.g.n.o.r.e` as one word; wider gaps stay gaps."""
    return re.sub(r"(?:\b\w[ .\-_*|/]){3,}\w\b", lambda match: re.sub(r"[\W_]", "", match.group()), text)


def _from_rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _backwards(text: str) -> str:
    return text[::-1]


_DECODERS: tuple[Callable[[str], str], ...] = (
    _from_base64,
    _from_hex,
    _from_escapes,
    _from_leet,
    _pushed_together,
    _from_rot13,
    _backwards,
)
