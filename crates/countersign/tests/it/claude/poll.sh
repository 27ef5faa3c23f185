# An MCP server over stdin and stdout. Its one tool asks the person for a colour and returns the answer.
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"poll","version":"1"}}'
      printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
      ;;
    *'"method":"tools/list"'*)
      tool='{"name":"vote","description":"Asks","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}'
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}\n' "$id" "$tool"
      ;;
    *'"method":"tools/call"'*)
      call=$id
      schema='{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}'
      params='{"message":"Which colour?","requestedSchema":'$schema'}'
      printf '{"jsonrpc":"2.0","id":"question","method":"elicitation/create","params":%s}\n' "$params"
      ;;
    *'"id":"question"'*)
      # As text: what was answered, without its quotes.
      answer=$(printf '%s' "$line" | tr -d '"\\')
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$call" "$answer"
      ;;
    *'"id":'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
      ;;
  esac
done
