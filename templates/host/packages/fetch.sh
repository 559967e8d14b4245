# given: downloader
# Prints the file at URL, base64-encoded. The functions of a download.sh stand before it.
# PROXY, HTTPS_PROXY, NO_PROXY: the proxies for http and https, and what is reached without them; may be empty.
if [ -n "$PROXY" ]; then export http_proxy="$PROXY"; fi
if [ -n "$HTTPS_PROXY" ]; then export https_proxy="$HTTPS_PROXY"; fi
export no_proxy="$NO_PROXY"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
download 4 30 0 "$URL" "$folder/download" >&2
base64 -w 0 "$folder/download"
