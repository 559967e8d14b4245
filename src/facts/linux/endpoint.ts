import { endpointHost } from '../../topology/api-server.ts';
import type { Inventory, LinuxHost } from '../../model/inventory.ts';
import { balancers, controlPlanes, kubernetesHosts } from '../../topology/select.ts';
import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';

/**
 * What a connection to the cluster's endpoint meets. `refused`: a machine without a listener there; `open`: a listener of
 * unknown kind; `serves`: it speaks HTTPS; `silent`: no answer in time; `unreachable`: no way, or nobody has the address;
 * `unresolved`: no such name.
 */
export type EndpointAnswer = 'refused' | 'open' | 'serves' | 'silent' | 'unreachable' | 'unresolved' | 'not asked';

const ANSWERS: readonly EndpointAnswer[] = ['refused', 'open', 'serves', 'silent', 'unreachable', 'unresolved'];

/** True when the endpoint is somebody's business whom kbuild has to ask: a balancer or a name of the user's, or a free address. */
function isAsked(inventory: Inventory, host: LinuxHost): boolean {
  const { endpoint, loadBalancer, endpointInHosts } = inventory;
  const name = endpointHost(endpoint);
  if (loadBalancer.kind === 'keepalived') return balancers(inventory).some((one) => one.name === host.name);
  if (loadBalancer.kind === 'kube-vip') return host.role === 'control-plane';
  if (endpointInHosts || controlPlanes(inventory).some(({ internalAddress }) => internalAddress === name)) return false;
  return kubernetesHosts(inventory).some((one) => one.name === host.name) && host.role !== 'etcd';
}

/** The endpoint as a host that has not joined meets it; a virtual address of kbuild's is asked for directly. */
export function endpoint(inventory: Inventory, host: LinuxHost) {
  const { loadBalancer } = inventory;
  const address = 'address' in loadBalancer ? loadBalancer.address : endpointHost(inventory.endpoint);
  const port = inventory.endpoint.slice(inventory.endpoint.lastIndexOf(':') + 1);
  const asked = isAsked(inventory, host) ? 'yes' : 'no';
  return probe(
    sh`if [ ${asked} = no ] || [ -e /etc/kubernetes/kubelet.conf ] || systemctl -q is-active keepalived; then echo 'not asked'; exit 0; fi
       status=0
       said=$(timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1"' ${address} ${port} 2>&1) || status=$?
       if [ $status = 124 ]; then echo silent; exit 0; fi
       case $said in
         '') if command -v curl >/dev/null && curl -sk --noproxy '*' --max-time 3 -o /dev/null ${`https://${address}:${port}/readyz`}; then echo serves; else echo open; fi ;;
         *refused*) echo refused ;;
         *'not known'*|*'name resolution'*|*'No address'*) echo unresolved ;;
         *) echo unreachable ;;
       esac`,
    (out): EndpointAnswer => ANSWERS.find((answer) => answer === out.trim()) ?? 'not asked',
  );
}
