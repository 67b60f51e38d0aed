"""Jobs, events and checkpoints as OpenAI's clients read them."""

from __future__ import annotations

from typing import Any

from lydite.server.jobs.status import Checkpoint, JobEvent, JobRow, Status

KINDS = ("reinforcement", "supervised", "dpo")
_HYPER: dict[str, tuple[str, ...]] = {
    "supervised": ("n_epochs", "batch_size", "learning_rate_multiplier"),
    "dpo": ("n_epochs", "batch_size", "learning_rate_multiplier", "beta"),
    "reinforcement": (
        *("n_epochs", "batch_size", "learning_rate_multiplier"),
        *("compute_multiplier", "eval_interval", "eval_samples", "reasoning_effort"),
    ),
}


def job_shape(row: JobRow) -> dict[str, Any]:
    """``fine_tuning.job``. Of jobs that were made elsewhere (kind ``platform``), as much as there is."""
    request, result = row.document.get("request") or {}, row.document.get("result") or {}
    kind = row.kind if row.kind in KINDS else "reinforcement"
    method = _method(kind, request)
    error = None
    if row.status is Status.FAILED:
        error = {
            "code": result.get("error_code") or "job_error",
            "message": row.error or "",
            "param": result.get("error_param"),
        }
    estimated = row.estimated if row.status is Status.RUNNING else None
    return {
        "id": row.id,
        "object": "fine_tuning.job",
        "created_at": int(row.created),
        "finished_at": int(row.finished) if row.finished else None,
        "estimated_finish": int(estimated) if estimated else None,
        "model": row.document.get("model_asked") or row.model,
        "fine_tuned_model": f"run:{row.run}" if row.status is Status.SUCCEEDED else None,
        "status": row.status.value,
        "error": error,
        "training_file": str(request.get("training_file") or ""),
        "validation_file": request.get("validation_file"),
        "result_files": result.get("files") or [],
        "seed": (row.document.get("recipe") or {}).get("seed", 0),
        "suffix": row.name or None,
        "trained_tokens": result.get("trained_tokens"),
        "organization_id": "lydite",
        "hyperparameters": method[kind]["hyperparameters"] if kind == "supervised" else {},
        "method": method,
        "integrations": request.get("integrations") or [],
        "metadata": row.document.get("metadata") or {},
    }


def _method(kind: str, request: dict[str, Any]) -> dict[str, Any]:
    """As asked; ``auto`` where nothing was."""
    asked = request.get("method")
    asked = asked if isinstance(asked, dict) else {kind: {"hyperparameters": request.get("hyperparameters")}}
    own = dict(asked.get(kind) or {})
    given = own.get("hyperparameters") or {}
    own["hyperparameters"] = {
        name: given.get(name) or ("default" if name == "reasoning_effort" else "auto") for name in _HYPER[kind]
    }
    if kind == "reinforcement":
        own.setdefault("grader", {"type": "lydite", "name": "of each task"})
    return {"type": kind, kind: own}


def event_shape(event: JobEvent) -> dict[str, Any]:
    """``fine_tuning.job.event``."""
    return {
        "id": event.id,
        "object": "fine_tuning.job.event",
        "created_at": int(event.time),
        "level": event.level,
        "message": event.message,
        "type": event.kind,
        "data": event.data,
    }


def checkpoint_shape(checkpoint: Checkpoint, job: str) -> dict[str, Any]:
    """``fine_tuning.job.checkpoint``."""
    return {
        "id": checkpoint.id,
        "object": "fine_tuning.job.checkpoint",
        "created_at": int(checkpoint.time),
        "fine_tuned_model_checkpoint": checkpoint.model,
        "fine_tuning_job_id": job,
        "step_number": checkpoint.step,
        "metrics": checkpoint.metrics,
    }
