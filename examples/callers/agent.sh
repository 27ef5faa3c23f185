#!/bin/sh
# The same with curl, jq and a shell: asks the gate, runs what was approved, reports.
#
#     COUNTERSIGN_TOKEN=… sh agent.sh date -u
set -eu
tools="${COUNTERSIGN_SERVER:-http://127.0.0.1:4180}/my/projects/${COUNTERSIGN_PROJECT:-default}/tools"

ask() {
    curl --silent --show-error --fail-with-body -H "Authorization: Bearer $COUNTERSIGN_TOKEN" \
        -H "Content-Type: application/json" "$@"
}
field() { # the value of one field of an answer
    printf %s "$answer" | jq --raw-output ".$1"
}

call=$(jq --null-input '{tool_name: "execute_command", wait_seconds: 60,
    tool_input: {command: $ARGS.positional[0], args: $ARGS.positional[1:]}}' --args -- "$@")
answer=$(ask "$tools/calls" --data "$call")
while [ "$(field status)" = awaiting_approval ]; do
    echo "waiting for a person to decide …" >&2
    answer=$(ask "$tools/$(field tool_id)?wait_seconds=60&known_status=awaiting_approval")
done
if [ "$(field status)" != approved ]; then
    echo "not allowed: $(field error)" >&2
    exit 1
fi
# As it was approved: a person may have changed it. jq quotes each word for the shell.
words=$(printf %s "$answer" | jq --raw-output '[.tool_input.command] + (.tool_input.args // []) | @sh')
eval "set -- $words"
code=0
"$@" || code=$?
result=$(jq --null-input --argjson code "$code" \
    '{status: "completed", result: {success: ($code == 0), exit_code: $code}}')
ask "$tools/$(field tool_id)/result" --data "$result" >&2
exit "$code"
