"""A real Solr behind the HTTP door: what it answers is what the harness ranks, scores and decides."""

from builders.solr import CATALOGUE, LOCK, ask
from harness.embedded.lock import dump_lock, parse_lock


def test_the_lock_of_solr_is_what_the_script_writes():
    text = LOCK.read_text(encoding="utf-8")
    assert dump_lock(parse_lock(text, name=LOCK.name)) == text


def test_solr_has_the_catalogue(solr_url):
    answer = ask(solr_url, q="*:*", rows=0)
    assert answer["response"]["numFound"] == len(CATALOGUE.read_text(encoding="utf-8").splitlines())


def test_a_core_of_a_test_has_its_documents_only(solr_url, solr_core):
    core = solr_core([{"id": "a", "title": "red shoes"}])
    answer = ask(solr_url, core, q="title:shoe", fl="id")
    assert answer["response"]["docs"] == [{"id": "a"}]
    assert ask(solr_url, solr_core(), q="*:*")["response"]["numFound"] == 0
