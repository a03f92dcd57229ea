"""validate_lines.py SCHEMA FILE: exits 0 when every line of FILE is valid under SCHEMA and no field is unknown to it, 77
when there is no validator (Debian: python3-jsonschema), else 1."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(77)


def closed(schema):
    """The schema with every object closed, so that a field that the schema forgot is an error, too."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in result and isinstance(result.get("required"), list):
        result.setdefault("additionalProperties", False)
    return result


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
definitions = closed(schema["$defs"])
wrong = 0
with open(sys.argv[2], encoding="utf-8") as file:
    for number, line in enumerate(file, 1):
        line = json.loads(line)
        # By kind, so that the message is about the line and not about the alternatives.
        validator = Draft202012Validator({"$ref": f"#/$defs/{line['kind']}", "$defs": definitions})
        for error in validator.iter_errors(line):
            print(f"line {number}: {error.json_path}: {error.message[:200]}")
            wrong = 1
sys.exit(wrong)
