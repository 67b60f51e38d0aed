"""Task sets: read, write, split, compare, lint and generate tasks in the formats that people have."""

from lydite.tasksets.documents import parse_task, task_document
from lydite.tasksets.families import FAMILIES, generate
from lydite.tasksets.overlap import Overlap, find_overlap
from lydite.tasksets.read import iter_tasks, load_tasks
from lydite.tasksets.split import split_tasks
from lydite.tasksets.write import write_tasks

__all__ = [
    "FAMILIES",
    "Overlap",
    "find_overlap",
    "generate",
    "iter_tasks",
    "load_tasks",
    "parse_task",
    "split_tasks",
    "task_document",
    "write_tasks",
]
