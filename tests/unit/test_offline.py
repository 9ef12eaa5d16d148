"""The offline model: what it understands in English and Japanese, and that it never says what is not so."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.chat import Chat
from gateway.conversation import shortening
from gateway.llm import hearing, noting, offline, reading, recalling
from gateway.memory import entries, review, snapshot, tidying, tool
from gateway.ports import ModelAnswer, ModelRequest, RequestMessage
from gateway.records import Action, Message, Operation, Role, Target

BOTH = (Target.MEMORY, Target.USER)
SEARCH = {"type": "function", "function": {"name": "session_search", "parameters": {"type": "object"}}}
STAMP = "[2026-11-30 09:00 Mon] "


def tools(*targets: Target, search: bool = True) -> str:
    return json.dumps([*([tool.definition(targets)] if targets else []), *([SEARCH] if search else [])])


def prompt(*, memory: tuple[str, ...] = (), user: tuple[str, ...] = ()) -> str:
    """A system prompt with these entries in its blocks, and other text around them."""
    blocks = (
        snapshot.block(target, entries.parse("\n§\n".join(texts)), 2200)
        for target, texts in ((Target.MEMORY, memory), (Target.USER, user))
    )
    return "\n\n".join(("You are hikae.", *filter(None, blocks), "This conversation began on Monday."))


class Conversation:
    """Talks to the offline model as a turn does; the results of tools are given by the test."""

    def __init__(self, *, system: str = "", tools: str = tools(*BOTH)) -> None:
        self.system = system or prompt()
        self.tools = tools
        self.messages: list[RequestMessage] = []

    def says(self, text: str) -> ModelAnswer:
        self.messages.append(RequestMessage("user", STAMP + text))
        return self._answer()

    def result(self, **result: Any) -> ModelAnswer:
        """The result of the one call that the model has just made."""
        [call] = self.messages[-1].tool_calls
        self.messages.append(RequestMessage("tool", json.dumps(result), tool_call_id=call.id))
        return self._answer()

    def asked(self, instruction: str) -> ModelAnswer:
        self.messages.append(RequestMessage("user", instruction))
        return self._answer()

    def _answer(self) -> ModelAnswer:
        answer = offline.answer(ModelRequest(self.system, tuple(self.messages), self.tools))
        self.messages.append(RequestMessage("assistant", answer.text, answer.tool_calls))
        return answer


def arguments(answer: ModelAnswer) -> dict[str, Any]:
    """What the one memory call of an answer asks, without its evidence."""
    [call] = answer.tool_calls
    assert call.name == "memory"
    asked: dict[str, Any] = json.loads(call.arguments)
    asked.pop("evidence", None)
    return asked


# -- remembering -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "target", "content"),
    [
        ("remember that I live in Bergen", "user", "Lives in Bergen"),
        ("Please remember: I'm allergic to nuts.", "user", "Is allergic to nuts"),
        ("Can you remember that my dog is called Rex?", "user", "Dog is called Rex"),
        ("I don't eat meat, remember that", "user", "Does not eat meat"),
        ("don't forget that I always study physics", "user", "Always studies physics"),
        ("note that the server runs Debian", "memory", "The server runs Debian"),
        ("remember that I’ve moved my boat", "user", "Has moved their boat"),
        ("remember that I live in Bergen and that I like tea", "user", "Lives in Bergen and likes tea"),
        ("ベルゲンに住んでいることを覚えて", "user", "ベルゲンに住んでいる"),
        ("私はベルゲンに住んでいます。覚えておいてください", "user", "ベルゲンに住んでいます"),
        ("覚えておいて：私の名前は愛子", "user", "名前は愛子"),
        ("サーバーはDebianで動いていると覚えて", "memory", "サーバーはDebianで動いている"),
    ],
)
def test_it_remembers_in_the_words_of_an_entry(said: str, target: str, content: str) -> None:
    """`hikae chat -q "remember that I live in Bergen"` is the README's first command."""
    assert arguments(Conversation().says(said)) == {"action": "add", "target": target, "content": content}


def test_what_it_remembers_rests_on_the_persons_own_words() -> None:
    """A quote that is not found in them is staged (design.md 7.2)."""
    [call] = Conversation().says("please remember that I live in Bergen.").tool_calls

    assert json.loads(call.arguments)["evidence"] == "I live in Bergen"


def test_quoted_words_are_not_obeyed() -> None:
    """Only the person's own lines are read; the others begin with a bar (design.md 7.2)."""
    said = "look at this\n(words of telegram:9, forwarded:)\n| remember that I live in Oslo"

    assert Conversation().says(said).tool_calls == ()


@pytest.mark.parametrize(
    ("offered", "target"), [((Target.MEMORY,), "memory"), ((Target.USER,), "user"), (BOTH, "user")]
)
def test_it_uses_only_the_stores_that_are_on(offered: tuple[Target, ...], target: str) -> None:
    """A store can be switched off, and a group has no USER.md."""
    talk = Conversation(tools=tools(*offered))

    assert arguments(talk.says("remember that I live in Bergen"))["target"] == target


def test_without_the_memory_tool_it_says_so() -> None:
    """It must not say "saved" where nothing can be saved."""
    talk = Conversation(tools=tools())

    assert "switched off" in talk.says("remember that I live in Bergen").text


@pytest.mark.parametrize(
    ("said", "result", "answered"),
    [
        ("remember that I live in Bergen", {"success": True, "id": 1}, "Saved: Lives in Bergen"),
        (
            "remember that I live in Bergen",
            {"success": True, "message": "Entry already exists (no duplicate added)."},
            "I had that noted already: Lives in Bergen",
        ),
        (
            "remember that I live in Bergen",
            {"success": True, "staged": True, "pending_id": 3},
            "It is waiting for your yes, and not saved before that: Lives in Bergen",
        ),
        (
            "remember that I live in Bergen",
            {
                "success": False,
                "error": "Memory at 2,190/2,200 chars. Adding this entry (15 chars) would exceed the limit. …",
                "usage": "2,190/2,200",
            },
            "I have not saved it: my memory is full (2,190/2,200 characters).",
        ),
        (
            "remember that I live in Bergen",
            {"success": False, "error": "It looks like an attack."},
            "I have not saved it.",
        ),
        ("ベルゲンに住んでいることを覚えて", {"success": True, "id": 1}, "保存しました：ベルゲンに住んでいる"),
        (
            "ベルゲンに住んでいることを覚えて",
            {"success": True, "staged": True, "pending_id": 3},
            "承認を待っています。承認されるまで保存されません：ベルゲンに住んでいる",
        ),
        (
            "ベルゲンに住んでいることを覚えて",
            {"success": False, "error": "x would exceed the limit", "usage": "9/9"},
            "保存していません：メモリがいっぱいです（9/9 文字）。",
        ),
    ],
)  # fmt: skip
def test_it_says_what_became_of_it(said: str, result: dict[str, Any], answered: str) -> None:
    """Saved, waiting or not: the tool's result decides, not the wish; in the person's language."""
    talk = Conversation()
    talk.says(said)

    assert talk.result(**result).text == answered


# -- being asked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "known", "answered"),
    [
        ("where do I live?", "Lives in Bergen", "I have this noted: Lives in Bergen"),
        ("Do you know which city I am living in", "Lives in Bergen", "I have this noted: Lives in Bergen"),
        ("what's my name?", "Wants to be called Aiko", "I have this noted: Wants to be called Aiko"),
        ("do I have pets?", "Dog is called Rex", "I have this noted: Dog is called Rex"),
        ("what food am I allergic to?", "Is allergic to nuts", "I have this noted: Is allergic to nuts"),
        ("私はどこに住んでいますか", "ベルゲンに住んでいる", "控えにはこうあります： ベルゲンに住んでいる"),
        ("どこに住んでる？", "Lives in Bergen", "控えにはこうあります： Lives in Bergen"),
        ("私の名前は何ですか？", "名前は愛子", "控えにはこうあります： 名前は愛子"),
    ],
)
def test_it_answers_from_the_memory_blocks(question: str, known: str, answered: str) -> None:
    """Through it a person without any account sees memory work, and a frozen snapshot stay frozen."""
    system = prompt(memory=("The server runs Debian",), user=(known, "Plays the cello"))

    assert Conversation(system=system).says(question).text == answered


@pytest.mark.parametrize("question", ["what do you know about me?", "私について何を知っていますか"])
def test_it_lists_all_it_knows(question: str) -> None:
    """Both blocks, in their order."""
    system = prompt(memory=("The server runs Debian",), user=("Lives in Bergen", "Plays the cello"))

    assert Conversation(system=system).says(question).text.split("\n")[1:] == [
        "- The server runs Debian",
        "- Lives in Bergen",
        "- Plays the cello",
    ]


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("where do I live?", "I have nothing noted about that."),
        ("what do you know about me?", "I have nothing noted yet."),
        ("私はどこに住んでいますか", "それについては何も控えていません。"),
    ],
)
def test_it_says_when_it_knows_nothing(question: str, answered: str) -> None:
    """An invented answer would be worse than none."""
    assert Conversation().says(question).text.startswith(answered)


def test_it_tells_what_was_noted_in_this_conversation_apart_from_its_frozen_notes() -> None:
    """The snapshot says Bergen until /new, and the person has just said Oslo: both are true, and both are said."""
    talk = Conversation(system=prompt(user=("Lives in Bergen",)))
    talk.says("remember that I live in Oslo")
    talk.result(success=True, id=1, target="user")

    assert talk.says("where do I live?").text == (
        "I have this noted: Lives in Bergen\nNoted in this conversation: Lives in Oslo"
    )


def test_what_waits_for_a_yes_is_not_known() -> None:
    """It may be rejected."""
    talk = Conversation()
    talk.says("remember that I live in Oslo")
    talk.result(success=True, staged=True, pending_id=1)

    assert "Oslo" not in talk.says("where do I live?").text


# -- changing, forgetting, searching -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("actually I live in Oslo now, not Bergen", "Lives in Oslo"),
        ("I don't live in Bergen any more, I live in Oslo", "Lives in Oslo"),
        ("change Bergen to Oslo", "Lives in Oslo"),
        ("I moved from Bergen to Oslo", "Lives in Oslo"),
        ("update my city to Oslo", "Lives in Oslo"),
        ("Actually I live in Oslo.", "Lives in Oslo"),
        ("I live in Oslo now instead of Bergen", "Lives in Oslo"),
    ],
)
def test_it_replaces_the_entry_that_is_meant(said: str, content: str) -> None:
    """The whole old entry is named, so that no other one can be hit."""
    talk = Conversation(system=prompt(user=("Plays the cello", "Lives in Bergen")))

    assert arguments(talk.says(said)) == {
        "action": "replace",
        "target": "user",
        "content": content,
        "old_text": "Lives in Bergen",
    }


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("ベルゲンではなくオスロに住んでいます", "オスロに住んでいます"),
        ("ベルゲンをオスロに変えて", "オスロに住んでいる"),
        ("実は今はオスロに住んでいます。ベルゲンではありません", "オスロに住んでいます"),
        ("実はオスロに住んでいます", "オスロに住んでいます"),
    ],
)
def test_it_replaces_in_japanese(said: str, content: str) -> None:
    """The same in the other language."""
    talk = Conversation(system=prompt(user=("チェロを弾く", "ベルゲンに住んでいる")))

    assert arguments(talk.says(said)) == {
        "action": "replace",
        "target": "user",
        "content": content,
        "old_text": "ベルゲンに住んでいる",
    }


def test_it_does_not_put_half_an_entry_where_it_cannot_see_the_other_half() -> None:
    """ "Oslo" alone, written over an entry it cannot see, would lose what the entry said."""
    answer = Conversation().says("change Bergen to Oslo")

    assert answer == ModelAnswer("I have not changed anything: I have nothing noted that fits “Bergen”.")


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("forget that I live in Bergen", "Lives in Bergen"),
        ("Please forget about Bergen.", "Lives in Bergen"),
        ("ベルゲンに住んでいることを忘れて", "ベルゲンに住んでいる"),
    ],
)
def test_it_removes_an_entry(said: str, known: str) -> None:
    """In a sentence, "forget" is a call of the memory tool; /forget erases everywhere."""
    talk = Conversation(system=prompt(user=("Plays the cello", known)))

    assert arguments(talk.says(said)) == {"action": "remove", "target": "user", "old_text": known}


def test_where_the_file_has_moved_on_it_takes_the_entry_as_it_is_now() -> None:
    """The snapshot is frozen; the error shows what the file says."""
    talk = Conversation(system=prompt(user=("Lives in Bergen",)))
    talk.says("forget that I live in Bergen")

    again = talk.result(
        success=False,
        error="No entry matched 'Lives in Bergen'. …",
        current_entries=["Plays the cello", "Lives in Bergen since 2019"],
    )

    assert arguments(again)["old_text"] == "Lives in Bergen since 2019"
    assert talk.result(success=True, id=4, target="user").text == "Removed: Lives in Bergen since 2019"


def test_it_looks_in_both_stores_and_then_says_that_there_is_nothing() -> None:
    """Three tries at most: the fourth failure would end the tool for this turn."""
    talk = Conversation()
    nothing = {"success": False, "error": "No entry matched 'Lives in Bergen'. …", "current_entries": []}

    first = arguments(talk.says("forget that I live in Bergen"))
    second = arguments(talk.result(**nothing))
    last = talk.result(**nothing)

    assert [first["target"], second["target"]] == ["user", "memory"]
    assert last.text == "I have not changed anything: I have nothing noted that fits “Lives in Bergen”."


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("search for Oslo", "Oslo"),
        ("Search our conversations for the ferry", "ferry"),
        ("what did we say about the boat?", "boat"),
        ("オスロを検索して", "オスロ"),
        ("犬について何を話しましたか", "犬"),
    ],
)
def test_it_searches(said: str, query: str) -> None:
    """With the tool, and only where it is offered."""
    [call] = Conversation().says(said).tool_calls

    assert (call.name, json.loads(call.arguments)) == ("session_search", {"query": query})
    assert Conversation(tools=tools(*BOTH, search=False)).says(said).tool_calls == ()


def test_it_reports_what_was_found() -> None:
    """In the order in which the tool gives it."""
    talk = Conversation()
    talk.says("search for Oslo")

    answer = talk.result(
        success=True,
        sessions=[
            {"hits": [{"message": 2, "at": "2026-11-29T10:00:00+00:00", "snippet": "the ferry\nto Oslo"}]},
            {"hits": [{"message": 1, "at": "2026-11-28T10:00:00+00:00", "snippet": "Oslo it is"}]},
        ],
    )

    assert answer.text.split("\n")[1:] == ["- 2026-11-29: the ferry to Oslo", "- 2026-11-28: Oslo it is"]


def test_it_says_when_nothing_was_found() -> None:
    """Not an empty list."""
    talk = Conversation()
    talk.says("search for Oslo")

    assert talk.result(success=True, sessions=[]).text == "I found nothing about “Oslo” in our conversations."


@pytest.mark.parametrize(
    "said", ["hi", "I live in Bergen", "What is the capital of France?", "こんにちは", "x" * 9000]
)
def test_otherwise_it_says_what_it_is_and_how_to_name_a_real_model(said: str) -> None:
    """Nobody should take it for a bad real model."""
    answer = Conversation().says(said)

    assert answer.tool_calls == ()
    for word in ("model.name", "OPENAI_API_KEY", "README"):
        assert word in answer.text


# -- reviews -----------------------------------------------------------------------------------------------


def proposals(answer: ModelAnswer) -> list[dict[str, Any]]:
    return [json.loads(call.arguments) for call in answer.tool_calls]


def test_a_review_proposes_the_facts_that_were_stated_plainly() -> None:
    """With the words they rest on, and nothing of what was asked, chatted or already saved."""
    talk = Conversation(system=prompt(user=("Plays the cello",)))
    talk.says("remember that I speak Danish")
    talk.result(success=True, id=1, target="user")
    talk.says("My name is Aiko. Nice weather, isn't it? I play the cello")
    talk.says("私は紅茶が好きです。")

    answer = talk.asked(review.instruction(BOTH, turns=3, blocks=(prompt(user=("Plays the cello",)),)))

    assert proposals(answer) == [
        {"action": "add", "target": "user", "content": "Name is Aiko", "evidence": "My name is Aiko"},
        {"action": "add", "target": "user", "content": "紅茶が好きです", "evidence": "私は紅茶が好きです"},
    ]


def test_a_review_looks_only_at_the_turns_it_is_about() -> None:
    """Each turn is reviewed once; what a person rejected after the first review is not proposed by the next."""
    talk = Conversation()
    talk.says("My name is Aiko.")
    talk.says("I prefer tea.")

    answer = talk.asked(review.instruction(BOTH, turns=1))

    assert [proposal["content"] for proposal in proposals(answer)] == ["Prefers tea"]


def test_a_review_replaces_what_a_person_has_one_of() -> None:
    """Two homes in memory would leave the next session guessing."""
    talk = Conversation(system=prompt(user=("Lives in Bergen",)))
    talk.says("I moved to Oslo")

    answer = talk.asked(review.instruction(BOTH, turns=1, blocks=(prompt(user=("Lives in Bergen",)),)))

    [proposal] = proposals(answer)
    assert (proposal["action"], proposal["old_text"], proposal["content"]) == (
        "replace",
        "Lives in Bergen",
        "Lives in Oslo",
    )


def test_a_review_does_not_propose_what_is_there_or_waits() -> None:
    """The instruction shows memory as it is now and what has been proposed."""
    talk = Conversation()
    talk.says("My name is Aiko. I prefer tea.")
    blocks = (snapshot.block(Target.USER, entries.parse("Prefers tea"), 1375),)

    answer = talk.asked(review.instruction(BOTH, turns=1, blocks=blocks, pending=('add to USER: "Name is Aiko"',)))

    assert answer == ModelAnswer("nothing")


def test_a_review_ends_after_its_proposals() -> None:
    """One round is enough; the loop must not go on."""
    talk = Conversation()
    talk.says("My name is Aiko.")
    talk.asked(review.instruction(BOTH, turns=1))

    assert talk.result(success=True).tool_calls == ()


def test_a_flush_keeps_the_facts_of_the_whole_conversation() -> None:
    """What a review would propose, of all that is about to go."""
    talk = Conversation()
    for words in ("I live in Bergen", "Nice weather", "My dog is called Bella"):
        talk.says(words)

    answer = talk.asked(review.flush_instruction(BOTH, turns=3))

    said = [json.loads(call.arguments)["content"] for call in answer.tool_calls]
    assert said == ["Lives in Bergen", "Dog is called Bella"]


def test_a_summary_is_what_the_person_said() -> None:
    """Without a real model long conversations go on, too: nothing is made up, the newest lines stay."""
    rows = [_said(number, f"This is message {number}") for number in range(1, 41)]

    summary = offline.answer(shortening.summary_request("Bella is a dog.", rows, 400)).text

    assert summary.splitlines()[-1] == "This is message 40"
    assert len(summary.splitlines()) == 20
    assert offline.answer(shortening.summary_request("Bella is a dog.", rows[:1], 400)).text == (
        "Bella is a dog.\nThis is message 1"
    )


def _said(turn: int, text: str) -> Message:
    at = datetime(2026, 11, 30, tzinfo=UTC)
    return Message(turn, 1, Chat("telegram", "5"), "telegram:1", Role.USER, text, (), at, turn=turn)


def test_a_person_may_speak_of_reviews() -> None:
    """Only the instruction itself begins so: a person's message begins with its time."""
    assert "offline model" in Conversation().says("Background review: what is that?").text


# -- reading -----------------------------------------------------------------------------------------------


def test_it_reads_the_blocks_to_the_letter() -> None:
    """Entries with blank lines and separators of their own stay whole; what follows a block is no entry."""
    system = prompt(memory=("first\n\nwith a blank line", "second — §"), user=("third",))

    assert recalling.blocks(system) == (
        recalling.Note("memory", "first\n\nwith a blank line"),
        recalling.Note("memory", "second — §"),
        recalling.Note("user", "third"),
    )


@given(st.text(max_size=300), st.text(max_size=100))
def test_no_message_and_no_result_is_an_exception(text: str, result: str) -> None:
    """People and tools say anything; the answer is text or a call, the same each time."""
    call = offline.answer(ModelRequest(prompt(), (RequestMessage("user", "forget " + text),), tools(*BOTH)))
    told = (
        RequestMessage("user", text),
        RequestMessage("assistant", "", call.tool_calls),
        *(RequestMessage("tool", result, tool_call_id=made.id) for made in call.tool_calls),
    )
    request = ModelRequest(text, told, tools(*BOTH))

    answer = offline.answer(request)

    assert answer.text or answer.tool_calls
    assert answer == offline.answer(request)
    noting.facts(text)
    noting.entry(text)
    hearing.wish(text)
    reading.json_object(text)


def test_it_tidies_away_what_is_said_twice() -> None:
    """Without a model there is still somebody who sees that two notes are one; numbers stay numbers."""
    doc = entries.parse("Likes tea\n§\nlikes tea.\n§\nPi is 3.5\n§\nPi is 35\n§\nOne\n2. Two")
    basis = tidying.Basis(Target.MEMORY, doc, 100)

    plan = tidying.read(offline.answer(tidying.request(basis)), basis)

    assert isinstance(plan, tidying.Plan)
    assert plan.operations == (Operation(Action.REMOVE, "", "likes tea."),)
    tidy = tidying.Basis(Target.MEMORY, plan.change.doc, 100)
    assert tidying.read(offline.answer(tidying.request(tidy)), tidy) == tidying.Nothing()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "[2026-11-30 09:00 Mon] Ada: @hikae_bot remember that we meet on Friday",
            "remember that we meet on Friday",
        ),
        ("[2026-11-30 09:00 Mon] @hikae_bot, where do we meet?", "where do we meet?"),
        ("[2026-11-30 09:00 Mon] ask ada@example.org about it", "ask ada@example.org about it"),
    ],
)
def test_in_a_group_it_hears_what_was_said_to_it(said: str, meant: str) -> None:
    """Who speaks, and the name it is called by, stand before the words."""
    assert hearing.own_words(said) == meant
