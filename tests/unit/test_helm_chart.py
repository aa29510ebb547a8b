"""The chart for Kubernetes: rendered by Helm itself, and held against the schemas of Kubernetes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from veritrail_graph.api.cli.app import command
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.settings.secret_files import keys_by_environment, roles_of
from veritrail_graph.api.settings.values import Role

helm = pytest.importorskip("helm_python", reason="no wheel of Helm for this machine")

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "veritrail"
VERSIONS = ("1.27", kubernetes_validate.latest_version().rpartition(".")[0])
"""The oldest version that the chart names, and the newest whose schemas are at hand."""
NEEDED: dict[str, Any] = {
    "image": {"repository": "registry.example/veritrail-graph"},
    "neo4j": {
        "uri": "neo4j+s://graph.example:7687",
        "passwordSecret": {"name": "graph", "key": "password"},
    },
    "postgresql": {"urlSecret": {"name": "jobs", "key": "url"}},
    "apiKeySecret": {"name": "veritrail", "key": "key"},
}
SCALED: dict[str, Any] = {
    "worker": {"autoscaling": {"enabled": True, "keySecret": {"name": "keda", "key": "key"}}}
}
EVERYTHING: dict[str, Any] = {
    **SCALED,
    "image": {
        "repository": "registry.example/veritrail-graph",
        "digest": "sha256:" + "0" * 64,
        "pullSecrets": [{"name": "registry"}],
    },
    "secrets": {"OPENAI_API_KEY": {"name": "openai", "key": "key"}},
    "settings": {"VERITRAIL_MODEL": "gpt-6-luna", "VERITRAIL_CONCURRENCY": 8, "VERITRAIL_RATE": 60},
    "service": {"replicas": 1, "proxies": "10.0.0.0/8"},
    "networkPolicy": {"from": [{"namespaceSelector": {"matchLabels": {"ingress": "yes"}}}]},
    "podAnnotations": {"example/team": "audit"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "batch", "operator": "Exists"}],
}


def merged(*values: dict[str, Any]) -> dict[str, Any]:
    """All of these values, later ones first."""
    found: dict[str, Any] = {}
    for one in values:
        for name, value in one.items():
            former = found.get(name)
            both = isinstance(former, dict) and isinstance(value, dict)
            found[name] = merged(former, value) if both else deepcopy(value)  # type: ignore[arg-type]
    return found


def rendered(*values: dict[str, Any], name: str = "audit") -> list[dict[str, Any]]:
    """The manifests of a release with these values beside what is needed."""
    given = merged(NEEDED, *values)
    with helm.Chart.load(str(CHART)) as chart:
        chart.validate_schema(chart.merge_values(given))
        texts = chart.render(given, name=name, namespace="texts")
    return [
        one
        for path, text in texts.items()
        if path.endswith(".yaml")
        for one in yaml.safe_load_all(text)
        if one
    ]


def of_kind(manifests: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in manifests if one["kind"] == kind]


def pods(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods, by what they are."""
    for one in of_kind(manifests, "Deployment"):
        template = one["spec"]["template"]
        yield template["metadata"]["labels"]["app.kubernetes.io/component"], template["spec"]


@pytest.mark.parametrize("values", [{}, SCALED, EVERYTHING], ids=["least", "scaled", "everything"])
@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_one_of_kubernetes(version: str, values: dict[str, Any]) -> None:
    manifests = rendered(values)
    own = [one for one in manifests if not one["apiVersion"].startswith("keda.sh/")]
    assert {one["kind"] for one in own} >= {"ConfigMap", "Deployment", "NetworkPolicy", "Service"}
    for one in own:
        kubernetes_validate.validate(one, version, strict=True)
    spoiled = deepcopy(of_kind(own, "Deployment")[0])
    spoiled["spec"]["replicaz"] = 1
    with pytest.raises(kubernetes_validate.ValidationError, match="replicaz"):
        kubernetes_validate.validate(spoiled, version, strict=True)


def test_helm_has_nothing_to_say_of_the_chart() -> None:
    found = helm.lint(str(CHART), NEEDED)
    assert not found["errors"]
    assert [one["error"] for one in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"image": {"repository": ""}}, "repository"),
        ({"neo4j": {"passwordSecret": {"name": ""}}}, "name"),
        ({"neo4j": {"uri": "bolt://neo4j:secret@host"}}, "uri"),
        ({"neo4j": {"password": "secret"}}, "password"),
        ({"settings": {"OPENAI_API_KEY": "sk-1"}}, "OPENAI_API_KEY"),
        ({"worker": {"autoscaling": {"enabled": True}}}, "name"),
        ({"wokrer": {"replicas": 3}}, "wokrer"),
        ({"service": {"replicas": 0}}, "replicas"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_by_name(
    values: dict[str, Any], named: str
) -> None:
    with pytest.raises(helm.HelmError, match=named):
        rendered(values)


def test_no_value_has_to_be_guessed() -> None:
    with helm.Chart.load(str(CHART)) as chart, pytest.raises(helm.HelmError, match="repository"):
        chart.validate_schema(chart.merge_values({}))


def test_secrets_are_files_and_every_secret_setting_may_come_as_one() -> None:
    names = [
        name
        for name, _, field in keys_by_environment(Settings, "VERITRAIL_")
        if Role.SECRET in roles_of(field)
    ]
    assert len(names) > 10
    for name in names:
        with pytest.raises(helm.HelmError, match=name):
            rendered({"settings": {name: "secret"}})
    given = {name: {"name": "of-models", "key": name.lower()} for name in names}
    for _, pod in pods(rendered({"secrets": given})):
        (container,) = pod["containers"]
        (volume,) = [one for one in pod["volumes"] if one["name"] == "secrets"]
        files = {
            item["path"]
            for source in volume["projected"]["sources"]
            for item in source["secret"]["items"]
        }
        assert files == set(names)
        (mount,) = [one for one in container["volumeMounts"] if one["name"] == "secrets"]
        assert {one["name"]: one["value"] for one in container["env"]} == {
            f"{name}_FILE": f"{mount['mountPath']}/{name}" for name in names
        }


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["least", "everything"])
def test_pods_may_do_nothing_that_they_need_not(values: dict[str, Any]) -> None:
    found = dict(pods(rendered(values)))
    assert sorted(found) == ["service", "worker"]
    for pod in found.values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        written = {one["mountPath"] for one in container["volumeMounts"] if not one.get("readOnly")}
        assert written == {"/var/lib/veritrail", "/tmp"}
        assert all(one["emptyDir"]["sizeLimit"] for one in pod["volumes"] if "emptyDir" in one)
    assert not of_kind(rendered(values), "Secret")


def test_pods_call_commands_that_are_there_with_settings_that_are_known() -> None:
    manifests = rendered(EVERYTHING)
    for _, pod in pods(manifests):
        name, *args = pod["containers"][0]["args"]
        command().commands[name].make_context(name, list(args))
    known = {name for name, _, _ in keys_by_environment(Settings, "VERITRAIL_")}
    (settings,) = of_kind(manifests, "ConfigMap")
    assert settings["data"]["VERITRAIL_CONCURRENCY"] == "8"
    assert set(settings["data"]) <= known


def test_the_service_is_watched_and_a_change_of_settings_starts_new_pods() -> None:
    (pod,) = [pod for component, pod in pods(rendered()) if component == "service"]
    (container,) = pod["containers"]
    paths = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness")
    }
    assert paths == {"liveness": "/healthz", "readiness": "/readyz"}
    sums = set()
    for model in ("one", "other"):
        (first, *_) = of_kind(rendered({"settings": {"VERITRAIL_MODEL": model}}), "Deployment")
        sums.add(first["spec"]["template"]["metadata"]["annotations"]["checksum/settings"])
    assert len(sums) == 2


def test_workers_are_scaled_by_a_figure_that_the_service_tells() -> None:
    fixed = [
        one for one in of_kind(rendered(), "Deployment") if "worker" in one["metadata"]["name"]
    ]
    assert fixed[0]["spec"]["replicas"] == 2
    manifests = rendered(SCALED)
    (scaled,) = of_kind(manifests, "ScaledObject")
    (target,) = [
        one
        for one in of_kind(manifests, "Deployment")
        if one["metadata"]["name"] == scaled["spec"]["scaleTargetRef"]["name"]
    ]
    assert "replicas" not in target["spec"]  # two would decide
    (trigger,) = scaled["spec"]["triggers"]
    told = (
        (ROOT / "tests/golden/expected/data/rest/metrics.txt").read_text(encoding="utf-8").split()
    )
    assert trigger["metadata"]["valueLocation"] in told
    (service,) = of_kind(manifests, "Service")
    assert trigger["metadata"]["url"] == (
        f"http://{service['metadata']['name']}.texts.svc:{service['spec']['ports'][0]['port']}/metrics"
    )
    (login,) = of_kind(manifests, "TriggerAuthentication")
    assert login["metadata"]["name"] == trigger["authenticationRef"]["name"]
    (inwards,) = [one for one in of_kind(manifests, "NetworkPolicy") if "ingress" in one["spec"]]
    assert {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "keda"}}} in (
        inwards["spec"]["ingress"][0]["from"]
    )


def test_names_stay_within_bounds_and_lead_to_one_another() -> None:
    manifests = rendered(SCALED, name="a" * 53)
    assert all(len(one["metadata"]["name"]) <= 63 for one in manifests)
    for _, pod in pods(manifests):
        (source,) = pod["containers"][0]["envFrom"]
        (settings,) = of_kind(manifests, "ConfigMap")
        assert source["configMapRef"]["name"] == settings["metadata"]["name"]
    (service,) = of_kind(manifests, "Service")
    for one in of_kind(manifests, "Deployment"):
        labels = one["spec"]["template"]["metadata"]["labels"]
        assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()
        is_service = labels["app.kubernetes.io/component"] == "service"
        assert (service["spec"]["selector"].items() <= labels.items()) == is_service


def test_the_chart_has_the_version_of_the_program_and_its_example_holds() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{chart["appVersion"]}"' in project
    assert json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"helm install ((?:.*\\\n)*.*)", page)
    words = shlex.split(example.replace("\\\n", " "))
    assert words[1] == str(CHART.relative_to(ROOT))
    given = [value for flag, value in pairwise(words) if flag == "--set"]
    rendered(*(helm.parse_set_string(one) for one in given))
