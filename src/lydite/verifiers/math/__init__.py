"""Mathematical answers: find the answer, compare it by what it means."""
