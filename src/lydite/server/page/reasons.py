"""Reason codes of verdicts in words; docs/verdicts.md and docs/math.md say more of each."""

from __future__ import annotations

from lydite.verdict import Outcome, Verdict

OUTCOMES = {
    Outcome.CORRECT: "It does the task",
    Outcome.PARTIAL: "Some of several checks passed; of the first that fell short",
    Outcome.INCORRECT: "It does not do the task",
    Outcome.UNPARSEABLE: "Nothing in it could be graded, which is its own doing",
    Outcome.INVALID: "It could not be judged, which is not its fault: no score, in no mean",
}

_WORDS = {
    "correct": "all is as expected",
    "incorrect": "what was extracted is not what is expected",
    "ambiguous": "it gives several answers, hedges, or takes its answer back",
    "restated_question": "it repeats the question, or leaves the arithmetic undone, in place of a value",
    "no_answer": "it gives no answer",
    "refused": "it says that it gives no answer",
    "no_choice": "it names none of the choices",
    "unparseable_answer": "its answer cannot be read",
    "unparseable_gold": "the task's own answer cannot be read: the task has to be mended",
    "confirm_lost": "the process that confirms answers was gone",
    "resource": "it is larger than an answer may be, or takes more than it may",
    "timeout": "it ran out of time",
    "memory": "it ran out of memory",
    "output": "it printed more than it may",
    "processes": "it started more processes than it may",
    "disk": "it wrote more than it may",
    "killed": "its programs were killed",
    "sandbox_lost": "the sandbox failed",
    "process_lost": "the process that judges at the side was gone",
    "worker_died": "the process that judged it ended",
    "verifier_error": "the verifier has a fault",
    "bad_item": "what was to be judged could not be read",
    "bad_completion": "the completion is neither text nor messages",
    "no_code": "there is no program in it",
    "wrong": "the output is another one than is expected",
    "error": "it ended with an error",
    "ok": "as expected",
    "partial": "some of it is right",
    "unwritable_verdict": "the verifier's verdict cannot be written down",
    "test_error": "a test of the task has a fault",
    "checker_error": "the task's checker has a fault",
    "unchanged": "the function returns its input",
    "constant": "the function returns one and the same text",
    "no_query": "there is no query in it",
    "several_statements": "it has several statements",
    "not_a_select": "it does more than read",
    "forbidden_function": "it calls a function that queries may not call",
    "forbidden": "it does what queries may not do",
    "sql_error": "the database refuses it",
    "constant_select": "its rows do not come from the tables",
    "wrong_columns": "it gives another number of columns",
    "wrong_rows": "it gives other rows",
    "wrong_order": "the rows are right, their order is not",
    "bad_pattern": "the expression does not compile",
    "no_pattern": "there is no expression in it",
    "matches_everything": "the expression matches all texts",
    "matches_nothing": "the expression matches no text",
    "matched": "it matches a text that it must not match",
    "not_matched": "it does not match a text that it must match",
    "not_json": "it is no JSON",
    "duplicate_key": "a key stands twice in an object",
    "not_finite": "it has a number that is none, or infinite",
    "lone_surrogate": "it has half of a surrogate pair",
    "byte_order_mark": "it begins with a byte order mark",
    "number_out_of_range": "it has a number that is too large, too small or too long",
    "several_values": "it has several JSON values",
    "trailing_text": "text follows the JSON value",
    "too_deep": "it is nested too deeply",
    "too_large": "it is too large",
    "schema": "it does not fit the schema",
    "required": "a field that the schema demands is missing",
    "wrong_value": "fields have other values than expected",
    "missing": "what is asked for is not there",
    "present": "it is there",
    "empty": "there is nothing in it",
    "crossed": "tags cross each other",
    "absent": "it is not there, and must not be",
    "absent_from_nothing": "it is not there, but nor is anything else",
    "misspelt": "the tag is spelled in another way",
    "repeated": "it stands there more than once",
    "not_closed": "the tag is not closed",
    "not_opened": "the tag is closed and was not opened",
    "closed_before_opened": "the tag is closed before it is opened",
    "missing_field": "what the grader asks for is not there",
    "false_claim": "what it says does not hold",
    "too_few_claims": "it makes fewer claims than it has to",
    "too_many_claims": "it makes more claims than are looked at",
    "exit_code": "the command ended with another code",
    "failed": "the check, or a test, failed",
    "passed": "the test passed",
    "skipped": "the test was skipped, which counts as failed",
    "xfailed": "the test was marked as one that fails, which counts as failed",
    "not_run": "it was not run",
    "ended_early": "something that the script imported ended it",
    "tampered": "what the attempt left behind changed how it is judged",
    "score": "the script gives this score",
    "score_out_of_range": "the script gave no score between 0 and 1",
    "no_workspace": "there is no workspace to judge",
    "workspace_lost": "its own programs filled the memory of the workspace",
    "no_evidence": "it gives a score and shows nothing for it",
    "not_judged": "it was not asked: the gate is closed",
    "does_not_compile": "the proof does not compile",
    "no_proof": "there is no proof in it",
    "not_proved": "the theorem is not proved",
    "statement_changed": "it proves another statement",
    "admitted": "a part of it is admitted without proof",
    "axioms": "it rests on axioms that are not allowed",
    "unsafe": "it switches checks of the prover off",
}


def sentence(verdict: Verdict) -> str:
    """A verdict's outcome and reason as a sentence."""
    outcome, reason = OUTCOMES[verdict.outcome], told(verdict.reason)
    if not reason:
        return outcome.partition(";")[0] + "."
    return f"{outcome}: {reason}."


def told(reason: str) -> str:
    """A reason code as a sentence without its end; of a composite, with the part that it speaks of. Empty for codes of
    users' own verifiers."""
    if reason.startswith("policy_error:"):
        return f"the policy could not be asked: {reason.partition(':')[2][:100]}"
    if reason.startswith("invalid:"):
        return f"its part {reason.partition(':')[2][:100]} could not be judged"
    name, colon, rest = reason.partition(":")
    if colon and (inner := told(rest)):
        return f"{name[:100]}: {inner}"
    return _WORDS.get(reason, "")
