"""A terminal: somebody types commands beside the stack, with a key of their own, and everything that they see is kept."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from click.testing import CliRunner

from ferryman.cli import main
from tests.journeys.conftest import ENDS_S, FERRYMAN
from tests.journeys.test_command_line import Ran


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """Somebody's terminal: `variables` are what they have exported, `seen` is all that was printed there.

    Commands run in this process, as starting one for each would take most of the time.
    """

    variables: Mapping[str, str]
    seen: list[str] = field(default_factory=list)

    def export(self, **variables: str) -> Terminal:
        """Return a terminal with more variables, whose output is kept with this one's."""
        return Terminal(variables={**self.variables, **variables}, seen=self.seen)

    def type(self, command: str, stdin: str = "") -> Ran:
        """Type `ferryman COMMAND`, and return what came of it."""
        result = CliRunner().invoke(main, shlex.split(command), input=stdin, env=self._build_environment())
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        self.seen.append(result.stdout + result.stderr)
        return Ran(result.exit_code, result.stdout, result.stderr)

    def get(self, command: str, stdin: str = "") -> Any:
        """Type `ferryman COMMAND --json`, which must be done, and return the document that it prints last."""
        ran = self.type(f"{command} --json", stdin)
        assert ran.code == 0, f"{command}: {ran.out}{ran.err}"
        return json.loads(ran.out.splitlines()[-1])

    def watch(self, execution: str) -> subprocess.Popen[str]:
        """Return `ferryman watch`, which has printed the first event."""
        set_here = {name: value for name, value in self._build_environment().items() if value is not None}
        others = {name: value for name, value in os.environ.items() if not name.startswith("FERRYMAN_")}
        words = [FERRYMAN, "watch", execution, "--json"]
        child = subprocess.Popen(words, env={**others, **set_here}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout is not None
        self.seen.append(child.stdout.readline())
        return child

    def await_end(self, watched: subprocess.Popen[str]) -> Ran:
        """Return what came of a command that ends by itself."""
        out, err = watched.communicate(timeout=ENDS_S)
        self.seen.append(out + err)
        return Ran(watched.returncode, out, err)

    def _build_environment(self) -> dict[str, str | None]:
        """Return our variables, those that only the tests' own environment has set to None."""
        return {**{name: None for name in os.environ if name.startswith("FERRYMAN_")}, **self.variables}
