"""Prompt injection marks: text that a model could take for the frame, a turn of a chat, or a control token of its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from ferryman.framing.escapes import PLAIN
from ferryman.framing.mark_words import find_possible_marks

# Homoglyphs, as pairs: the letter of another script, and the Latin one that a reader, and a model, takes it for. Listed as in
# Unicode's report on confusable characters (UTS #39); forms that the name of a character states are read from the name.
# Glagolitic has no similar letters, and is read by its sounds. Compatibility forms (mathematical, enclosed, full width) are
# undone by normalisation before. Circles and bars are left out, since lists begin with them.
_PAIRS: Mapping[str, str] = {
    "Cyrillic": "гrґrпnцuшwщwьbъbѣbѡwꙍwөoӨOєeЄEҽeҿeғfҒFҺhԌGꙮoѳoѲOԛqԜWӀIꙇiүyҮYӡ3ԏtԎTҭtҬTҥnҢHңhҝkҟkҡkҏpҎP",
    "Greek": "ηnωwπnςsθoΘOφoξeγyϳjϜFϝfϺMϻmϴOζzδoλlμuψwϙqϘQᴨnᴩp",
    "Armenian": "օoՕOոnՈnսuՍUհhցgզqգqյjաwլlԼLՏSտtրrռnքpեeէtիhՀhԱUՌnՐPՅ3ղnշ2ևk",
    "Cherokee": "ᎠDᎡRᎢTᎣoᎤoᎥiᎩyᎪAᎫJᎬEᎳWᎷMᎻHᎽYᎾOᏀGᏁnᏂhᏃZᏌUᏎ4ᏏbᏒRᏔWᏕSᏙVᏚSᏞLᏟCᏢPᏦKᏧdᏫOᏭ6ᏮbᏳGᏴB",
    "Georgian": "ჿoყyიoოmსbძdႽSႬhႹhႨTႭQႲrႤnრrეeნnტtლlპpაsთmႯPႱs",
    "Coptic": "ⲁaⲀAⲃbⲂBⲅrⲄrⲉeⲈEⲏhⲎHⲓiⲒIⲕkⲔKⲗlⲙmⲘMⲛnⲚNⲟoⲞOⲡnⲢPⲣpⲥcⲤCⲧtⲦTⲩyⲨYⲭxⲬXⲍzⲌZⲑoⲐOⲫoⲱwϣwϥqϫxϩ2ϭoⳐLⳑlⲋsⲊs",
    "Lisu": "ꓐBꓑPꓒdꓓDꓔTꓖGꓗKꓙJꓚCꓜZꓝFꓟMꓠNꓡLꓢSꓣRꓦVꓧHꓪWꓫXꓬYꓮAꓰEꓲIꓳOꓴUꓵnꓷDꓱEꓤR",
    "Hebrew": "סoםoוiןlחnתnטuעyשwקpהnאxרrײn",
    "Tifinagh": "ⵔoⵙoⴱoⵁoⵏlⵜtⵝxⴹeⵡuⵎcⴸvⵠaⵟeⵊiⵉsⵞcⵯwⵥxⵣxⵀoⵖlⵒp",
    "Glagolitic": "ⰰaⰀAⰱbⰁBⰲvⰂVⰳgⰃGⰴdⰄDⰵeⰅEⰸzⰈZⰹiⰉIⰺiⰊIⰻiⰋIⰼjⰌJⰽkⰍKⰾlⰎLⰿmⰏMⱀnⰐNⱁoⰑOⱂpⰒPⱃrⰓRⱄsⰔSⱅtⰕTⱆuⰖUⱇfⰗFⱈhⰘHⱉoⰙOⱌcⰜCⱏyⱐy",
    "Canadian syllabics": "ᗅAᗩAᗷBᑕCᗞDᗪDᕮEᗴEᖴFᕼHᒍJᒪLᗰMᑎNᗝOᑭPᑫqᖇRᔕSᔑSᑌUᐯVᗯW᙭Xᕁxᕽxᑯdᒿ2ᕋaᐃAᐱAᓓoᐤo",
    "Runic": "ᛕKᚷXᛁIᛖMᚱRᛒBᚢnᛏTᛚLᚹPᛋSᛟoᚻHᛗM",
    "Deseret and Osage": "𐐬o𐐄O𐑈s𐐠S𐐽c𐐕C𐓂O𐓪o𐓎U𐓶u𐒴R𐓐L𐓸l𐒰A𐓘a𐓣n𐓒Z𐓺z",
    "Old Italic and Gothic": "𐌀A𐌁B𐌂C𐌄E𐌅F𐌇H𐌉I𐌊K𐌋L𐌌M𐌍N𐌏O𐌐P𐌑M𐌓R𐌔S𐌕T𐌖V𐌗X𐌰A𐌱B𐌴E𐌷h𐌹I𐌺K𐌼M𐌽N𐍀n𐍂R𐍃S𐍄T𐍅Y𐍆F𐍇X𐍉o𐌿u",
    "Lycian and Carian": "𐊂B𐊆E𐊇F𐊐X𐊒O𐊕P𐊖S𐊗T𐊠A𐊡B𐊢C𐊥F𐊫O𐊰M𐊱T𐊲Y𐊴X𐋏H𐊁E𐊃T𐊭T𐊩P",
    "Warang Citi": "𑢠V𑢢F𑢣L𑢤Y𑢦E𑢩Z𑢮E𑢲L𑢵O𑢸U𑢼T𑣀v𑣁s𑣂F𑣃i𑣄z𑣈o𑣗o𑣘u𑣜y𑣠O𑣥Z𑣦W𑣩C𑣬X",
    "Arabic": "هoةoاl٥o۵oہoھo",
    "others": "ဝoဌoഠoଠoంoಂoංoംoㅇo〇o口o丨lㅣlＯOꖴiꕯoꓳOꭴoⲟo",
    "symbols": "℮e⍳i⍴p⍺a",
}
_LATIN = (
    *(range(0xC0, 0x2B0), range(0x1D00, 0x1DC0), range(0x1E00, 0x1F00), range(0x2C60, 0x2C80), range(0xA720, 0xA800)),
    *(range(0xAB30, 0xAB70), range(0x1DF00, 0x1DF2B), range(0x1F110, 0x1F200)),
)
_NAME = re.compile(r"(?:.{1,24} )?(?:LATIN|INDICATOR).{1,40}\b([A-Z])(?: WITH .{1,80})?")
_COLONS = "∶ː꞉׃：﹕ःઃ։܃܄᛬᠃᠉⁝⦂"
_ANGLES = "⟨<〈<❬<❮<❰<≺<˂<ᐸ<⧼<⟩>〉>❭>❯>❱>≻>˃>ᐳ>⧽>"


def _build_table() -> dict[int, str]:
    names = {code: _NAME.fullmatch(unicodedata.name(chr(code), "")) for block in _LATIN for code in block}
    table = {code: match[1].lower() for code, match in names.items() if match is not None}
    for code in range(0xC0, 0x1F00):
        letter, *accents = list(unicodedata.normalize("NFKD", chr(code)))
        if letter.isascii() and letter.isalpha() and accents and all(map(unicodedata.combining, accents)):
            table[code] = letter
    for pairs in _PAIRS.values():
        table |= {ord(like): letter for like, letter in zip(pairs[::2], pairs[1::2], strict=True)}
    # the small letters of Cherokee follow the capital ones
    table |= {code + 0x97D0: letter for code, letter in table.items() if 0x13A0 <= code < 0x13F0}
    table |= {code: like for code, like in PLAIN.items() if like is not None and 0x7F < code < 0xE0000}
    table |= dict.fromkeys(map(ord, _COLONS), ":")
    return table | {ord(like): angle for like, angle in zip(_ANGLES[::2], _ANGLES[1::2], strict=True)}


SHAPES: Mapping[int, str] = _build_table()
"""For `str.translate`: the shape of a character, one for one, so that places in a text do not change."""


_ROLES = "human|assistant|system|user|developer|tool|function|ai|bot|chatbot|instructions?"
# Invisible on a rendered page: comments, declarations, processing instructions, and tags that only style.
_DECLARATION = re.compile(r"<![^<>-][^<>]{0,80}+>|<!>|<\?[^<>]{0,80}+>")
_UNSHOWN = (
    r"<(?:!(?:--(?:[^>-]|-(?!->)){0,80}+--)?|![^<>-][^<>]{0,40}+|\?[^<>]{0,40}+|wbr\b[^<>]{0,40}+"
    r"|/?(?:abbr|a|bdi|bdo|big|b|cite|code|del|dfn|em|font|ins|i|kbd|label|mark|q|samp|small|span|strike|strong|sub|sup|s|tt|u|var)"
    r"\b[^<>]{0,40}+)>"
)
# Each of them begins on a new line of a rendered page.
_BLOCKS = (
    "address|article|aside|blockquote|body|button|caption|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form"
    "|h[1-6]|header|legend|li|main|menu|nav|ol|optgroup|option|pre|p|search|section|select|summary|table|tbody|td|textarea|tfoot|th"
    "|thead|title|tr|ul"
)
_LETTERS = {"o": "[o0]", "l": "[l1i]", "s": "[s5]", "e": "[e3]"}
"""Digits and letters with the shape of another letter: a capital `i` has that of `l`."""


def _spell(word: str, apart: str) -> str:
    """Return a pattern for `word` with `apart` between its letters."""
    return apart.join(_LETTERS.get(letter, letter) for letter in word)


_APART = rf"(?:{_UNSHOWN}|[\W_]){{0,3}}+"
_FAR = rf"(?:{_UNSHOWN}|</?[a-z][^<>]{{0,40}}+>|[^\w\"]|_){{0,16}}+"
_IMITATION = re.compile(
    rf"(?P<tool>{_spell('tool', _APART)})(?P<apart>{_APART}|[\s_.-]{{4,8}})(?P<response>{_spell('response', _APART)})"
    # after a bracket, longer gaps between letters and words are accepted
    rf"|(?P<open><[\s/]{{0,16}}+){_spell('tool', _FAR)}(?:{_FAR}){{4}}{_spell('response', _FAR)}",
    re.IGNORECASE,
)
# At the beginning of a line, which may be a character, an escape or a tag.
_ROLE = re.compile(
    rf"(?P<before>(?:^|\\[nr]|(?<![\x0b\x0c])[\x0b\x0c]++|<(?:br|hr|/?(?:{_BLOCKS}))\b[^<>\n]{{0,40}}>)"
    r"(?:[^\w\n]|_|\d{1,3}[.)]){0,24}?)"
    rf"(?P<role>{_ROLES})"
    r"(?P<after>[^\S\n]*+(?:[*_`)\]}>】〕」』〉》›»⟩]{1,4}+[^\S\n]*+)?:)"
    # not the definition of a link (CommonMark 4.7)
    r"(?!(?<=\]:)[^\S\n]*+<?(?:https?://|mailto:|[./#])[^\s<>]*+>?[^\S\n]*+$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"(?P<before>(?:^|\\[nr])[^\S\n]*+\#{3}[^\S\n]*+)(?P<role>human|assistant|system|user|instructions?|(?:response|input)(?=[^\S\n]*+:))"
    r"(?P<after>[^\S\n]*+(?=:|$|\\[nr]))",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(
    # a cell of a Markdown table has a backslash before each bar
    r"<\s{0,3}\\?[|｜](?P<a>[^<>\n]{0,64}?)\\?[|｜]\s{0,3}>|\[\|(?P<b>[^\[\]\n]{0,64}?)\|\]"
    r"|<(?P<c>/?(?:(?:start|end)_of_[a-z]{1,16}|sys|s|[bes]o[spd]|pad|unk|sep|mask|(?:seed|minimax):[a-z_]{1,24}|_(?:user|bot|system|ap)|"
    r"(?:extra_id|reserved|special|unused)_?\d{1,6})\b[^<>\n]{0,64})>"
    r"|\]~(?P<d>[a-z!]{1,3})\]|\[e~\[",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"<<(?P<a>/?\s*+SYS\s*+)>>|\[(?P<b>/?\s*+(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK"
    r"|(?:(?:system|important|gentle|admin|developer|user)[-_\s])?reminders?"
    r"|(?:system|developer|admin)[-_\s](?:messages?|prompts?|instructions?|notices?|notes?|override))\s*+)\]",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(?P<a>\s*+(?:/\s*+)?(?:[a-z]{1,12}:)?(?:system|assistant|human|user|developer|function_calls?|function_results?|function=[^<>\s]{1,64}|"
    r"invoke|parameter|tools?|tool_[a-z_]{1,24}|system[-_][a-z_-]{1,24}|im_start|im_end|think|thinking|instructions?|role|"
    r"(?:[a-z]{1,16}[-_])?(?:reminders?|important|admin|administrator)(?=[\s/>])|"
    r"(?:user|assistant|human|developer|admin|ephemeral|important|priority|new|anthropic|openai|claude|gpt|gemini)[-_]"
    r"(?:messages?|msg|prompts?|query|requests?|instructions?|notice|notes?|context|policy|commands?|override|turn)|"
    r"message\s[^<>]{0,80}role)\b[^<>]{0,200})>",
    re.IGNORECASE,
)


_NEAR = 200  # the distance from a comment, in characters, of a mark that it hides
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def _get_content(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), "").strip("|｜ ")


def _rewrite_role(match: re.Match[str]) -> str:
    return f"{match['before']}[role {match['role']}]{match['after']}"


def _rewrite_name(match: re.Match[str]) -> str:
    # Between two quotes it is JSON, and has to remain JSON.
    if '"' in (match["apart"] or ""):
        return f"{match['tool']}[frame]{match['apart']}{match['response']}"
    return f"{match['open'] or ''}[frame]"


_HARMLESS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_IMITATION, _rewrite_name),
    (_ROLE, _rewrite_role),
    (_HEADING, _rewrite_role),
    (_TOKEN, lambda match: f"[{_get_content(match)}]"),
    (_BRACKETED, lambda match: f"({_get_content(match)})"),
    (_TAG, lambda match: f"[{match['a']}]"),
)
"""In the order of `PossibleMarks`."""


def count_imitations(text: str) -> int:
    """Count how often the frame's own name occurs in `text`."""
    return len(_IMITATION.findall(text)) if find_possible_marks(text).frame else 0


def count_marks(text: str) -> tuple[int, ...]:
    """Count the marks of each kind in `text`."""
    like = show_shape(text)
    possible = zip(find_possible_marks(like), _HARMLESS, strict=True)
    return tuple(sum(1 for _ in pattern.finditer(like)) if may_be else 0 for may_be, (pattern, _) in possible)


def remove_comments(text: str) -> str:
    """Return `text` without its markup comments if these hide a mark; otherwise as it is."""
    if "<!" not in text and "<?" not in text:
        return text
    pieces = list(_split_at_comments(text))
    # hidden marks are near the comments: the rest is not searched twice
    near = [piece if len(piece) <= 2 * _NEAR else f"{piece[:_NEAR]}\n{piece[-_NEAR:]}" for piece in pieces]
    hidden, seen = count_marks("<!--x-->".join(near)), count_marks("".join(near))
    return "".join(pieces) if any(after > before for after, before in zip(seen, hidden, strict=True)) else text


def _split_at_comments(text: str) -> Iterator[str]:
    """Yield the parts of `text` between its comments."""
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 2)) >= 0:
        yield from _DECLARATION.split(text[done:start])
        done = end + 3
    yield from _DECLARATION.split(text[done:])


def rewrite_marks(text: str) -> str:
    """Return `text` with every mark rewritten so that it reads as an ordinary word."""
    like = show_shape(text)
    possible = find_possible_marks(like)
    for kind, (pattern, harmless) in enumerate(_HARMLESS):
        if possible[kind] and pattern.search(like):
            text = "".join(_replace(text, like, pattern, harmless))
            like = show_shape(text)
            possible = find_possible_marks(like)
    return text


def _replace(text: str, like: str, pattern: re.Pattern[str], harmless: Callable[[re.Match[str]], str]) -> Iterator[str]:
    done = 0
    for match in pattern.finditer(like):
        yield text[done : match.start()]
        yield harmless(match)
        done = match.end()
    yield text[done:]


def show_shape(text: str) -> str:
    """Return `text` by its shape, character for character."""
    if text.isascii():
        return text
    # `translate` reads every character of such a text one by one, and most of them are ASCII
    return _BEYOND_ASCII.sub(lambda match: match[0].translate(SHAPES), text)
