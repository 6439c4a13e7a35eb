"""Homoglyphs: letters of other scripts that a reader, and a model, takes for Latin ones.

Listed letter by letter as in Unicode's report on confusable characters (UTS #39); forms that the name of a character states are
read from the name. Glagolitic has no similar letters, and is read by its sounds. Compatibility forms (mathematical, enclosed,
full width) are undone by normalisation before. Circles and bars are left out, since lists begin with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from ferryman.egress.leaks.lookalikes import PLAIN, ZEROS

# Pairs: the letter, and the Latin one that it resembles.
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


def _find_latin_letter(code: int) -> str | None:
    """Return the Latin letter that a character is a form of, by its Unicode name; None for any other."""
    match = _NAME.fullmatch(unicodedata.name(chr(code), ""))
    return match[1].lower() if match is not None else None


def _build_table() -> dict[int, str]:
    table = {code: letter for block in _LATIN for code in block if (letter := _find_latin_letter(code)) is not None}
    for code in range(0xC0, 0x1F00):
        letter, *accents = list(unicodedata.normalize("NFKD", chr(code)))
        if letter.isascii() and letter.isalpha() and accents and all(map(unicodedata.combining, accents)):
            table[code] = letter
    for pairs in _PAIRS.values():
        table |= {ord(like): letter for like, letter in zip(pairs[::2], pairs[1::2], strict=True)}
    # the small letters of Cherokee follow the capital ones
    table |= {code + 0x97D0: letter for code, letter in table.items() if 0x13A0 <= code < 0x13F0}
    table |= dict.fromkeys((zero for zero in ZEROS if zero < 0x10000), "o")  # most have the shape of an o
    table |= {code: like for code, like in PLAIN.items() if like is not None and 0x7F < code < 0xE0000}
    table |= dict.fromkeys(map(ord, _COLONS), ":")
    return table | {ord(like): angle for like, angle in zip(_ANGLES[::2], _ANGLES[1::2], strict=True)}


SHAPES: Mapping[int, str] = _build_table()
"""For `str.translate`: the shape of a character, one for one, so that places in a text do not change."""
