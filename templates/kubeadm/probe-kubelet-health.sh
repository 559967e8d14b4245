# shellcheck shell=sh
# Prints whether the kubelet says that it is healthy: `healthy` or `down`.
# shellcheck disable=SC2016 # for bash
if timeout 2 bash -c 'exec 3<>/dev/tcp/127.0.0.1/10248 && printf "GET /healthz HTTP/1.0\r\n\r\n" >&3 && while read -r line; do
  case $line in *"200 OK"*) exit 0 ;; esac
done <&3; exit 1' 2>/dev/null; then echo healthy; else echo down; fi
