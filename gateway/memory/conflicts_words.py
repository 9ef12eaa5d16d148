"""The words by which `conflicts_reading` understands a note: relations, negation, opposites.

A table of phrases for each meaning (`@live`, `@like`, …), phrases apart by `|`. Words stand as `fold` leaves them:
no capitals, no accents, no apostrophes. Chinese, Japanese and Korean, which write endings and particles without
blanks, have patterns instead: `conflicts_eastern`.
"""

import unicodedata

# -- Latin and Cyrillic --------------------------------------------------------------------------------------

_PHRASES = {
    "@live": "lives in|live in|living in|lives at|live at|is living in|is based in|based in|resides in|residing in"
    "|moved to|has moved to|has relocated to|relocated to|home is in|wohnt in|wohne in|lebt in|lebe in|zog nach"
    "|vive en|vivo en|reside en|se mudo a|habite a|habite|vit a|vis a|живет в|живу в|живет во|проживает в"
    "|переехал в|переехала в",
    "@moved": "ist nach|a demenage a",
    "@work": "works at|work at|works for|work for|working at|working for|is employed at|is employed by|employed by"
    "|employed at|employer is|arbeitet bei|arbeitet fur|arbeite bei|trabaja en|trabaja para|trabajo en"
    "|travaille chez|travaille pour|работает в|работает на|работаю в",
    "@workas": "works as|work as|working as|job is|profession is|arbeitet als|trabaja como|travaille comme"
    "|работает как",
    "@study": "studies at|study at|studying at|studiert an|studiert in|estudia en|etudie a|учится в",
    "@from": "comes from|is from|originally from|kommt aus|stammt aus|es de|viene de|vient de|родом из",
    "@name": "to be called|likes to be called|wants to be called|prefers to be called|goes by"
    "|name is|names are|name|are named|are called|is called|is named|named|called"
    "|heißt|heisst|heisse|name ist|se llama|me llamo|nombre es|appelle|nom est|зовут|имя",
    "@birthday": "birthday|birth date|date of birth|born on|was born on|is born on|born|geburtstag|geboren am"
    "|cumpleanos|nacio el|anniversaire|ne le|nee le|день рождения|родился|родилась",
    "@age": "age|years old|year old|jahre alt|alter|anos|edad|ans|лет|года",
    "@email": "email|email address|e mail|e mail address|mail address|correo|courriel|почта",
    "@phone": "phone|phone number|telephone|mobile|mobile number|telephone number|handy|telefon|telefonnummer"
    "|telefono|movil|телефон",
    "@address": "address|home address|adresse|anschrift|direccion|адрес",
    "@timezone": "timezone|time zone|zeitzone|zona horaria|fuseau horaire|часовой пояс",
    "@favourite": "favourite|favorite|preferred|lieblings|favorito|favorita|preferee|любимый|любимая",
    "@weigh": "weighs|weight|wiegt|pesa|pese|весит",
    "@height": "height|tall|große|altura|taille|рост",
    "@allergic": "allergic to|allergisch gegen|alergico a|alergica a|allergique a|аллергия на",
    "@like": "likes|like|likes to|loves|love|loves to|enjoys|enjoy|is fond of|fond of|mag|liebt|trinkt gern"
    "|isst gern|le gusta|le gustan|me gusta|le encanta|aime|adore|любит|люблю|нравится",
    "@like @not": "dislikes|dislike|hates|hate|detests|can not stand|hasst|odia|detesta|deteste|aime pas|ненавидит",
    "@prefer": "prefers|prefer|would rather|bevorzugt|prefiere|prefere|предпочитает",
    "@over": "over|rather than|instead of|statt|anstatt|gegenuber|en vez de|plutot que|вместо",
    "@to": "to|als|al|a la|a los|au|aux",
    "@use": "uses|use|using|works with|benutzt|nutzt|verwendet|usa|utiliza|utilise|использует|пользуется",
    "@have": "has|have|owns|own|has got|hat|besitzt|tiene|tengo|possede|у него|у нее|есть|имеет",
    "@speak": "speaks|speak|spricht|habla|parle|говорит",
    "@learn": "learns|learning|is learning|studies|is studying|lernt|aprende|apprend|учит",
    "@be": "is|are|has been|have been|was|were|am|be|ist|sind|war|es|esta|son|est|это",
    "@not": "not|no|never|without|no longer|not any more|not anymore|not any longer|nicht|kein|keine|keinen|keiner"
    "|nicht mehr|kein mehr|nie|ya no|nunca|pas|jamais|не|никогда|больше не|off",
    "wifi": "wi fi|wlan",
    "early": "morning person|early bird|early riser",
    "late": "night person|night owl|evening person",
    "@have @not": "нет",
    "@stop": "quit|stopped|has quit|has stopped|gave up|has given up|aufgehort",
    "@and": "and|und|y|e|et|и",
}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ADVERBS = _set(
    """currently now still just already really mostly usually jetzt derzeit momentan ahora actualmente maintenant
    actuellement сейчас теперь"""
)
"""Words that may stand inside a phrase and change nothing."""

STOPS = _set(
    """the a an of in at on for with by into via per his her hers their my mine your its he she they them
    him i me we our who whose that this these those very really also as times currently now still just
    already please there which own always do does did has been being will would it mostly usually user
    users person persons anymore more longer any der die das den dem des ein eine einen einem einer er
    sie ich sein seine ihr ihre mein meine nutzer nutzerin gezogen benutzer im am um zu zum zur von vom
    mit fur bei auf und sehr auch el la los las un una unos unas su sus mi mis ella yo usuario usuaria
    de del en con para por lo le se muy les du une il elle je sa ses ma mes utilisateur utilisatrice ne
    dans chez pour sur d l n s t j m qu он она ему ей я его ее мой моя пользователь пользовательница в во на с
    со у очень по"""
)

ACCENTED = {"thé": "tee"}
"""Words that without their accent would be other ones."""

NUMBERS = {
    word: str(number)
    for number, same in enumerate(
        (
            "two twice zwei dos deux два две двое",
            "three drei tres trois три трое",
            "four vier cuatro quatre четыре",
            "five funf cinco cinq пять",
            "six sechs seis шесть",
            "seven sieben siete sept семь",
            "eight acht ocho huit восемь",
            "nine neun nueve neuf девять",
            "ten zehn diez dix десять",
            "eleven elf once onze",
            "twelve zwolf doce douze",
        ),
        2,
    )
    for word in same.split()
}

MONTHS = {
    word: f"{number:02}"
    for number, same in enumerate(
        (
            "january jan januar enero janvier января",
            "february feb februar febrero fevrier февраля",
            "march mar marz maerz marzo mars марта",
            "april apr abril avril апреля",
            "may mai mayo мая",
            "june jun juni junio juin июня",
            "july jul juli julio juillet июля",
            "august aug agosto aout августа",
            "september sep sept septiembre septembre сентября",
            "october oct oktober okt octubre octobre октября",
            "november nov noviembre novembre ноября",
            "december dec dezember dez diciembre decembre декабря",
        ),
        1,
    )
    for word in same.split()
}

SAME = {
    word: same.split()[0]
    for same in (
        "colour color",
        "centre center",
        "brief short concise terse",
        "detailed long verbose",
        "animals animal",
        "night evening",
        "child children kid kids",
        "vegetarian vegetarianer",
        "猫 ねこ",
        "犬 いぬ",
        "酒 お酒",
        "青 青色",
        "緑 緑色",
        "編集 えでぃた",
    )
    for word in same.split()
}

# -- what excludes what --------------------------------------------------------------------------------------

OPPOSITES = tuple(
    _set(group)
    for group in (
        "vegetarian vegan omnivore pescatarian",
        "vegetarier veganer",
        "vegetariano vegano vegetariana vegana",
        "married single divorced engaged widowed",
        "独身 結婚 離婚 既婚 未婚",
        "left right",
        "dark light",
        "ダーク ライト",
        "short detailed",
        "kurz lang ausfuhrlich",
        "court long detaille",
        "courte longue detaillee",
        "corto largo detallado",
        "cortas largas detalladas",
        "短 詳 長",
        "metric imperial",
        "celsius fahrenheit",
        "formal informal casual",
        "aisle window",
        "enabled disabled",
        "public private",
        "open closed",
        "early late",
        "male female",
        "tabs spaces",
        "true false",
        "hot cold",
        "朝 夜",
        "朝型 夜型",
    )
)
"""Whoever says one denies the other, wherever all else is the same."""

KINDS = tuple(
    _set(group)
    for group in (
        "morning afternoon night noon",
        "monday tuesday wednesday thursday friday saturday sunday weekday weekend",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
        "월요일 화요일 수요일 목요일 금요일 토요일 일요일",
        "english japanese german spanish french chinese korean russian norwegian italian",
        "英語 日本語 独語 中国語 韓国語",
        "vim neovim emacs vscode nano sublime zed helix",
        "bash zsh fish powershell",
        "npm yarn pnpm",
        "windows linux macos mac",
        "postgres postgresql mysql sqlite mariadb mongodb",
        "iphone android",
        "tea coffee",
        "紅茶 コーヒー お茶",
        "red green blue yellow black white orange purple pink brown",
        "赤 青 緑 黄 黒 白",
    )
)
"""One at a time where the rest of the note says that only one is meant."""

FUNCTIONAL = _set(
    """@live @work @workas @study @from @name @birthday @age @email @phone @address @timezone @favourite @weigh
    @height"""
)
"""Relations with one value at a time."""

MANY = frozenset({"@like", "@have", "@speak", "@learn", "@allergic"})
"""Relations with many values: another one is another fact."""

HEADS = _set(
    """server database deadline branch version editor shell port host password username nickname budget rent salary
    language theme browser currency release domain color framework compiler
    締切 締め切り 血液型 色 担当 上司 言語"""
)
"""Things of which "X is A" and "X is B" cannot both be."""

EVENTS = _set("visit saw met bought sold paid went flew finish attend 行 買 会 見 訪")
"""What happens more than once: another date is another time."""

VAGUE = _set(
    """home night himself herself themselves myself alone flat house apartment village city town
    countryside suburb cabin dorm studio small big"""
)
"""Where somebody lives or works, without saying which place."""


def fold(text: str) -> str:
    """Small letters without accents; the marks of Japanese and Korean stay."""
    apart = unicodedata.normalize("NFKD", text.casefold().replace("œ", "oe"))
    return unicodedata.normalize("NFC", "".join(char for char in apart if not "\u0300" <= char <= "\u036f"))


def _by_first_word() -> dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for meaning, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            words = tuple(fold(phrase).split())
            found.setdefault(words[0], []).append((words, tuple(meaning.split())))
    return {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in found.items()}


PHRASES = _by_first_word()
"""first word -> (all words, what they mean), the longest first."""
