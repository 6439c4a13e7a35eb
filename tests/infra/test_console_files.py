"""The console's templates, styles and scripts: in the wheel and in the archive of `api`, whole, and nowhere else."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from infra import build

CONSOLE = "ferryman/serving/console/"
FOLDERS = ("assets", "templates")
FILES = {
    str(path.relative_to(build.ROOT / "lib")) for name in FOLDERS for path in (build.ROOT / "lib" / CONSOLE / name).iterdir()
}
ALONE = (
    "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]; "
    "sys.path = [{place!r}, *(p for p in sys.path if not p.endswith('/lib')), {root!r}]; "
    "import ferryman; assert ferryman.__file__.startswith({place!r}), ferryman.__file__; "
)
"""What comes before a program that is to find the library in `place` alone, and tests in `root`."""

RENDER = """
from ferryman.serving.console.rendering import load_environment, render_plain
environment = load_environment()
print(len([environment.get_template(name) for name in environment.list_templates()]))
assert "API key" in render_plain("sign_in.html", "/console/sign-in", title="Sign in", notice="", next_path="/console")
"""
OPEN = """
import asyncio, httpx, re
from tests.browser.filled_site import build_site
from tests.browser.visits import list_paths
async def main():
    site = build_site()
    site.app.state.groups.load_all()
    opened = set()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(site.app), base_url="https://testserver") as http:
        form = {"key": site.key, "next": "/console"}
        await http.post("/console/sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"})
        for path in list_paths():
            page = await http.get(path)
            assert page.status_code == 200, (path, page.text)
            for name in re.findall(r'(?:href|src)="([^"]*/assets/[^"]*)"', page.text):
                opened.add(page.url.join(name))
        for url in opened:
            assert (await http.get(url)).status_code == 200, url
    print("opened", len(opened) > 2)
asyncio.run(main())
"""


def run_alone(place: Path, program: str, root: str = "") -> str:
    """Return what a program prints that finds the library in `place` alone. Raise `AssertionError` where it fails."""
    code = ALONE.format(place=str(place), root=root) + program
    ran = subprocess.run([sys.executable, "-P", "-c", code], cwd=place, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.parametrize("function", build.functions())
def test_the_archive_of_the_api_has_all_of_the_console_and_no_other_any(function: str) -> None:
    files = {name for name in build.archive(function).files if name.startswith(CONSOLE)}
    expected = FILES if function == "api" else set()
    assert {name for name in files if not name.endswith(".py")} == expected
    assert bool(files) == bool(expected)


def test_templates_are_rendered_from_the_archive_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(build.archive("api").packed())) as file:
        file.extractall(tmp_path)
    assert run_alone(tmp_path, RENDER) == str(sum("/templates/" in name for name in FILES))


def test_every_page_opens_from_the_wheel_alone(tmp_path: Path) -> None:
    [wheel] = WheelBuilder(str(build.ROOT)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    with zipfile.ZipFile(wheel) as file:
        assert set(file.namelist()) >= FILES
        file.extractall(tmp_path / "installed")
    assert run_alone(tmp_path / "installed", OPEN, root=str(build.ROOT)) == "opened True"
