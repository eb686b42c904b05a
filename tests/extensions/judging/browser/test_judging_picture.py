"""The pictures of the judging page."""

import json

from builders.pictures import PICTURES, ROOT, SCHEMES, SIZE
from extensions.judging.builders.judging import link_of, make_server, make_view
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import GradeChoice
from harness.files.judge_files import JudgeFile
from harness.suites import load_suite


def test_the_pictures_of_the_judging_page(hold_picture, browser, tmp_path):
    suite = load_suite(ROOT / "suites" / "products.relevance.yaml", None)
    [query] = [query for query in suite.queries if query.id == "tent"]
    lines = (ROOT / "suites" / "products" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    products = {product["id"]: product for product in map(json.loads, lines)}
    documents = []
    for rank, document in enumerate(list(query.judgments)[:8], start=1):
        product = products[document]
        texts = {"brand": product["brand"], "price": str(product["price"])}
        documents.append(
            PooledDocument(
                query.id, query.text, document, {"current": rank}, product["title"], product["description"], texts=texts
            )
        )
    choices = [GradeChoice(grade, name, str(int(grade))) for name, grade in suite.grades.items()]
    view = make_view(suite, documents, choices, JudgeFile(tmp_path / "anna.jsonl"))
    server = make_server(view)
    server.local.start()
    try:
        contexts = {scheme: browser.new_context(viewport=SIZE, color_scheme=scheme) for scheme in SCHEMES}
        pages = {scheme: context.new_page() for scheme, context in contexts.items()}
        for page in pages.values():
            page.goto(link_of(server))
            page.wait_for_selector("#item:not([hidden])")

        def make():
            for scheme, page in pages.items():
                page.screenshot(path=PICTURES / f"judging-{scheme}.png")

        hold_picture("judging", pages["light"].inner_text("body"), make)
        for context in contexts.values():
            context.close()
    finally:
        server.local.close()
