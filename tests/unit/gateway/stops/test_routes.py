"""The routes of stops, as they are declared."""

from tests.unit.gateway.http.surface import gate_of, line


def test_the_routes_are_those_decided():
    assert line("stops") == ("GET", "/stops", "stop:read", 200)
    assert line("stops_ended") == ("GET", "/stops/ended", "stop:read", 200)
    assert line("stop_pull") == ("POST", "/stops", "stop:write", 201)
    assert line("stop_lift") == ("DELETE", "/stops/{stop_id}", "stop:write", 204)
    assert gate_of("stop_pull") == gate_of("stops") == gate_of("stop_lift")
