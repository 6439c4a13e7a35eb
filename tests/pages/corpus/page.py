"""One generated page: its content in a layout, its bytes in a charset, and what is true of it."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field
from html import escape
from random import Random

from tests.pages.corpus.languages import LANGUAGES, Language

NAMES = (
    "Ada Lind",
    "Jonas Weber",
    "Marie Colin",
    "Rui Prado",
    "Anna Nowak",
    "Olga Orlova",
    "Kenji Mori",
    "Wei Lin",
    "Sam Okoro",
)


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """`content` as it is sent with `content_type` from `url`; `truth` is its main text, without the title."""

    kind: str
    layout: str
    language: str
    url: str
    content: bytes
    content_type: str
    codec: str
    truth: str
    title: str
    byline: str
    date: str


@dataclass(slots=True)
class Draft:
    """A page that is being written: `body` is HTML, `truth` what of it is main text; noise has no truth."""

    random: Random
    language: Language
    layout: str
    size: int = 1
    body: list[str] = field(default_factory=list)
    truth: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    title: str = ""
    byline: str = ""
    date: str = ""

    @property
    def closes(self) -> bool:
        """Whether paragraphs, items and cells are closed."""
        return self.layout not in ("old", "broken")

    def name(self, *telling: str) -> str:
        """Return a class attribute: one of `telling` names, or in layouts without such names a meaningless one."""
        if self.layout in ("hashed", "old"):
            return f' class="css-{self.random.getrandbits(32):x}"' if self.layout == "hashed" else ""
        return f' class="{self.random.choice(telling)}"'

    def write(self, tag: str, text: str, *, attributes: str = "", is_true: bool = True, raw: str | None = None) -> None:
        """Add an element of text, and the text to the truth."""
        end = f"</{tag}>" if self.closes or tag not in ("p", "li", "td", "th", "tr", "dt", "dd") else ""
        self.body.append(f"<{tag}{attributes}>{raw if raw is not None else escape(text)}{end}")
        if is_true:
            self.truth.append(text)

    def add(self, markup: str, text: str = "") -> None:
        """Add markup as it is, and `text` to the truth."""
        self.body.append(markup)
        if text:
            self.truth.append(text)

    def paragraph(self, sentences: int | None = None) -> None:
        """Add a paragraph, sometimes with emphasis and a link in it."""
        text = self.language.prose(self.random, sentences or self.random.randint(2, 6))
        raw = escape(text)
        if self.random.random() < 0.4:
            words = raw.split(" ") if " " in raw else [raw[:6], raw[6:]]
            spot = self.random.randrange(len(words))
            tag = self.random.choice(
                ("b", "em", "strong", f'a href="/p/{self.random.randint(1, 999)}?a=1&amp;b=2"', "i", "span")
            )
            words[spot] = f"<{tag}>{words[spot]}</{tag.split()[0]}>"
            raw = " ".join(words) if " " in escape(text) else "".join(words)
        if self.layout == "divs":
            self.add(f"<div{self.name('para', 'text', 'paragraph')}>{raw}</div>", text)
        elif self.layout == "old" and self.random.random() < 0.5:
            self.add(f'<font face="Verdana" size="2">{raw}</font><br><br>', text)
        else:
            self.write("p", text, raw=raw)

    def heading(self, tag: str = "h2") -> None:
        """Add a headline inside of the content."""
        self.write(tag, self.language.phrase(self.random))

    def phrase(self, low: int = 2, high: int = 6) -> str:
        """Return some words."""
        return self.language.phrase(self.random, low, high)


def build_page(kind: str, random: Random, number: int, size: int) -> GeneratedPage:
    """Return the page of a kind."""
    from tests.pages.corpus.kinds import KINDS
    from tests.pages.corpus.layouts import LAYOUTS, arrange

    layout = LAYOUTS[number % len(LAYOUTS)]
    language = LANGUAGES[0] if random.random() < 0.3 else random.choice(LANGUAGES)
    draft = Draft(random=random, language=language, layout=layout, size=size)
    draft.title = draft.phrase(4, 9)
    draft.byline = random.choice(NAMES)
    draft.date = f"2026-{random.randint(1, 11):02}-{random.randint(1, 28):02}"
    KINDS[kind](draft)
    label, codec = random.choice(language.charsets)
    if label == "big5-none":
        label = ""
    where = random.choice(("header", "meta", "both", "mark")) if codec != "utf-8" or random.random() < 0.7 else "none"
    if where == "mark" and codec != "utf-8":
        where = "both"
    meta = ""
    if where in ("meta", "both") and label:
        meta = random.choice(
            (f'<meta charset="{label}">', f'<meta http-equiv="Content-Type" content="text/html; charset={label}">')
        )
    text = arrange(draft, meta)
    content = (codecs.BOM_UTF8 if where == "mark" else b"") + text.encode(codec, "xmlcharrefreplace")
    content_type = f"text/html; charset={label}" if where in ("header", "both") and label else "text/html"
    return GeneratedPage(
        kind=kind,
        layout=layout,
        language=language.code,
        url=f"https://www.site{number}.test/{kind}/{number}.html",
        content=content,
        content_type=content_type,
        codec="utf-8-sig" if where == "mark" else codec,
        truth="\n".join(draft.truth),
        title=draft.title,
        byline=draft.byline,
        date=draft.date,
    )


def write_json_ld(draft: Draft, **values: object) -> None:
    """Add structured data to the head."""
    draft.head.append(f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **values})}</script>')
