"""Reviews by the chat's model and by another one: what is asked, of whom, and what is written down of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.records import Review
from gateway.store import duejobs
from tests.bot import running_bot
from tests.fakes.model import ModelServer, is_chat, is_review
from tests.workbench import PROMPT, TOOLS, Workbench, open_bench
from workers import digest, runtime

LONG_AGO = [f"Long story {number}. " + "It goes on. " * 100 for number in range(1, 9)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        yield bench
        bench.close()


def test_another_model_gets_a_digest(bench: Workbench) -> None:
    """It pays for every word: what is recent as it was, what is older in a few words, with the same tools."""
    _review_with(bench, "model: fake-2")
    review = _due(bench, *LONG_AGO, "I live in Bergen")

    _run(bench, review, remembers="Lives in Bergen")

    first, second = bench.model.reviews
    assert [request.json["model"] for request in (first, second)] == ["fake-2", "fake-2"]
    assert first.messages[0]["content"] == PROMPT
    assert first.json["tools"] == json.loads(TOOLS)
    earlier, read, *recent = first.messages[1:]
    assert earlier["content"].count("Long story") == 6
    assert len(earlier["content"]) < 3_000
    assert read == {"role": "assistant", "content": digest.READ}
    assert [said["content"] for said in recent[:-1]] == [
        f"[09:00] {LONG_AGO[6]}",
        "I see.",
        f"[09:00] {LONG_AGO[7]}",
        "I see.",
        "[09:00] I live in Bergen",
        "I see.",
    ]
    assert recent[-1]["content"].startswith("Background review:")
    assert second.message_bytes.startswith(first.message_bytes)
    assert bench.profile() == "Lives in Bergen\n"


def test_the_chats_model_gets_the_exact_transcript(bench: Workbench) -> None:
    """Its cache has served all but the end of it before: nothing may be shortened."""
    _review_with(bench, "model: fake-1")
    review = _due(bench, *LONG_AGO, "I live in Bergen")

    _run(bench, review)

    said = [message["content"] for message in bench.model.last.messages if message["role"] == "user"]
    assert said[:-1] == [f"[09:00] {text}" for text in (*LONG_AGO, "I live in Bergen")]


@pytest.mark.parametrize("own", ["model: fake-2", "model: fake-1"])
def test_usage_names_the_model_that_was_asked(bench: Workbench, own: str) -> None:
    """Two models have two prices."""
    _review_with(bench, own)
    review = bench.due("I live in Bergen")

    _run(bench, review)

    with bench.db.read() as rd:
        models = [row["model"] for row in rd.rows("SELECT model FROM usage WHERE task = 'background_review'", {})]
    assert models == [own.removeprefix("model: ")]


def test_a_quote_from_what_was_shortened_is_evidence_still(bench: Workbench) -> None:
    """The words are the person's, whatever the model was shown of them."""
    _review_with(bench, "model: fake-2")
    review = _due(bench, "I live in Bergen", "hm", "hm", "hm", "hm")

    _run(bench, review, remembers="Lives in Bergen")

    assert "- [09:00] I live in Bergen" in bench.model.reviews[0].messages[1]["content"]
    assert bench.profile() == "Lives in Bergen\n"


def test_anthropics_model_reviews_a_chat_with_another_one(bench: Workbench) -> None:
    """Calls of another API's model are in the transcript, and the review makes calls of its own."""
    _review_with(bench, f"provider: anthropic, model: claude, base_url: '{bench.model.url}'")
    review = _due(bench, *LONG_AGO, "I live in Bergen")

    _run(bench, review, remembers="Lives in Bergen")

    assert {request.path for request in bench.model.requests} == {"/v1/messages"}
    assert bench.model.complaints == []
    assert bench.profile() == "Lives in Bergen\n"


PASTE = "Look at this. " + "私は会議の議事録です。" * 4_000


@pytest.mark.parametrize("said", [(PASTE, "I live in Bergen"), ("I live in Bergen", PASTE)])
def test_a_model_with_a_smaller_window_gets_what_fits_into_it(bench: Workbench, said: tuple[str, str]) -> None:
    """A long paste or a search result of one turn is no reason to learn nothing from all of them."""
    _review_with(bench, "model: fake-2")
    review = _due(bench, *LONG_AGO, *said)
    bench.model.window = 3_000

    _run(bench, review, remembers="Lives in Bergen")

    assert bench.profile() == "Lives in Bergen\n"
    shown = "".join(str(each["content"]) for each in bench.model.reviews[-1].messages)
    assert "] I live in Bergen" in shown
    assert "] Look at this." in shown


def test_a_review_that_the_model_declines_is_failed_where_the_owner_sees_it(bench: Workbench) -> None:
    """Asking again gives the same; `hikae reviews retry` is there for when it does not."""
    _review_with(bench, f"provider: anthropic, model: claude, base_url: '{bench.model.url}'")
    review = bench.due("I live in Bergen")
    bench.model.answers("", finish="refusal")

    _run(bench, review)

    assert (bench.review(review).status, bench.review(review).reason) == ("failed", "model_refused")


async def test_a_chat_with_anthropics_model_is_cached_to_its_review(tmp_path: Path) -> None:
    """The whole way: a message, a call, an answer, the next message, and the review of both."""
    with ModelServer() as anthropic:
        model = f"provider: anthropic, name: claude, base_url: '{anthropic.url}'"
        async with running_bot(tmp_path, model=model, memory="nudge_interval: 2") as bot:
            anthropic.calls("memory", action="add", content="Lives in Bergen", target="user", when=is_chat)
            anthropic.answers("Noted!", when=is_chat)
            await bot.says("I live in Bergen")
            await bot.says("thanks")
            anthropic.calls("memory", action="add", content="Says thanks", evidence="thanks", when=is_review)
            await bot.run_jobs()

            assert bot.memory_file("USER.md") == "Lives in Bergen\n"
            assert bot.memory_file() == "Says thanks\n"
            with bot.core.db.read() as rd:
                used = rd.rows("SELECT task, input, cached FROM usage ORDER BY id", {})
        assert anthropic.complaints == []
        assert [row["task"] for row in used] == ["chat"] * 3 + ["background_review"] * 2
        assert [row["cached"] for row in used] == [0, *(row["input"] for row in used[:-1])]


def _review_with(bench: Workbench, own: str) -> None:
    bench.configure(f"{bench.home.config.read_text()}auxiliary: {{background_review: {{{own}}}}}")


def _due(bench: Workbench, *said: str) -> Review:
    """A review of the last of these; those before were reviewed already."""
    review = bench.due(*said)
    with bench.db.write() as tx:
        tx.execute("UPDATE reviews SET first_turn = turn")
    return review


def _run(bench: Workbench, review: Review, *, remembers: str = "") -> None:
    if remembers:
        bench.model.calls("memory", action="add", target="user", content=remembers, evidence="I live in Bergen")
    runtime.run(bench.home, duejobs.job_of(review))
