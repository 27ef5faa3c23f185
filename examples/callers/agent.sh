#!/bin/sh
# The same with curl and a shell: asks the gate, runs one command, reports.
#
#     COUNTERSIGN_TOKEN=… sh agent.sh date -u
set -eu
tools="${COUNTERSIGN_SERVER:-http://127.0.0.1:4180}/my/projects/${COUNTERSIGN_PROJECT:-default}/tools"

ask() {
    curl --silent --show-error --fail-with-body -H "Authorization: Bearer $COUNTERSIGN_TOKEN" \
        -H "Content-Type: application/json" "$@"
}
field() { # the value of one field of a flat JSON answer
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

command=$1
shift
args=$(for word in "$@"; do printf ',"%s"' "$word"; done)
answer=$(ask "$tools/calls" --data "{\"tool_name\":\"execute_command\",\"wait_seconds\":60,
    \"tool_input\":{\"command\":\"$command\",\"args\":[${args#,}]}}")
id=$(printf %s "$answer" | field tool_id)
while [ "$(printf %s "$answer" | field status)" = awaiting_approval ]; do
    echo "waiting for a person to decide …" >&2
    answer=$(ask "$tools/$id?wait_seconds=60")
done
if [ "$(printf %s "$answer" | field status)" != approved ]; then
    echo "not allowed: $answer" >&2
    exit 1
fi
code=0
"$command" "$@" || code=$?
success=$([ "$code" = 0 ] && echo true || echo false)
ask "$tools/$id/result" --data "{\"status\":\"completed\",\"result\":{\"success\":$success,\"exit_code\":$code}}" >&2
exit "$code"
