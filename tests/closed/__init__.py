"""The local stack against its neighbours: other users of the machine, and web pages in their browsers."""
