import json
from pathlib import Path

import pytest

from lydite.errors import InputError, StorageError
from lydite.exports import kto_rows, preference_pairs, sft_rows, write_rows
from memory_rows import MemoryRun, make_row, make_run


def test_rows_come_back_as_json_lines(tmp_path: Path) -> None:
    rows, counts = preference_pairs(make_run({"a": [1, 0, 0]}))
    path = tmp_path / "out.jsonl"
    assert write_rows(rows, path) == counts.pairs == 2
    assert all(set(json.loads(line)) == {"prompt", "chosen", "rejected"} for line in path.read_text().splitlines())


def test_nothing_to_write_is_an_empty_file(tmp_path: Path) -> None:
    assert write_rows([], tmp_path / "out.jsonl") == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_a_failure_half_way_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old\n")

    def rows():
        yield {"a": 1}
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="No space left"):
        write_rows(rows(), path)
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mkdir"):
        write_rows([], tmp_path / "no" / "out.jsonl")


@pytest.mark.parametrize("target", ["", "/dev/null"])
def test_what_is_not_a_file_is_never_replaced(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        write_rows([], Path(target or tmp_path))


def test_text_without_utf8_is_written_readably(tmp_path: Path) -> None:
    run = MemoryRun((make_row("a", 0, 1, text="half \ud83d pair \u2028 \x00"), make_row("a", 1, 0)))
    write_rows(preference_pairs(run)[0], tmp_path / "out.jsonl")
    (line,) = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert json.loads(line)["chosen"][0]["content"] == "half � pair \u2028 \x00"


@pytest.mark.train
@pytest.mark.parametrize("export", [preference_pairs, sft_rows, kto_rows])
def test_datasets_reads_what_is_written(tmp_path: Path, export) -> None:
    datasets = pytest.importorskip("datasets")
    run = make_run({"a": [1, 0, 0], "b": [1, 1, 0]})
    rows, _ = export(run)
    number = write_rows(rows, tmp_path / "out.jsonl")
    loaded = datasets.load_dataset(
        "json", data_files=str(tmp_path / "out.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert len(loaded) == number > 0
    assert loaded[0] == next(export(run)[0])


@pytest.mark.train
@pytest.mark.parametrize("export", [preference_pairs, sft_rows, kto_rows])
def test_trl_takes_each_row_for_a_conversation(export) -> None:
    trl_data = pytest.importorskip("trl.data_utils")
    row = next(export(make_run({"a": [1, 0]}))[0])
    assert trl_data.is_conversational(row)
