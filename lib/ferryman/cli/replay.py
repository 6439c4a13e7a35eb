"""`ferryman replay` and `ferryman export`: the loop run again from a record, offline, and the record as a file that travels."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from ferryman.cli import exits
from ferryman.cli.asking import Asking, asking
from ferryman.cli.screen import Screen, short
from ferryman.serving import bundle, keyless
from ferryman.wiring.replay import Replayed, Unended, again

AS_TEST = '''\
"""Execution {execution}, run again from its record. Made by `ferryman replay --as-test`."""

from ferryman.serving import bundle
from ferryman.wiring.replay import replay

BUNDLE = r\'\'\'
{text}\'\'\'


def test_{name}_runs_as_recorded():
    read = bundle.read(BUNDLE)
    assert bundle.differences(read, replay(read.record)) == []
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
        read = bundle.read(Path(execution).read_text(encoding="utf-8"))
    except (bundle.Unreadable, UnicodeDecodeError, OSError) as error:
        screen.wrong(str(error))
        sys.exit(exits.FAILED)
    sys.exit(asyncio.run(_done(screen, read, as_test=as_test, output=output)))


@asking
async def _of_service(asked: Asking, execution: str, as_test: bool, output: Path | None) -> int:
    read = await _fetched(asked, execution)
    return exits.FAILED if read is None else await _done(asked.screen, read, as_test=as_test, output=output)


async def _fetched(asked: Asking, execution: str) -> bundle.Bundle | None:
    document = await asked.client.record(execution)
    try:
        return bundle.of_document(document)
    except bundle.Unreadable as error:
        asked.screen.wrong(f"the service writes another form of record than this command reads: {error}")
        return None


async def _done(screen: Screen, read: bundle.Bundle, *, as_test: bool, output: Path | None) -> int:
    try:
        replayed = await again(read.record)
    except Unended as unended:
        screen.wrong(str(unended))
        return exits.FAILED
    if as_test:
        return _written(screen, _test(read), output) if _is_keyless(screen, read.document) else exits.FAILED
    different = bundle.differences(read, replayed)
    _tell(screen, read, replayed, different)
    return exits.FAILED if different else exits.DONE


def _tell(screen: Screen, read: bundle.Bundle, replayed: Replayed, different: list[str]) -> None:
    turns = []
    for step, asked in zip(replayed.record.steps, replayed.prompts, strict=True):
        same = any((each.number, each.prompt_digest) == (step.number, step.prompt_digest) for each in read.record.steps)
        turns.append({"number": step.number, "prompt_digest": step.prompt_digest, "same": same})
        screen.say(f"turn {step.number}  {step.prompt_digest}  {'same' if same else 'DIFFERENT'}", "" if same else "red")
        for message in asked.messages[-1:] if step.number > 1 else asked.messages:
            content = message["content"]
            for block in [{"text": content}] if isinstance(content, str) else content:
                screen.say(f"  {message['role']}: {short(block.get('content') or block.get('text') or '', 100)}", "dim")
    for line in different:
        screen.say(line, "red" if line.startswith("-") else "green" if line.startswith("+") else "")
    ended = replayed.record.execution.status.value
    screen.record(
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
        screen.say(f"the same to the byte: {len(turns)} turns, {calls} calls, {ended}; no socket was opened", "bold green")


def _test(read: bundle.Bundle) -> str:
    # an apostrophe would end the literal the text stands in
    text = bundle.write(read.document).replace("'", "\\u0027")
    execution = read.record.execution.id
    return AS_TEST.format(execution=execution, text=text, name="".join(each if each.isalnum() else "_" for each in execution))


@click.command()
@click.argument("execution")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write.")
@asking
async def export(asked: Asking, execution: str, output: Path) -> int:
    """Write the record of EXECUTION to a file that holds no secret and replays anywhere: `ferryman replay FILE`.

    Everything in a record was scanned for the task's keys before it was stored. What looks like a key all the same, one that
    an upstream sent, say, is named, and nothing is written.
    """
    read = await _fetched(asked, execution)
    if read is None:
        return exits.FAILED
    if not read.record.execution.status.terminal:
        asked.screen.wrong(f"execution {execution} has not ended yet")
        return exits.FAILED
    clean = _is_keyless(asked.screen, read.document)
    return _written(asked.screen, bundle.write(read.document), output) if clean else exits.FAILED


def _is_keyless(screen: Screen, document: object) -> bool:
    found = keyless.found(document)
    if found:
        screen.wrong("the record holds what looks like keys; nothing was written", errors=found)
    return not found


def _written(screen: Screen, text: str, output: Path | None) -> int:
    if output is None:
        click.echo(text, nl=False)
        return exits.DONE
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        screen.wrong(f"{output} cannot be written ({error.strerror})")
        return exits.FAILED
    screen.record({"file": str(output), "bytes": len(text.encode())})
    screen.say(f"{output}: {len(text.encode())} bytes")
    return exits.DONE
