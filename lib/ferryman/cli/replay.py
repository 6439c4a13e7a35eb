"""`ferryman replay` and `ferryman export`: the loop run again from a record, offline, and the record as a file that travels."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command, open_session, screen_command, workspace_option
from ferryman.cli.screen import Screen, shorten
from ferryman.cli.service import UnknownServiceError
from ferryman.domain import key_shapes
from ferryman.domain.counts import say_count
from ferryman.replay import NotEndedError, ReplayResult, run_replay
from ferryman.serving import bundle

AS_TEST = '''\
"""Execution {execution}, run again from its record. Made by `ferryman replay --as-test`."""

from ferryman.serving import bundle
from ferryman.replay import replay

BUNDLE = r\'\'\'
{text}\'\'\'


def test_{name}_runs_as_recorded():
    read = bundle.read_bundle(BUNDLE)
    assert bundle.find_differences(read, replay(read.record)) == []
'''


@click.command()
@click.argument("execution")
@click.option("--as-test", is_flag=True, help="Write a pytest file that replays it, instead of replaying it now.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Where the test goes; else it is printed.")
@workspace_option
@screen_command
async def replay(screen: Screen, execution: str, as_test: bool, output: Path | None, workspace: str | None) -> int:
    """Run EXECUTION again from its record, or from a FILE of `ferryman export`; no socket is opened meanwhile.

    The recorded replies are the model, the recorded results the tools, the recorded times the clock; everything between is
    the loop as it is installed here. What it asks of the model is compared with what was asked then, byte for byte, and so is
    the rest of the record. Exit code 0: the same; 1: a difference, shown as a diff. A FILE needs no stack.
    """
    if output is not None and not as_test:
        raise click.UsageError("--output goes with --as-test")
    try:
        if Path(execution).is_file():  # noqa: ASYNC240 - nothing else runs
            read = bundle.read_bundle(Path(execution).read_text(encoding="utf-8"))  # noqa: ASYNC240 - likewise
        else:
            async with open_session(screen, workspace=workspace) as session:
                read = await _fetch(session, execution)
        replayed = await run_replay(read.record)
    except (bundle.UnreadableBundleError, NotEndedError, UnicodeDecodeError, OSError) as error:
        screen.print_error(str(error))
        return exits.FAILED
    if as_test:
        return _write(screen, _test(read), output) if _is_keyless(screen, read.document) else exits.FAILED
    different = bundle.find_differences(read, replayed)
    _tell(screen, read, replayed, different)
    return exits.FAILED if different else exits.DONE


async def _fetch(session: ApiSession, execution: str) -> bundle.Bundle:
    document = await session.client.get_record(execution)
    try:
        return bundle.parse_record(document)
    except bundle.UnreadableBundleError as error:
        raise UnknownServiceError(f"the service writes another form of record than this command reads: {error}") from None


def _tell(screen: Screen, read: bundle.Bundle, replayed: ReplayResult, different: list[str]) -> None:
    turns, recorded = [], {(step.number, step.prompt_digest) for step in read.record.steps}
    for step, prompt in zip_longest(replayed.record.steps, replayed.prompts):  # of a direct call, nobody was asked
        same = (step.number, step.prompt_digest) in recorded
        turns.append({"number": step.number, "prompt_digest": step.prompt_digest, "same": same})
        screen.print_line(f"turn {step.number}  {step.prompt_digest}  {'same' if same else 'DIFFERENT'}", "" if same else "red")
        messages = () if prompt is None else prompt.messages
        for message in messages[-1:] if step.number > 1 else messages:
            content = message["content"]
            for block in [{"text": content}] if isinstance(content, str) else content:
                screen.print_line(
                    f"  {message['role']}: {shorten(block.get('content') or block.get('text') or '', 100)}", "dim"
                )
    for line in different:
        screen.print_line(line, "red" if line.startswith("-") else "green" if line.startswith("+") else "")
    ended = replayed.record.execution.status.value
    screen.print_json(
        {
            "execution": read.record.execution.id,
            "status": ended,
            "same": not different,
            "turns": turns,
            "messages": replayed.prompts[-1].messages if replayed.prompts else (),
            "differences": different,
        }
    )
    if not different:
        counts = f"{say_count(len(turns), 'turns')}, {say_count(len(replayed.record.tickets), 'calls')}"
        screen.print_line(f"the same to the byte: {counts}, {ended}; no socket was opened", "bold green")


def _test(read: bundle.Bundle) -> str:
    # an apostrophe would end the literal that the text is in
    text = bundle.write_bundle(read.document).replace("'", "\\u0027")
    execution = read.record.execution.id
    return AS_TEST.format(execution=execution, text=text, name=re.sub(r"\W|[^\x00-\x7f]", "_", execution))


@click.command()
@click.argument("execution")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write.")
@api_command
async def export(session: ApiSession, execution: str, output: Path) -> int:
    """Write the record of EXECUTION to a file that holds no secret and replays anywhere: `ferryman replay FILE`.

    Everything in a record was scanned for the task's keys before it was stored. What looks like a key all the same, one that
    an upstream sent, say, is named, and nothing is written.
    """
    read = await _fetch(session, execution)
    if not read.record.execution.status.terminal:
        session.screen.print_error(f"execution {execution} has not ended yet")
        return exits.FAILED
    clean = _is_keyless(session.screen, read.document)
    return _write(session.screen, bundle.write_bundle(read.document), output) if clean else exits.FAILED


def _is_keyless(screen: Screen, document: object) -> bool:
    secrets = key_shapes.find_secrets(document)
    if secrets:
        screen.print_error("the record holds what looks like keys; nothing was written", errors=secrets)
    return not secrets


def _write(screen: Screen, text: str, output: Path | None) -> int:
    if output is None:
        click.echo(text, nl=False)
        return exits.DONE
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        screen.print_error(f"{output} cannot be written ({error.strerror})")
        return exits.FAILED
    size = len(text.encode())
    screen.print_result({"file": str(output), "bytes": size}, f"{output}: {say_count(size, 'bytes')}")
    return exits.DONE
