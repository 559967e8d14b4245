# given: downloader
# Asks for what is WANTED (`KIND WORD URL...`, one a line; WORD `-`: none), all lines at once, the URLs of a line in
# turn until one has it: where no name is resolved, that takes long, and the mirror before it suffices. Prints for each
# that was asked KIND, URL, `there` or `missing` or what went wrong, and of a `key` its content in base64. A `packages`
# must hold a line that begins with `Version: WORD`. An `image`, or the `tags` of one, is asked for with curl where that
# is there; `download` cannot say what it accepts, so its 404 means nothing, and it has no login. ACCESS_IN: a folder on
# tmpfs, or empty; if it is named, lines on stdin have the names and the base64 of files: where one has a WORD,
# WORD.header is a login and WORD.ca a private authority. They go with this script, and with the next one if this one is
# killed. An `image` whose registry shows its manifest must be there for ARCHITECTURE (amd64, arm64; empty: any); the
# answer is otherwise `foreign` and what it is there for. PROXY, HTTPS_PROXY, NO_PROXY: the way out; may be empty. The
# functions of a download.sh stand before this script.
if [ -n "$PROXY" ]; then export http_proxy="$PROXY"; fi
if [ -n "$HTTPS_PROXY" ]; then export https_proxy="$HTTPS_PROXY"; fi
export no_proxy="$NO_PROXY"
ACCESS=
folder=$(mktemp -d)
trap 'rm -rf -- "$folder" ${ACCESS:+"$ACCESS"}' EXIT
trap 'exit 1' HUP INT TERM PIPE
if [ -n "$ACCESS_IN" ]; then
  mkdir -p -- "$ACCESS_IN"
  # One survey at a time makes its folder or removes those without a process, which would hold the lock of its own.
  exec 8>>"$ACCESS_IN/survey.lock"
  flock 8
  for left in "$ACCESS_IN"/survey-access.*; do
    if [ -d "$left" ]; then flock -n "$left" rm -rf -- "$left" || :; fi
  done
  ACCESS=$(mktemp -d "$ACCESS_IN/survey-access.XXXXXXXXXX")
  exec 7<"$ACCESS"
  flock -n 7
  exec 8>&-
  # printf is a part of the shell: no login is an argument of a program.
  while read -r name content; do
    printf '%s' "$content" | (umask 077 && base64 -d >"$ACCESS/$name")
  done
fi
accept='application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'
# The architectures in the JSON file $1, one a line. An index has one for each image, a configuration that of its image;
# those of attestations are called unknown.
architectures() { tr -d ' \t\r\n' <"$1" | grep -o '"architecture":"[^"]*"' | cut -d '"' -f 4 | grep -vx unknown | sort -u || :; }
# Asks for the URL $1 with the login and the authority of $access, and keeps the answer in $2; its status becomes
# $status.
ask() {
  # What begins with TLS stays with TLS, wherever it is redirected: there may be a login.
  case $1 in
    https:*) over='=https' ;;
    *) over='=http,https' ;;
  esac
  status=$(curl -sS -L --proto "$over" --proto-redir "$over" --max-time 20 -o "$2" -w '%{http_code}' -H "Accept: $accept" \
    ${login:+-H "@$access.header"} ${ca:+--cacert "$ca"} "$1" 2>"$error") || status=failed
}
# What the image with the manifest $1 at $url is there for, if it is not there for ARCHITECTURE. The manifest of one
# image names its configuration. An answer without any architecture says nothing.
foreign() {
  found=$(architectures "$1")
  configuration=$(tr -d ' \t\r\n' <"$1" | sed -n 's/.*"config":{[^}]*"digest":"\([a-z0-9:]*\)".*/\1/p')
  if [ -z "$found" ] && [ -n "$configuration" ]; then
    ask "${url%/manifests/*}/blobs/$configuration" "$1"
    [ "$status" != 200 ] || found=$(architectures "$1")
  fi
  [ -z "$found" ] || echo "$found" | grep -qx -e "$ARCHITECTURE" || echo "$found" | tr '\n' ' '
}
# Asks a registry for the URL $2 of a KIND $1 with the login and the authority of WORD $3, and says the answer. $4: a
# folder.
registry() {
  url=$2 login='' access=$ACCESS/$3 error=$4/error
  if [ -n "$ACCESS" ] && [ -e "$access.header" ]; then login=yes; fi
  if [ -n "$ACCESS" ] && [ -e "$access.ca" ]; then ca="$access.ca"; else ca=; fi
  ask "$url" "$4/manifest"
  if [ "$1$status" = image200 ] && [ -n "$ARCHITECTURE" ]; then
    others=$(foreign "$4/manifest")
    if [ -n "$others" ]; then
      echo "foreign $others"
      return
    fi
  fi
  case $status$login in
    200* | 401 | 403) echo there ;;
    401yes | 403yes) echo "refused $status" ;;
    404*) echo missing ;;
    failed*) echo "failed $(tail -n 1 "$error")" ;;
    *) echo "failed status $status" ;;
  esac
}
# Lists the architectures for which the list of packages $1 has a version that begins with $2, one a line. `any`: all of
# them.
packaged_for() {
  awk -v version="Version: $2" '
    BEGIN { RS = ""; FS = "\n" }
    {
      found = 0
      architecture = "any"
      for (i = 1; i <= NF; i++) {
        if (index($i, version) == 1) found = 1
        if (sub(/^Architecture: /, "", $i)) architecture = $i == "all" ? "any" : $i
      }
      if (found && !said[architecture]++) print architecture
    }' "$1"
}
fetch() {
  own="$folder/$4"
  # What is downloaded lies apart: the user that downloads may be another one, and root writes nothing where that user
  # can.
  mkdir -p "$own/in"
  chmod 755 "$folder" "$own"
  answer=there
  case $1 in
    image | tags) image=yes ;;
    *) image= ;;
  esac
  if [ -n "$image" ] && command -v curl >/dev/null; then
    answer=$(registry "$1" "$2" "$3" "$own")
  elif [ -n "$image" ] && [ -n "$3" ]; then
    : # Without curl there is no login and no private authority.
  elif ! download 1 15 40 "$2" "$own/in/got" >"$own/out" 2>"$own/error"; then
    said=$(download_error "$own/error")
    case "$1 $said" in
      image*' 404 '* | image*' 401 '* | image*' 403 '* | tags*' 404 '* | tags*' 401 '* | tags*' 403 '*) ;;
      *' 404 '*) answer=missing ;;
      *) answer="failed ${said:-no answer within 40 s}" ;;
    esac
  elif [ "$1" = packages ]; then
    packaged_for "$own/in/got" "$3" >"$own/architectures"
    if ! [ -s "$own/architectures" ]; then
      answer=versionless
    elif [ -n "$ARCHITECTURE" ] && ! grep -qx -e any -e "$ARCHITECTURE" "$own/architectures"; then
      answer="versionless $ARCHITECTURE"
    fi
  fi
  if [ "$1" = key ] && [ "$answer" = there ]; then answer="there $(base64 -w 0 "$own/in/got")"; fi
  printf '%s %s %s\n' "$1" "$2" "$answer"
}
# Asks for a KIND by WORD, as COUNT, at one of the URLs that follow.
find_one() {
  kind=$1 word=$2 count=$3
  shift 3
  if [ "$word" = - ]; then word=; fi
  for url in "$@"; do
    fetch "$kind" "$url" "$word" "$count"
    # A runtime takes what the first registry says of an image that it has, and asks no other.
    case $answer in there* | foreign*) break ;; esac
  done
}
count=0
while read -r kind word urls; do
  if [ -n "$kind" ]; then
    count=$((count + 1))
    # shellcheck disable=SC2086  # a list
    find_one "$kind" "$word" "$count" $urls &
  fi
done <<END
$WANTED
END
wait
