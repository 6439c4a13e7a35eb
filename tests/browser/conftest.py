"""One browser and one API for all tests of a process; each visit has a context of its own, signed in by the same cookie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import pytest

from tests.browser.filled_site import FilledSite, build_empty_site, build_site
from tests.browser.inspection import Inspector
from tests.browser.installing import FOLDER, find_chromium
from tests.browser.visits import SHIFT, Watch
from tests.serve import serve_app

collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]
"""`make test` needs no browser: Playwright is installed by `make browser` alone, and only its command sees it."""


HANGS_MS = 120_000
"""When anything is given up: no bar, since nothing here may depend on how busy the machine is."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site() -> FilledSite:
    """The ordinary site: one of everything."""
    return build_site()


@pytest.fixture(scope="session")
def origin(site: FilledSite) -> Iterator[str]:
    """The origin of the ordinary site."""
    with serve_app(site.app) as url:
        yield url


@pytest.fixture(scope="session")
def empty_site() -> FilledSite:
    """The site of a new owner: every list is empty."""
    return build_empty_site()


@pytest.fixture(scope="session")
def empty_origin(empty_site: FilledSite) -> Iterator[str]:
    with serve_app(empty_site.app) as url:
        yield url


def sign_in(browser: Any, origin: str, key: str) -> Any:
    """Return the state of a browser that has signed in on the page that people use."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{origin}/console/sign-in")
    page.fill("input[name=key]", key)
    page.click("button.main")
    page.wait_for_url(lambda url: "sign-in" not in url)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def state(chromium: Any, origin: str, site: FilledSite) -> Any:
    """The cookie of the ordinary site."""
    return sign_in(chromium, origin, site.key)


@pytest.fixture(scope="session")
def empty_state(chromium: Any, empty_origin: str, empty_site: FilledSite) -> Any:
    """The cookie of the empty site."""
    return sign_in(chromium, empty_origin, empty_site.key)


@pytest.fixture(scope="session")
def inspector(chromium: Any, origin: str, state: Any) -> Iterator[Inspector]:
    """The inspector of the ordinary site's pages."""
    with ExitStack() as stack:
        yield Inspector(open_watch=partial(watch, chromium, origin, state), take_picture=take_picture, stack=stack)


@pytest.fixture(scope="session")
def empty_inspector(chromium: Any, empty_origin: str, empty_state: Any) -> Iterator[Inspector]:
    """The inspector of the empty site's pages."""
    with ExitStack() as stack:
        yield Inspector(open_watch=partial(watch, chromium, empty_origin, empty_state), take_picture=take_picture, stack=stack)


@pytest.fixture(scope="session")
def stack_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The whole local stack."""
    from tests.browser.walks import start_site

    with start_site(tmp_path_factory.mktemp("stack")) as site:
        yield site


@pytest.fixture
def walk(chromium: Any, stack_site: Any) -> Iterator[Any]:
    """A new owner on the whole local stack: see `tests.browser.walks.Walk`."""
    from tests.browser.walks import start_walk

    with start_walk(chromium, stack_site) as walking:
        yield walking


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one worker run everything that needs the stack, so that there is one stack; it begins with what takes longest."""
    for item in items:
        if "stack_site" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("stack"))


@contextmanager
def watch(browser: Any, origin: str, state: Any, *, width: int = 1440, **options: Any) -> Iterator[Watch]:
    """Open a context with these options, and yield what watches its one page."""
    context = browser.new_context(storage_state=state, viewport={"width": width, "height": 900}, **options)
    try:
        context.add_init_script(SHIFT)
        context.set_default_timeout(HANGS_MS)
        yield Watch(page=context.new_page(), origin=origin)
    finally:
        context.close()


def take_picture(page: Any, path: str, name: str) -> None:
    """Store what the page looks like under build/browser/pages."""
    folder = FOLDER / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    file = path.strip("/").replace("/", "-").replace("%", "_")
    page.screenshot(path=folder / f"{file}-{name}.png", full_page=True)
