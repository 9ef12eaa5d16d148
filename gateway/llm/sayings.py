"""What the offline model says, in English and Japanese. It is a model's speech, not a notice of the house."""

from collections.abc import Mapping

_ENGLISH: Mapping[str, str] = {
    "offline": "I am hikae's offline model: I work without a network and understand only a few things. I can "
    "remember (“remember that I live in Bergen”), answer from what I have noted (“where do I live?”), change "
    "(“change Bergen to Oslo”), forget (“forget that I live in Bergen”) and search our conversations (“search "
    "for Bergen”). For real conversation, name a model: set model.name in config.yaml (or HIKAE_MODEL_NAME) and "
    "put its key, such as OPENAI_API_KEY, into .env; a local server such as Ollama needs model.base_url and no "
    "key. The README shows how.",
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
    "offline": "私は hikae のオフラインモデルです。ネットワークなしで動き、できることは限られています。"
    "覚えること（「ベルゲンに住んでいることを覚えて」）、控えから答えること（「私はどこに住んでいますか」）、"
    "書き換えること（「ベルゲンをオスロに変えて」）、忘れること（「ベルゲンのことを忘れて」）、"
    "会話を探すこと（「ベルゲンを検索して」）ができます。普通に会話するには、config.yaml の model.name"
    "（または HIKAE_MODEL_NAME）でモデルを指定し、OPENAI_API_KEY などのキーを .env に書いてください。"
    "Ollama などの手元のサーバーなら model.base_url だけで、キーは要りません。くわしくは README をご覧ください。",
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
