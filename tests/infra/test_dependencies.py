"""Supply chain: every way in which sources, pyproject.toml, locks and what is installed can disagree is found."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from infra import dependencies, install, lock
from infra.dependencies import OTHERS, ROOT, SHIPPED, Project

FOLDERS = (*SHIPPED, *OTHERS)
ADDRESSES = re.compile(
    rb"pypi\.org|pythonhosted\.org|registry\.npmjs|(?:--|extra-)index-url[ =]|--find-links|PIP_FIND_LINKS=\S"
)
THIS = Path(__file__).relative_to(ROOT).as_posix()


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A checkout without sources: pyproject.toml and the locks."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    shutil.copyfile(ROOT / "requirements.lock", tmp_path / "requirements.lock")
    shutil.copytree(ROOT / "locks", tmp_path / "locks")
    return tmp_path


def edit(file: Path, change: Callable[[str], str]) -> None:
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(
    "source",
    [
        "import idna",
        "def later():\n    from werkzeug.serving import run_simple",
        "if TYPE_CHECKING:\n    import rpds",
        "try:\n    import no_such_package\nexcept ImportError:\n    pass",
        'import importlib\nimportlib.import_module("charset_normalizer")',
    ],
)
def test_an_import_that_pyproject_does_not_declare_is_found(checkout, folder, source):
    (checkout / folder / "planted.py").write_text(source + "\n")
    problems = dependencies.check(checkout)
    assert len(problems) >= 1
    assert all(f"{folder}/planted.py:" in item and "does not declare" in item for item in problems)


@pytest.mark.parametrize("folder", SHIPPED)
def test_what_is_shipped_may_not_import_what_serves_development(checkout, folder):
    (checkout / folder / "planted.py").write_text("import hypothesis\n")
    assert [item for item in dependencies.check(checkout) if f"{folder}/planted.py:1: hypothesis" in item]


@pytest.mark.parametrize("folder", OTHERS)
def test_tests_and_tools_may_import_what_serves_development(checkout, folder):
    (checkout / folder / "fine.py").write_text("import hypothesis, msgpack\nfrom atheris import Setup\n")
    assert dependencies.check(checkout) == []


def test_a_declared_import_that_no_lock_pins_is_found(checkout):
    (checkout / "lib/planted.py").write_text("import left_pad\n")
    edit(checkout / "pyproject.toml", lambda text: text.replace("dependencies = [\n", 'dependencies = [\n    "left-pad",\n', 1))
    problems = dependencies.check(checkout)
    assert "lib/planted.py:1: left_pad is of left-pad, which no lock pins" in problems
    assert "requirements.lock does not pin left-pad, which pyproject.toml asks for: make lock" in problems


def test_a_lock_whose_version_pyproject_does_not_take_is_found(checkout):
    edit(checkout / "pyproject.toml", lambda text: text.replace('"msgpack>=1.1,<2"', '"msgpack>=7"'))
    version = Project(checkout).pins["locks/infra.lock"]["msgpack"].version
    problem = f"locks/infra.lock pins msgpack {version}, and pyproject.toml asks for >=7: make lock"
    assert dependencies.check(checkout) == [problem]


def test_a_pin_that_nothing_needs_any_more_is_found(checkout):
    edit(checkout / "pyproject.toml", lambda text: text.replace('    "cronsim>=2.6,<3",\n', ""))
    assert dependencies.check(checkout) == ["requirements.lock pins cronsim, which nothing in it needs: make lock"]


def test_a_group_without_a_lock_is_found(checkout):
    (checkout / "locks/fuzz.lock").unlink()
    with pytest.raises(FileNotFoundError, match=r"fuzz\.lock"):
        dependencies.check(checkout)


def test_a_pin_without_a_hash_is_found(checkout):
    (checkout / "locks/fuzz.lock").write_text("atheris==3.1.0\n")
    with pytest.raises(lock.UnpinnedError, match="atheris"):
        dependencies.check(checkout)


def test_a_build_back_end_that_the_lock_does_not_cover_is_found(checkout):
    edit(
        checkout / "pyproject.toml", lambda text: text.replace('requires = ["hatchling>=1.27,<2"]', 'requires = ["setuptools"]')
    )
    assert [item for item in dependencies.check(checkout) if item.startswith("[build-system] asks for setuptools")]


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("left-pad", "1.0", "left-pad 1.0 is installed, and the locks list nothing of that name"),
        ("httpx", "0.0.1", "httpx 0.0.1 is installed, and the locks list "),
        ("pip", "0.0.1", "pip 0.0.1 is installed, and the locks list nothing of that name"),
    ],
)
def test_an_installed_distribution_that_no_lock_lists_is_found(monkeypatch, checkout, name, version, message):
    folder = checkout / f"{name}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    real = list(dependencies.distributions())
    monkeypatch.setattr(dependencies, "distributions", lambda: [*real, PathDistribution(folder)])
    problems = dependencies.check(checkout)
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_an_installed_distribution_whose_need_no_lock_pins_is_found(monkeypatch, checkout):
    folder = checkout / "cronsim.dist-info"
    folder.mkdir()
    version = Project(ROOT).pins["requirements.lock"]["cronsim"].version
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: cronsim\nVersion: {version}\nRequires-Dist: left-pad\n")
    monkeypatch.setattr(dependencies, "distributions", lambda: [PathDistribution(folder)])
    assert dependencies.check(checkout) == ["cronsim needs left-pad, which no lock pins"]


def test_continuous_integration_asks():
    assert 'step "dependencies" make dependencies\n' in (ROOT / ".ci/run").read_text()


def test_make_installs_nothing_without_a_hash(monkeypatch):
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Makefile").read_text())
    installs = [line for line in text.splitlines() if re.search(r"\bpip install\b", line)]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert "$(PYTHON) -m infra.install\n" in text
    commands: list[list[str]] = []
    monkeypatch.setattr(install, "_run", lambda command, *_: commands.append(command) or "")
    install.Installation(root=ROOT, line=install.ProgressLine(io.StringIO())).install()
    pip = [command for command in commands if "install" in command]
    assert len(pip) == 3
    # ourselves, from these sources, by the back-end that is installed already
    rest = [command[command.index("--quiet") + 1 :] for command in pip if "--require-hashes" not in command]
    assert rest == [["--no-deps", "--no-build-isolation", "--editable", "."]]


def test_programs_that_call_pip_ask_for_hashes():
    calling = {
        str(file.relative_to(ROOT)): file.read_text()
        for folder in (*SHIPPED, "infra", "bench")
        for file in (ROOT / folder).rglob("*.py")
        if '"pip"' in file.read_text() and file.name != "dependencies.py"
    }
    # the rehearsal installs as the platform does: the first line of each requirements.txt asks for hashes
    bench = {"bench/loop/contestants.py", "bench/selection/questions.py", "bench/tool/__init__.py"}
    installing = {"infra/install.py", "infra/rehearse.py"}
    assert set(calling) == {*bench, *installing, "emulator/conformance.py", "infra/proof/schema.py"}
    assert {name for name, text in calling.items() if "--require-hashes" not in text} == {"infra/rehearse.py"}


def test_no_tracked_file_names_a_registry():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip(reason="not a checkout: there is no list of tracked files")
    files = [name for name in listed.stdout.decode().split("\0") if name and name != THIS and (ROOT / name).is_file()]
    assert [name for name in files if ADDRESSES.search((ROOT / name).read_bytes())] == []
