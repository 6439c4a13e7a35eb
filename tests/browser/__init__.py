"""The console in a real browser: `make browser-test`, and its figures and pictures."""
