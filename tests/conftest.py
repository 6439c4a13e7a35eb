"""For all tests: figures are told at the end of the run, and what tests plant is looked for in all they left and said."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.figures", "tests.needles.plugin"]

# a loaded machine is slow, not wrong
settings.register_profile("ferryman", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ferryman")
