"""Problems: all of an input's, in one error."""

from __future__ import annotations

from ferryman.domain.problem import InvalidInputError, Problem, build_input_error


def test_an_error_holds_all_problems_and_its_text_names_each_field():
    problems = [Problem(field="name", message="is empty"), Problem(field="tools.0", message="is unknown")]
    error = InvalidInputError(iter(problems))
    assert error.problems == tuple(problems)
    assert str(error) == "name: is empty; tools.0: is unknown"


def test_an_error_may_have_a_single_problem():
    assert build_input_error("month", "is over").problems == (Problem(field="month", message="is over"),)
