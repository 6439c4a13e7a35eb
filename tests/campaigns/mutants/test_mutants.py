"""What of mutation testing is ours: which mutants are counted."""

from __future__ import annotations

import pytest

from tests.campaigns.mutants.__main__ import PACKAGES, ROOT, changes_only_words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (['-    raise ValueError("the host is empty")', '+    raise ValueError("THE HOST IS EMPTY")'], True),
        (['-    problem("url", "is not https")', '+    problem("url", "IS NOT HTTPS")'], True),
        (['-    problem("url", "is not https")', '+    problem("URL", "is not https")'], False),
        (['-    raise ValueError(f"{name} is empty")', "+    raise ValueError(None)"], False),
        (['-    return fields["host"]', '+    return fields["HOST"]'], False),
        (["-    if length > 4:", "+    if length >= 4:"], False),
        (['-    return join("a b", 4)', '+    return join("XXa bXX", 5)'], False),
    ],
)
def test_only_a_change_of_a_message_s_words_is_not_counted(change, words):
    assert changes_only_words(change) is words


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_that_is_tried_is_there_with_its_tests(package):
    assert all((ROOT / path).exists() for path in (f"lib/ferryman/{package}", *PACKAGES[package]))
