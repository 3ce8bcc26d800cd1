"""The page of a study in a browser: values beneath the pointer, and the command of a run."""

import numpy as np
import pytest
import xarray
from selenium.webdriver.common.action_chains import ActionChains

from carom.experiment.sweeping import study_page

from .test_report import browser as browser  # a fixture


@pytest.fixture
def page(tmp_path):
    dims, values = ("mu", "angle"), np.arange(12.0).reshape(3, 4)
    told = {"outcome": (dims, np.ones((3, 4), dtype=np.int8)), "force": (dims, values, {"units": "N"})}
    data = xarray.Dataset(told, {"mu": [0.0, 0.25, 0.5], "angle": [30.0, 40.0, 50.0, 60.0]})
    return study_page(data, tmp_path / "study.html", "study.zarr")


def test_values_beneath_the_pointer_and_the_command_of_a_run(browser, page):
    browser.set_window_size(1100, 900)
    browser.get(page.as_uri())
    canvas = browser.find_element("id", "map")
    # The cell right of the middle, in the middle row: mu = 0.25, angle = 50.
    ActionChains(browser).move_to_element_with_offset(canvas, 60, -10).click().perform()
    assert browser.find_element("id", "told").text == "mu = 0.25, angle = 50: force = 6 [N]"
    assert browser.find_element("id", "command").text == "carom run study.zarr --at mu=0.25,angle=50"
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
