"""The tables of the index. Everything in them can be made again from folders; see ``lydite index rebuild``.

Words of a policy are not in them: a row holds where its lines lie in ``rollouts.jsonl`` and ``ledger.jsonl``.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

HEAD = "0001"
"""The newest revision of ``migrations/versions``."""

metadata = MetaData()

marks = Table(  # what holds for the index as a whole: `rebuilt`, how often it was made again
    "marks",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(640), nullable=False, unique=True),  # the slug
    Column("kind", String(40), nullable=False),
    Column("created", String(40), nullable=False),  # ISO 8601
    Column("state", String(20), nullable=False),  # running, complete, interrupted, unreadable
    Column("policy", Text, nullable=False, default=""),
    Column("head", String(64), nullable=False, default=""),
    Column("settings", JSON, nullable=False, default=dict),
    Column("notes", JSON, nullable=False, default=dict),
    Column("error", Text),  # why it cannot be read
    Column("updated", Float, nullable=False, default=0.0),  # when something of it last changed, seconds since the epoch
    Column("ledger_offset", BigInteger, nullable=False, default=0),  # bytes that are indexed
    Column("ledger_lines", Integer, nullable=False, default=0),
    Column("rollouts_offset", BigInteger, nullable=False, default=0),
    Column("metrics_offset", BigInteger, nullable=False, default=0),
    Column("metrics_lines", Integer, nullable=False, default=0),
    Column("tasks_offset", BigInteger, nullable=False, default=0),
    Column("reviews_offset", BigInteger, nullable=False, default=0),
    Column("rollouts", Integer, nullable=False, default=0),
    Column("correct", Integer, nullable=False, default=0),
    Column("invalid", Integer, nullable=False, default=0),
    Column("flagged", Integer, nullable=False, default=0),
    Column("suspected", Integer, nullable=False, default=0),
    Column("reward_sum", Float, nullable=False, default=0.0),
    Column("rewarded", Integer, nullable=False, default=0),
    Column("tasks", Integer, nullable=False, default=0),
    Column("generation", String(80), nullable=False, default=""),  # genesis of the ledger: else it is another run
    Column("tail", String(64), nullable=False, default=""),  # hash of the last line of the ledger that is indexed
    Column("keys", JSON, nullable=False, default=list),  # of metrics, in the order in which they appeared
    Column("spark", JSON, nullable=False, default=dict),  # {"of": "steps" or "groups", "values": [...]}
)

groups = Table(
    "groups",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),  # line of the ledger of its first attempt
    Column("phase", String(200), nullable=False),
    Column("stage", Integer),  # train-STAGE-STEP
    Column("step", Integer),
    Column("task", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("correct", Integer, nullable=False),
    Column("partial", Integer, nullable=False),
    Column("incorrect", Integer, nullable=False),
    Column("unparseable", Integer, nullable=False),
    Column("invalid", Integer, nullable=False),
    Column("mean", Float),
    Column("std", Float),
    Column("rewarded", Integer, nullable=False),  # attempts that have a reward
    Column("signal", String(12), nullable=False),  # reward.Signal
    Column("flagged", Integer, nullable=False),
    Index("groups_by_phase", "run", "phase", "task"),
    Index("groups_by_task", "run", "task"),
    Index("groups_by_step", "run", "stage", "step"),
)

rollouts = Table(
    "rollouts",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),  # line of the ledger
    Column("id", Text, nullable=False),
    Column("group", Integer, nullable=False),
    Column("task", Text, nullable=False),
    Column("phase", String(200), nullable=False),
    Column("stage", Integer),
    Column("step", Integer),
    Column("index", Integer, nullable=False),
    Column("outcome", String(12), nullable=False),
    Column("score", Float),
    Column("reward", Float),
    Column("reason", String(200), nullable=False),
    Column("extracted", String(200)),
    Column("verifier", String(200), nullable=False),
    Column("policy", Text, nullable=False),
    Column("finish", String(20), nullable=False),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("time", Float, nullable=False),
    Column("flags", Text, nullable=False, default=""),  # names, each between commas: ",a,b,"
    Column("bars", Boolean, nullable=False, default=False),
    Column("rollout_offset", BigInteger, nullable=False),
    Column("rollout_length", Integer, nullable=False),
    Column("ledger_offset", BigInteger, nullable=False),
    Column("ledger_length", Integer, nullable=False),
    Index("rollouts_by_group", "run", "group"),
    Index("rollouts_by_offset", "run", "rollout_offset"),
    Index("rollouts_by_reward", "run", "reward", "seq"),
    Index("rollouts_by_tokens", "run", "completion_tokens", "seq"),
    Index("rollouts_by_seconds", "run", "seconds", "seq"),
    Index(  # all that filters ask, narrow enough to be read through
        "rollouts_to_filter",
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
    ),
)

rescored = Table(
    "rescored",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),  # line of the ledger
    Column("of", Integer, nullable=False),  # the line of the first verdict
    Column("name", String(64), nullable=False),
    Column("outcome", String(12), nullable=False),
    Column("score", Float),
    Column("reason", String(200), nullable=False),
    Column("verifier", String(200), nullable=False),
    Column("ledger_offset", BigInteger, nullable=False),
    Column("ledger_length", Integer, nullable=False),
    Index("rescored_of", "run", "of"),
)

flags = Table(
    "flags",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("detector", String(100), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("bars", Boolean, nullable=False),
    Column("correct", Boolean, nullable=False),
    Column("decision", String(12)),  # confirmed, dismissed
    Column("note", Text),
    Column("decided", Float),
    Column("rank", String(64), nullable=False),  # hash of attempt and detector, as evaluation.suspicions sorts
    Index("flags_by_rank", "rank", "run", "seq", "version"),
    Index("flags_by_run", "run", "rank", "seq", "version"),
    Index("flags_by_detector", "detector", "rank"),
)

steps = Table(  # what metrics.jsonl says, one row a line
    "steps",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("line", Integer, primary_key=True),
    Column("stage", Integer, nullable=False, default=0),
    Column("step", Integer, nullable=False),
    Column("kind", String(20), nullable=False, default=""),
    Column("values", JSON, nullable=False),
    Index("steps_by_step", "run", "stage", "step"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("run", ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    Column("line", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("prompt", String(300), nullable=False),
    Column("checker", String(100), nullable=False),
    Column("split", String(20), nullable=False),
    Column("difficulty", String(100), nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("length", Integer, nullable=False),
    Index("tasks_by_id", "run", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created", Float, nullable=False),
    Column("finished", Float),
    Column("status", String(20), nullable=False),  # see jobs.status.Status
    Column("kind", String(20), nullable=False),  # reinforcement, supervised, dpo, platform
    Column("model", Text, nullable=False),
    Column("name", Text, nullable=False, default=""),
    Column("run", String(640), nullable=False),  # slug
    Column("pid", Integer),
    Column("started", String(40)),  # when that process began, as the kernel says: pids are used again
    Column("heartbeat", Float),
    Column("error", Text),
    Column("document", JSON, nullable=False),  # job.json
    Index("jobs_by_created", "created"),
)

events = Table(  # of runs and of jobs, for those who watch; `seq` is what Last-Event-ID names
    "events",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("time", Float, nullable=False),
    Column("topic", String(700), nullable=False),  # run:SLUG, job:ID
    Column("kind", String(40), nullable=False),
    Column("data", JSON, nullable=False),
    Index("events_by_topic", "topic", "seq"),
    sqlite_autoincrement=True,
)

files = Table(
    "files",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created", Float, nullable=False),
    Column("filename", Text, nullable=False),
    Column("purpose", String(40), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Index("files_by_created", "created"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created", Float, nullable=False),
    Column("workspace", String(200), nullable=False),
    Column("type", String(40), nullable=False),
    Column("title", Text, nullable=False),
    Column("topics", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("digest", String(64), nullable=False),  # of the task
    Index("documents_by_workspace", "workspace", "status"),
)
