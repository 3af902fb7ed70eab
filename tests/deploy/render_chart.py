"""Renders and judges the chart, in ``.tools/deploy``, where Helm and Kubernetes' schemas are."""

import json
import sys

import helm_python
import kubernetes_validate
import yaml

OLDEST, NEWEST = "1.29", "1.33"
OTHERS = "monitoring.coreos.com"
"""Of an operator: Kubernetes has no schema of it."""

folder, values = sys.argv[1], json.loads(sys.argv[2])
wrong = [each["error"] for each in helm_python.lint(folder, values)["messages"]]
try:
    rendered = helm_python.Chart.load(folder).render(values, name="pixgate", namespace="payments")
except helm_python.HelmError as problem:
    rendered, wrong = {}, [*wrong, str(problem)]
documents = [each for text in rendered.values() for each in yaml.safe_load_all(text) if each]
for document in documents:
    if document["apiVersion"].startswith(OTHERS):
        continue
    for version in (OLDEST, NEWEST):
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as problem:
            wrong.append(f"{document['kind']}: {problem.message}")
json.dump({"documents": documents, "wrong": wrong}, sys.stdout)
