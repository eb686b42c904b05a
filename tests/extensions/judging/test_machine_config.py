"""[judge.NAME] of relevance.toml: what it gives, whose counts, and each mistake with its place and no secret."""

import pytest

from harness.config import Configs, find_machine_judge, read_config
from harness.errors import ConfigError, EntryPoint, UsageError
from harness.model.judging import MachineJudge

LEAST = '[judge.gpt]\nbase_url = "https://api.openai.com/v1"\nmodel = "gpt-5-mini"\n'
FULL = """\
[judge.local]
base_url = "http://127.0.0.1:8080/v1"
model = "smollm2"
api_key_env = "LOCAL_KEY"
prompt = "prompts/grade.jinja"
fields = ["summary", "price"]
temperature = 0.5
seed = 7
reasoning = "low"
answers = "text"
most_output_tokens = 100
timeout = 5
concurrency = 2
requests_per_minute = 60
tokens_per_minute = 90000
input_price = 0.25
output_price = 2
batch_input_price = 0.125
batch_output_price = 1
budget = 1.5
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_config(text):
        path = tmp_path / "relevance.toml"
        path.write_text(text)
        return path

    return write_config


def test_every_key_is_read(write):
    judge = read_config(write(FULL)).judge["local"]
    assert judge == MachineJudge(
        name="local", base_url="http://127.0.0.1:8080/v1", model="smollm2", api_key_env="LOCAL_KEY",
        prompt="prompts/grade.jinja", fields=("summary", "price"), temperature=0.5, seed=7, reasoning="low",
        answers="text", most_output_tokens=100, timeout=5.0, concurrency=2, requests_per_minute=60,
        tokens_per_minute=90000, input_price=0.25, output_price=2.0, batch_input_price=0.125,
        batch_output_price=1.0, budget=1.5,
    )  # fmt: skip
    least = read_config(write(LEAST)).judge["gpt"]
    assert (least.temperature, least.answers, least.budget, least.api_key_env) == (0.0, "schema", None, None)


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ('api_key = "sk-s3cret"', "4:1", "'api_key' is not allowed here; expected api_key_env, the name of an"),
        ('api_key_env = "sk-s3cret"', "4:1", "expected the name of an environment variable, such as SEARCH_API_KEY"),
        ("temprature = 1", "4:1", "unknown key 'temprature', expected base_url, model, "),
        ("temperature = -1", "4:1", "found -1, expected a number of at least 0"),
        ('temperature = "s3cret"', "4:1", "found text, expected a number"),
        ('answers = "json"', "4:1", "found 'json', expected schema or text"),
        ("concurrency = 0", "4:1", "found 0, expected requests at once, 1 to 64"),
        ("requests_per_minute = 0", "4:1", "found 0, expected a whole number of at least 1"),
        ("budget = 5", "4:1", "budget needs input_price and output_price, the prices of a million tokens"),
        ("input_price = 5", "1:1", "expected input_price and output_price together"),
        ("batch_input_price = 5", "1:1", "expected batch_input_price and batch_output_price together"),
        ('fields = "summary"', "4:1", "found text, expected a list"),
        ('prompt = " "', "4:1", "found blank text, expected text"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_no_value(write, line, place, message):
    path = write(f"{LEAST}{line}\n")
    with pytest.raises(ConfigError) as raised:
        read_config(path)
    assert str(raised.value).startswith(f"{path}:{place}: {message}")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[judge.gpt]\nmodel = "m"\n', "1:1: expected base_url"),
        ('[judge.gpt]\nbase_url = "api.openai.com/v1"\nmodel = "m"\n', "2:1: "),
        ('[judge.gpt]\nbase_url = "https://user:s3cret@a/v1"\nmodel = "m"\n', "2:1: "),
        ('[judge.gpt]\nbase_url = "https://a/v1?api-version=1"\nmodel = "m"\n', "2:1: "),
        (LEAST.replace("gpt]", '"a/b"]'), "1:1: expected letters, digits, _ and - as the name of a judge"),
        (LEAST.replace("gpt]", "people]"), "1:1: expected another name than people"),
        ('judge = "gpt"\n', "1:1: found text, expected tables such as [judge.gpt]"),
        ("[judge]\ngpt = 1\n", "2:1: found a whole number, expected a table"),
    ],
)
def test_a_table_that_describes_no_judge_is_told(write, text, message):
    path = write(text)
    with pytest.raises(ConfigError) as raised:
        read_config(path)
    assert str(raised.value).startswith(f"{path}:{message}")
    assert "s3cret" not in str(raised.value)


def test_the_prompt_is_found_beside_relevance_toml(write, tmp_path):
    write(FULL)
    with pytest.raises(UsageError, match=r"prompt of the judge 'local': there is no file .*grade\.jinja"):
        find_machine_judge("local", Configs(), tmp_path)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "grade.jinja").write_text("{{query}}")
    judge = find_machine_judge("local", Configs(), tmp_path)
    assert judge.prompt == str(tmp_path / "prompts" / "grade.jinja")


def test_a_judge_that_is_not_described_is_told_with_the_nearest_name(write, tmp_path):
    write(FULL + LEAST)
    with pytest.raises(UsageError, match=r"'locl' is not described in .*, which has local, gpt; did you mean 'local'?"):
        find_machine_judge("locl", Configs(), tmp_path)
    (tmp_path / "relevance.toml").unlink()
    with pytest.raises(
        UsageError, match=r"there is no relevance.toml in the working directory or above.*\[judge.gpt\]"
    ):
        find_machine_judge("gpt", Configs(), tmp_path)


def test_a_file_beside_a_suite_describes_no_judge(write, tmp_path):
    folder = tmp_path / "suites"
    folder.mkdir()
    beside = folder / "relevance.toml"
    beside.write_text(LEAST.replace("api.openai.com", "evil.example"))
    for trusted in (None, LEAST.replace("gpt]", "other]")):
        if trusted:
            write(trusted)
        with pytest.raises(UsageError) as raised:
            find_machine_judge("gpt", Configs(), folder)
        assert raised.value.text(EntryPoint.COMMAND) == (
            f"the judge 'gpt' is described in {beside}, which comes with a suite and is not the configuration that you "
            f"run with; if it is yours, give --config {beside}"
        )
    write(LEAST)
    assert "openai" in find_machine_judge("gpt", Configs(), folder).base_url
    assert "evil" in find_machine_judge("gpt", Configs(beside), folder).base_url


def test_a_suite_may_not_read_the_key_of_a_judge(write, tmp_path):
    path = write('variables = ["LOCAL_KEY"]\n' + FULL)
    assert Configs().find_refusal("LOCAL_KEY", tmp_path) == (
        f"the suite may not read the variable LOCAL_KEY: it holds the key of the judge 'local' in {path}"
    )
