"""The documents show what the system does."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click
import pytest

from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.cli import main
from ferryman.declared import check, entry, request, texts
from ferryman.declared.templates import Mode
from ferryman.domain.credits.shortage import Shortage
from ferryman.domain.http import url
from ferryman.domain.http.request import OutboundRequest
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.problem import InvalidInputError
from ferryman.egress import headers
from ferryman.egress.inject import build_request
from ferryman.tools.http import PARSERS
from tests.figures import BEGIN, END

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tools.md").read_text()
DECLARED_PAGE = (ROOT / "docs/declared-tools.md").read_text()
SECURITY, FIGURES, CONTRIBUTING = ((ROOT / f"docs/{name}.md").read_text() for name in ("security", "figures", "contributing"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_pages_of_the_tools_have_a_row_for_each():
    rows = re.findall(r"^\| `(\w+)` \|", PAGE + (ROOT / "docs/openapi.md").read_text(), re.MULTILINE)
    assert [tool.name for tool in TOOLS.values() if tool.name not in rows] == []


def test_the_page_of_the_tools_counts_those_of_the_catalog():
    assert re.findall(r"Of the (\d+) tools of the catalog (\d+) can be called", PAGE) == [(str(len(LISTED)), str(len(TOOLS)))]


def test_the_page_of_the_tools_says_of_each_that_is_not_implemented_why():
    section = PAGE.split("\n## Not implemented yet\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    reasons = {name: reason for reason, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert reasons == {tool.name: tool.reason for tool in LISTED.values() if not tool.implemented}


@pytest.mark.parametrize("tool", list(PARSERS))
def test_every_example_is_read_by_its_tool(tool):
    section = PAGE.split(f"\n## {tool}\n")[1].split("\n## ")[0]
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]
    calls = [example for example in examples if "url" in example]
    assert calls
    assert all(isinstance(PARSERS[tool](call), OutboundRequest) for call in calls)


DECLARATIONS = [texts.loads(text, what="the page") for text in re.findall(r"```yaml\n(.*?)```", DECLARED_PAGE, re.DOTALL)]
DOMAINS = ("*.weather.example", "*.chat.example", "*.desk.example", "*.books.example", "shop.example")


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration["name"])
def test_every_declaration_that_is_shown_is_read(declaration):
    mode = Mode.EMBEDDED if "{{env." in json.dumps(declaration) else Mode.HOSTED
    tool = entry.read(declaration, where="", mode=mode)
    assert check.find_problems(tool, where="", mode=mode) == check.find_host_problems(tool, where="", domains=DOMAINS) == []


def test_the_call_that_is_shown_goes_where_the_page_says():
    tool = entry.read(DECLARATIONS[0], where="")
    (example,) = re.findall(r"for `(\{.*?\})`:\n`GET (.*?)` with the header", DECLARED_PAGE)
    sent = request.build_request(tool, json.loads(example[0]), state={})
    prepared = build_request(replace(sent, fixed_headers={}), url.parse_url(sent.url), [], None)
    assert f"https://{prepared.url.host}{prepared.url.target}" == example[1]
    assert (list(tool.parameters), tool.schema["required"]) == (["city", "lang", "units"], ["city"])


def test_the_fields_of_a_declaration_are_those_of_the_page():
    table = DECLARED_PAGE.partition("\n| field | what it is | default |\n")[2].partition("\n\n")[0]
    with pytest.raises(InvalidInputError, match="fields are: ") as refused:
        entry.read({**DECLARATIONS[0], "no_such": 1}, where="")
    known = str(refused.value).partition("fields are: ")[2].split(", ")
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(known)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_file_or_folder_that_is_named_is_there(path):
    """For `NAME` in a path any name will do: at least one such file has to be there."""
    named = re.findall(
        r"`((?:lib|functions|emulator|infra|tests|bench|docs)/[A-Za-z0-9_./-]*(?:\.[a-z]+|/))`", path.read_text()
    )
    assert [name for name in named if not any(ROOT.glob(name.replace("NAME", "*")))] == []


def commands(text: str) -> list[list[str]]:
    """Return every `ferryman` command of a document, in blocks for a shell and in running text, without comments, what is
    piped on, and what is read from or written to a file."""
    blocks = [block.replace("\\\n", " ") for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    lines = [re.split(r" [#<>]| \| ", line)[0] for block in blocks for line in block.splitlines()]
    matches = [re.search(r"(?:^|\$\(|/)ferryman (.+?)\)?$", line.strip()) for line in lines]
    inline = re.findall(r"`(?:\.venv/bin/)?ferryman ([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    whole = [*(match[1] for match in matches if match), *(" ".join(item.split()) for item in inline)]
    return [shlex.split(value) for element in whole for value in _each(element)]


def _each(command: str) -> list[str]:
    # check url|address|leak stands for three commands
    choices = next((word for word in command.split() if "|" in word), None)
    return [command] if choices is None else [command.replace(choices, choice) for choice in choices.split("|")]


def check_command(words: list[str]) -> None:
    """Raise click's own error for a command, an option or an argument that is not there."""
    command, context = main, click.Context(main, info_name="ferryman")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        subcommand = command.get_command(context, name)
        if subcommand is None:
            raise click.UsageError(f"there is no command {name}")
        command, context = subcommand, click.Context(subcommand, parent=context, info_name=name)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    if rest:
        raise click.UsageError(f"{rest} is too much")
    expected = {param.name for param in command.params if isinstance(param, click.Argument) and param.required}
    named = {name for name, value in values.items() if isinstance(value, str | tuple) and value and name in expected}
    if words and expected - named and "--help" not in words:
        raise click.UsageError(f"{', '.join(expected - named)} is missing")


DOCUMENTED = [(path.name, words) for path in DOCUMENTS for words in commands(path.read_text())]


@pytest.mark.parametrize("words", [words for _, words in DOCUMENTED], ids=" ".join)
def test_a_command_that_is_shown_is_there(words):
    check_command(words)


def test_the_commands_of_the_walk_through_are_found():
    known = [words[:2] for _, words in DOCUMENTED]
    assert [
        item for item in (["task", "create"], ["credential", "set"], ["run", "$TASK"], ["check", "frame"]) if item not in known
    ] == []


@pytest.mark.parametrize(
    "words", [["plans", "--models"], ["fly"], ["task", "create", "--no-such"], ["run", "a", "b"], ["credential", "set", "a"]]
)
def test_a_command_that_is_not_there_is_found_out(words):
    with pytest.raises(click.UsageError):
        check_command(words)


def test_the_documents_say_that_a_forbidden_header_is_refused():
    for page in (SECURITY, PAGE):
        (paragraph,) = [part for part in re.split(r"\n(?:- |\n)", page) if "header" in part and "not dropped" in part]
        assert "`header_forbidden`" in paragraph
    assert [name for name in headers.ALLOWED if f"`{name}`" not in PAGE] == []


def test_the_figures_of_every_group_that_is_counted_are_in_the_page_of_figures():
    sources = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path.name != "test_figures.py"]
    groups = {name for text in sources for name in re.findall(r"\btally\(\s*\"([^\"]+)\"", text)}
    table = FIGURES.partition(BEGIN)[2].partition(END)[0]
    assert groups
    assert [name for name in sorted(groups) if f"| {name} |" not in table] == []
    promised = "\n".join(line for line in table.splitlines() if "not promised" not in line)
    rows = re.findall(r"(?<=[ ,])([\d,]+)/([\d,]+)(?=[,|]| \|)", promised)
    assert rows
    assert [row for row in rows if row[0] != row[1]] == []


def test_the_page_for_contributors_names_every_runtime_dependency():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[\[<>=]", item)[0] for item in project["dependencies"]]
    table = CONTRIBUTING.split("## Dependencies")[1]
    assert [name for name in names if name not in table] == []


def test_the_page_of_the_budgets_says_of_each_cap_what_its_refusal_says():
    section = (ROOT / "docs/budgets.md").read_text().split("\n## Caps\n\n")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines()][2:]
    assert {kind.strip("`"): message for kind, *_, message in rows} == {kind: _describe_limit(kind) for kind in CapKind}


def _describe_limit(kind: CapKind) -> str:
    cap = Cap(kind=kind, id="NAME" if kind is CapKind.OWNER else "PLACE/ID", credits=Decimal(400), set_by=CapKind.AGENT)
    shortage = Shortage(
        cap=cap, amount=Decimal(20), credits_used=Decimal(0), credits_reserved=Decimal(0), will_fit=True, month="2026-11"
    )
    return shortage.describe().split(": ", 1)[1].split(", of which", 1)[0]


def test_the_commands_of_the_readme_are_those_of_the_tutorial_which_are_typed():
    readme, tutorial = (_find_typed(ROOT / name) for name in ("README.md", "docs/tutorial.md"))
    assert [line for line in readme if line not in tutorial] == []


def _find_typed(page: Path) -> list[str]:
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)).replace("\\\n", " ")
    lines = (
        " ".join(line.partition(" #")[0].split())
        for line in blocks.replace(".venv/bin/ferryman up", "ferryman up").splitlines()
    )
    return [line for line in lines if line and line != "make && alias ferryman=.venv/bin/ferryman"]
