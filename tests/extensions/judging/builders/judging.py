"""What a judge sees and the server of the page, for tests of the judging page."""

from types import SimpleNamespace

from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import JudgeView, JudgingTask
from harness.local_server.access import OneUser
from harness.local_server.addresses import Address


def make_view(suite, documents, choices, kept, *, judge="anna", existing=None, **details):
    """The view of a judge who is given all *documents*, with grades kept in the file *kept*."""
    task = JudgingTask(suite, documents, choices, existing or {})
    return JudgeView(task, judge, kept, documents, **details)


def make_server(view, write=list, reread=lambda: None, port=0):
    """The server of one judge, as that of `relevance judge page`."""
    target = SimpleNamespace(write=write, reread=reread)
    judges = ServedJudges.from_views({view.judge: view})
    return JudgingServer(judges, OneUser(view.judge), target, Address(port=port), ends=True)


def link_of(server):
    """The link of the one judge of *server*."""
    return server.local.address.build_link(server.access.token)
