"""For all tests: what they plant is looked for, at the end of the run, in everything they left and said."""

pytest_plugins = ["tests.needles.plugin"]
