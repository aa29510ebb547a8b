"""When the engine may stop, with a clock of our own."""

import pytest

from veritrail_graph.graph.embedded.supervisor import Lifetime


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lifetime(clock):
    return Lifetime(10, clock)


def test_it_ends_after_the_idle_time_and_not_before(lifetime, clock):
    clock.now += 9.9
    assert not lifetime.end_if_idle()
    clock.now += 0.2
    assert lifetime.end_if_idle()


def test_a_lease_holds_it_and_the_time_counts_from_its_end(lifetime, clock):
    with lifetime.lease(10) as granted:
        assert granted
        clock.now += 1000
        assert lifetime.seconds_left() is None
        assert not lifetime.end_if_idle()
    assert lifetime.seconds_left() == 10


def test_no_lease_is_granted_once_it_ends(lifetime, clock):
    clock.now += 11
    assert lifetime.end_if_idle()
    with lifetime.lease(10) as granted:
        assert not granted
        assert lifetime.clients == 0
    assert lifetime.end_if_idle()


def test_in_a_hurry_it_ends_with_its_last_client_even_when_pinned(lifetime):
    lifetime.pinned = True
    lifetime.hurry()
    with lifetime.lease(10):
        assert not lifetime.end_if_idle()
    assert lifetime.end_if_idle()


def test_a_touch_starts_the_idle_time_anew(lifetime, clock):
    clock.now += 9
    lifetime.touch()
    assert lifetime.seconds_left() == 10
