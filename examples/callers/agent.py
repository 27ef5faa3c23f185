#!/usr/bin/env python3
"""Any agent behind the gate: submit a command, wait for the verdict, run it, report what came of it.

    COUNTERSIGN_TOKEN=… python3 agent.py npm test
"""
import json, os, subprocess, sys, urllib.request

SERVER = os.environ.get("COUNTERSIGN_SERVER", "http://127.0.0.1:4180")
TOOLS = f"{SERVER}/my/projects/{os.environ.get('COUNTERSIGN_PROJECT', 'default')}/tools"

def ask(path, body=None):
    request = urllib.request.Request(
        TOOLS + path, data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": f"Bearer {os.environ['COUNTERSIGN_TOKEN']}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

def run(command, *args):
    call = ask("/calls", {"tool_name": "execute_command", "wait_seconds": 60,
                          "tool_input": {"command": command, "args": list(args)}})
    while call["status"] == "awaiting_approval":
        print("waiting for a person to decide …", file=sys.stderr)
        call = ask(f"/{call['tool_id']}?wait_seconds=60&known_status=awaiting_approval")
    if call["status"] != "approved":
        sys.exit(f"{call['status']}: {call.get('error') or 'not allowed'}")
    approved = call["tool_input"]  # as it was approved: a person may have changed it
    done = subprocess.run([approved["command"], *approved["args"]], capture_output=True, text=True)
    ask(f"/{call['tool_id']}/result", {"status": "completed", "result": {
        "success": done.returncode == 0, "stdout": done.stdout, "stderr": done.stderr, "exit_code": done.returncode}})
    print(done.stdout, end="")

run(*sys.argv[1:])
