"""What is recorded with a run is published with it."""

from flexicase._provenance import Provenance


def test_a_command_is_recorded_without_where_things_lie(monkeypatch):
    arguments = ["/opt/bin/flexicase", "run", "/home/me/my study.toml", "--studies=/data/studies", "--nice", "10"]
    monkeypatch.setattr("sys.argv", arguments)
    assert Provenance.here().command == "flexicase run 'my study.toml' --studies=studies --nice 10"
    monkeypatch.setattr("sys.argv", ["flexicase", "run", "here/study.toml"])
    assert Provenance.here().command == "flexicase run here/study.toml"
