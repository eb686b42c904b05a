"""What the workers of a scheduler are sent of the border."""

from pathlib import Path

from harness.extensions.distributed.scheduler import list_command_words
from harness.options import RunOptions
from harness.run import Matrix


def test_a_worker_of_a_scheduler_is_sent_the_root():
    assert list_command_words(RunOptions(root=Path("../.store")), Matrix()) == ["--root=../.store"]
