/** Files of certificates whose renewal was cut off. */
import { expect } from 'vitest';
import * as lab from './lab.ts';
import { inside } from './midway.ts';

/**
 * Expects on these control planes that every certificate fits its key, where the host has one, that nothing half lies about, and that what
 * reads its kubeconfig only at its start has started since.
 */
export async function expectWholeFiles(hosts: readonly string[]): Promise<void> {
  for (const host of hosts.filter((one) => lab.roleOf(one) === 'control-plane')) {
    const odd = await inside(
      host,
      `cd /etc/kubernetes/pki; for crt in *.crt etcd/*.crt; do key=\${crt%.crt}.key
         [ ! -e $key ] || [ "$(openssl x509 -in $crt -noout -pubkey)" = "$(openssl pkey -in $key -pubout)" ] || echo "$crt does not fit"; done
       find /etc/kubernetes /var/lib/kubelet/pki -name '*.kbuild-new' 2>/dev/null; ls -d /run/kbuild/renewal /run/kbuild/signing 2>/dev/null
       for name in controller-manager scheduler; do
         # It may wait for its next start: without quorum of etcd it had to end.
         pid=
         for second in $(seq 300); do pid=$(pgrep -f "^kube-$name " | head -n 1); if [ -n "$pid" ]; then break; fi; sleep 1; done
         if [ -z "$pid" ]; then echo "kube-$name does not run"; continue; fi
         since=$(date -d "$(ps -o lstart= -p "$pid")" +%s)
         [ "$((since + 1))" -ge "$(stat -c %Z /etc/kubernetes/$name.conf)" ] || echo "kube-$name is older than its kubeconfig"
       done`,
    );
    expect(odd, host).toBe('');
  }
}

/** Does `then` on a control plane as soon as a renewal has put the API server's certificate in its place, which is its first file. */
export const firstPlaced = (host: string, then: string): Promise<string> =>
  inside(
    host,
    `cd /etc/kubernetes; old=$(stat -c %i pki/apiserver.crt); while [ "$(stat -c %i pki/apiserver.crt)" = "$old" ]; do :; done; ${then}`,
  );
