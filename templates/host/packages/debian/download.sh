# shellcheck shell=sh
# Functions for scripts that download a file on a host with apt. apt-helper is a part of apt: it is always there, and
# honours apt's proxy. download TRIES ANSWER_SECONDS SECONDS URL FILE: the limits for an answer and for the whole
# download (0: none). Errors go to stderr.
download() {
  # apt downloads as a user of its own, because what it talks to may take it over. The folder is that user's only
  # meanwhile, and a link that is there afterwards is nothing that was downloaded.
  chown _apt "$(dirname "$5")"
  downloaded=0
  timeout "$3" /usr/lib/apt/apt-helper -o Acquire::Retries="$(($1 - 1))" -o Acquire::http::Timeout="$2" \
    -o Acquire::https::Timeout="$2" download-file "$4" "$5" || downloaded=$?
  chown 0 "$(dirname "$5")"
  if [ "$downloaded" = 0 ] && { [ -L "$5" ] || [ ! -f "$5" ]; }; then
    echo "E: what was downloaded is no file" >&2
    downloaded=1
  fi
  return "$downloaded"
}
# download_error FILE: why a download failed, from what it wrote to stderr. An HTTP status stands between blanks.
download_error() { sed -n 's/^E: //p' "$1" | head -n 1; }
