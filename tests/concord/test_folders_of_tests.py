"""Tests that play side by side write to folders of their own."""

from django.conf import settings

from tests.conftest import FOLDER


def test_settings_have_the_folder_of_this_process():
    assert FOLDER == settings.DATA_DIR
