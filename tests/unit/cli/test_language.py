"""The `hikae` command says a refusal in the language of the settings."""

from pathlib import Path

import pytest

from gateway import cli


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("display: {language: ja}", "どれのことか番号で指定してください"),
        ("display: {language: en}", "Say which: "),
    ],
)
def test_a_refusal_is_printed_in_the_language_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: str, said: str
) -> None:
    """A chat and the command give the same reason in the same words."""
    (tmp_path / "config.yaml").write_text(config, "utf-8")

    code = cli.main(["--home", str(tmp_path), "memory", "approve", "seventeen"])

    assert code == 1
    assert capsys.readouterr().err.startswith(said)
