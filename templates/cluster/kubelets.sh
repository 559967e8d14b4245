# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL and NODES are several words
# Prints a line for each of these nodes that is ready: its name, a tab, and what its kubelet runs with. A kubelet that
# does not answer prints none. Parameters: KUBECTL (words), NODES (words).
ready=$($KUBECTL get nodes -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}')
for node in $NODES; do
  case "
$ready
" in
    *"
$node True
"*) ;;
    *) continue ;;
  esac
  if answer=$($KUBECTL --request-timeout=2s get --raw "/api/v1/nodes/$node/proxy/configz" 2>/dev/null); then
    printf '%s\t%s\n' "$node" "$answer"
  fi
done
