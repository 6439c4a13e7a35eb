"""For all tests: figures are printed at the end of the run, and everything left behind is searched for planted credentials."""

import gc
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests import budgets

pytest_plugins = ["tests.figures", "tests.canaries.plugin", "tests.requirements.plugin"]

# shells start what runs in the background deaf to Ctrl-C, and whoever is started inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)

# a loaded machine is slow, not wrong; other examples come with each run, and `make fuzz` looks further
settings.register_profile("ferryman", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ferryman")

budgets.lengthen()

# what is imported and collected stays: to look for garbage in it takes a third of the time until the first test, and more later
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Collect garbage from now on, among what the tests make."""
    gc.freeze()
    gc.enable()
