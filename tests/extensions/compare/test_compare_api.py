"""What the Python API takes for a comparison."""

import pytest

from harness.api.choices import ARGUMENT_KINDS
from harness.extensions.compare import outputs
from harness.extensions.compare.api import CompareChoices


def test_every_option_is_of_some_kind():
    assert set(CompareChoices.__annotations__) <= set(ARGUMENT_KINDS)


def test_a_kind_without_a_form_is_not_written():
    with pytest.raises(ValueError, match="'pdf'"):
        outputs.render(None, "pdf")
