"""The template that functions are forked from: each is a process of its own, and none outlives what it was started for."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emulator.forking import ForkedProcess, TemplateEndedError, TemplateProcess

from .test_functions import wait_for_end


@pytest.fixture
async def template(tmp_path: Path) -> AsyncIterator[TemplateProcess]:
    running = TemplateProcess(tmp_path)
    yield running
    await running.close()


def is_there(process: int) -> bool:
    """Return whether the number is a process's, even of one that has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def fork(template: TemplateProcess, tmp_path: Path, text: str) -> ForkedProcess:
    """Return a function whose module is this text."""
    source = tmp_path / f"{uuid.uuid4().hex}.py"
    source.write_text(text)
    arguments = ["--target", "main", "--source", str(source), "--host", "127.0.0.1", "--port", "0"]
    with (tmp_path / "log").open("ab") as log:
        return await template.fork("main", arguments, env={"GIVEN": "1"}, folder=tmp_path, log=log.fileno())


async def test_what_ends_says_how(template: TemplateProcess, tmp_path: Path) -> None:
    first = await fork(template, tmp_path, "import os; os._exit(7)")
    second = await fork(template, tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert [await first.wait(), await second.wait()] == [7, -signal.SIGKILL]


async def test_it_leads_a_group_has_its_own_name_and_only_the_environment_that_it_was_given(
    template: TemplateProcess, tmp_path: Path
) -> None:
    text = "import os; print(os.getpgrp() == os.getpid(), dict(os.environ), os.getcwd(), flush=True); os._exit(0)"
    forked = await fork(template, tmp_path, text)
    await forked.wait()
    assert (tmp_path / "log").read_text() == f"True {{'GIVEN': '1', 'FUNCTION_TARGET': 'main'}} {tmp_path}\n"


async def test_it_has_no_other_file_than_its_log(template: TemplateProcess, tmp_path: Path) -> None:
    text = "import os; print(*(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')[:-1]), flush=True)"
    forked = await fork(template, tmp_path, f"{text}; os._exit(0)")
    await forked.wait()
    assert set((tmp_path / "log").read_text().split()) == {os.devnull, str(tmp_path / "log")}


LOADED = "import os, sys; print(*({'sched', 'tabnanny', 'colorsys'} & {*sys.modules}), flush=True); os._exit(0)"


async def test_a_branch_has_what_both_import_and_its_own(tmp_path: Path) -> None:
    stem, branch = TemplateProcess(tmp_path, ["colorsys", "sched"]), TemplateProcess(tmp_path, ["colorsys", "tabnanny"])
    stem.start(branch)
    for template, known in ((stem, {"colorsys", "sched"}), (branch, {"colorsys", "tabnanny"})):
        await (await fork(template, tmp_path, LOADED)).wait()
        assert {*(tmp_path / "log").read_text().splitlines()[-1].split()} == known
    assert branch.group not in (None, stem.group)
    assert branch.command == stem.command
    await branch.close()
    await stem.close()


async def test_a_branch_ends_with_its_socket_and_starts_again_alone(tmp_path: Path) -> None:
    stem, branch = TemplateProcess(tmp_path), TemplateProcess(tmp_path)
    stem.start(branch)
    forked = await fork(branch, tmp_path, "import time; time.sleep(600)")
    os.kill(branch.group or 0, signal.SIGKILL)
    assert await forked.wait() == -signal.SIGKILL
    again = await fork(branch, tmp_path, "import os; os._exit(7)")
    assert await again.wait() == 7
    assert branch.command != stem.command
    await branch.close()
    await stem.close()


async def test_its_number_is_kept_until_it_is_released(template: TemplateProcess, tmp_path: Path) -> None:
    forked = await fork(template, tmp_path, "import os; os._exit(0)")
    await forked.wait()
    assert is_there(forked.pid)
    template.release(forked)
    while is_there(forked.pid):  # noqa: ASYNC110 - another process's
        await asyncio.sleep(0)


async def test_with_the_template_dies_what_it_forked_and_the_next_has_a_new_one(
    template: TemplateProcess, tmp_path: Path
) -> None:
    forked = await fork(template, tmp_path, "import time; time.sleep(60)")
    assert template.group is not None
    os.kill(template.group, signal.SIGKILL)
    assert await forked.wait() == -signal.SIGKILL
    await wait_for_end(forked.pid)
    again = await fork(template, tmp_path, "import os; os._exit(3)")
    assert await again.wait() == 3


async def test_who_waits_for_a_template_that_ends_is_told(template: TemplateProcess, tmp_path: Path) -> None:
    template.start()
    assert template.group is not None
    os.kill(template.group, signal.SIGSTOP)
    waiting = asyncio.create_task(fork(template, tmp_path, "import os; os._exit(0)"))
    await asyncio.sleep(0)
    os.kill(template.group, signal.SIGKILL)
    with pytest.raises(TemplateEndedError):
        await waiting


async def test_when_the_emulator_is_gone_so_is_what_was_forked(template: TemplateProcess, tmp_path: Path) -> None:
    forked = await fork(template, tmp_path, "import time; time.sleep(60)")
    assert template._control is not None
    template._control.shutdown(2)  # what its end looks like from the other side
    assert await forked.wait() == -signal.SIGKILL
    await wait_for_end(forked.pid)


async def test_one_that_nobody_waits_for_any_longer_is_killed(template: TemplateProcess, tmp_path: Path) -> None:
    waiting = asyncio.create_task(fork(template, tmp_path, "import time; time.sleep(60)"))
    await asyncio.sleep(0)
    waiting.cancel()
    other = await fork(template, tmp_path, "import os; os._exit(0)")
    await other.wait()
    while len(template._processes) > 1:  # noqa: ASYNC110 - which of two processes ends first is not ours to say
        await asyncio.sleep(0)
    assert list(template._processes) == [other.pid]
