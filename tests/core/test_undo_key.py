"""The key of "undo", which is newer than the keys that people chose."""

from annotate.core.keys import keys_of, problems_of


def test_undo_has_z_unless_its_person_uses_z() -> None:
    assert keys_of("usual", {})["undo"] == "z"
    assert keys_of("usual", {"comment": "z"}) | {"undo": ""} == keys_of("usual", {"comment": "z"})
    assert keys_of("usual", {"values": "yxz"})["undo"] == ""
    assert keys_of("left", {})["unmark"] == "z"


def test_key_of_undo_chosen_for_another_action_is_a_problem() -> None:
    assert "comment" in problems_of("usual", {"comment": "z"})
