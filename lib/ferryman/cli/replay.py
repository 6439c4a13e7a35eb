"""`ferryman replay` and `ferryman export`: the loop run again from a record, offline, and the record as a file that travels."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.screen import Screen, shorten
from ferryman.replay import NotEndedError, ReplayResult, run_replay
from ferryman.serving import bundle, key_shapes

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
@click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
def replay(execution: str, as_test: bool, output: Path | None, as_json: bool) -> None:
    """Run EXECUTION again from its record, or from a FILE of `ferryman export`; no socket is opened meanwhile.

    The recorded replies are the model, the recorded results the tools, the recorded times the clock; everything between is
    the loop as it is installed here. What it asks of the model is compared with what was asked then, byte for byte, and so is
    the rest of the record. Exit code 0: the same; 1: a difference, shown as a diff. A FILE needs no stack.
    """
    if output is not None and not as_test:
        raise click.UsageError("--output goes with --as-test")
    if not Path(execution).is_file():
        _of_service(execution=execution, as_test=as_test, output=output, as_json=as_json)  # type: ignore[call-arg] # `asking` adds it
        return
    screen = Screen(as_json=as_json)
    try:
        read = bundle.read_bundle(Path(execution).read_text(encoding="utf-8"))
    except (bundle.UnreadableBundleError, UnicodeDecodeError, OSError) as error:
        screen.print_error(str(error))
        sys.exit(exits.FAILED)
    sys.exit(asyncio.run(_run(screen, read, as_test=as_test, output=output)))


@api_command
async def _of_service(session: ApiSession, execution: str, as_test: bool, output: Path | None) -> int:
    read = await _fetch(session, execution)
    return exits.FAILED if read is None else await _run(session.screen, read, as_test=as_test, output=output)


async def _fetch(session: ApiSession, execution: str) -> bundle.Bundle | None:
    document = await session.client.get_record(execution)
    try:
        return bundle.parse_record(document)
    except bundle.UnreadableBundleError as error:
        session.screen.print_error(f"the service writes another form of record than this command reads: {error}")
        return None


async def _run(screen: Screen, read: bundle.Bundle, *, as_test: bool, output: Path | None) -> int:
    try:
        replayed = await run_replay(read.record)
    except NotEndedError as unended:
        screen.print_error(str(unended))
        return exits.FAILED
    if as_test:
        return _write(screen, _test(read), output) if _is_keyless(screen, read.document) else exits.FAILED
    different = bundle.find_differences(read, replayed)
    _tell(screen, read, replayed, different)
    return exits.FAILED if different else exits.DONE


def _tell(screen: Screen, read: bundle.Bundle, replayed: ReplayResult, different: list[str]) -> None:
    turns = []
    for step, session in zip(replayed.record.steps, replayed.prompts, strict=True):
        same = any(
            (recorded_step.number, recorded_step.prompt_digest) == (step.number, step.prompt_digest)
            for recorded_step in read.record.steps
        )
        turns.append({"number": step.number, "prompt_digest": step.prompt_digest, "same": same})
        screen.print_line(f"turn {step.number}  {step.prompt_digest}  {'same' if same else 'DIFFERENT'}", "" if same else "red")
        for message in session.messages[-1:] if step.number > 1 else session.messages:
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
        calls = len(replayed.record.tickets)
        screen.print_line(
            f"the same to the byte: {len(turns)} turns, {calls} calls, {ended}; no socket was opened", "bold green"
        )


def _test(read: bundle.Bundle) -> str:
    # an apostrophe would end the literal that the text is in
    text = bundle.write_bundle(read.document).replace("'", "\\u0027")
    execution = read.record.execution.id
    return AS_TEST.format(
        execution=execution, text=text, name="".join(character if character.isalnum() else "_" for character in execution)
    )


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
    if read is None:
        return exits.FAILED
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
    screen.print_json({"file": str(output), "bytes": len(text.encode())})
    screen.print_line(f"{output}: {len(text.encode())} bytes")
    return exits.DONE
