"""What every test may use: the figures."""

pytest_plugins = ["tests.figures"]
