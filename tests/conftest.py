"""For all tests: figures are told at the end of the run, and what tests plant is looked for in everything they left and said."""

pytest_plugins = ["tests.figures", "tests.needles.plugin"]
