"""How often what was forgotten is noticed when it comes back, and how often something else is taken for it."""

from pathlib import Path

import pytest

from gateway.memory import passages
from gateway.memory.passages import Passage
from gateway.store.db import Database
from tests.corpus import forgotten

PAGE = Path(__file__).parents[2] / "docs" / "forgetting-rates.md"


@pytest.mark.parametrize("fact", forgotten.facts(), ids=lambda fact: fact.passage)
def test_the_sentences_are_what_they_are_labelled(fact: forgotten.Forgotten) -> None:
    """A rewording with the passage in it, or an innocent one, would make the rates look better, or worse."""
    passage = (Passage.of(fact.passage),)

    assert passages.holds(fact.entry, passage)
    for kind, text in fact.proposed:
        assert passages.holds(text, passage) == (kind == "verbatim"), text


def test_there_are_as_many_as_was_promised() -> None:
    """200 proposals that bring it back in two languages, 500 innocent facts that share words."""
    kinds = [kind for fact in forgotten.facts() for kind, _ in fact.proposed]

    assert kinds.count("verbatim") + kinds.count("in other words") == 200
    assert kinds.count("innocent") == 500


@pytest.mark.parametrize("language", forgotten.LANGUAGES)
@pytest.mark.parametrize("untuned", [True, False])
def test_words_that_were_forgotten_never_come_back_silently(db: Database, language: str, untuned: bool) -> None:
    """Promise 5: no automatic write puts the same words back without asking."""
    rates = forgotten.held(db, language, untuned=untuned)

    assert rates["verbatim"][1] == []


def test_other_facts_about_the_same_are_not_held(db: Database) -> None:
    """Whoever forgets a salary must still be able to have the office's address remembered."""
    found = [forgotten.held(db, language, untuned=True)["innocent"] for language in forgotten.LANGUAGES]
    held, free = sum(len(yes) for yes, _ in found), sum(len(no) for _, no in found)

    assert held <= 0.01 * (held + free)


def test_most_rewordings_are_held(db: Database) -> None:
    """A bound against getting worse unnoticed; the rate itself is published."""
    found = [forgotten.held(db, language, untuned=True)["in other words"] for language in forgotten.LANGUAGES]
    held, free = sum(len(yes) for yes, _ in found), sum(len(no) for _, no in found)

    assert held >= 0.75 * (held + free)


def test_the_published_rates_are_those_of_this_code(db: Database) -> None:
    """A page that is older than the rule would be a promise nobody keeps."""
    assert forgotten.table(db) in PAGE.read_text(encoding="utf-8")
