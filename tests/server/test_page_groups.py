"""Groups and their attempts, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from page_making import Site, serving
from server_making import ANSWERS, HOSTILE, sampled, trained

from lydite.server.index.rows import RunRow
from lydite.server.page.group_view import scale_of

LONG = "x" * 2_000_000 + " \\boxed{{{sum}}}"
HEBREW = "\u202e\u05e9\u05dc\u05d5\u05dd \x00 \x1b[31m \ud800 \\boxed{{{sum}}}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    sampled(home, "sampled")
    sampled(home, "same", tasks=1, answers=(ANSWERS[0], ANSWERS[0]))
    sampled(home, "hostile", tasks=1, answers=(HOSTILE, LONG, HEBREW, "", ANSWERS[2]))
    trained(home, "trained", steps=3)
    with serving(home) as site:
        yield site


def test_groups_are_shown_in_any_window(site: Site) -> None:
    site.looks("/runs/trained/groups", lambda page: page.locator("tr[data-row].dim").first.wait_for())


def test_a_group_is_shown_in_any_window(site: Site) -> None:
    site.looks("/runs/trained/groups/1", lambda page: page.locator(".attempt").first.wait_for())


def test_groups_without_signal_say_why(site: Site) -> None:
    page = site.open("/runs/same/groups")
    assert "no signal: all correct, too easy" in page.locator("tr.dim").inner_text()
    page.goto(site.url + "/runs/same/groups/1")
    assert "every attempt earned the same" in page.locator(".stats").inner_text()
    assert page.locator(".attempts.flat .adv").first.inner_text() == "adv +0.00"
    site.check(page)


def test_filters_and_steps_live_in_the_address(site: Site) -> None:
    page = site.open("/runs/trained/groups?stage=0&step=2")
    assert page.locator("tr[data-row]").count() == 1
    assert "step 2" in page.locator("h1").inner_text()
    page.keyboard.press("]")
    page.wait_for_url("**step=3")
    page.keyboard.press("[")
    page.wait_for_url("**step=2")
    page.goto(site.url + "/runs/trained/groups?signal=all_wrong&phase=before")
    page.get_by_text("No group is like that").wait_for()
    site.check(page)


def test_attempts_stand_beside_each_other_with_what_they_earned(site: Site) -> None:
    page = site.open("/runs/sampled/groups/1")
    first = page.locator(".attempt").first
    assert "+1.00" in first.inner_text()
    assert "adv +0.87" in first.inner_text()
    tops = {box["y"] for box in (card.bounding_box() for card in page.locator(".attempt").all()[:2])}
    assert len(tops) == 1
    page.set_viewport_size({"width": 890, "height": 900})
    lefts = {box["x"] for box in (card.bounding_box() for card in page.locator(".attempt").all())}
    assert len(lefts) == 1
    page.keyboard.press("o")
    page.keyboard.press("w")
    page.wait_for_url("**sort=worst")
    assert "−0.10" in page.locator(".attempt").first.inner_text()
    site.check(page)


def test_keys_go_from_group_to_group_and_pick_two_to_compare(site: Site) -> None:
    page = site.open("/runs/sampled/groups/1")
    page.keyboard.press("n")
    page.wait_for_url("**/groups/5")
    page.keyboard.press("p")
    page.wait_for_url("**/groups/1")
    assert page.locator("button.compare").is_disabled()
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.press("j")
    page.keyboard.press("j")
    with page.expect_request("**/diff?**") as asked:
        page.keyboard.press("c")
    assert asked.value.url.endswith("/diff?a=sampled%3A1&b=sampled%3A3")


def test_two_are_compared_without_script_and_any_other_number_is_refused(site: Site) -> None:
    page = site.open("/runs/sampled/groups/1", script=False)
    page.locator("input[name=seq]").nth(0).check()
    page.locator("button.compare").click()
    assert "tick two attempts" in page.locator(".note.bad").inner_text()


def test_what_was_said_is_text_whatever_it_is(site: Site) -> None:
    def check(page: Any) -> None:
        said = page.locator(".attempt pre.words")
        assert "<script>window.pwned=1</script>" in said.nth(0).inner_text()
        assert "202E" in said.nth(2).inner_text()
        assert "\u05e9\u05dc\u05d5\u05dd" in said.nth(2).inner_text()
        assert "^@" in said.nth(2).inner_text()
        assert "ESC" in said.nth(2).inner_text()
        assert "It said nothing." in page.locator(".attempt").nth(3).inner_text()
        assert len(page.content()) < 100_000

    site.looks("/runs/hostile/groups/1", check)


def test_a_long_text_opens_in_place_up_to_a_limit(site: Site) -> None:
    page = site.open("/runs/hostile/groups/1")
    said = page.locator(".attempt").nth(1).locator(".said")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("e")
    said.get_by_text("200,000 of 2,000,010 characters").wait_for()
    assert said.get_by_text("All of it").get_attribute("href") == "/runs/hostile/rollouts/2"
    site.check(page)


@pytest.mark.parametrize(
    ("stages", "stage", "scale"),
    [
        ([{"kind": "grpo", "loss_type": "dr_grpo"}], 0, "none"),
        ([{"kind": "grpo", "loss_type": "dapo"}], 0, "batch"),
        ([{"kind": "grpo", "loss_type": "dapo", "scale_rewards": "group"}], 0, "group"),
        ([{"kind": "grpo", "loss_type": "unheard_of", "scale_rewards": "other"}], 0, "group"),
        ("none", 0, "group"),
        ([], 3, "group"),
    ],
)
def test_advantages_are_divided_as_the_recipe_says(stages: object, stage: int, scale: str) -> None:
    run = RunRow(id="x", kind="train", created="", state="complete", settings={"stages": stages})
    assert scale_of(run, stage) == scale
