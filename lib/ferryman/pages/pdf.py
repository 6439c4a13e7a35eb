"""The text of a PDF, by pypdf within its limits: pages, objects, work and characters are counted; its errors are sentences."""

from __future__ import annotations

import io
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PdfReader

PAGES_MAX = 500
CONTENT_BYTES_MAX = 8_388_608
"""Bytes of all pages after decompression that are read: what they draw."""

STREAM_BYTES_MAX = 16_777_216
WORK_MAX = 200_000
"""Operators and operands of one page."""

LIMITS: Mapping[str, Any] = {
    "maximum_declared_stream_length": STREAM_BYTES_MAX,
    "array_based_stream_maximum_output_length": STREAM_BYTES_MAX,
    "array_maximum_element_count": 50_000,
    "dictionary_maximum_element_count": 50_000,
    "lzw_maximum_output_length": STREAM_BYTES_MAX,
    "run_length_maximum_output_length": STREAM_BYTES_MAX,
    "zlib_maximum_output_length": STREAM_BYTES_MAX,
    "zlib_maximum_recovery_input_length": 1_048_576,
    "brotli_maximum_output_length": STREAM_BYTES_MAX,
    "stream_filters_maximum_length": 4,
    "stream_decoding_work_maximum_length": 4 * STREAM_BYTES_MAX,
    "stream_parsing_work_maximum_count": WORK_MAX,
    "page_tree_maximum_entries": 10_000,
    "page_tree_maximum_depth": 50,
    "page_tree_maximum_page_entries": 100_000,
    "xform_maximum_invocations_per_extraction": 200,
    "jbig2dec_binary": None,
    "disable_legacy_handling": True,
}

ENCRYPTED = "The PDF is encrypted: it cannot be read without its password."
BROKEN = "The PDF cannot be read: it is broken, or nested deeper than is allowed."


def read_pdf(content: bytes, characters: int) -> tuple[str, str]:
    """Return the text of a PDF, at most `characters` of it, and a note on what was left out or why there is none."""
    from pypdf import PdfReader, apply_configuration
    from pypdf.errors import FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # its warnings quote the file
    with apply_configuration(**LIMITS):
        try:
            reader = PdfReader(io.BytesIO(content), root_object_recovery_limit=1_000, xref_stream_maximum_entries=200_000)
            if reader.is_encrypted and not reader.decrypt(""):
                return "", ENCRYPTED
            return _read_pages(reader, characters)
        except FileNotDecryptedError:
            return "", ENCRYPTED
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - whatever a broken file makes of a reader; its text may be of the file
            return "", BROKEN


def _read_pages(reader: PdfReader, characters: int) -> tuple[str, str]:
    """Return the text of the pages that can be read; a page that cannot is told, and left out."""
    parts: list[str] = []
    length = drawn = failed = number = 0
    reason = ""
    for number, page in enumerate(reader.pages):
        if number >= PAGES_MAX:
            reason = f"has more than {PAGES_MAX} pages"
        elif drawn > CONTENT_BYTES_MAX:
            reason = f"draws more than {CONTENT_BYTES_MAX:,} bytes"
        elif length > characters:
            reason = f"has more than {characters:,} characters"
        if reason:
            break
        try:
            contents = page.get_contents()
            drawn += len(contents.get_data()) if contents is not None else 0
            text = page.extract_text().strip() if drawn <= CONTENT_BYTES_MAX else ""
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - see above
            failed += 1
            text = ""
        parts.append(text)
        length += len(text) + 2
    notes = [f"The PDF {reason}; the rest was left out."] if reason else []
    if failed:
        notes.append(f"{failed} of its pages cannot be read.")
    whole = "\n\n".join(part for part in parts if part)
    if not whole and not notes:
        notes.append("The PDF has no text: its pages may be images.")
    return whole[:characters], " ".join(notes)
