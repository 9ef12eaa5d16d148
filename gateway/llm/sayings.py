"""What the offline model says, in English and Japanese. It is a model's speech, not a notice of the house."""

from collections.abc import Mapping

_ENGLISH: Mapping[str, str] = {
    "offline": "I am hikae's offline model and understand only a few things: “remember that I live in Lund”, "
    "“where do I live?”, “change Lund to Oslo”, “forget that I live in Lund”, “search for Lund”. To talk for "
    "real, name a model: model.name in config.yaml and its key, such as OPENAI_API_KEY, in .env (see the README).",
    "nothing": "I have nothing noted about that.",
    "nothing_at_all": "I have nothing noted yet.",
    "only_notes": "(I am the offline model: I answer only from my notes.)",
    "noted": "I have this noted:",
    "noted_now": "Noted in this conversation:",
    "saved": "Saved: {entry}",
    "changed": "Changed: {entry}",
    "removed": "Removed: {entry}",
    "already": "I had that noted already: {entry}",
    "waiting": "It is waiting for your yes, and not saved before that: {entry}",
    "waiting_removal": "The removal is waiting for your yes: {entry}",
    "not_saved": "I have not saved it: {why}",
    "not_changed": "I have not changed anything: {why}",
    "just_not_saved": "I have not saved it.",
    "just_not_changed": "I have not changed anything.",
    "no_match": "I have nothing noted that fits “{about}”.",
    "several": "several notes fit “{about}”. Please say a little more of the one you mean.",
    "full": "my memory is full ({usage} characters).",
    "failed": "{error}",
    "unknown_reason": "the memory did not say why.",
    "no_memory": "I cannot note anything here: memory is switched off.",
    "no_search": "I cannot search here: searching is switched off.",
    "found": "I found this about “{query}”:",
    "found_none": "I found nothing about “{query}” in our conversations.",
    "search_failed": "The search did not work: {error}",
    "review_none": "nothing",
    "review_done": "done",
}

_JAPANESE: Mapping[str, str] = {
    "offline": "私は hikae のオフラインモデルで、わかるのは少しだけです：「ルンドに住んでいることを覚えて」"
    "「私はどこに住んでいますか」「ルンドをオスロに変えて」「ルンドのことを忘れて」「ルンドを検索して」。"
    "普通に会話するには、config.yaml の model.name でモデルを指定し、OPENAI_API_KEY などのキーを .env に"
    "書いてください（README 参照）。",
    "nothing": "それについては何も控えていません。",
    "nothing_at_all": "まだ何も控えていません。",
    "only_notes": "（私はオフラインモデルなので、控えからしか答えられません。）",
    "noted": "控えにはこうあります：",
    "noted_now": "この会話で控えたこと：",
    "saved": "保存しました：{entry}",
    "changed": "書き換えました：{entry}",
    "removed": "削除しました：{entry}",
    "already": "すでに控えてあります：{entry}",
    "waiting": "承認を待っています。承認されるまで保存されません：{entry}",
    "waiting_removal": "削除は承認を待っています：{entry}",
    "not_saved": "保存していません：{why}",
    "not_changed": "何も変更していません：{why}",
    "just_not_saved": "保存していません。",
    "just_not_changed": "何も変更していません。",
    "no_match": "「{about}」に当てはまる控えはありません。",
    "several": "「{about}」に当てはまる控えがいくつもあります。もう少しくわしく教えてください。",
    "full": "メモリがいっぱいです（{usage} 文字）。",
    "failed": "{error}",
    "unknown_reason": "理由はわかりません。",
    "no_memory": "メモリが無効なので、ここでは控えられません。",
    "no_search": "検索が無効なので、ここでは探せません。",
    "found": "「{query}」について見つかったこと：",
    "found_none": "「{query}」は会話の中に見つかりませんでした。",
    "search_failed": "検索できませんでした：{error}",
    "review_none": "nothing",
    "review_done": "done",
}

_SPEECH = {"en": _ENGLISH, "ja": _JAPANESE}


def say(key: str, language: str, **values: str) -> str:
    """One sentence."""
    return _SPEECH[language][key].format_map(values)
