"""Scenario files gone wrong: each is refused with one sentence, or is fine; nothing else happens."""

import warnings

import pytest

from carom.errors import CaromError
from carom.experiment._scenario_check import check
from carom.scenario import names
from carom.scenario.library import load, text_of

from ..mutations import mutated

EACH = 22  # mutations of every shipped scenario: about 300 in all
LONGEST = 600  # characters of a sentence


def answer(path):
    """None if the file is fine, or the sentence that refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a world that works, but should be looked at, is fine here
            check(load(path))
    except CaromError as refusal:
        return str(refusal)
    return None


def one_sentence(text):
    return 0 < len(text) < LONGEST and text.isprintable() and "Traceback" not in text


@pytest.mark.parametrize("name", names())
def test_every_mutation_is_fine_or_refused_with_one_sentence(name, tmp_path, unchecked):
    refused = []
    for seed in range(EACH):
        path = tmp_path / f"mutation{seed}.toml"
        path.write_bytes(mutated(text_of(name), seed))
        said = answer(path)
        if said is not None:
            assert one_sentence(said), (name, seed, said)
            assert str(path) in said or "scenario" in said or ":" in said, said  # it says where
            refused.append(seed)
    assert 0 < len(refused) < EACH  # some are wrong, some are harmless
