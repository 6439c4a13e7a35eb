"""The layouts of generated pages: what is around the content."""

from __future__ import annotations

from html import escape

from tests.pages.corpus.page import Draft

LAYOUTS = ("semantic", "named", "hashed", "old", "divs", "broken")
"""With the elements of HTML 5; with telling names; with meaningless names; with tables and fonts; without <p>; with unclosed tags."""


def arrange(draft: Draft, meta: str) -> str:
    """Return the whole page as text."""
    title = escape(draft.title)
    site = draft.language.phrase(draft.random, 1, 2)
    separator = draft.random.choice((" | ", " - ", " – "))
    head = f"<title>{title}{separator}{escape(site)}</title>{meta}{''.join(draft.head)}"
    head += (
        f'<meta name="description" content="{draft.phrase()}"><style>body{{color:#222;font-size:16px}}.x{{color:red}}</style>'
    )
    script = f"<script>var data = {{a: '<p>{draft.phrase()}</p>'}}; if (1 < 2) document.write('<b>x</b>');</script>"
    content = f"<h1>{title}</h1>{''.join(draft.body)}"
    if draft.random.random() < 0.5:
        content = f"<div{draft.name('breadcrumbs', 'breadcrumb')}>{_links(draft, 3, ' › ')}</div>{content}"
    frame = {"semantic": _semantic, "old": _old}.get(draft.layout, _nested)
    cookies = _cookies(draft)
    is_first = draft.random.random() < 0.5
    body = (cookies if is_first else "") + frame(draft, content, "".join(draft.after), site) + ("" if is_first else cookies)
    if draft.layout == "broken":
        return f"{head}<body>{body}{script}"
    return f'<!doctype html><html lang="{draft.language.code}"><head>{head}</head><body>{body}{script}</body></html>'


def _links(draft: Draft, count: int, between: str = " ") -> str:
    return between.join(f'<a href="/s/{draft.random.randint(1, 99)}">{escape(draft.phrase(1, 3))}</a>' for _ in range(count))


def _menu(draft: Draft) -> str:
    items = "".join(
        f'<li><a href="/{number}">{escape(label)}</a></li>' for number, label in enumerate(draft.language.labels[:4])
    )
    more = "".join(
        f'<li><a href="/m/{number}">{escape(draft.phrase(1, 2))}</a></li>' for number in range(draft.random.randint(3, 14))
    )
    return f"<ul>{items}{more}</ul>"


def _cookies(draft: Draft) -> str:
    text = escape(draft.language.prose(draft.random, 2))
    name = draft.name("cookie-banner", "gdpr-consent", "notice-popup")
    role = ' role="dialog"' if draft.layout in ("semantic", "hashed") else ""
    return f"<div{name}{role}><p>{text}</p><button>{draft.language.labels[7]}</button> <a href=/privacy>{draft.phrase(1, 2)}</a></div>"


def _side(draft: Draft) -> str:
    boxes = []
    for _ in range(draft.random.randint(1, 3)):
        items = "".join(
            f'<li><a href="/x/{number}">{escape(draft.phrase(4, 9))}</a></li>' for number in range(draft.random.randint(4, 8))
        )
        boxes.append(f"<div{draft.name('widget', 'box', 'teaser')}><h3>{escape(draft.phrase(1, 3))}</h3><ul>{items}</ul></div>")
    if draft.random.random() < 0.5:
        boxes.append(f"<div{draft.name('about', 'widget')}><p>{escape(draft.language.prose(draft.random, 2))}</p></div>")
    return "".join(boxes)


def _foot(draft: Draft, site: str) -> str:
    about = escape(draft.language.prose(draft.random, 2)) if draft.random.random() < 0.4 else ""
    return f"<p>{about}</p><p>© 2026 {escape(site)} · {_links(draft, 6, ' · ')}</p>"


def _semantic(draft: Draft, content: str, after: str, site: str) -> str:
    return (
        f"<header><a href=/>{escape(site)}</a><nav>{_menu(draft)}</nav></header><main><article>{content}</article>{after}</main>"
        f"<aside>{_side(draft)}</aside><footer>{_foot(draft, site)}</footer>"
    )


def _old(draft: Draft, content: str, after: str, site: str) -> str:
    return (
        f'<table width="100%"><tr><td colspan=3 bgcolor="#003366"><font color="#ffffff">{escape(site)}</font> {_links(draft, 7, " | ")}'
        f"<tr><td width=150 valign=top>{_links(draft, 9, '<br>')}<td valign=top>{content}{after}<td width=150>{_side(draft)}"
        f"<tr><td colspan=3 align=center><font size=1>{_foot(draft, site)}</font></table>"
    )


def _nested(draft: Draft, content: str, after: str, site: str) -> str:
    depth = draft.random.randint(1, 10)
    opened = "".join(f"<div{draft.name('wrap', 'row', 'col', 'inner', 'container')}>" for _ in range(depth))
    close = "" if draft.layout == "broken" else "</div>" * depth
    head = f"<div{draft.name('header', 'site-header', 'topbar')}><b>{escape(site)}</b>{_menu(draft)}</div>"
    side = f"<div{draft.name('sidebar', 'side', 'rail')}>{_side(draft)}</div>"
    foot = f"<div{draft.name('footer', 'site-footer', 'bottom')}>{_foot(draft, site)}</div>"
    main = f"<div{draft.name('content', 'main', 'post', 'entry-content', 'page-body')}>{content}</div>{after}"
    order = (side + main) if draft.random.random() < 0.4 else (main + side)
    return f"{opened}{head}<div{draft.name('columns', 'layout')}>{order}</div>{foot}{close}"
