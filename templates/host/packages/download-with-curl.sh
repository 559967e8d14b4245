# shellcheck shell=sh
# Functions for scripts that download a file on a host with curl, which dnf and images bring. curl honours http_proxy,
# https_proxy and no_proxy. download TRIES ANSWER_SECONDS SECONDS URL FILE: the limits for an answer and for one try (0:
# none). Errors go to stderr.
download() {
  # What begins with TLS stays with TLS, wherever it is redirected.
  case $4 in
    https:*) over='=https' ;;
    *) over='=http,https' ;;
  esac
  curl -sS -f -L --proto "$over" --proto-redir "$over" --retry "$(($1 - 1))" --connect-timeout "$2" --max-time "$3" -o "$5" "$4"
}
# download_error FILE: why a download failed, from what it wrote to stderr. An HTTP status stands between blanks, as in
# apt's messages.
download_error() {
  sed -n 's/^curl: ([0-9]*) The requested URL returned error: \([0-9]*\).*/Failed to fetch -  \1  /p; s/^curl: ([0-9]*) //p' "$1" |
    head -n 1
}
