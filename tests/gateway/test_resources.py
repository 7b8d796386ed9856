"""Data files are found in a checkout and in a wheel, and nowhere else."""

import pytest

from gateway import resources
from gateway.resources import CARRIED, data_path


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Lay the package out as a wheel does, beside a stranger's `policies` folder."""
    package = tmp_path / "site-packages" / "gateway"
    (package / "_data" / "policies").mkdir(parents=True)
    (package / "_data" / "policies" / "ours.yaml").touch()
    (package.parent / "policies").mkdir()
    (package.parent / "policies" / "theirs.yaml").touch()
    monkeypatch.setattr(resources, "__file__", str(package / "resources.py"))
    return package


@pytest.mark.parametrize("folder", sorted(CARRIED))
def test_a_checkout_serves_its_own_folders(folder):
    assert data_path(folder).is_dir()


def test_an_installed_package_serves_what_it_carries(installed):
    assert data_path("policies", "ours.yaml") == installed / "_data" / "policies" / "ours.yaml"


def test_an_installed_package_never_serves_its_neighbours_files(installed):
    with pytest.raises(FileNotFoundError):
        data_path("policies", "theirs.yaml")


@pytest.mark.parametrize(
    "parts", [(), ("core",), ("policies", "..", "core"), ("policies", "/etc/passwd"), ("/etc",)]
)
def test_no_path_leaves_the_carried_folders(parts):
    with pytest.raises(ValueError, match="carried"):
        data_path(*parts)


def test_what_is_missing_is_said_not_replaced():
    with pytest.raises(FileNotFoundError, match="lacks policies/none"):
        data_path("policies", "none")
