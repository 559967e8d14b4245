# shellcheck shell=sh
# Prints the certificate with which the kubelet of this host shows to the API which node it is: `certificate`, and its
# public part, or `data` and that in base64. Nothing on a host without the kubelet's kubeconfig.
conf=/etc/kubernetes/kubelet.conf
if [ -e "$conf" ]; then
  file='' data=''
  while read -r name value || [ -n "$name" ]; do
    case $name in
      client-certificate:) if [ -z "$file" ]; then file=$value; fi ;;
      # So kubeadm's init leaves it until the kubelet has its own store.
      client-certificate-data:) if [ -z "$data" ]; then data=$value; fi ;;
    esac
  done <"$conf"
  file=${file#[\"\']}
  file=${file%[\"\']}
  if [ -z "$file" ]; then
    echo data
    printf '%s\n' "$data"
  else
    echo certificate
    if [ -r "$file" ]; then
      # The private key lies in the same file.
      part=before
      while [ $part != behind ] && { read -r line || [ -n "$line" ]; }; do
        case $line in *'-BEGIN CERTIFICATE-'*) part=within ;; esac
        if [ $part = within ]; then printf '%s\n' "$line"; fi
        case $line in *'-END CERTIFICATE-'*) part=behind ;; esac
      done <"$file"
    fi
  fi
fi
