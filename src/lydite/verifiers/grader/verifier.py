"""``grader``: judge by a grader document of OpenAI's API.

Config: ``{grader: {...}, item: {...}}``, both as ``fine_tuning.alpha.graders.run`` takes them. ``grader`` is a
``string_check``, ``text_similarity``, ``python`` or ``multi``; ``item`` has the values of ``{{ item.x }}``. A grader
that asks a model (``score_model``, ``label_model``, ``endpoint``) is refused, and so is the metric ``cosine``.

What counts is what follows the thinking. Nothing said, or thinking that never ends, is ``unparseable`` (``no_answer``),
whatever the grader; so is a completion that is no JSON (``not_json``) or lacks a field (``missing_field``) where the
grader asks for ``sample.output_json``. A score beyond 0 and 1 is brought to the nearer of them, NaN to 0, with the
reason ``score_out_of_range``. ``pass_threshold`` changes no score: below 1 the reason is then ``passed`` or
``below_threshold``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.grader.document import read_grader
from lydite.verifiers.grader.examples import EXAMPLES
from lydite.verifiers.grader.grade import Kind
from lydite.verifiers.grader.multi import graded
from lydite.verifiers.grader.sample import Sample
from lydite.verifiers.protocol import Check, Submission

_ID = "grader@1"


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    grader: dict[str, Any]
    item: dict[str, Any] = {}


class GraderVerifier:
    """Graders of OpenAI's API, but for those that ask a model."""

    name = "grader"
    version = 1
    waits = True
    modules = (
        "lydite.verifiers.grader",
        "lydite.verifiers.code",
        "lydite.verifiers.strict_json",
        "lydite.verifiers.text",
    )
    examples = EXAMPLES

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the document, and fill the item in.

        Raises:
            InputError: names the field: ``grader.input``, ``grader.graders.NAME.source`` ...
            UnavailableError, MissingExtraError: a sandbox or a library is not on this machine.
        """
        settings = read_config(config, _Config, self.name)
        try:
            grader = read_grader(settings.grader, settings.item)
        except InputError as error:
            raise error.at(prefix="grader") from None

        def check(submission: Submission) -> Verdict:
            sample = Sample(submission)
            if sample.blank:
                detail = "the thinking was never finished" if sample.text is None else None
                return Verdict.unparseable("no_answer", _ID, detail=detail)
            grade = graded(grader, sample)
            if grade.kind is Kind.BROKEN:
                return Verdict.invalid(grade.reason, _ID, detail=grade.detail)
            if grade.kind is Kind.NOTHING:
                return Verdict.unparseable(
                    grade.reason, _ID, extracted=grade.shown, parts=grade.parts, detail=grade.detail
                )
            return Verdict.of(
                grade.score, grade.reason, _ID, extracted=grade.shown, parts=grade.parts, detail=grade.detail
            )

        return check
