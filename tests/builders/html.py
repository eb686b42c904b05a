"""Pages as a browser takes them apart."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr", "wbr"}


class Page(HTMLParser):
    """Keeps every element with its attributes and text, and refuses tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.in_word = False
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.in_word = tag == "wbr"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.in_word:
            self.texts[-1] += data
            self.in_word = False
        elif not {"script", "style"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag, **wanted):
        return [a for name, a in self.elements if name == tag and all(a.get(k) == v for k, v in wanted.items())]
