"""For all tests: figures are told at the end of the run, and what tests plant is looked for in all they left and said."""

import signal

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.figures", "tests.canaries.plugin", "tests.requirements.plugin"]

# shells start what runs in the background deaf to Ctrl-C, and whoever is started inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)

# a loaded machine is slow, not wrong; other examples come with each run, and `make fuzz` looks further
settings.register_profile("ferryman", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ferryman")
