"""The pictures of the page on which a request is tried."""

import json

from builders.pictures import PICTURES, ROOT, SCHEMES
from extensions.workbench.builders.opened_page import WIDE, open_pages, press, type_title, wait_for
from extensions.workbench.builders.scripted_bench import ScriptedBench
from harness.suites import load_suite

PRODUCTS = ROOT / "suites" / "products.relevance.yaml"
FIELDS = ("brand", "description")


class ProductsBench(ScriptedBench):
    """The queries and the products of the documentation, in rankings that are made."""

    def __post_init__(self):
        lines = (PRODUCTS.parent / "products" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
        self.products = {product["id"]: product for product in map(json.loads, lines)}
        self.suite = load_suite(PRODUCTS, None)
        super().__post_init__()

    def _make_query(self, number):
        query = self.suite.queries[number]
        return super()._make_query(number) | {"text": query.text, "tags": list(query.tags)}

    def rank(self, query, text):
        answer = super().rank(query, text) | {"params": {}}
        judged = list(self.suite.queries[int(query[1:])].judgments)
        products = list(dict.fromkeys([*judged, *self.products]))
        names = [*self.list_documents(query, None), *(f"{query}-{name}" for name in ("new", "far", "never"))]
        for hit in (*answer["live"], *(answer["try"] or ()), *answer["missing"]):
            hit["document"] = products[names.index(hit["document"])]
            product = self.products[hit["document"]]
            hit["title"] = product["title"]
            hit["texts"] = {field: product[field] for field in FIELDS}
        return answer


def test_the_pictures_of_the_page_of_tries(hold_picture, browser):
    server = ProductsBench(45).serve()
    server.start()
    with open_pages(browser) as open_link:
        link = server.address.build_link(server.access.token)
        pages = {scheme: open_link(link, viewport=WIDE, color_scheme=scheme) for scheme in SCHEMES}
        for page in pages.values():
            type_title(page, "4")
            wait_for(page, "done")
            press(page, "Escape", "l", "n", "n", "n")
            page.locator("#try-hits [aria-selected=true]").wait_for()

        def make():
            for scheme, page in pages.items():
                page.screenshot(path=PICTURES / f"try-{scheme}.png")

        hold_picture("try", pages["light"].inner_text("body"), make)
    server.close()
