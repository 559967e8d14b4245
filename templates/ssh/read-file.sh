# Prints SOURCE to stdout and its SHA-256 to stderr.
sha256sum <"$SOURCE" >&2
cat -- "$SOURCE"
