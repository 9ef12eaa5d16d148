"""Keys, tokens, passwords and card numbers: known by their shapes, or because the text names them. Pure."""

import re

from gateway.scan import forms


def found_in(text: str) -> bool:
    """Whether it holds a key, a token, a password or a card number."""
    plain = forms.plain(text)
    return _has_known_shape(plain) or _has_password(plain) or _has_card(plain)


_MARKS = re.compile(
    r"[srp]k[-_]|gh[pousr]_|github_pat|glpat-|npm_|hf_|pypi-|xox|A[KS]IA|AIza|eyJ|-----BEGIN|://|[0-9]:[A-Za-z0-9_-]{35}"
    r"|\.[\w-]{6}\.|ya29\.|SG\.|dop_v1_|shpat_|AGE-SECRET"
)
"""No key without one of these: most texts need no closer look."""

_KNOWN_SHAPES = re.compile(
    "|".join(
        (
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
            r"\bya29\.[A-Za-z0-9_-]{30,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bdop_v1_[a-f0-9]{40,}|\bshpat_[a-fA-F0-9]{30,}",
            r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}",
        )
    )
)

_SECRET_NAME = (
    r"(?:pass(?:word|wort|phrase|code)|passwd|pwd|kennwort|contrase(?:ñ|n)a|senha|mot de passe|clave secreta|"
    r"парол[ьея]|пин-?код|パスワード|暗証番号|密码|密碼|口令|비밀번호|암호|패스워드|"
    r"(?:api|secret|access|private)[ _-]?(?:key|token)|"
    r"(?:api|APIの?)[ -]?(?:キー|schlüssel|密钥|키)|clave (?:de )?api|clé (?:d['’])?api|"
    r"\b[A-Z][A-Z0-9_]{0,40}_(?:KEY|TOKEN|SECRET|PASSWORD)|\bPIN\b|auth token|bearer token)"
)
_NAME_PARTS = (
    *("pass", "pwd", "wort", "contrase", "senha", "clave", "clé", "парол", "пин", "_key", "token", "secret"),
    *("access", "private", "api", " pin", "\npin", "(pin", "パスワード", "暗証", "密码", "密碼", "口令"),
    *("비밀번호", "암호", "패스워드"),
)
"""No name of a secret without one of these."""
_TOLD = r"(?P<told>[:=]|は[、:]?|是|为|[은는이가]\s|\b(?:is|are|ist|lautet|es|est|é|это)(?=\s)|[—–-](?=\s))"
_NAMED = re.compile(_SECRET_NAME, re.IGNORECASE)
_VALUE = re.compile(
    rf"[\"'`*]*\s*{_TOLD}\s*[\"'`*「『“«]*(?P<value>[^\s\"'`*,;、。「」]{{3,}})"
    r"(?P<rest>[\"'`*]*[ \t]*[^\n.;,]{0,20})",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"\$|<|\{|\[|\*{2,}|\.{3}|https?:|[~/]|\d+-?(?:bit|byte|day|hour|char|min|month|year)|(?:none|null|empty|required|"
    r"optional|unknown|secret|hidden|todo|redacted|changeme|example|xxx+|rotated|stored|saved|kept|see|in|not|"
    r"needed|managed|1password|bitwarden|keepass|lastpass|vault|yes|no)(?![a-z])",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\d.])(?:\d[ -]?){12,18}\d(?![\d.]\d)")
_CARD_KINDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35[2-8]\d{13}"
)


def _has_known_shape(plain: str) -> bool:
    return bool(_MARKS.search(plain)) and bool(_KNOWN_SHAPES.search(plain))


def _has_password(plain: str) -> bool:
    lower = plain.lower()
    named = lower.startswith("pin") or any(word in lower for word in _NAME_PARTS)
    return named and any(_names_value(plain, match) for match in _NAMED.finditer(plain))


def _names_value(plain: str, name: re.Match[str]) -> bool:
    value = _VALUE.match(plain, name.end())
    return value is not None and plain[name.start() - 1 : name.start()] not in ("?", "&") and _tells_value(value)


def _tells_value(match: re.Match[str]) -> bool:
    """`password: hunter2` tells one, `password: stored in a drawer` and `the password is long` do not."""
    value = match["value"].rstrip(".!?)）。、")
    if _NO_VALUE.match(value) or len(value) < 3:
        return False
    mixed = bool(re.search(r"\d|[!@#%^&+=]|[a-z][A-Z]|\w-\w+-\w", value))
    alone = not match["rest"].strip(" \"'`*.!?)。") and match["told"] in ":="
    return mixed or alone


def _has_card(plain: str) -> bool:
    numbers = (re.sub(r"\D", "", match.group()) for match in _CARD.finditer(plain))
    return any(_CARD_KINDS.fullmatch(number) and _passes_luhn(number) for number in numbers)


def _passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
