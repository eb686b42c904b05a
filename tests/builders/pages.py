"""What tests ask of a page in a browser, and the judging page without one."""

import http.client
import json
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest


def shown(page):
    """The queries of the table that can be seen, in its order."""
    return [row.inner_text() for row in page.locator("table.queries > tbody > tr:visible > th").all()]


def unfold(page):
    """Open all parts of a report that are folded away."""
    page.evaluate("document.querySelectorAll('.part, .held').forEach((part) => (part.open = true))")


def contrasts(page):
    """Every text that can be seen, with the ratio of its colour to the one behind it, by the formula of WCAG 2."""
    return page.evaluate(_CONTRASTS)


def find_faint_texts(page):
    """The texts with a contrast below the 4.5 that WCAG 2 wants, in each scheme, with their ratio."""
    faint = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        texts = contrasts(page)
        assert texts
        faint += [(scheme, ratio, text) for ratio, text in texts if ratio < 4.5]
    return faint


SCHEMES = ("light", "dark")
"""A page that is there changes from one to the other, so that it needs not be opened again."""

COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""The rules of axe for a page that was looked at in another scheme: its elements are the same, in other colours."""

NO_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
"""All rules of axe but the dearest, for a window of another width, in which `find_faint_texts` looks at the texts."""


def find_violations(page, **options):
    """The rules of accessibility that axe finds broken, with the elements that break them; *options* are axe's."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
    # To describe the elements that break no rule takes as long as the rules.
    answer = axe.run(page, options={"resultTypes": ["violations"], **options}).response
    return [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in answer["violations"]]


def find_violations_in_each_scheme(page):
    """What `find_violations` finds of a page in the first scheme, and of its colours in the others."""
    first, *others = SCHEMES
    page.emulate_media(color_scheme=first)
    found = find_violations(page)
    for scheme in others:
        page.emulate_media(color_scheme=scheme)
        found += find_violations(page, **COLOURS)
    return found


def find_wide_boxes(page):
    """What scrolls sideways in its box, by the first words."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".scroll, .around-queries, .beside > div")]
          .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth)
          .map((box) => [box.scrollWidth - box.clientWidth, box.innerText.slice(0, 40)])"""
    )


def find_small(controls):
    """The controls that can be seen and are less than 44 pixels wide or high, too small for a finger."""
    return controls.evaluate_all(
        """controls => controls.filter((control) => {
          const box = control.getBoundingClientRect();
          return control.checkVisibility() && Math.min(box.width, box.height) < 44;
        }).map((control) => control.outerHTML)"""
    )


def find_high_cells(page, most):
    """The cells of tables with more than *most* lines of text, but for the rankings of an open query."""
    return page.evaluate(
        """(most) => [...document.querySelectorAll("td, th")]
          .filter((cell) => !cell.querySelector(".detail") && !cell.closest(".detail"))
          .map((cell) => {
            const style = getComputedStyle(cell);
            const text = document.createRange();
            text.selectNodeContents(cell);
            // a cell is as high as its row, and what is cut off in it reaches below
            const height = Math.min(text.getBoundingClientRect().height, cell.clientHeight);
            return [height / parseFloat(style.lineHeight), cell.innerText.slice(0, 40)];
          })
          .filter(([lines]) => lines > most)""",
        most,
    )


def find_cut_texts(page):
    """The cells, headings and paragraphs that reach over the right edge of their card."""
    return page.evaluate(
        """() => [...document.querySelectorAll("td, th, p, li, dd, h1, h2, h3, caption")]
          .filter((text) => text.getClientRects().length && !text.closest(".hidden, thead.stacked, .stacked thead"))
          .map((text) => [text.getBoundingClientRect().right, text.innerText.slice(0, 40), text])
          .filter(([right, , text]) => {
            const card = text.closest(".suite, nav, header, footer");
            return card && right > card.getBoundingClientRect().right + 0.5;
          })
          .map(([right, words]) => [Math.round(right), words])"""
    )


class JudgingPage:
    """What the judging page asks of its server, from its address."""

    def __init__(self, url):
        self.parts = urlsplit(url)

    def ask(self, path, body=None):
        [token] = parse_qs(self.parts.fragment)["token"]
        headers = {"X-Relevance-Token": token, "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection(self.parts.netloc)) as connection:
            connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
            return json.loads(connection.getresponse().read())

    @property
    def documents(self):
        return self.ask("/session")["documents"]

    def grade(self, grades):
        for name, grade in grades.items():
            query, document = name.split("/")
            assert self.ask("/grade", {"query": query, "document": document, "grade": grade})["grade"] == grade


_CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((v) => linear(v / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.tagName === "SCRIPT") continue;
    if (element.namespaceURI.includes("svg")) continue;
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, element.className + " " + element.textContent.slice(0, 30)]);
  }
  return found;
}"""
