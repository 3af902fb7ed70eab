"""Files for operators, in a checkout and in a wheel."""

from pathlib import Path

from gateway.config.assets import FOLDER, assets


def write(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def test_a_checkout_provides_the_deploy_folder_without_secrets(tmp_path: Path):
    deploy = tmp_path / "deploy"
    write(
        deploy / "units" / "one.service",
        deploy / "alerts.yaml",
        deploy / "pixgate.env",
        deploy / "pixgate.pem",
    )

    found = assets(tmp_path)

    assert found == {
        "config.yaml": tmp_path / "config.yaml",
        "requirements.txt": tmp_path / "requirements" / "production.txt",
        "alerts.yaml": deploy / "alerts.yaml",
        "units/one.service": deploy / "units" / "one.service",
    }


def test_assets_are_exported_from_a_wheel(tmp_path: Path):
    carried = tmp_path / FOLDER / "chart" / "Chart.yaml"
    write(carried, tmp_path / "deploy" / "alerts.yaml")

    assert assets(tmp_path) == {"chart/Chart.yaml": carried}
