"""A stranger's checkout, and a secret beside it."""

SECRET = "hunter2xyz"
KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}QUJDREVG\n{SECRET}: [\n"

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@10"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 1}}
"""


def make_tree(tmp_path):
    """A checkout with a suite, in a hidden folder as many build systems have it."""
    folder = tmp_path / ".cache" / "build"
    folder.mkdir(parents=True)
    (folder / "a.relevance.yaml").write_text(SUITE)
    return folder


def write(path, content):
    """Write *content* to *path*, whose folder may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("latin-1"))
    return path


def printed(capsys):
    """What was printed to both streams."""
    captured = capsys.readouterr()
    return captured.out + captured.err
