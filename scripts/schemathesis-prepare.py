"""Makes the description of the API fit for trying it on a running server.

Usage: schemathesis-prepare.py URL TOKEN < docs/openapi.json > FILE. Random ids would meet nothing but 404:
so calls are handed in, and the copy names them beside an id that is nobody's. Waits are a second at the most,
since one of minutes, right as it is, would be taken for a server that hangs.
"""

import json
import sys
import urllib.request

COUNT = 8
NOBODY = "00000000-0000-7000-8000-000000000000"
CALLS = {
    "awaiting_approval": {"tool_name": "write_file", "tool_input": {"path": "a.txt", "content": "a"}},
    "approved": {"tool_name": "read_file", "tool_input": {"path": "a.txt"}},
}


def hand_in(url, token, call):
    request = urllib.request.Request(
        f"{url}my/projects/default/tools/calls",
        json.dumps(call).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=20) as answer:
        return json.load(answer)


def known_ids(url, token):
    executions = []
    for status, call in CALLS.items():
        for _ in range(COUNT):
            execution = hand_in(url, token, call)
            assert execution["status"] == status, execution
            executions.append(execution)
    return {
        "project_id": ["default"],
        "tool_id": [NOBODY] + [it["tool_id"] for it in executions],
        "approval_id": [NOBODY] + [it["approval_id"] for it in executions if it["status"] == "awaiting_approval"],
    }


def main(url, token):
    api = json.load(sys.stdin)
    known = known_ids(url, token)
    waits = [api["components"]["schemas"]["NewCall"]["properties"]["wait_seconds"]]
    api["components"]["schemas"]["NewCall"]["example"]["wait_seconds"] = 1
    for operations in api["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] in known:
                    parameter["schema"]["enum"] = known[parameter["name"]]
                elif parameter["name"] == "wait_seconds":
                    waits.append(parameter["schema"])
    assert len(waits) == 2, waits
    for wait in waits:
        wait["maximum"] = 1
    json.dump(api, sys.stdout)


main(*sys.argv[1:])
