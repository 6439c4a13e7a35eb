"""The configuration: what Terraform is told agrees with the code it deploys."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from ferryman.settings import Settings, get_variable
from ferryman.stack import environment, provision
from infra.proof.faults import END, FAULTS
from infra.proof.matrix import INFRA
from infra.proof.schema import SCHEMA, UNWANTED, Module, list_resource_types

ROOT = INFRA.parent
SCHEMAS = json.loads(SCHEMA.read_text())
TEXT = {path.name: path.read_text() for path in INFRA.glob("*.tf")}


def test_every_resource_that_is_used_has_a_schema():
    assert set(SCHEMAS["resource_schemas"]) == {*list_resource_types(INFRA), *UNWANTED}


def test_the_page_of_the_deployment_names_the_provider_s_version():
    assert SCHEMAS["provider_version"] in (ROOT / "docs/deploy.md").read_text()
    assert SCHEMAS["provider_version"].startswith("8.")
    assert 'version = "~> 8.0"' in TEXT["versions.tf"]


def test_every_variable_says_what_it_is_for():
    variables = re.findall(r'^variable "(\w+)" \{\n(.*?)^\}', TEXT["variables.tf"], re.M | re.S)
    assert len(variables) > 10
    assert [name for name, body in variables if not re.search(r'description = ".{20,}"', body)] == []
    required = [name for name, body in variables if "default" not in body]
    assert required == ["project", "sealing_public_key", "receipt_public_keys", "decision_public_keys"]


def test_what_may_be_set_is_what_a_local_function_takes_from_its_caller():
    listed = re.search(r"may_be_set = \[(.*?)\]", TEXT["table.tf"], re.S)
    assert listed is not None
    assert set(re.findall(r'"(\w+)"', listed[1])) == {*environment.PASSED_ON, "FERRYMAN_PRICES", "FERRYMAN_INTEGRATIONS"}


def test_every_variable_of_a_function_is_read_by_the_settings():
    body = TEXT["functions.tf"]
    names = set(re.findall(r"^\s+((?:FERRYMAN|GOOGLE|ANTHROPIC)_\w+)\s+=", body, re.M)) | set(
        re.findall(r'= "(ANTHROPIC_\w+)"', body)
    )
    read = {get_variable(field.name) for field in fields(Settings)}
    assert len(names) > 10
    assert names <= read


@pytest.mark.parametrize("event", ["call", "call.in_doubt", "lease.lost", "credits.capped"])
def test_an_alert_waits_for_a_line_that_is_written(event):
    assert f'jsonPayload.message=\\"{event}\\"' in TEXT["alerts.tf"]
    sources = "".join(path.read_text() for path in (ROOT / "lib").rglob("*.py"))
    # a refusal's reason is put behind `call.`
    is_logged = any(f'{function}("{event}"' in sources for function in ("line", "log"))
    assert is_logged or ('line(f"call.{reason.reason}"' in sources and f'reason="{event.partition(".")[2]}"' in sources)


def test_no_alert_waits_for_anything_else():
    waited = set(re.findall(r'jsonPayload\.message=\\"([\w.]+)\\"', TEXT["alerts.tf"]))
    assert waited == {"call", "call.in_doubt", "lease.lost", "credits.capped"}


def test_a_leak_is_looked_for_under_its_own_reason():
    from ferryman.domain.calls import refusal

    assert f'jsonPayload.reason=\\"{refusal.LEAK}\\"' in TEXT["alerts.tf"]


def test_the_queues_retry_as_the_local_ones_do():
    limits = dict(re.findall(r"^    (max_attempts|min_backoff|max_backoff)\s+= \"?(-?\d+)s?\"?$", TEXT["queues.tf"], re.M))
    local = provision.RETRIES
    due = {"max_attempts": local["max_attempts"], **{key: local[key]["seconds"] for key in ("min_backoff", "max_backoff")}}
    assert {key: int(value) for key, value in limits.items()} == due


def test_the_queues_and_accounts_are_those_of_the_local_cloud():
    rows = json.loads((INFRA / "functions.json").read_text())["functions"]
    assert {queue for row in rows for queue in row["enqueues"]} == {environment.QUEUE, environment.SCHEDULES_QUEUE}
    assert {account for row in rows for account in row["acts_as"]} == {environment.QUEUE_CALLER}


def test_no_key_is_written_anywhere_in_it():
    assert not re.search(r"secret_version|secret_data|random_password|tls_private_key", "".join(TEXT.values()))


def test_there_are_forty_faults_and_more_each_with_a_place():
    assert len(FAULTS) >= 40
    assert len({fault.title for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        text = (INFRA / fault.file).read_text() + END
        assert fault.sound in text, fault.title
        assert fault.sound != fault.faulty
        assert fault.says


CODE = """
class ThingRuleOutputReference extends cdktn.ComplexObject {
    // order - computed: false, optional: true, required: false
    get order() {
        return this.getStringAttribute('order');
    }
}
class ThingRuleList extends cdktn.ComplexList {
}
function thingRuleToHclTerraform(struct) {
    const attrs = {
        order: {
            value: cdktn.stringToHclTerraform(struct.order),
            isBlock: false,
            type: "simple",
            storageClassType: "string",
        },
    };
}
class Thing extends cdktn.TerraformResource {
    // name - computed: false, optional: false, required: true
    get name() {
        return this.getStringAttribute('name');
    }
    // size - computed: true, optional: true, required: false
    get size() {
        return this.getNumberAttribute('size');
    }
    // uri - computed: true, optional: false, required: false
    get uri() {
        return this.getStringAttribute('uri');
    }
    // rule - computed: false, optional: false, required: true
    _rule = new ThingRuleList(this, "rule", false);
    synthesizeHclAttributes() {
        const attrs = {
            name: {
                value: cdktn.stringToHclTerraform(this._name),
                isBlock: false,
                type: "simple",
                storageClassType: "string",
            },
            size: {
                value: cdktn.numberToHclTerraform(this._size),
                isBlock: false,
                type: "simple",
                storageClassType: "number",
            },
            rule: {
                value: cdktn.listMapperHcl(thingRuleToHclTerraform, true)(this._rule.internalValue),
                isBlock: true,
                type: "list",
                storageClassType: "ThingRuleList",
            },
        };
    }
}
"""
SHAPES = """
export interface ThingRule {
    /**
    * Which way. Possible values: ["UP", "DOWN"]
    *
    * Docs: {@link https://example.com/docs/thing#order Thing#order}
    */
    readonly order?: string;
}
"""


def test_a_schema_is_read_out_of_the_generated_classes():
    assert Module(CODE, SHAPES).schema() == {
        "version": 0,
        "block": {
            "attributes": {
                "id": {"type": "string", "optional": True, "computed": True},
                "name": {"type": "string", "required": True},
                "size": {"type": "number", "optional": True, "computed": True},
                "uri": {"type": "string", "computed": True},
            },
            "block_types": {
                "rule": {
                    "nesting_mode": "list",
                    "min_items": 1,
                    "block": {"attributes": {"order": {"type": "string", "optional": True, "enum": ["UP", "DOWN"]}}},
                }
            },
        },
    }


def test_the_rules_of_the_database_let_nobody_in():
    rules = (INFRA / "firestore.rules").read_text()
    assert re.findall(r"allow [^;]*;", rules) == ["allow read, write: if false;"]


def test_every_file_is_under_the_length_limit():
    assert [path.name for path in Path(INFRA).rglob("*.tf") if len(path.read_text().splitlines()) > 250] == []
