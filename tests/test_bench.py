"""The table of docs/performance.md: rows come back as they were written, and one bench leaves the others' rows alone."""

from hypothesis import given
from hypothesis import strategies as st

from bench import Row
from bench.page import BEGIN, END, Entry, read_page, write_page

TEXTS = st.text("ab |<*`=,.", max_size=12).map(str.strip)
ROWS = st.builds(Row, what=TEXTS, bar=TEXTS, measured=TEXTS, reached=st.booleans(), note=TEXTS)
MEASURED = st.lists(st.builds(Entry, ROWS, st.just("1234567+"), st.just("2026-11-22")), min_size=1, max_size=3)


@given(st.dictionaries(st.sampled_from(["gate", "stack", "cost"]), MEASURED))
def test_rows_are_read_as_they_were_written(tmp_path_factory, measured):
    page = tmp_path_factory.mktemp("page") / "performance.md"
    page.write_text(f"before\n{BEGIN}{END}behind\n")
    write_page(measured, page)
    assert read_page(page) == measured


def test_text_before_and_behind_the_table_stays(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{BEGIN}old\n{END}behind\n")
    write_page({"gate": [Entry(Row("a", "b", "c", True), "1234567", "2026-11-22")]}, page)
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("behind\n")
    assert "old" not in page.read_text()
