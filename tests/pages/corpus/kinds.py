"""The eight kinds of generated pages: what each has as content, and what is put into the middle of it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from tests.pages.corpus.page import NAMES, Draft, write_json_ld


def _by(draft: Draft) -> None:
    """Write who wrote it and when, which is told apart from the text."""
    way = draft.random.choice((0, 1, 2))
    if way == 0:
        draft.add(
            f'<div{draft.name("byline", "author", "meta-line")}>{draft.byline} · <time datetime="{draft.date}">{draft.date}</time></div>'
        )
    elif way == 1:
        draft.add(
            f'<p><a rel="author" href="/people/1">{draft.byline}</a>, <time datetime="{draft.date}T08:30:00Z">{draft.date}</time></p>'
        )
        draft.head.append(f'<meta name="author" content="{draft.byline}">')
    else:
        draft.add(f'<span itemprop="author">{draft.byline}</span> <span>{draft.date}</span>')
        write_json_ld(
            draft, **{"@type": "NewsArticle", "author": {"@type": "Person", "name": draft.byline}, "datePublished": draft.date}
        )


def _advertise(draft: Draft) -> None:
    """Write an advertisement, a box of links or a form into the middle of the content."""
    random = draft.random
    kind = random.randrange(4)
    if kind == 0:
        name = draft.name("ad-slot", "advertisement", "promo-box", "sponsored")
        draft.add(
            f'<div{name}><a href="https://ads.test/{random.randint(1, 99)}"><img src="/ad.png" alt="{draft.phrase()}">{draft.phrase(3, 7)}</a></div>'
        )
    elif kind == 1:
        links = "".join(f'<li><a href="/r/{random.randint(1, 999)}">{draft.phrase(4, 8)}</a></li>' for _ in range(3))
        draft.add(
            f"<div{draft.name('related', 'related-links', 'see-also')}><b>{draft.language.labels[5]}</b><ul>{links}</ul></div>"
        )
    elif kind == 2:
        draft.add(
            f"<form action=/subscribe><label>{draft.phrase()}</label><input name=mail placeholder='{draft.phrase()}'>"
            f"<button>{draft.language.labels[3]}</button></form>"
        )
    else:
        links = " ".join(f'<a href="https://s.test/share?u={name}">{name}</a>' for name in ("Mail", "Post", "Chat"))
        draft.add(f"<div{draft.name('share', 'social-buttons', 'share-bar')}>{draft.language.labels[4]}: {links}</div>")


def _figure(draft: Draft) -> None:
    text = draft.phrase(5, 10)
    draft.add(
        f'<figure><img src="/i/{draft.random.randint(1, 99)}.jpg" alt="{draft.phrase()}"><figcaption>{text}</figcaption></figure>',
        text,
    )


def _list(draft: Draft, tag: str = "ul", count: int | None = None) -> None:
    draft.add(f"<{tag}>")
    for _ in range(count or draft.random.randint(3, 7)):
        draft.write("li", draft.phrase(4, 12))
    draft.add(f"</{tag}>")


def _table(draft: Draft, rows: int, columns: int, *, has_head: bool = True) -> None:
    random = draft.random
    draft.add("<table>")
    if has_head:
        draft.add("<tr>")
        for _ in range(columns):
            draft.write("th", draft.phrase(1, 2))
        draft.add("</tr>")
    for _ in range(rows):
        draft.add("<tr>")
        draft.write("td", draft.phrase(1, 3))
        for _ in range(columns - 1):
            draft.write("td", random.choice((f"{random.randint(1, 9999)}", f"{random.random() * 100:.1f}", draft.phrase(1, 2))))
        draft.add("</tr>")
    draft.add("</table>")


def write_article(draft: Draft) -> None:
    """Write a long text with headlines, a quotation and figures."""
    _by(draft)
    for _ in range(draft.random.randint(2, 5) * draft.size):
        draft.paragraph()
        draft.paragraph()
        if draft.random.random() < 0.5:
            _figure(draft)
        if draft.random.random() < 0.4:
            text = draft.language.prose(draft.random, 2)
            draft.add(f"<blockquote><p>{escape(text)}</p></blockquote>", text)
        draft.heading()
        draft.paragraph()
    _list(draft)
    draft.paragraph()


def write_blog(draft: Draft) -> None:
    """Write a personal text, and what readers said about it, which is no part of it."""
    _by(draft)
    for _ in range(draft.random.randint(5, 9) * draft.size):
        draft.paragraph()
    if draft.random.random() < 0.5:
        _list(draft, "ol")
    draft.paragraph()
    random, comments = draft.random, []
    for number in range(random.randint(2, 9)):
        text = escape(draft.language.prose(random, random.randint(1, 3)))
        comments.append(
            f'<li{draft.name("comment")} id="comment-{number}"><b>{random.choice(NAMES)}</b><p>{text}</p><a href="#r">↩</a></li>'
        )
    name = ' id="comments"' if draft.layout != "old" else ' id="c"'
    draft.after.append(f"<div{name}><h3>{draft.language.labels[6]}</h3><ol>{''.join(comments)}</ol></div>")


def write_news(draft: Draft) -> None:
    """Write short paragraphs with advertisements, links and forms between them."""
    draft.add("", "")
    text = draft.language.prose(draft.random, 2)
    draft.write("p", text, attributes=draft.name("lead", "standfirst", "intro"))
    _by(draft)
    for number in range(draft.random.randint(6, 12) * draft.size):
        draft.paragraph(draft.random.randint(2, 4))
        if number % 2:
            _advertise(draft)


def write_product(draft: Draft) -> None:
    """Write what a shop says about an article: price, description, features, figures."""
    random = draft.random
    price = f"{random.randint(5, 900)}.{random.randint(10, 99)} €"
    description = draft.language.prose(random, 3)
    write_json_ld(
        draft,
        **{
            "@type": "Product",
            "name": draft.title,
            "description": description,
            "offers": {"@type": "Offer", "price": price[:-2]},
        },
    )
    draft.add(f'<div{draft.name("gallery", "product-images")}><img src="/a.jpg"><img src="/b.jpg"><img src="/c.jpg"></div>')
    draft.add(f"<div{draft.name('price', 'product-price', 'amount')}>{price}</div>", price)
    draft.add("<form action=/cart><select name=n><option>1</option><option>2</option></select><button>+</button></form>")
    draft.write("p", description)
    for _ in range(draft.size):
        draft.paragraph()
        draft.heading("h3")
        _list(draft, count=random.randint(4, 8))
        draft.heading("h3")
        _table(draft, random.randint(4, 9), 2, has_head=False)
    cards = "".join(
        f'<div{draft.name("card", "product-card", "tile")}><a href="/p/{number}"><img src="/{number}.jpg">{draft.phrase(3, 6)}</a>'
        f"<span>{random.randint(5, 99)}.00 €</span></div>"
        for number in range(8)
    )
    draft.after.append(
        f"<div{draft.name('recommendations', 'related-products', 'carousel')}><h2>{draft.phrase()}</h2>{cards}</div>"
    )


def write_forum(draft: Draft) -> None:
    """Write a question and the answers to it, all of which are content."""
    random = draft.random
    for number in range(random.randint(4, 10) * draft.size):
        who, when = random.choice(NAMES), f"{draft.date} {random.randint(10, 23)}:{random.randint(10, 59)}"
        author = f"<div{draft.name('post-author', 'user', 'poster')}><a href=/u/{number}>{who}</a> <span>{when}</span></div>"
        side = f"<div{draft.name('user-info', 'signature', 'stats')}><a href=/r/{number}>{draft.phrase(1, 2)}</a></div>"
        draft.add(
            f'<div{draft.name("post", "message", "reply-item")} id="post{number}">{author}<div{draft.name("post-body", "content", "text")}>'
        )
        for _ in range(random.randint(1, 3)):
            draft.paragraph(random.randint(1, 4))
        if random.random() < 0.3:
            text = draft.language.prose(random, 1)
            draft.add(f"<blockquote>{escape(text)}</blockquote>", text)
        draft.add(f"</div>{side}</div>")


def write_documentation(draft: Draft) -> None:
    """Write a page of a manual: sections, code, a table, notes."""
    random = draft.random
    draft.paragraph()
    for number in range(random.randint(3, 6) * draft.size):
        text = draft.phrase(2, 4)
        draft.write(
            "h2",
            text,
            raw=f'{escape(text)}<a class="headerlink" href="#s{number}" title="{draft.phrase()}">¶</a>',
            attributes=f' id="s{number}"',
        )
        draft.paragraph()
        code = f"$ tool --level {random.randint(1, 9)} run_{random.randint(10, 99)}\nvalue = compute(alpha, beta[{number}])\nif value < 3:\n    stop()"
        draft.add(f"<pre><code>{escape(code)}</code></pre>", code)
        if random.random() < 0.5:
            note = draft.language.prose(random, 2)
            draft.add(f"<div{draft.name('admonition note', 'callout', 'tip')}><p>{escape(note)}</p></div>", note)
        if random.random() < 0.5:
            draft.add("<dl>")
            for _ in range(3):
                draft.write("dt", f"option_{random.randint(1, 99)}", raw=None)
                draft.write("dd", draft.language.sentence(random))
            draft.add("</dl>")
        if random.random() < 0.4:
            _table(draft, random.randint(3, 8), 3)
    draft.after.append(
        f'<div{draft.name("prev-next", "pager")}><a href="/d/1">← {draft.phrase()}</a> <a href="/d/2">{draft.phrase()} →</a></div>'
    )


def write_recipe(draft: Draft) -> None:
    """Write a dish: some words about it, what it needs, and how it is made."""
    random = draft.random
    _by(draft)
    for _ in range(random.randint(1, 3)):
        draft.paragraph()
    draft.add(
        f'<div{draft.name("jump-links", "actions")}><a href="#r">{draft.phrase(1, 2)}</a> <a href="#p">{draft.phrase(1, 2)}</a></div>'
    )
    for _ in range(draft.size):
        draft.heading("h2")
        draft.add(f"<ul{draft.name('ingredients', 'ingredient-list')}>")
        for _ in range(random.randint(5, 12)):
            draft.write("li", f"{random.randint(1, 500)} g {draft.phrase(1, 3)}")
        draft.add("</ul>")
        draft.heading("h2")
        draft.add("<ol>")
        for _ in range(random.randint(4, 8)):
            draft.write("li", draft.language.prose(random, random.randint(1, 2)))
        draft.add("</ol>")
    _table(draft, 4, 2, has_head=False)
    stars = "".join(
        f"<li><b>{random.choice(NAMES)}</b> ★★★★ {draft.language.sentence(random)}</li>" for _ in range(random.randint(2, 6))
    )
    draft.after.append(
        f"<div{draft.name('reviews comments', 'comments', 'comment-list')}><h3>{draft.language.labels[6]}</h3><ul>{stars}</ul></div>"
    )


def write_data(draft: Draft) -> None:
    """Write a long table with some words above it."""
    random = draft.random
    draft.write("p", draft.language.sentence(random))
    draft.add("<form><input name=q><select name=s><option>A–Z</option><option>Z–A</option></select><button>OK</button></form>")
    columns = random.randint(3, 7)
    _table(draft, random.randint(15, 80) * draft.size, columns)
    if random.random() < 0.5:
        draft.write("p", draft.language.sentence(random))
    pages = " ".join(f'<a href="?page={number}">{number}</a>' for number in range(1, 9))
    draft.after.append(f"<div{draft.name('pagination', 'pages')}>{pages}</div>")


KINDS: dict[str, Callable[[Draft], None]] = {
    "article": write_article,
    "blog": write_blog,
    "news": write_news,
    "product": write_product,
    "forum": write_forum,
    "documentation": write_documentation,
    "recipe": write_recipe,
    "data": write_data,
}
