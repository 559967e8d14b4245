import { declare, type OptionsOf } from '../session/command.ts';
import { bundleOnFailure, kubeconfig, option, timeout, usual, yes } from '../session/options.ts';

export const moveEndpoint = declare({
  name: 'move-endpoint',
  summary: 'Lead a live cluster to another endpoint: every kubelet and kubeconfig',
  details:
    'The inventory names the new endpoint (`kubernetes.endpoint`, `loadBalancer`), and the operand says the same. kbuild builds the load balancer, has the API servers certified for the new name beside the old one, and proves from every host that the new endpoint serves this cluster. Only then it leads kubeconfigs, joining hosts, kube-proxy and the kubelets there, and notes the endpoint for kubeadm last. The old endpoint serves to the end; kbuild never removes it. The same command goes on where a run was cut off. See [operations](operations.md#another-endpoint).',
  onHosts: 'changes',
  operand: { name: '<host:port>', summary: "the new endpoint, as the inventory's" },
  options: [
    ...usual,
    option('--plan', { summary: 'show what it would change, and change nothing' }),
    yes,
    kubeconfig,
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild move-endpoint 10.0.0.100:8443 --plan', 'kbuild move-endpoint k8s.example.com:6443 -i prod.yaml'],
});

/** The values of its options. */
export type MoveEndpointOptions = OptionsOf<typeof moveEndpoint>;
