"""Which service is asked: the environment's, else the local stack's, else nobody's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ferryman.cli import service, stack_lock
from ferryman.stack import leftovers
from ferryman.stack.private import ExposedFolderError, lock_folder


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FERRYMAN_URL", "FERRYMAN_KEY", "FERRYMAN_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_both_variables_name_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "https://api.example/")
    monkeypatch.setenv("FERRYMAN_KEY", "fm_x")
    assert service.find_service() == service.Service(url="https://api.example", key="fm_x")


def test_one_variable_alone_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "https://api.example")
    with pytest.raises(service.UnknownServiceError, match="FERRYMAN_KEY is not"):
        service.find_service()


def test_the_nearest_stack_is_found_from_a_folder_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, below = tmp_path / ".ferryman", tmp_path / "a" / "b"
    below.mkdir(parents=True)
    key_file, key = stack_lock.load_key(data)
    (data / "stack.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "key_file": str(key_file)}))
    monkeypatch.chdir(below)
    assert service.find_service() == service.Service(url="http://127.0.0.1:1", key=key)


def test_without_a_stack_it_says_how_to_start_one() -> None:
    with pytest.raises(service.UnknownServiceError, match="ferryman up"):
        service.find_service()


def test_a_service_does_not_show_its_key() -> None:
    assert "fm_secret" not in repr(service.Service(url="http://x", key="fm_secret"))


def test_the_key_of_a_folder_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    file, key = stack_lock.load_key(tmp_path / "data")
    assert stack_lock.load_key(tmp_path / "data") == (file, key)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o750])
def test_a_stack_in_a_folder_that_others_may_enter_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    data, below, private = tmp_path / ".ferryman", tmp_path / "a", tmp_path / "id_ed25519"
    data.mkdir()
    below.mkdir()
    private.write_text("a key of mine")
    (data / "stack.json").write_text(json.dumps({"url": "http://evil.example", "key_file": str(private)}))
    data.chmod(mode)
    monkeypatch.chdir(below)
    with pytest.raises(service.UnknownServiceError, match="no stack runs"):
        service.find_service()
    monkeypatch.setenv("FERRYMAN_DATA", str(data))
    with pytest.raises(service.UnknownServiceError, match="is open to other users"):
        service.find_service()


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests do not run as root, and so cannot give a folder to another user")
def test_a_stack_in_a_folder_of_another_user_is_not_believed(tmp_path: Path) -> None:
    data = tmp_path / ".ferryman"
    key_file, _ = stack_lock.load_key(data)
    (data / "stack.json").write_text(json.dumps({"url": "http://evil.example", "key_file": str(key_file)}))
    os.chown(data, 65_534, 65_534)
    with pytest.raises(service.UnknownServiceError, match="is open to other users"):
        service.find_service()
    with pytest.raises(ExposedFolderError, match="chmod 700"):
        stack_lock.load_key(data)
    with pytest.raises(ExposedFolderError, match="chmod 700"), lock_folder(data):
        pass


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777])
def test_a_note_is_read_from_a_private_folder_alone(tmp_path: Path, mode: int) -> None:
    text = {
        "url": "http://evil.example",
        "admin": "http://evil.example",
        "pid": 1,
        "env": {"LOCAL_CLOUD_TOKEN_FILE": "/etc/shadow"},
    }
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "stack.json").write_text(json.dumps(text))
    (tmp_path / "data").chmod(mode)
    assert leftovers.read_note(tmp_path / "data") == (text if mode == 0o700 else None)
