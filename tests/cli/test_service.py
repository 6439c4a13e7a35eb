"""Which service is asked: the environment's, else the local stack's, else nobody's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ferryman.cli import holding, service


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FERRYMAN_URL", "FERRYMAN_KEY", "FERRYMAN_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_both_variables_name_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "https://api.example/")
    monkeypatch.setenv("FERRYMAN_KEY", "fm_x")
    assert service.find() == service.Service(url="https://api.example", key="fm_x")


def test_one_variable_alone_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "https://api.example")
    with pytest.raises(service.Unknown, match="FERRYMAN_KEY is not"):
        service.find()


def test_the_nearest_stack_is_found_from_a_folder_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, below = tmp_path / ".ferryman", tmp_path / "a" / "b"
    below.mkdir(parents=True)
    key_file, key = holding.key_of(data)
    (data / "stack.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "key_file": str(key_file)}))
    monkeypatch.chdir(below)
    assert service.find() == service.Service(url="http://127.0.0.1:1", key=key)


def test_without_a_stack_it_says_how_to_start_one() -> None:
    with pytest.raises(service.Unknown, match="ferryman up"):
        service.find()


def test_a_service_does_not_show_its_key() -> None:
    assert "fm_secret" not in repr(service.Service(url="http://x", key="fm_secret"))


def test_the_key_of_a_folder_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    file, key = holding.key_of(tmp_path / "data")
    assert holding.key_of(tmp_path / "data") == (file, key)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
