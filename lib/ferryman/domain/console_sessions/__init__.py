"""Sessions of the console: who is signed in in which browser, and the links that sign in once."""
