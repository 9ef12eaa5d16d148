"""What can be set, what is refused, and how it is said. The texts are what an operator reads."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.errors import ConfigError
from gateway.home import Home
from gateway.modelchoice import ModelChoice
from gateway.sections import leaves
from gateway.settings import (
    VARIABLES,
    Loaded,
    Settings,
    child_environment,
    config_digest,
    find_home,
    load,
)

EXAMPLE = Path(__file__).parents[2] / "deploy" / "config.example.yaml"
TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"


def loaded(
    tmp_path: Path, config: str | bytes = "", *, env_file: str = "", environ: Mapping[str, str] | None = None
) -> Loaded:
    home = Home(tmp_path)
    home.config.write_bytes(config if isinstance(config, bytes) else config.encode())
    home.env_file.write_text(env_file)
    return load(home, environ or {})


def problems(
    tmp_path: Path, config: str | bytes = "", *, env_file: str = "", environ: Mapping[str, str] | None = None
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, config, env_file=env_file, environ=environ)
    return list(caught.value.problems)


# -- what is set -------------------------------------------------------------------------------------------


def test_a_home_without_any_file_has_the_defaults(tmp_path: Path) -> None:
    """The first start of a newcomer: nothing is there, and it works."""
    found = load(Home(tmp_path / "not-there"), {})

    assert found.settings == Settings()
    assert set(found.sources.values()) == {"default"}
    assert found.warnings == ()


def test_the_example_file_holds_every_key_with_its_default(tmp_path: Path) -> None:
    """The example is the reference that people copy from; it must not lie or leave anything out."""
    found = loaded(tmp_path, EXAMPLE.read_bytes())

    missing = [key for key, source in found.sources.items() if source == "default"]
    assert found.settings == Settings()
    assert [key for key in missing if not key.startswith("display.platforms.")] == []


def test_the_first_to_say_something_wins(tmp_path: Path) -> None:
    """Process environment, .env, config.yaml, default: and each value knows who said it."""
    found = loaded(
        tmp_path,
        "model: {name: from-file, base_url: 'http://file/v1'}\nmemory: {nudge_interval: 3}\n",
        env_file="HIKAE_MODEL_NAME=from-env-file\nHIKAE_MODEL_BASE_URL=http://env-file/v1\n",
        environ={
            "HIKAE_MODEL_NAME": "from-environment",
            "HIKAE_MODEL_BASE_URL": "",
            "REDIS_URL": "redis://r",
        },
    )

    assert (found.settings.model.name, found.sources["model.name"]) == ("from-environment", "environment")
    assert (found.settings.model.base_url, found.sources["model.base_url"]) == ("http://env-file/v1", ".env")
    assert (found.settings.memory.nudge_interval, found.sources["memory.nudge_interval"]) == (
        3,
        "config.yaml",
    )
    assert (found.settings.redis.url, found.sources["redis.url"]) == ("redis://r", "environment")
    assert found.sources["memory.write_approval"] == "default"


@pytest.mark.parametrize(
    ("variable", "key", "value"),
    [
        ("HIKAE_MODEL_PROVIDER", "model.provider", "offline"),
        ("HIKAE_MODEL_NAME", "model.name", "some/model"),
        ("HIKAE_MODEL_BASE_URL", "model.base_url", "http://127.0.0.1:1/v1"),
        ("HIKAE_TELEGRAM_BASE_URL", "platforms.telegram.base_url", "http://127.0.0.1:2"),
        ("HIKAE_DISCORD_BASE_URL", "platforms.discord.base_url", "http://127.0.0.1:3/api/v10"),
        ("HIKAE_DISCORD_GATEWAY_URL", "platforms.discord.gateway_url", "ws://127.0.0.1:4/gw"),
        ("REDIS_URL", "redis.url", "redis://127.0.0.1:5/0"),
    ],
)
def test_each_variable_of_the_design_sets_its_key(tmp_path: Path, variable: str, key: str, value: str) -> None:
    """Containers are configured by environment alone."""
    found = loaded(tmp_path, environ={variable: value})

    assert dict(leaves(found.settings))[key] == value


@pytest.mark.parametrize(
    ("word", "approval", "notices"),
    [
        ("on", True, "on"), ("off", False, "off"), ("true", True, "on"), ("false", False, "off"),
        ("yes", True, "on"), ("No", False, "off"), ("'on'", True, "on"), ('"off"', False, "off"),
    ],
)  # fmt: skip
def test_on_and_off_are_words_and_booleans_alike(tmp_path: Path, word: str, approval: bool, notices: str) -> None:
    """YAML 1.1 reads on/off as booleans, people do not."""
    config = f"memory: {{write_approval: {word}}}\ndisplay: {{memory_notifications: {word}}}\n"

    found = loaded(tmp_path, config).settings

    assert found.memory.write_approval is approval
    assert found.display.memory_notifications == notices


def test_text_stays_as_it_was_written(tmp_path: Path) -> None:
    """YAML 1.1 would make 870 of 14:30, True of a model named `on` and 1e3 of one named 1000.0."""
    config = "session: {daily_at: 14:30}\nmodel: {name: 1e3, context_window: 128_000}\n"

    found = loaded(tmp_path, config).settings

    assert (found.session.daily_at, found.model.name, found.model.context_window) == ("14:30", "1e3", 128_000)


def test_a_section_with_everything_commented_out_is_all_defaults(tmp_path: Path) -> None:
    """People start from the example and comment out what they do not need."""
    config = "memory:\n  # nudge_interval: 3\naccess:\n  owners:\nmodel:\n  name:\n"

    assert loaded(tmp_path, config).settings == Settings()


@pytest.mark.parametrize("config", ["", "# nothing\n", "---\n", "null\n", "\ufeffmodel: {name: x}\r\n"])
def test_what_editors_leave_behind_is_read(tmp_path: Path, config: str) -> None:
    """Empty, commented out, with a byte order mark or CRLF: not worth an error."""
    assert loaded(tmp_path, config).settings.memory == Settings().memory


def test_a_platform_may_show_notices_differently(tmp_path: Path) -> None:
    """Verbose in the terminal, quiet on the phone."""
    config = "display: {memory_notifications: off, platforms: {telegram: {memory_notifications: verbose}}}"

    found = loaded(tmp_path, config).settings

    assert (found.notifications("telegram"), found.notifications("terminal")) == ("verbose", "off")
    assert found.notifications("no-such-platform") == "off"


def test_each_memory_file_has_its_own_switch_and_budget(tmp_path: Path) -> None:
    """Whoever asks by target gets the setting of that target."""
    config = "memory: {memory_enabled: false, memory_char_limit: 10, user_char_limit: 20}"

    found = loaded(tmp_path, config).settings

    assert (found.enabled("memory"), found.enabled("user")) == (False, True)
    assert (found.budget("memory"), found.budget("user")) == (10, 20)


def test_accounts_are_kept_once_and_in_order(tmp_path: Path) -> None:
    """A list pasted twice is still the same people."""
    found = loaded(tmp_path, "access: {owners: [telegram:123, discord:456, telegram:123]}").settings

    assert found.access.owners == ("telegram:123", "discord:456")


def test_a_slash_at_the_end_of_an_address_means_nothing(tmp_path: Path) -> None:
    """Adapters append paths; a double slash is a 404 that nobody understands."""
    found = loaded(tmp_path, "model: {name: m, base_url: 'http://127.0.0.1:11434/v1/'}").settings

    assert found.model.base_url == "http://127.0.0.1:11434/v1"


def test_a_change_of_the_file_shows_in_its_digest(tmp_path: Path) -> None:
    """`status` says when config.yaml is no longer what the running gateway read."""
    found = loaded(tmp_path, "memory: {nudge_interval: 3}")
    assert config_digest(Home(tmp_path)) == found.config_sha256

    Home(tmp_path).config.write_text("memory: {nudge_interval: 4}")

    assert config_digest(Home(tmp_path)) != found.config_sha256


def test_the_time_zone_is_the_one_that_is_set(tmp_path: Path) -> None:
    """The prompt names it, and so does a daily reset later."""
    config = "session: {timezone: Europe/Oslo}"

    assert str(loaded(tmp_path, config).settings.zone()) == "Europe/Oslo"
    assert str(loaded(tmp_path, environ={"TZ": "Asia/Tokyo"}).settings.zone()) == "Asia/Tokyo"


# -- what is refused ---------------------------------------------------------------------------------------


def test_every_problem_is_reported_at_once_with_its_value_and_line(tmp_path: Path) -> None:
    """Fixing one mistake per start is how evenings are lost."""
    config = "\n".join(
        [
            "memroy: {}",
            "nudge_interval: 3",
            "memory:",
            "  memory_char_limit: lots",
            "  user_char_limit: 0",
            "  write_approval: perhaps",
            "  write_approval: off",
            "session: {daily_at: noon, timezone: Mars}",
            "access:",
            "  owners:",
            "    - telegram:123",
            "    - '@bob'",
            "model: {timeout_seconds: never}",
            "redis: {url: 'redis//:hunter2@host'}",
            "display: quiet",
            "agent: {disabled_toolsets: memory}",
        ]
    )

    assert problems(tmp_path, config, env_file="lost words\n") == [
        "A line is not NAME=value. (.env, line 1)",
        'unknown key "memroy"; did you mean "memory"? (config.yaml, line 1)',
        'unknown key "nudge_interval"; did you mean "memory.nudge_interval"? (config.yaml, line 2)',
        '"memory.write_approval" is set twice, first in line 6. Keep one. (config.yaml, line 7)',
        'display is "quiet". It must be lines of `name: value`. (config.yaml, line 15)',
        'model.timeout_seconds is "never". It must be a number above 0 and at most 86400, e.g. 120. '
        "(config.yaml, line 13)",
        'access.owners (item 2) is "…@bob". It must be a platform and an account\'s number, '
        "e.g. telegram:123 (/whoami tells it). (config.yaml, line 12)",
        'session.daily_at is "noon". It must be a time of day, e.g. "04:00". (config.yaml, line 8)',
        'session.timezone is "Mars". It must be an IANA time zone that this machine knows, '
        "e.g. Europe/Oslo. (config.yaml, line 8)",
        'memory.memory_char_limit is "lots". It must be a whole number, e.g. 2200. (config.yaml, line 4)',
        "memory.user_char_limit is 0. It must be a whole number from 1 to 1000000, e.g. 1375. "
        "(config.yaml, line 5)",
        'memory.write_approval is "perhaps". It must be true or false. (config.yaml, line 6)',
        'agent.disabled_toolsets is "memory". It must be a list, e.g. [memory]. (config.yaml, line 16)',
        'redis.url is "…@host". It must be an address such as redis://127.0.0.1:6379/0. (config.yaml, line 14)',
    ]


@pytest.mark.parametrize(
    "config",
    [
        "memory: {provider: honcho}",
        "web: {public_url: 'https://bot.example'}",
        "web: {metrics_token_env: METRICS_TOKEN}",
    ],
)
def test_what_is_not_there_yet_is_refused(tmp_path: Path, config: str) -> None:
    """A setting that is accepted and does nothing is a lie."""
    (problem,) = problems(tmp_path, config)

    assert "not yet available" in problem
    assert problem.endswith("(config.yaml, line 1)")


@pytest.mark.parametrize(
    "config",
    [
        "compression: {enabled: false, threshold: 0.8}",
        "model: {name: m}\nauxiliary: {compression: {model: another}}",
        "web: {enabled: false}",
        "access: {pairing: false}",
        "backups: {keep: 0}",
        "agent: {disabled_toolsets: [memory, session_search, skills]}",
        "skills: {write_approval: true}",
        "auxiliary: {background_review: {enabled: off}}",
        "model: {name: m}\nauxiliary: {background_review: {model: m}}",
        "memory: {nudge_interval: 0, idle_review_minutes: 0, pending_ttl_days: 0}",
        "access: {allowed: [telegram:7], daily_turns: 40}",
        "platforms: {telegram: {webhook: {url: 'https://bot.example/hook', port: 8080}}}",
        "platforms: {telegram: {mode: webhook}}",  # without a token Telegram is off
    ],
)
def test_switching_off_and_what_works_is_accepted(tmp_path: Path, config: str) -> None:
    """What a later issue brings may be switched off before it comes."""
    assert "config.yaml" in loaded(tmp_path, config).sources.values()


@pytest.mark.parametrize(
    ("webhook", "secret", "expected"),
    [
        ("url: 'https://bot.example/hook'", "s3cret-s3cret_s3cret", []),
        ("url: 'https://bot.example/hook'", "", ["TELEGRAM_WEBHOOK_SECRET is not set to a secret"]),
        ("url: 'https://bot.example/hook'", "too short", ["TELEGRAM_WEBHOOK_SECRET is not set to a secret"]),
        ("url: 'http://bot.example'", "s3cret-s3cret_s3cret", ["It must begin with https://"]),
        ("port: 8080", "", ["webhook.url is empty", "is not set to a secret"]),
    ],
    ids=["right", "no-secret", "bad-secret", "no-tls", "nothing"],
)
def test_a_webhook_needs_an_address_and_a_secret(
    tmp_path: Path, webhook: str, secret: str, expected: list[str]
) -> None:
    """Telegram refuses the one; without the other anybody could speak in the owner's name."""
    config = f"platforms: {{telegram: {{mode: webhook, webhook: {{{webhook}}}}}}}"
    variables = {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_WEBHOOK_SECRET": secret}
    found = problems(tmp_path, config, environ=variables) if expected else []

    assert len(found) == len(expected)
    assert all(sentence in problem for sentence, problem in zip(expected, found, strict=True))
    assert not secret or secret not in "".join(found)
    if not expected:
        assert loaded(tmp_path, config, environ=variables).settings.platforms.telegram.mode == "webhook"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("- a\n- b\n", "config.yaml is a list. It must be lines of `name: value`. (config.yaml, line 1)"),
        ("hello", 'config.yaml is "hello". It must be lines of `name: value`. (config.yaml, line 1)'),
        ("memory: [1]", "memory is a list. It must be lines of `name: value`. (config.yaml, line 1)"),
        (b"a: 1\nb: \xff\n", "config.yaml is not UTF-8 text. Save it as UTF-8. (config.yaml, line 2)"),
        ("memory:\n\tnudge_interval: 3\n", "Indent with spaces, not with tabs. (config.yaml, line 2)"),
        ("memory: {", "config.yaml is not valid YAML"),
        ("memory: {nudge_interval: }", "memory.nudge_interval is empty. It must be a whole number, e.g. 10."),
        ("model: {name: {a: b}}", "model.name is more than one value. It must be text."),
        ("model: {name: !secret x}", 'model.name has the tag "!secret". Leave the tag out.'),
        ("? [a, b]\n: c\n", "unknown key that is not a name"),
        ("model: {name: \"\\ud800\"}", "It holds characters that are not text."),
        ("a: b\x00c", "it holds characters that YAML does not allow"),
        ('model: {name: "\\UFFFFFFFF"}', "it holds characters that YAML does not allow"),
        ("[" * 5000, "it is nested too deeply"),
        ("memory: {nudge_interval: " + "9" * 5000 + "}", "It must be a whole number, e.g. 10."),
        ("# " + "x" * 300_000, "is larger than 256 KiB"),
        ("a: 1\n---\nb: 2\n", "config.yaml is not valid YAML"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_clear_problem(tmp_path: Path, config: str | bytes, expected: str) -> None:
    """A sentence and a line, never a traceback."""
    (problem,) = problems(tmp_path, config)

    assert expected in problem


def test_aliases_cannot_make_it_large(tmp_path: Path) -> None:
    """A few lines that would unfold to a billion items, and a loop."""
    laughs = "\n".join([f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)])

    found = problems(tmp_path, f"l0: &l0 [ha]\n{laughs}\naccess: {{owners: *l9}}\nmemory: &m {{memory: *m}}\n")

    assert len([problem for problem in found if problem.startswith("access.owners (item")]) == 10


def test_the_home_is_set_for_the_processes_we_start() -> None:
    """A worker that found another home would review another bot's messages."""
    assert child_environment(Home(Path("/srv/bot")))["HIKAE_HOME"] == "/srv/bot"


@pytest.mark.parametrize("name", ["config.yaml", ".env"])
def test_what_is_no_file_is_a_clear_problem(tmp_path: Path, name: str) -> None:
    """A container that mounts a missing file makes a directory of it; a pipe would keep us waiting."""
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match="is not a file"):
        load(Home(tmp_path), {})

    (tmp_path / name).rmdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigError, match="is not a file"):
        load(Home(tmp_path), {})


def test_a_home_below_a_file_is_a_clear_problem(tmp_path: Path) -> None:
    """HIKAE_HOME that names a file."""
    (tmp_path / "home").write_text("")

    with pytest.raises(ConfigError, match="cannot be read"):
        load(Home(tmp_path / "home"), {})


def test_a_wrong_variable_is_named_with_its_place(tmp_path: Path) -> None:
    """The file is fine, so the message must not send anybody there."""
    assert problems(
        tmp_path, env_file="# mine\nHIKAE_MODEL_PROVIDER=gpt\n", environ={"HIKAE_MODEL_BASE_URL": "localhost"}
    ) == [
        'model.provider is "gpt". It must be auto, openai, openrouter, anthropic or offline. (.env, line 2)',
        'model.base_url is "localhost". It must be an address such as http://127.0.0.1:8081. '
        "(environment, HIKAE_MODEL_BASE_URL)",
    ]


def test_a_provider_needs_a_name(tmp_path: Path) -> None:
    """Only `auto` and `offline` can do without."""
    assert problems(tmp_path, "model:\n  provider: openai\n") == [
        'model.name is "", and model.provider is openai. It must be the name of a model, '
        "e.g. anthropic/claude-sonnet-4.5. (config.yaml, line 2)"
    ]


def test_a_misspelt_variable_is_a_warning(tmp_path: Path) -> None:
    """It would be as silent as one that is not set."""
    found = loaded(tmp_path, environ={"HIKAE_MODEL_NAMES": "x", "HIKAE_HOME": "y", "HIKAE_SOMETHING_ELSE": "z"})

    assert found.warnings == ("HIKAE_MODEL_NAMES is set but means nothing; did you mean HIKAE_MODEL_NAME?",)


def test_a_failpoint_is_read_from_the_process_alone(tmp_path: Path) -> None:
    """A test arms it; a file that was left behind must not kill the bot at every start."""
    assert loaded(tmp_path, env_file="HIKAE_FAILPOINT=turn.kept\n").settings.failpoint is None
    assert loaded(tmp_path, environ={"HIKAE_FAILPOINT": "turn.kept:3"}).settings.failpoint == "turn.kept:3"
    assert "HIKAE_FAILPOINT" in problems(tmp_path, environ={"HIKAE_FAILPOINT": "turn.kept:often"})[0]


text = st.text(st.characters(exclude_categories=()), max_size=20)
leaf = st.one_of(text, st.integers(), st.booleans(), st.none(), st.lists(text, max_size=3))
keys = st.one_of(st.sampled_from(["memory", "model", "name", "access", "owners", "groups", "display"]), text)
tree = st.dictionaries(keys, st.recursive(leaf, lambda below: st.dictionaries(keys, below, max_size=3)), max_size=4)
odd_values = st.sampled_from(["on", "0", "-1", "1e400", "http://[", "http://x:99999", "redis://u:p@h", "a:b"])
yaml_like = st.text(st.sampled_from("memory: {}[]\n\t-&*!|>'\"%@#?,.0on~<"), max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=60), yaml_like.map(str.encode), tree.map(lambda each: json.dumps(each).encode()))
)
@example(b"%YAML 99999999999999999999999.1\n---\n")
@example(b"!%ff x")
@example(b'model: {name: "\\x"}')
@example(b"=: =")
@example(b"<<: {memory: 1}")
def test_no_file_makes_it_raise_anything_but_a_config_error(tmp_path: Path, config: bytes) -> None:
    """Whatever stands there, the operator gets sentences."""
    for name in ("config.yaml", ".env"):
        (tmp_path / name).write_bytes(config)
        try:
            load(Home(tmp_path), {})
        except ConfigError as error:
            assert all(problem.strip().isprintable() for problem in error.problems)
        (tmp_path / name).unlink()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.sampled_from([key for key, _ in leaves(Settings())]), st.one_of(leaf, odd_values))
def test_no_value_makes_it_raise_anything_but_a_config_error(tmp_path: Path, key: str, value: object) -> None:
    """Each field reads whatever it gets."""
    config = value
    for name in reversed(key.split(".")):
        config = {name: config}

    try:
        loaded(tmp_path, json.dumps(config))
    except ConfigError as error:
        assert all(problem.isprintable() for problem in error.problems)


# -- tokens ------------------------------------------------------------------------------------------------


def test_a_token_comes_from_the_process_or_else_from_the_env_file(tmp_path: Path) -> None:
    """A pasted line break is no part of a token; an empty variable is not set."""
    env_file = f"export TELEGRAM_BOT_TOKEN='{TOKEN}'  # mine\nA=\"x # y\"\nB=plain # comment\nC=a#b\nEMPTY=\n"

    found = loaded(tmp_path, env_file=env_file, environ={"A": "", "B": "process\n"}).settings

    assert found.secret("TELEGRAM_BOT_TOKEN") == TOKEN
    assert [found.secret(name) for name in ("A", "B", "C", "EMPTY", "NONE")] == [
        "x # y",
        "process",
        "a#b",
        "",
        "",
    ]
    assert [found.secret_source(name) for name in ("A", "B", "EMPTY")] == [".env", "environment", ""]


def test_no_token_is_in_any_text_of_the_settings(tmp_path: Path) -> None:
    """Settings are printed, logged and compared; whoever does it must not have to think of tokens."""
    found = loaded(
        tmp_path,
        "model: {provider: openai, name: m}",
        env_file=f"TELEGRAM_BOT_TOKEN={TOKEN}\n",
        environ={"OPENAI_API_KEY": "sk-secret", "REDIS_URL": "redis://:hunter2@host"},
    )

    said = f"{found!r} {found.settings!s} {found.settings.chat_model()!r} {found.settings.model_dump()!r}"
    assert found.settings.secrets() == (TOKEN, "sk-secret")
    assert TOKEN not in said
    assert "sk-secret" not in said
    assert "hunter2" not in f"{found!r} {found.settings!s}"


@pytest.mark.parametrize(
    "config",
    [
        f"platforms: {{telegram: {{token_env: '{TOKEN}'}}}}",
        f"platforms: {{telegram: {{token: '{TOKEN}'}}}}",
        f"platforms: {{telegram: {{'{TOKEN}': }}}}",
        f"platforms:\n  telegram:\n    ? '{TOKEN}'\n    : 1\n    ? '{TOKEN}'\n    : 2\n",
        f"model: {{api_key_env: 'sk-{TOKEN}'}}",
        f"access: {{owners: ['{TOKEN}']}}",
        f"redis: {{url: 'redis:://u:{TOKEN}@h'}}",
    ],
)
def test_a_token_in_the_wrong_place_is_not_repeated(tmp_path: Path, config: str) -> None:
    """The commonest mistake of all, and its message ends up in screenshots."""
    assert not [problem for problem in problems(tmp_path, config) if TOKEN in problem]


def test_a_line_of_the_env_file_is_not_repeated(tmp_path: Path) -> None:
    """A token without its name is still a token."""
    assert problems(tmp_path, env_file=f"A=1\n{TOKEN}\n") == ["A line is not NAME=value. (.env, line 2)"]


# -- the model ---------------------------------------------------------------------------------------------

NAMED = "model: {name: some/model}"


@pytest.mark.parametrize(
    ("config", "environ", "base_url", "api_key"),
    [
        (NAMED, {"OPENAI_API_KEY": "k1"}, "https://api.openai.com/v1", "k1"),
        (NAMED, {"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2"}, "https://api.openai.com/v1", "k1"),
        (NAMED, {"OPENROUTER_API_KEY": "k2"}, "https://openrouter.ai/api/v1", "k2"),
        (
            "model: {name: some/model, base_url: 'http://127.0.0.1:11434/v1'}",
            {"OPENROUTER_API_KEY": "k2"},
            "http://127.0.0.1:11434/v1",
            "",
        ),
        (
            "model: {name: some/model, api_key_env: OPENROUTER_API_KEY}",
            {"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2"},
            "https://openrouter.ai/api/v1",
            "k2",
        ),
        (
            "model: {provider: openrouter, name: some/model, base_url: 'http://h/v1', api_key_env: MINE}",
            {"MINE": "k3"},
            "http://h/v1",
            "k3",
        ),
    ],
)
def test_the_model_is_the_one_that_is_named_and_can_be_reached(
    tmp_path: Path, config: str, environ: dict[str, str], base_url: str, api_key: str
) -> None:
    """`auto` takes an own address first, then the first key it finds."""
    chosen = loaded(tmp_path, config, environ=environ).settings.chat_model()

    assert (chosen.provider, chosen.name) == ("openai", "some/model")
    assert (chosen.base_url, chosen.api_key) == (base_url, api_key)


@pytest.mark.parametrize(
    ("config", "environ", "why"),
    [
        (
            "",
            {},
            "model.name is not set, no key was found; "
            "for a real model set model.name and OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY",
        ),
        (
            "",
            {"OPENROUTER_API_KEY": "k"},
            "model.name is not set, OPENROUTER_API_KEY was found; for a real model set model.name",
        ),
        (
            NAMED,
            {},
            "model.name is some/model, no key was found; "
            "for a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY",
        ),
        ("model: {provider: offline, name: x}", {"OPENAI_API_KEY": "k"}, "model.provider is offline"),
    ],
)
def test_without_a_name_or_a_key_it_is_offline_and_says_why(
    tmp_path: Path, config: str, environ: dict[str, str], why: str
) -> None:
    """The start says what it found and what to set."""
    chosen = loaded(tmp_path, config, environ=environ).settings.chat_model()

    assert (chosen.provider, str(chosen.why)) == ("offline", why)


def test_a_missing_key_stops_what_needs_the_model_and_nothing_else(tmp_path: Path) -> None:
    """`hikae memory pending` runs in a shell that lacks the service's environment; a start does not."""
    found = loaded(tmp_path, "model: {provider: openai, name: m}")

    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set, and the model needs it"):
        found.settings.chat_model()


def test_a_key_that_auto_cannot_place_is_said(tmp_path: Path) -> None:
    """A key that is there and not used would otherwise be a riddle."""
    unknown = loaded(tmp_path, "model: {name: m, api_key_env: MINE}", environ={"MINE": "k"})

    assert unknown.warnings == (
        "model.api_key_env is MINE, which does not tell whose key it is; the model is offline. "
        "Set model.provider or model.base_url.",
    )


@pytest.mark.parametrize(
    ("config", "environ", "base_url", "api_key"),
    [
        (NAMED, {"ANTHROPIC_API_KEY": "k0", "OPENROUTER_API_KEY": "k2"}, "https://api.anthropic.com/v1", "k0"),
        (
            "model: {provider: anthropic, name: some/model, base_url: 'http://h/v1'}",
            {"OPENAI_API_KEY": "k1"},
            "http://h/v1",
            "",
        ),
        (
            "model: {provider: anthropic, name: some/model, api_key_env: MINE}",
            {"MINE": "k3"},
            "https://api.anthropic.com/v1",
            "k3",
        ),
    ],
)
def test_anthropics_models_are_asked_at_anthropics_api(
    tmp_path: Path, config: str, environ: dict[str, str], base_url: str, api_key: str
) -> None:
    """Its key comes before OpenRouter's: whoever has both wants the cache that is told what to keep."""
    chosen = loaded(tmp_path, config, environ=environ).settings.chat_model()

    assert (chosen.provider, chosen.name) == ("anthropic", "some/model")
    assert (chosen.base_url, chosen.api_key) == (base_url, api_key)


# -- the model of reviews ----------------------------------------------------------------------------------

CHAT = "model: {provider: openai, name: big, base_url: 'http://h/v1', api_key_env: MINE}\n"


def review_model(path: Path, review: str, chat: str = CHAT) -> ModelChoice | None:
    keys = {"MINE": "k1", "ANTHROPIC_API_KEY": "k0", "OTHER": "k4"}
    config = f"{chat}auxiliary: {{background_review: {{{review}}}}}"
    return loaded(path, config, environ=keys).settings.review_model()


@pytest.mark.parametrize(
    "review", ["", "model: big", "provider: openai", "base_url: 'http://h/v1', api_key_env: MINE"]
)
def test_reviews_ask_the_chats_model(tmp_path: Path, review: str) -> None:
    """None stands for it, also where it is named once more: only then does its cache serve the review."""
    assert review_model(tmp_path, review) is None


@pytest.mark.parametrize(
    ("review", "chosen"),
    [
        ("model: small", ("openai", "small", "http://h/v1", "k1")),
        ("provider: openai, model: small", ("openai", "small", "http://h/v1", "k1")),
        ("model: small, base_url: 'http://other/v1'", ("openai", "small", "http://other/v1", "")),
        ("provider: anthropic, model: small", ("anthropic", "small", "https://api.anthropic.com/v1", "k0")),
        ("api_key_env: OTHER", ("openai", "big", "http://h/v1", "k4")),
        ("provider: offline", ("offline", "offline", "", "")),
    ],
)
def test_reviews_may_have_a_model_of_their_own(
    tmp_path: Path, review: str, chosen: tuple[str, str, str, str]
) -> None:
    """What is left out is the chat's as long as it is asked at the same place; a key is never sent elsewhere."""
    model = review_model(tmp_path, review)

    assert model is not None
    assert (model.provider, model.name, model.base_url, model.api_key) == chosen


def test_the_chat_may_be_offline_and_its_reviews_not(tmp_path: Path) -> None:
    """And the other way round; `auto` finds a provider by its key for each."""
    model = review_model(tmp_path, "model: small", chat="")

    assert model is not None
    assert (model.provider, model.name, model.api_key) == ("anthropic", "small", "k0")


def test_a_review_model_at_another_provider_needs_a_name_and_a_key(tmp_path: Path) -> None:
    """The chat's model is not to be had there."""
    unnamed = problems(tmp_path, f"{CHAT}auxiliary:\n  background_review: {{provider: anthropic}}\n")
    keyless = loaded(tmp_path, f"{CHAT}auxiliary: {{background_review: {{provider: anthropic, model: small}}}}")

    assert unnamed == [
        'auxiliary.background_review.model is "", and auxiliary.background_review.provider is anthropic. '
        "It must be the name of a model, e.g. anthropic/claude-sonnet-4.5. (config.yaml, line 3)"
    ]
    with pytest.raises(ConfigError, match=r"ANTHROPIC_API_KEY .* \(auxiliary.background_review.provider is"):
        keyless.settings.review_model()


def test_the_key_of_the_reviews_is_a_secret(tmp_path: Path) -> None:
    """It is kept out of logs like the others."""
    config = f"{CHAT}auxiliary: {{background_review: {{api_key_env: OTHER}}}}"

    assert "k4" in loaded(tmp_path, config, environ={"OTHER": "k4"}).settings.secrets()


# -- the home ----------------------------------------------------------------------------------------------


def test_the_home_is_the_one_named_first(tmp_path: Path) -> None:
    """Option, then profile, then environment, then the account's own."""
    environ = {"HOME": "/home/ada", "HIKAE_HOME": "~/bots/one"}

    assert find_home(environ={"HOME": "/home/ada"}) == Home(Path("/home/ada/.hikae"))
    assert find_home(environ={"HOME": "/home/ada", "HIKAE_HOME": ""}) == Home(Path("/home/ada/.hikae"))
    assert find_home(environ=environ) == Home(Path("/home/ada/bots/one"))
    assert find_home(home="/srv/bot/", environ=environ) == Home(Path("/srv/bot"))
    assert find_home(profile="work", environ=environ) == Home(Path("/home/ada/.hikae/profiles/work"))


@pytest.mark.parametrize("profile", ["", "..", "a/b", "-x", "x" * 65, "a b", "a\n"])
def test_a_profile_is_a_name_and_no_path(profile: str) -> None:
    """It becomes a folder below ~/.hikae/profiles and must not leave it."""
    with pytest.raises(ConfigError):
        find_home(profile=profile, environ={"HOME": "/home/ada"})


def test_a_home_and_a_profile_together_are_refused() -> None:
    """Whichever won, somebody would write into the wrong bot's memory."""
    with pytest.raises(ConfigError, match="Name only one"):
        find_home(home="/srv/bot", profile="work", environ={})


def test_each_thing_has_its_place() -> None:
    """The contract of design.md 6.1, which people and backups rely on."""
    home = Home(Path("/h"))

    assert home.memory_file("owner", "memory") == Path("/h/memories/MEMORY.md")
    assert home.memory_file("telegram-123", "user") == Path("/h/spaces/telegram-123/USER.md")
    assert home.log_file == Path("/h/logs/agent.log")
    assert str(home.gateway_socket.relative_to(home.path)) == "run/gateway.sock"
    assert home.space_lock("owner") == Path("/h/run/space-owner.lock")
    assert home.job_lock("review-s-1-2") == Path("/h/run/job-review-s-1-2.lock")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\0"])
def test_no_name_leads_out_of_the_home(name: str) -> None:
    """Ids are looked up before they become paths; this is the last fence."""
    for place in (Home(Path("/h")).space_dir, Home(Path("/h")).session_lock, Home(Path("/h")).chat_lock):
        with pytest.raises(ValueError, match="cannot be part of a path"):
            place(name)


def test_the_example_names_every_variable() -> None:
    """Whoever runs a container looks there for what to set."""
    named = re.findall(r"\[([A-Z_]+)\]", EXAMPLE.read_text())

    assert named == list(VARIABLES.values())


def test_summaries_may_have_a_model_of_their_own(tmp_path: Path) -> None:
    """Like reviews: what is left out is the chat's; the same model at the same place is the chat's own."""
    config = f"{CHAT}auxiliary: {{compression: {{model: small}}}}\n"
    chat = loaded(tmp_path, CHAT, environ={"MINE": "k"}).settings
    own = loaded(tmp_path, config, environ={"MINE": "k"}).settings

    model = own.compression_model()

    assert chat.compression_model() is None
    assert own.review_model() is None
    assert model is not None
    assert (model.name, model.base_url, model.api_key) == ("small", chat.chat_model().base_url, "k")


def test_the_key_of_a_summarising_model_is_a_secret_like_any_other(tmp_path: Path) -> None:
    """It must be in no log."""
    config = "auxiliary: {compression: {provider: openai, model: small, api_key_env: MY_KEY}}"

    assert "MY_KEY" in loaded(tmp_path, config).settings.secret_names()


def test_a_summarising_model_at_another_provider_needs_a_name(tmp_path: Path) -> None:
    """The chat's model is not to be had there."""
    (problem,) = problems(tmp_path, "auxiliary: {compression: {provider: anthropic}}")

    assert problem.startswith('auxiliary.compression.model is "", and auxiliary.compression.provider is anthropic.')
