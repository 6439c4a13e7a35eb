"""Charsets in which a text may come: the allowed ones, their codecs, and the marks that tell them.

Those of the Encoding Standard that keep no state between characters. Any other codec of Python may turn harmless bytes into a
frame, or raise other errors.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]{1,40})\"?", re.IGNORECASE | re.ASCII)
"""The charset in the value of a `content-type` header."""

CODECS: Mapping[str, str] = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii", "ascii"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"), "windows-1252"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16-le"), "utf-16-le"),
    **dict.fromkeys(("utf-16be", "utf-16-be"), "utf-16-be"),
    **{name: name for name in (f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16))},
    **{name: name for name in (f"windows-{page}" for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258))},
    **dict.fromkeys(("iso-8859-9", "latin5"), "windows-1254"),
    **dict.fromkeys(("tis-620", "windows-874", "iso-8859-11"), "cp874"),
    **{name: name for name in ("koi8-r", "koi8-u", "euc-jp", "big5", "gb18030")},
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gbk", "gb2312"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
}
"""Codecs of Python by the names of charsets, in lower case."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The byte order marks, with the codec that each tells."""

TEXT_TYPE = re.compile(
    r"text/.+|.+\+(?:json|xml|yaml)|application/(?:(?:x-)?(?:json|ndjson|jsonl|jsonlines|json-seq|yaml|toml|javascript|ecmascript|sh"
    r"|www-form-urlencoded)|xml|xml-dtd|graphql|graphql-response|sql|problem|x-httpd-php|sparql-query)",
    re.ASCII,
)
"""Media types of texts."""

UNREADABLE = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]+")
"""What no text has: the bytes by which browsers tell binary data (MIME Sniffing Standard), and characters without a meaning."""

REPLACED = "\ufffd"
STRAY_MAX = 16
"""Unreadable and broken characters that a text may have, however short it is."""

UNREADABLE_SHARE_MAX = 0.04  # of the characters of a text; random bytes have a tenth and more in every charset
REPLACED_SHARE_MAX = 0.25  # of bytes that do not decode: less than in text of another alphabet than its charset
