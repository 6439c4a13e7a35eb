"""How a chat streams: what Ferryman adds to the first token, what a scanned window takes, how often the store is written.

Run with `python -m bench.chat [--questions 100]`. A server in this process is the model's provider: it knows when it wrote
what, and the client beside it when that arrived. The whole local stack is between them.
"""

from __future__ import annotations

from bench.chat.measuring import rows

__all__ = ["rows"]
