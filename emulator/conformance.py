"""`python -m emulator.conformance`: Google's own system tests of Firestore's client, against this emulator or Google's.

They come with the client's source distribution, which is fetched from the package registry; nothing of it is kept here.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from emulator.plan import find_shipped

CLIENT = "google-cloud-firestore"
VERSION = "2.34.1"
LOCK = find_shipped("locks/conformance.lock", "conformance.lock")
CACHE = Path(".ferryman/conformance")
PROJECT = "conformance"
OUTCOME = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")


@click.command()
@click.option("--official", is_flag=True, help="Test Google's own emulator, where gcloud carries it.")
@click.option("--cache", type=click.Path(file_okay=False, path_type=Path), default=CACHE, show_default=True)
def main(official: bool, cache: Path) -> None:
    """Run Google's system tests; the last line counts, and the exit status is 1 unless all that ran have passed.

    Tests of BSON types are left out: they are for another edition of Firestore.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    sys.exit(asyncio.run(run(cache.resolve(), official=official)))


async def run(cache: Path, *, official: bool) -> int:
    """Return the exit status. Raise ClickException when the tests cannot be had or the emulator is not there."""
    python, tests = await fetch_tests(cache)
    async with run_official() if official else run_emulator() as address:
        counts = await run_tests(python, tests, address)
    click.echo(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 0 if counts["passed"] and not counts["failed"] else 1


async def fetch_tests(cache: Path) -> tuple[Path, Path]:
    """Return a Python that has the client and the tests' tools, and the folder of the client's source."""
    folder = cache / f"{sys.version_info.major}.{sys.version_info.minor}"
    python, source = folder / "venv/bin/python", folder / f"{CLIENT.replace('-', '_')}-{VERSION}"
    ready = folder / f"{VERSION}.ready"
    if not ready.exists():
        click.echo(f"Fetching {CLIENT} {VERSION} into {folder}")
        await run_command(sys.executable, "-m", "venv", "--clear", str(folder / "venv"))
        pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check")
        by_hash = ("--no-deps", "--require-hashes", "--requirement")
        await run_command(*pip, "install", "--only-binary", ":all:", *by_hash, str(LOCK))
        # the source is what holds the tests; pip asks its build back-end for the name, which is the locked one
        source_only = ("--no-binary", CLIENT, "--no-build-isolation", "--dest", str(folder))
        await run_command(*pip, "download", *source_only, *by_hash, str(write_requirements(folder)))
        with tarfile.open(f"{source}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        ready.touch()
    return python, source


def write_requirements(folder: Path) -> Path:
    """Return a file in `folder` with the lines of the lock that pin the client."""
    start = (text := LOCK.read_text()).index(f"{CLIENT}==")
    file = folder / "client.txt"
    file.write_text(text[start : text.index("    #", start)])
    return file


async def run_command(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    if await process.wait():
        raise click.ClickException(f"{' '.join(command)} ended with {process.returncode}.")


async def run_tests(python: Path, source: Path, address: str) -> dict[str, int]:
    """Return how many tests have passed, failed and been skipped; what pytest says is passed on as it comes."""
    environment = {**os.environ, "FIRESTORE_EMULATOR_HOST": address, "PYTHONUNBUFFERED": "1"}
    environment |= {"GCLOUD_PROJECT": PROJECT, "GOOGLE_CLOUD_PROJECT": PROJECT}
    # An empty configuration and a root of its own, for pytest would find those of the folders above.
    options = ("-c", os.devnull, "--rootdir", str(source), "-p", "no:cacheprovider", "--color=no", "-k", "not bson")
    process = await asyncio.create_subprocess_exec(
        *(str(python), "-m", "pytest", *options, "tests/system"),
        cwd=source,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    last = ""
    try:
        async for line in process.stdout:
            last = line.decode(errors="replace").strip() or last
            click.echo(line, nl=False)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for number, outcome in OUTCOME.findall(last):
        counts["failed" if outcome.startswith("error") else outcome] += int(number)
    return counts


@asynccontextmanager
async def run_emulator() -> AsyncIterator[str]:
    """Run this emulator in memory; yield its address."""
    import grpc

    from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator

    firestore = FirestoreEmulator(path=None)
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await firestore.start()
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)
        await firestore.close()


@asynccontextmanager
async def run_official() -> AsyncIterator[str]:
    """Run Google's emulator; yield its address."""
    from emulator.firestore.official import find_official, run_official

    script = find_official()
    if script is None:
        raise click.ClickException("Google's Firestore emulator is not installed here, or Java is not.")
    async with run_official(script) as (address, _):
        yield address


if __name__ == "__main__":
    main()
