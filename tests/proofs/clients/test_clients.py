"""Clients that others' programs build from our documents: whole, and able to pay."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.servers.clients import HOME, Programs, programs
from tests.servers.demand import absent
from tests.world.documents import SURFACES
from tests.world.gateway.world import NOBODY, World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Path(__file__).parent
GUIDE = HERE.parents[2] / "docs/partner-guide.md"
PATHS = {
    "banking": "/openapi.json",
    "events": "/events/v1/openapi.json",
    "sandbox": "/sandbox/v1/openapi.json",
    "identity": "/iam/v1/openapi.json",
    "backoffice": "/backoffice/v1/openapi.json",
}
PATIENCE_S = 300
"""A program of Java's on a busy machine."""

# openapi-python-client knows neither lines of JSON nor archives; whoever needs one tells it so.
UNKNOWN = ("application/x-ndjson", "application/zip")
AS_BYTES = {"content_type_overrides": dict.fromkeys(UNKNOWN, "application/octet-stream")}

# A field of a class or struct, or a parameter, in what openapi-generator makes.
FIELD = {
    "go": re.compile(
        r"^\t(?P<name>\w+) +\*?(?:\[\])?(?:Nullable)?(?P<kind>\w+)(?: `json:.*)?$", re.MULTILINE
    ),
    "java": re.compile(r"\b(?P<kind>[A-Z]\w*)>? (?P<name>\w+)(?=[,;)]| = )"),
    "rust": re.compile(
        r"\b(?P<name>\w+): (?:Option<)*(?:Box<)?(?:Vec<)?(?P<kind>\w+)(?=[,;>)]| =)"
    ),
}
NARROW = {"float32", "int32", "float", "double", "integer", "f32", "i32"}
WIDE = {"go": ("float64", "int64"), "java": ("bigdecimal", "long"), "rust": ("f64", "i64")}
"""What an amount and an id of 16 digits are."""
PARTS = {
    **dict.fromkeys(("models", "apis", "supportingFiles"), ""),
    **dict.fromkeys(("modelTests", "modelDocs", "apiTests", "apiDocs"), "false"),
}
"""Of a generated client."""
WANTED: Mapping[str, Mapping[str, Any]] = {
    "go": {
        "gitHost": "pixgate.invalid",
        "gitUserId": "partner",
        "gitRepoId": "client",
        "additionalProperties": {
            "packageName": "pixgate",
            "useOneOfDiscriminatorLookup": "true",
            "disallowAdditionalPropertiesIfNotPresent": "false",
        },
    },
    "java": {
        "typeMappings": {"double": "BigDecimal"},
        "additionalProperties": {
            "library": "native",
            "openApiNullable": "false",
            "invokerPackage": "partner",
            "apiPackage": "partner.api",
            "modelPackage": "partner.model",
        },
    },
    "rust": {"additionalProperties": {"packageName": "pixgate"}},
}
"""As in the guide; for Java without the libraries that are not in the generator's own jar."""
SOURCES = {
    "go": ("model_*.go", "api_*.go"),
    "java": ("src/main/java/partner/model/*.java", "src/main/java/partner/api/*.java"),
    "rust": ("src/models/*.rs", "src/apis/*_api.rs"),
}
LARGE = (131072.01, 1234567.89)
"""Amounts that a float of 32 bits alters."""
INSIDE = {"anyOf", "items", "schema"}
"""What a schema has below it that is still the same field."""

# Of openapi-generator, whatever the document: 3.1 is new to it, and an array of texts has no name.
HARMLESS = ("OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null")


@dataclass(frozen=True, slots=True)
class Workshop:
    """
    The served documents, and the programs that read them.

    Attributes:
        folder: Holds each document under its name.
    """

    programs: Programs
    folder: Path
    documents: Mapping[str, Any]

    def run(self, command: Sequence[str | Path], given: object = None) -> str:
        """Run a program; return what it said."""
        done = subprocess.run(
            [str(each) for each in command],
            cwd=self.folder,
            env=self.programs.environment,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout if given is not None else done.stdout + done.stderr

    def shapes(self, surface: str) -> list[str]:
        """Name the shapes with fields; of one without any a client makes no type."""
        schemas = self.documents[surface]["components"]["schemas"]
        return [name for name, shape in schemas.items() if shape.get("properties")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workshop(world: World, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    found, folder = programs(), tmp_path_factory.mktemp("clients")
    documents = {}
    for name, path in PATHS.items():
        answer = await world.ask("GET", path, by=NOBODY)
        documents[name] = answer.document
        (folder / f"{name}.json").write_bytes(answer.body)
    (folder / "as_bytes.json").write_text(json.dumps(AS_BYTES))
    return Workshop(found, folder, documents)


@pytest.mark.parametrize("surface", SURFACES)
async def test_openapi_python_client_generates_a_client_that_reads_every_answer(
    world: World, workshop: Workshop, surface: str
):
    """Without warnings about omitted parts; the partner's client pays in a running gateway."""
    package = f"python_{surface}"

    said = await asyncio.to_thread(
        workshop.run,
        [
            *(workshop.programs.openapi_python_client, "generate", "--path", f"{surface}.json"),
            *("--meta", "none", "--output-path", package, "--config", "as_bytes.json"),
        ],
    )
    asked = {
        "folder": str(workshop.folder),
        "package": package,
        "answers": answers(workshop.documents[surface]),
        **(paying(world, 10.50) if surface == "banking" else {}),
    }
    told = await calls(workshop, "calls_python_client.py", asked)

    assert "arning" not in said, said
    made = (workshop.folder / package / "models" / "__init__.py").read_text()
    assert [name for name in workshop.shapes(surface) if f'"{name}"' not in made] == []
    assert asked["answers"]
    assert told["unread"] == []
    if surface == "banking":
        assert told["paid"]["status"] == 200
        assert told["paid"]["document"]["status"] == "processing"
        assert await world.executions(asked["payout"]["reference"]) == [1050]


async def test_openapi_generator_builds_clients_that_pay(world: World, workshop: Workshop):
    """Without warnings about omitted parts; one Java process generates all three."""
    for surface in SURFACES:
        wanted = {
            "generatorName": "python",
            "inputSpec": str(workshop.folder / f"{surface}.json"),
            "outputDir": str(workshop.folder / f"generator_{surface}"),
            "additionalProperties": {"packageName": f"generated_{surface}"},
        }
        (workshop.folder / f"{surface}-wanted.json").write_text(json.dumps(wanted))

    said = await asyncio.to_thread(
        workshop.run,
        [
            *(workshop.programs.openapi_generator, "batch"),
            *(f"{surface}-wanted.json" for surface in SURFACES),
        ],
    )
    asked = {
        "folder": str(workshop.folder / "generator_banking"),
        "package": "generated_banking",
        **paying(world, 10.50),
    }
    told = await calls(workshop, "calls_generated_client.py", asked)

    warned = [line for line in said.splitlines() if re.search(r"\b(WARN|ERROR)\b", line)]
    assert [line for line in warned if not any(each in line for each in HARMLESS)] == []
    for surface in SURFACES:
        package = workshop.folder / f"generator_{surface}" / f"generated_{surface}"
        made = (package / "__init__.py").read_text()
        assert [name for name in workshop.shapes(surface) if f'"{name}"' not in made] == []
    assert told["document"]["status"] == "processing"
    assert await world.executions(asked["payout"]["reference"]) == [1050]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def generated(workshop: Workshop) -> Workshop:
    """The clients that one Java process generates in all three languages."""
    batch = []
    for language, wanted in WANTED.items():
        for surface in SURFACES:
            described = {
                "generatorName": language,
                "inputSpec": str(workshop.folder / f"{surface}.json"),
                "outputDir": str(workshop.folder / f"{language}_{surface}"),
                "globalProperties": PARTS,
                **wanted,
            }
            batch.append(f"{language}-{surface}.json")
            (workshop.folder / batch[-1]).write_text(json.dumps(described))
    await asyncio.to_thread(workshop.run, [workshop.programs.openapi_generator, "batch", *batch])
    return workshop


@pytest.mark.parametrize("language", WIDE)
async def test_generated_clients_use_wide_number_types(generated: Workshop, language: str):
    """
    Built as in the guide: no 32-bit amounts, and integers only where their bound fits.

    Of Rust's that is all: its libraries are on crates.io alone.
    """
    workshop = generated
    for surface in SURFACES:
        bounded = {
            name.replace("_", "").lower()
            for name, schema in named_numbers(workshop.documents[surface])
            if schema["format"] == "int32"
        }
        fields = list(fields_of(workshop.folder / f"{language}_{surface}", language))
        narrow = {(name, kind) for name, kind in fields if kind in NARROW}
        assert {kind for _, kind in narrow} <= {"int32", "integer", "i32"}
        assert {name for name, _ in narrow} <= bounded
    kinds = dict(fields_of(workshop.folder / f"{language}_banking", language))
    assert (kinds["blocked"], kinds["documentnumber"]) == WIDE[language]
    assert f"-g {language}" in GUIDE.read_text("utf-8")


async def test_a_generated_go_client_accepts_new_fields(generated: Workshop):
    """By default it refuses an answer with a field that it does not know; Java's does not."""
    models = [*(generated.folder / "go_banking").glob("model_*.go")]
    properties = "useOneOfDiscriminatorLookup=true,disallowAdditionalPropertiesIfNotPresent=false"

    assert len(models) > 20
    assert [each.name for each in models if "DisallowUnknownFields" in each.read_text()] == []
    assert f"--additional-properties {properties}\n" in GUIDE.read_text("utf-8")


async def test_a_generated_go_client_pays_large_amounts(world: World, generated: Workshop):
    folder = generated.folder / "go_banking"
    (folder / "pays").mkdir()
    shutil.copy(HERE / "pays.go", folder / "pays" / "main.go")

    await asyncio.to_thread(
        generated.run,
        # Not optimized: that takes a third less time, most of it for the standard library.
        [
            *(generated.programs.go, "build", "-C", folder, "-gcflags=all=-N -l"),
            *("-o", folder / "paying", "./pays"),
        ],
    )

    await pays_and_reads(world, generated, "go", [folder / "paying"])


async def test_a_generated_java_client_pays_large_amounts(world: World, generated: Workshop):
    """Its libraries are in the generator's jar."""
    folder, compiler = generated.folder / "java_banking", shutil.which("javac")
    if compiler is None:
        absent("clients", "no javac in the path")
    [jar] = HOME.glob("lib/python*/site-packages/openapi_generator_cli/openapi-generator.jar")
    sources = [*HERE.glob("*.java"), *(folder / "src/main/java").rglob("*.java")]

    await asyncio.to_thread(
        generated.run,
        [compiler, "-nowarn", "-proc:none", "-cp", jar, "-d", folder / "classes", *sources],
    )

    path = f"{folder / 'classes'}{os.pathsep}{jar}"
    await pays_and_reads(world, generated, "java", ["java", "-cp", path, "Pays"])


async def pays_and_reads(
    world: World, workshop: Workshop, language: str, command: Sequence[str | Path]
) -> None:
    """Pay large amounts by a compiled client; its statement has them, and ids of 16 digits."""
    account = world.demo["accounts"]["main"]["id"]
    await world.control.post("accounts", account, "top-up", body={"value": 2_000_000})
    references = [f"{language}-{value}" for value in LARGE]
    orders = [
        {"reference": reference, "value": value}
        for reference, value in zip(references, LARGE, strict=True)
    ]

    asked = {"base_url": f"http://127.0.0.1:{world.port}", "account_id": account}
    asked |= {**world.pair("full"), "day": world.today(), "orders": orders}
    first = json.loads(await asyncio.to_thread(workshop.run, command, asked))
    for reference in references:
        await world.settled(reference)
    said = json.loads(await asyncio.to_thread(workshop.run, command, asked))

    assert first["paid"] == said["paid"] == list(LARGE)
    assert [await world.executions(each) for each in references] == [[13107201], [123456789]]
    assert {*LARGE, 2_000_000} <= set(said["values"])
    assert {len(str(each)) for each in said["document_numbers"]} >= {16}


async def test_tsc_compiles_the_types_of_openapi_typescript(workshop: Workshop):
    """All three; the types accept the guide's own orders and none in centavos."""
    for surface in SURFACES:
        said = await asyncio.to_thread(
            workshop.run,
            [workshop.programs.openapi_typescript, f"{surface}.json", "-o", f"{surface}.ts"],
        )
        assert "arning" not in said, said
    orders = re.findall(r"^```json\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    program = (HERE / "uses_banking.ts").read_text("utf-8")
    program = program.replace("GUIDE_ORDERS", f"[{','.join(orders)}]")
    (workshop.folder / "uses_banking.ts").write_text(program, "utf-8")

    await asyncio.to_thread(
        workshop.run,
        [
            *(workshop.programs.tsc, "--strict", "--noEmit", "--target", "es2022"),
            *("--module", "esnext", "--moduleResolution", "bundler", "uses_banking.ts"),
            *(f"{surface}.ts" for surface in SURFACES),
        ],
    )


def named_numbers(part: Any, name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return every number of a document, each with the field or parameter that it belongs to."""
    if isinstance(part, list):
        for each in part:
            yield from named_numbers(each, name)
    elif isinstance(part, dict):
        if part.get("type") in ("integer", "number"):
            yield name, part
        inherited = part["name"] if isinstance(part.get("name"), str) else name
        for word, each in part.items():
            if word not in ("example", "examples"):
                yield from named_numbers(each, inherited if word in INSIDE else word)


def fields_of(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """Return the fields of generated classes: a name without its case, and the word of its type."""
    for path in sorted(path for pattern in SOURCES[language] for path in folder.glob(pattern)):
        for found in FIELD[language].finditer(path.read_text("utf-8")):
            yield found["name"].replace("_", "").lower(), found["kind"].lower()


def answers(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "operation": operation["operationId"],
            "status": int(status),
            "document": document,
        }
        for path in document["paths"].values()
        for operation in path.values()
        for status, shown in operation["responses"].items()
        for content in [shown.get("content", {}).get("application/json", {})]
        if "schema" in content
        for document in (
            [content["example"]]
            if "example" in content
            else [each["value"] for each in content["examples"].values()]
        )
    ]


def paying(world: World, value: float) -> dict[str, Any]:
    pair = world.pair("full")
    return {
        "base_url": f"http://127.0.0.1:{world.port}",
        "pair": f"{pair['client_id']}:{pair['client_secret']}",
        "account_id": world.demo["accounts"]["main"]["id"],
        "payout": order(uuid.uuid4().hex, world.today(), value=value),
    }


async def calls(workshop: Workshop, script: str, asked: object) -> Any:
    """Use a client in a process of its own, with its packages."""
    command = [workshop.programs.python, HERE / script]
    return json.loads(await asyncio.to_thread(workshop.run, command, asked))
