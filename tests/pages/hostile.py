"""Pages that are made to take long: each grows with a number, and none may take more than in proportion."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _number(template: str, count: int) -> str:
    return "".join(template.replace("#", str(number)) for number in range(count))


SHAPES: Mapping[str, Callable[[int], str]] = {
    "deep nesting": lambda count: "<div>" * count + "x" + "</div>" * count,
    "deep nesting with text": lambda count: "<div>some words, of text " * count,
    "end tags without a start below deep nesting": lambda count: "<div>" * 900 + "</b>" * count,
    "unclosed formatting before paragraphs": lambda count: _number("<b id=#>x", count) + "<p>y" * count,
    "paragraphs inside of many formats": lambda count: "<b>" * 400 + "<p>word, word, word, word and word</p>" * count,
    "attributes of one element": lambda count: f"<div {_number('a#=1 ', count)}>text</div>",
    "attributes of many elements": lambda count: _number("<p a=1 b=2 c=3 class=x# id=y#>word", count),
    "rows of a table": lambda count: "<table>" + "<tr><td>a<td>b<td>c" * count,
    "cells of one row": lambda count: "<table><tr>" + "<td>word" * count,
    "tables inside of tables": lambda count: "<table><tr><td>" * count,
    "unclosed items": lambda count: "<ul><li>" * count + "x",
    "unclosed paragraphs": lambda count: "<p>word word word word, word" * count,
    "paragraphs of one element": lambda count: "<div>" + "<p>word word word word, word</p>" * count + "</div>",
    "unclosed links": lambda count: "<a href=x>word " * count,
    "links of one paragraph": lambda count: "<p>" + _number("<a href=/x#?a=(b)>word</a> ", count),
    "links in brackets of each other": lambda count: "<p>" + "<a href=x><b><i>word" * count,
    "line breaks": lambda count: "a<br>" * count,
    "spaces": lambda count: "<p>" + " \t" * count + "x</p><p>" + "\n " * count,
    "less-than signs": lambda count: "<" * count,
    "ampersands": lambda count: "&" * count,
    "entities": lambda count: "<p>" + "&amp;&#60;&notin;" * count,
    "unclosed comments": lambda count: "<!--" * count,
    "comments": lambda count: "<!-- x -->" * count,
    "an unclosed quotation mark": lambda count: "<a href='" * count,
    "processing instructions": lambda count: "<?x" * count,
    "sections of character data": lambda count: "<![CDATA[" * count,
    "scripts": lambda count: "<script>" * count,
    "scripts that are closed": lambda count: "<script>x</script>" * count,
    "forms": lambda count: "<form><input>" * count,
    "options": lambda count: "<select><option>x" * count,
    "bodies": lambda count: _number("<body a#=1>", count),
    "drawings": lambda count: "<svg><g>" * count,
    "headlines": lambda count: "<h1>word" * count,
    "authors": lambda count: "<div class=author>" * min(count, 900) + "<i class=author></i>" * count,
    "titles": lambda count: f"<title>{'a - ' * count}</title>" + "<h1>a</h1>" * count,
    "names of one class": lambda count: f"<p class='{_number('c# ', count)}'>word</p>",
    "rules of a sheet": lambda count: f"<style>{_number('.c#{color:red}', count)}</style>" + _number("<p class=c#>word", count),
    "rules for one element": lambda count: f"<style>{_number('p:not(.c#){color:red}', count)}</style>" + "<p>word" * count,
    "rules below ancestors": lambda count: (
        f"<style>{_number('.c# p{color:red}', count)}</style>" + _number("<div class=c#><p>word</div>", count)
    ),
    "braces of a sheet": lambda count: f"<style>{'a{' * count}</style><p>word",
    "closed braces of a sheet": lambda count: f"<style>{'}' * count}</style><p>word",
    "media of a sheet": lambda count: f"<style>{'@media x{' * count}</style><p>word",
    "selectors of a rule": lambda count: f"<style>{'a,' * count}a{{color:red}}</style><p>word",
    "brackets of a selector": lambda count: f"<style>{':is(' * count}a{{color:red}}</style><p>word",
    "comments of a sheet": lambda count: f"<style>{'/*' * count}</style><p>word",
    "escapes of a sheet": lambda count: "<style>" + "\\61 " * count + "{color:red}</style><p>word",
    "variables": lambda count: f"<style>p{{color:{'var(--a,' * count}}}</style><p>word",
    "digits of a length": lambda count: f"<p style='left:{'1' * count}px;position:absolute'>word" * 8,
    "structured data": lambda count: f"<script type=application/ld+json>{'[' * count}</script><p>word",
    "meta elements": lambda count: "<meta name=author content=x>" * count,
}
