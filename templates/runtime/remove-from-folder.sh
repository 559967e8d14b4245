# Removes a file and the folders that are empty without it. FILE: below FOLDER, which stays.
rm -f -- "$FILE"
folder=$(dirname "$FILE")
while [ "$folder" != "$FOLDER" ] && rmdir -- "$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
