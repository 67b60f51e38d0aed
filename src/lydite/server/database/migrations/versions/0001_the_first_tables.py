"""The first tables"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("workspace", sa.String(length=200), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("documents_by_workspace", "documents", ["workspace", "status"], unique=False)
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("topic", sa.String(length=700), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("events_by_topic", "events", ["topic", "seq"], unique=False)
    op.create_table(
        "files",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("purpose", sa.String(length=40), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("files_by_created", "files", ["created"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("finished", sa.Float(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("run", sa.String(length=640), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("started", sa.String(length=40), nullable=True),
        sa.Column("heartbeat", sa.Float(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_by_created", "jobs", ["created"], unique=False)
    op.create_table(
        "marks",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=640), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("created", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.Column("ledger_offset", sa.BigInteger(), nullable=False),
        sa.Column("ledger_lines", sa.Integer(), nullable=False),
        sa.Column("rollouts_offset", sa.BigInteger(), nullable=False),
        sa.Column("metrics_offset", sa.BigInteger(), nullable=False),
        sa.Column("metrics_lines", sa.Integer(), nullable=False),
        sa.Column("tasks_offset", sa.BigInteger(), nullable=False),
        sa.Column("reviews_offset", sa.BigInteger(), nullable=False),
        sa.Column("rollouts", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("invalid", sa.Integer(), nullable=False),
        sa.Column("flagged", sa.Integer(), nullable=False),
        sa.Column("suspected", sa.Integer(), nullable=False),
        sa.Column("reward_sum", sa.Float(), nullable=False),
        sa.Column("rewarded", sa.Integer(), nullable=False),
        sa.Column("tasks", sa.Integer(), nullable=False),
        sa.Column("generation", sa.String(length=80), nullable=False),
        sa.Column("tail", sa.String(length=64), nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.Column("spark", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
    )
    op.create_table(
        "flags",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("detector", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("bars", sa.Boolean(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("decision", sa.String(length=12), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("decided", sa.Float(), nullable=True),
        sa.Column("rank", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "seq", "detector", "version"),
    )
    op.create_index("flags_by_detector", "flags", ["detector", "rank"], unique=False)
    op.create_index("flags_by_rank", "flags", ["rank", "run", "seq", "version"], unique=False)
    op.create_index("flags_by_run", "flags", ["run", "rank", "seq", "version"], unique=False)
    op.create_table(
        "groups",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("phase", sa.String(length=200), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("partial", sa.Integer(), nullable=False),
        sa.Column("incorrect", sa.Integer(), nullable=False),
        sa.Column("unparseable", sa.Integer(), nullable=False),
        sa.Column("invalid", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("std", sa.Float(), nullable=True),
        sa.Column("rewarded", sa.Integer(), nullable=False),
        sa.Column("signal", sa.String(length=12), nullable=False),
        sa.Column("flagged", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number"),
    )
    op.create_index("groups_by_phase", "groups", ["run", "phase", "task"], unique=False)
    op.create_index("groups_by_step", "groups", ["run", "stage", "step"], unique=False)
    op.create_index("groups_by_task", "groups", ["run", "task"], unique=False)
    op.create_table(
        "rescored",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("of", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("verifier", sa.String(length=200), nullable=False),
        sa.Column("ledger_offset", sa.BigInteger(), nullable=False),
        sa.Column("ledger_length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "seq"),
    )
    op.create_index("rescored_of", "rescored", ["run", "of"], unique=False)
    op.create_table(
        "rollouts",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("phase", sa.String(length=200), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("reward", sa.Float(), nullable=True),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("extracted", sa.String(length=200), nullable=True),
        sa.Column("verifier", sa.String(length=200), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("finish", sa.String(length=20), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("bars", sa.Boolean(), nullable=False),
        sa.Column("rollout_offset", sa.BigInteger(), nullable=False),
        sa.Column("rollout_length", sa.Integer(), nullable=False),
        sa.Column("ledger_offset", sa.BigInteger(), nullable=False),
        sa.Column("ledger_length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "seq"),
    )
    op.create_index("rollouts_by_group", "rollouts", ["run", "group"], unique=False)
    op.create_index("rollouts_by_offset", "rollouts", ["run", "rollout_offset"], unique=False)
    op.create_index("rollouts_by_reward", "rollouts", ["run", "reward", "seq"], unique=False)
    op.create_index("rollouts_by_seconds", "rollouts", ["run", "seconds", "seq"], unique=False)
    op.create_index("rollouts_by_tokens", "rollouts", ["run", "completion_tokens", "seq"], unique=False)
    op.create_index(
        "rollouts_to_filter",
        "rollouts",
        [
            "run",
            "seq",
            "phase",
            "stage",
            "step",
            "group",
            "outcome",
            "reason",
            "finish",
            "reward",
            "completion_tokens",
            "seconds",
            "flags",
        ],
        unique=False,
    )
    op.create_table(
        "steps",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "line"),
    )
    op.create_index("steps_by_step", "steps", ["run", "stage", "step"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("prompt", sa.String(length=300), nullable=False),
        sa.Column("checker", sa.String(length=100), nullable=False),
        sa.Column("split", sa.String(length=20), nullable=False),
        sa.Column("difficulty", sa.String(length=100), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "line"),
    )
    op.create_index("tasks_by_id", "tasks", ["run", "id"], unique=False)
