"""No place in which we can write is without a layer."""

import importlib
import inspect
import pkgutil
from dataclasses import fields

import gateway
import workers
from gateway import jobs
from gateway.home import Home
from gateway.memory import caches
from gateway.memory.layers import LAYERS, places
from gateway.store import columns

WITHOUT_WORDS = {
    "gateway.conversation.claims._any",
    "gateway.memory.conflicts_tokens._pattern_of",
    "gateway.memory.conflicts_tokens._compiled",
    "gateway.llm.server.tls",
    "gateway.policy._wide",
    "gateway.platforms.telegram_markup._look",
}
"""Caches of what we ourselves made: nobody's words."""


def test_every_column_is_erased_by_a_layer() -> None:
    """A column that joins the schema with the name of a layer that is none would never be erased."""
    claimed = {layer for layer in columns.COLUMNS.values() if layer != columns.NO_WORDS}

    assert claimed <= {layer.name for layer in LAYERS}


def test_every_place_in_the_home_is_claimed() -> None:
    """A new file in the home must say who erases it."""
    written = {name for name in vars(Home) if not name.startswith("_") and name != "path"}

    assert written == set(places.FILES)
    assert set(places.FILES.values()) <= {layer.name for layer in LAYERS} | {
        places.NO_WORDS,
        places.OWN,
        places.OTHERS,
        places.COLUMNS,
    }


def test_every_key_of_redis_is_claimed() -> None:
    """Jobs are names and ids; what else would lie in Redis would have to be erased there."""
    assert {kind.__name__ for kind in jobs.ENTRY_POINTS} == set(places.KEYS)
    for kind in jobs.ENTRY_POINTS:
        assert {str(field.type) for field in fields(kind)} <= {"<class 'str'>", "<class 'int'>", "str", "int"}


def test_every_cache_is_dropped_or_holds_no_words() -> None:
    """What a process keeps of an entry between two looks must go with the entry."""
    dropped = {id(cached) for cached in caches.WITH_WORDS}
    left = [name for name, cached in _caches().items() if id(cached) not in dropped and _takes_text(cached)]

    assert [name for name in left if name not in WITHOUT_WORDS] == []


def _caches() -> dict[str, object]:
    found = {}
    for package in (gateway, workers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                if hasattr(value, "cache_clear") and getattr(value, "__module__", "") == module.name:
                    found[f"{module.name}.{name}"] = value
    return found


def _takes_text(cached: object) -> bool:
    """Whether it is called with anything: what takes nothing holds nothing that came from outside."""
    return bool(inspect.signature(cached).parameters)  # type: ignore[arg-type]  # found by its attribute
