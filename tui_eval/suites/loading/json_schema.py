"""The suite format as JSON Schema, for completion and checks in editors."""

from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.plugins.lookup import NAME
from tui_eval.suites.spec import SuiteFile


def json_schema() -> JsonObject:
    """Return the JSON Schema (draft 2020-12) of a suite file, every field described."""
    schema: JsonObject = SuiteFile.model_json_schema(by_alias=True)
    _allow_plugins(schema)
    required = schema.get("required")
    if isinstance(required, list):
        # an included file may have them
        schema["required"] = [name for name in required if name != "targets"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "tui-eval suite",
    }


_PLUGIN: Final[JsonObject] = {
    "type": "object",
    "description": "A plugin, with its settings.",
    "properties": {"kind": {"type": "string", "pattern": f"^{NAME}$"}},
    "required": ["kind"],
}


def _allow_plugins(schema: JsonObject) -> None:
    """Let targets and scorers be plugins, whose settings only they know."""
    fields = schema["properties"]
    assert isinstance(fields, dict)
    for name in ("targets", "scorers"):
        field = fields[name]
        assert isinstance(field, dict)
        field["items"] = {"anyOf": [field["items"], _PLUGIN]}
