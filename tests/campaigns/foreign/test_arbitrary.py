"""Some of the documents that `make foreign` tries by the thousand."""

from __future__ import annotations

from tests.campaigns.foreign.__main__ import try_documents


def test_arbitrary_documents_change_no_credits_no_lease_and_no_other_execution() -> None:
    tried, admitted = try_documents(30)
    assert tried >= 30
    assert 0 < admitted < tried
