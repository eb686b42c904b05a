"""
Serves the judging page to many judges until it is killed: FOLDER JUDGES DOCUMENTS.

Prints a line of JSON: the port, and the token of each judge.
"""

import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.access import AccessFile
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import GradeChoice, JudgeView, JudgingTask
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile
from harness.model.suite import Query, Suite, Target


def serve(folder, judges, documents):
    suite = Suite("shop", "s.yaml", Target(), {}, (), (Query("q", "red shoes"),))
    pooled = [PooledDocument("q", "red shoes", f"d{number}", {"current": number + 1}) for number in range(documents)]
    task = JudgingTask(suite, pooled, (GradeChoice(0.0, "", "0"), GradeChoice(1.0, "", "1")))
    names = [f"judge{number}" for number in range(judges)]
    views = {}
    for name in names:
        views[name] = JudgeView(task, name, JudgeFile(folder / f"shop.judged-by.{name}.jsonl"), pooled)
    access = AccessFile.start_anew(BesideFile(folder / ".shop.judges.json"))
    tokens = access.grant(names)
    target = SimpleNamespace(write=list, reread=lambda: None)
    server = JudgingServer(ServedJudges.from_views(views), access, target)
    server.local.start()
    print(json.dumps([server.local.address.port, tokens]), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
