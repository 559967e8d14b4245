# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Where nodes have handlers of their runtime (label PREFIX and a name) that the inventory does not give them: prints
# every RuntimeClass as `class`, its name and its handler, and every pod of these nodes that names one as `pod`,
# namespace, name, node and RuntimeClass, a line each, with tabs between. Prints nothing, and reads no pods, where all
# is as the inventory has it. Parameters: KUBECTL (words), PREFIX, KEPT (`NODE HANDLER` of the inventory, one a line).
labels=$($KUBECTL get nodes \
  -o 'go-template={{range .items}}{{$node := .metadata.name}}{{range $label, $_ := .metadata.labels}}{{$node}} {{$label}}{{"\n"}}{{end}}{{end}}') || exit 1
nodes=$(printf '%s\n' "$labels" | sed -n "s|^\([^ ]*\) $PREFIX|\1 |p" | grep -vxF -e "$KEPT" | cut -d ' ' -f 1 | sort -u) || :
if [ -n "$nodes" ]; then
  $KUBECTL get runtimeclasses \
    -o 'go-template={{range .items}}{{printf "class\t%s\t%s\n" .metadata.name .handler}}{{end}}' || exit 1
  # The API finds the pods of one node without reading the others.
  if [ "$(printf '%s\n' "$nodes" | wc -l)" -gt 20 ]; then fields='' nodes=all; else fields=,spec.nodeName=; fi
  for node in $nodes; do
    $KUBECTL get pods -A --field-selector "status.phase!=Succeeded,status.phase!=Failed${fields:+$fields$node}" \
      -o 'go-template={{range .items}}{{if and .spec.runtimeClassName .spec.nodeName}}{{printf "pod\t%s\t%s\t%s\t%s\n" .metadata.namespace .metadata.name .spec.nodeName .spec.runtimeClassName}}{{end}}{{end}}' || exit 1
  done
fi
