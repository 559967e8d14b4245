# Prints the file at URL, base64-encoded. apt-helper is a part of apt: it is always there and honours apt's proxy.
folder=$(mktemp -d)
# apt downloads as a user of its own.
chown _apt "$folder"
trap 'rm -rf "$folder"' EXIT
/usr/lib/apt/apt-helper -o Acquire::Retries=3 download-file "$URL" "$folder/download" >&2
base64 -w 0 "$folder/download"
