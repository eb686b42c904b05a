"""Kinds of values: what is read, which mistakes are found, and the schema."""

from harness.model.suite import Mark
from harness.suites.kinds import (
    MAPPING_BRANCH,
    TEXT_BRANCH,
    Branches,
    ListOf,
    MappingOf,
    Mistakes,
    Shape,
    accept_words,
    key,
)
from harness.suites.scalars import Key, Number, Text
from harness.suites.yaml import ListNode, MappingNode, ScalarNode

MARK = Mark("shop.relevance.yaml", 3, 5)


class Shelf(Shape):
    """A shelf."""

    name = key(Text, "Its name.", is_required=True)
    width = key(Number, "Its width.", 90.0, written="width in cm")
    books = key(ListOf(Text), "What stands on it.", [])


class TallShelf(Shelf):
    """A shelf with a ladder."""

    ladder = key(accept_words(["wood", "steel"]), "What the ladder is of.", "wood")


def make_node(value):
    if isinstance(value, dict):
        return MappingNode(MARK, [(make_node(name), make_node(child)) for name, child in value.items()])
    if isinstance(value, list):
        return ListNode(MARK, map(make_node, value))
    return ScalarNode(value, MARK, plain=True)


def find_mistakes(kind, value):
    mistakes = Mistakes()
    kind.read(make_node(value), mistakes, ())
    return [(mistake.place, mistake.message) for mistake in mistakes.found]


def test_a_key_that_is_not_written_has_its_default():
    shelf = Shelf.read(make_node({"name": "poems"}), Mistakes(), ())

    assert (shelf.name, shelf.width, shelf.books) == ("poems", 90.0, [])
    assert vars(shelf) == {"name": "poems"}


def test_a_key_is_read_by_its_written_name():
    shelf = Shelf.read(make_node({"name": "poems", "width in cm": "60"}), Mistakes(), ())

    assert shelf.width == 60.0


def test_a_shape_has_the_keys_of_its_base():
    assert list(TallShelf.known_keys) == ["name", "width in cm", "books", "ladder"]
    assert "ladder" not in Shelf.known_keys


def test_all_mistakes_are_found_with_their_places():
    assert find_mistakes(TallShelf, {"width in cm": "wide", "books": ["", "ok", []], "ladder": "steal"}) == [
        (("width in cm",), "found 'wide', expected a number"),
        (("books", 0), "found nothing, expected text"),
        (("books", 2), "found a list, expected text"),
        (("ladder",), "found 'steal', expected wood or steel; did you mean 'steel'?"),
        (("name",), "the key 'name' is missing"),
    ]


def test_an_unknown_key_is_no_mistake_of_a_value():
    mistakes = Mistakes()
    shelf = Shelf.read(make_node({"name": "poems", "boks": []}), mistakes, ())

    assert mistakes.found == []
    assert [(unknown.key, unknown.meant) for unknown in mistakes.unknown] == [("boks", "books")]
    assert vars(shelf) == {"name": "poems"}


def test_a_branch_is_chosen_by_the_kind_of_node():
    kind = Branches("a name, or a shelf", {TEXT_BRANCH: Text, MAPPING_BRANCH: Shelf})

    assert kind.read(make_node("poems"), Mistakes(), ()) == "poems"
    assert find_mistakes(kind, {"name": []}) == [((MAPPING_BRANCH, "name"), "found a list, expected text")]
    assert find_mistakes(kind, []) == [((), "found a list, expected a name, or a shelf")]


def test_a_list_and_a_mapping_refuse_other_nodes():
    assert find_mistakes(ListOf(Text), "poems") == [((), "found 'poems', expected a list")]
    assert find_mistakes(MappingOf(Key, Text), []) == [((), "found a list, expected a mapping")]
    assert find_mistakes(Shelf, []) == [((), "found a list, expected a mapping with name, width in cm, books")]


def test_the_schema_of_a_shape_names_those_below():
    class Library(Shape):
        """Shelves by room."""

        rooms = key(MappingOf(Key, ListOf(Shelf, is_filled=True)), "The shelves of each room.", {})

    definitions = {}

    assert Library.describe_keys(definitions)["properties"] == {
        "rooms": {
            "description": "The shelves of each room.",
            "additionalProperties": {"minItems": 1, "items": {"$ref": "#/$defs/Shelf"}, "type": "array"},
            "type": "object",
        }
    }
    assert definitions["Shelf"]["required"] == ["name"]
    assert definitions["Shelf"]["properties"]["width in cm"]["default"] == 90.0
    assert "default" not in definitions["Shelf"]["properties"]["books"]
