"""The words that `rareparts` knows: which say nothing, which say the same, which are numbers.

Groups are about what people ask to be forgotten: health, money, love, work, law, homes, ways to get in. Words of
one group count as one. Stems as `rareparts.stem` makes them are compared, so a verb stands here once.
"""

from collections.abc import Mapping


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOPS = _set(
    """a about after again all also am an and any anyone are as at away be became because been before being both
    but by can cannot could currently did do does doing done down during each either else every for from get
    gets getting go goes going gone got had has have having he her here him his how i if in into is it its
    itself just keep kept last like made make makes many me more most much must my need needs next no nobody
    nor not now of off on once one only onto or other our out over own per please put quite rather really
    same say said says she should since so some someone something soon still such than that the their them
    then there these they thing things this those though through till to told too under until up upon us use
    used uses user using very via was we were what when where which while who whom whose why will with
    within without would yes yet you your person people th st nd rd mr mrs ms dr note reminder called name
    named s t d ll re ve im may let well way der die das den dem des ein eine einen einem einer und oder mit
    von zu im am um fur ist sind war hat haben nicht le la les un une des du de et ou avec pour dans sur est
    son sa ses el los las una y o con por para en su sus es que no se al del lo"""
)

SAME_IN_ENGLISH = """
surgery operation operate operated surgical
salary pay pays paid wage earn earned income earnings
wifi wireless wlan
password passcode passphrase pin
divorce divorced separate separated split
marriage married wedding marry spouse
cancel cancelled canceled axe axed scrap scrapped abort aborted
pregnant pregnancy baby expecting expects child
phone mobile telephone cell dial call reach reached
debt debts owe owes owed loan lent borrowed borrow repay mortgage
live lives reside resides living residing address flat apartment home
affair lover cheat cheated cheating fling
fail failed flunk flunked unsuccessful pass passed
secret secretly hidden hide hides confidential
therapy therapist counselling counselor psychologist psychiatrist counseling
vote voted voting ballot
acquit acquitted cleared innocent
burglary burglar break robbery theft
repeat repeats repeating redo
lawsuit case sue suing sued court trial litigation
smoke smokes smoking cigarette cigarettes
morning mornings
year years yearly annual annually
day daily days
week weekly weeks
month monthly months
euro euros eur
dollar dollars usd
pound pounds gbp quid
company employer firm
fired dismissed sacked laid
resign resigned quit quits
doctor physician gp
illness disease sick ill sickness diagnosed diagnosis
medicine medication drug pill pills tablets
depression depressed depressive
anxiety anxious
alcohol drinking alcoholic drunk
kid kids children
mother mum mom
father dad
husband wife
girlfriend boyfriend partner
house houses
car vehicle
buy bought purchase purchased
sell sold
move moved relocate relocated moving
born birthday birthdate
passport id
account accounts
key keys
gun weapon pistol
prison jail
police cops
arrest arrested
church religious religion
party
bitcoin btc
street st road rd avenue ave
floor storey story
nickname alias handle
begin begins started starts start
finish finished end ended ends
"""

NUMBERS: Mapping[str, str] = {
    word: str(number)
    for number, same in enumerate(
        (
            "once",
            "two twice second february feb",
            "three third march mar",
            "four fourth april apr",
            "five fifth",
            "six sixth june jun",
            "seven seventh july jul",
            "eight eighth august aug",
            "nine ninth september sep sept",
            "ten tenth october oct",
            "eleven eleventh november nov",
            "twelve twelfth dozen december dec",
        ),
        1,
    )
    for word in same.split()
} | {"january": "1", "jan": "1"}
"""What a word says as a number; a month is the number of it."""

KANJI_NUMBERS: Mapping[str, str] = {
    **dict(zip("〇一二三四五六七八九", "0123456789", strict=True)),
    "十": "10",
    **{f"十{digit}": str(10 + value) for value, digit in enumerate("一二三四五六七八九", 1)},
}

SAME_IN_JAPANESE = """
手術 オペ
年収 給料 給与 収入 月給 賃金 稼
暗証 番号 パスワード 合言葉
離婚 別 離別 破局
結婚 婚姻 入籍 連添
中止 打切 取止 廃止
妊娠 出産 赤 お腹 身重 産
電話 携帯 連絡
借金 負債 ローン 債務 借 返済 返
住所 自宅 住 家 在住 居住
不倫 浮気 交際 付合 密会
不合格 落 失敗 駄目 合格
秘密 内緒 隠 知 ひそか 内密
相談 カウンセリング 心理 精神
投票 票 選 一票
無罪 無実
空巣 盗 泥棒 窃盗
留年 やり直 二回 とどま
裁判 訴 争 訴訟 係争
煙草 タバコ 喫煙 吸
薬 飲 服用 治療
働 勤 勤務 入社 勤め 就職
夫 旦那 主人
妻 家内 嫁
妹 姉妹
癌 がん ガン
病気 病 疾患
診断 診察
解雇 首 クビ
退職 辞
逮捕 捕
死 亡 死去
予定 予定日
部屋 室
ビットコイン btc
名前 あだ名 呼名 呼 呼び名
"""

JAPANESE_STOPS = _set(
    """今 昨 日 時 人 私 僕 俺 彼 女 彼女 何 事 物 所 方 的 中 後 前
    間 上 下 言 話 思 見 行 来 出 入 持 使 受 自 分 自分 本
    件 際 場合 場所 者 月 年 回 度 名 様 子 置 円 万 番 階
    枚 個"""
)
COUNTERS = "月日年回枚本階歳才時分人円万度番号個匹頭台冊軒件"

HIRAGANA_STOPS = _set(
    """から まで など よく とても ている ていた という ください おり する
    して した します しました です ます でした である ない なかった
    いる いた ある あった こと もの ところ ため とき ので のに
    けど だけ しか より では には とは にも でも との への からの
    という らしい そう よう ように まだ もう また その この あの
    どの どちら それ これ あれ そこ ここ あいだ という んで んだ
    って とのこと さん たち いない している していた ていない ってい
    てはいけないが なので いけない なった なって になる にある である
    もらって もらっている おりません ならない だった"""
)
