"""Renders and judges the chart, in ``.tools/deploy``, where Helm and Kubernetes' schemas are."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import helm_python
import kubernetes_validate
import yaml

VERSIONS = ("1.29", "1.33")
OTHERS = "monitoring.coreos.com"
"""Of an operator: Kubernetes has no schema of it."""


def judged(folder: str, values: dict[str, Any], name: str) -> dict[str, Any]:
    wrong = [each["error"] for each in helm_python.lint(folder, values)["messages"]]
    try:
        chart = helm_python.Chart.load(folder)
        rendered = chart.render(values, name=name, namespace="payments")
    except helm_python.HelmError as problem:
        return {"documents": [], "wrong": [*wrong, str(problem)]}
    documents = [each for text in rendered.values() for each in yaml.safe_load_all(text) if each]
    return {"documents": documents, "wrong": [*wrong, *refused(documents)]}


def refused(documents: list[dict[str, Any]]) -> Iterator[str]:
    """Name what a schema does not know, a field too many included."""
    for document in documents:
        if document["apiVersion"].startswith(OTHERS):
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as problem:
                yield f"{document['kind']}: {problem.message}"


folder, asked, name = sys.argv[1:]
json.dump([judged(folder, each, name) for each in json.loads(asked)], sys.stdout)
