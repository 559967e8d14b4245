import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  dead,
  draining,
  drainTimeout,
  hosts,
  ignoreCheck,
  kubeconfig,
  option,
  parsedOption,
  share,
  timeout,
  usual,
  yes,
} from '../session/options.ts';

export const moveEndpoint = declare({
  name: 'move-endpoint',
  summary: 'Lead a live cluster to another endpoint: every kubelet and kubeconfig',
  details:
    'The inventory names the new endpoint (`kubernetes.endpoint`, `loadBalancer`), and the operand says the ' +
    'same. kbuild builds the load balancer, has the API servers certified for the new name beside the old one, ' +
    'and proves from every host that the new endpoint serves this cluster. Only then it leads kubeconfigs, ' +
    'joining hosts, kube-proxy and the kubelets there, and notes the endpoint for kubeadm last. The old endpoint ' +
    'serves to the end; kbuild never removes it. The same command goes on where a run was cut off. See ' +
    '[operations](operations.md#another-endpoint).',
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

export const reboot = declare({
  name: 'reboot',
  summary: 'Reboot the Linux hosts that want it, drained and rolling',
  details:
    'Restarts workers in batches, then etcd hosts, control planes and load balancers one at a time, the holder ' +
    'of the virtual address last. A new boot id proves each restart. The same command finishes a run that was ' +
    'cut off. Windows hosts are not rebooted.',
  onHosts: 'changes',
  operand: {
    name: '[hosts...]',
    summary: 'hosts of the inventory; none: all hosts that want a reboot',
    completes: 'hosts',
  },
  options: [
    ...usual,
    option('--plan', { summary: 'only show which hosts restart, and in which order; change nothing' }),
    option('--all', { summary: 'also reboot hosts that do not want it' }),
    dead,
    ignoreCheck,
    yes,
    drainTimeout,
    parsedOption('--max-unavailable <n>', share, {
      summary:
        'how many workers may be away at once: a number, or a share like 20% (default: rollout.maxUnavailable, 10%)',
    }),
    option('--disable-eviction', { summary: 'delete pods in spite of PodDisruptionBudgets' }),
    option('--force', { summary: 'delete pods that no controller makes again' }),
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild reboot --plan', 'kbuild reboot', 'kbuild reboot w1 w2 -i prod.yaml', 'kbuild reboot --all'],
});

/** The values of its options. */
export type RebootOptions = OptionsOf<typeof reboot>;

export const remove = declare({
  name: 'remove',
  summary: 'Drain hosts and remove them from the live cluster, with their etcd members',
  onHosts: 'changes',
  operand: {
    name: '<hosts...>',
    summary: 'hosts of the inventory, or nodes that it no longer names',
    completes: 'hosts',
  },
  options: [...usual, dead, ...draining, yes, bundleOnFailure, timeout],
  examples: ['kbuild remove w3', 'kbuild remove cp2 -i prod.yaml', 'kbuild remove cp2 --dead cp2'],
});

/** The values of its options. */
export type RemoveOptions = OptionsOf<typeof remove>;

export const reset = declare({
  name: 'reset',
  alias: 'teardown',
  summary: 'Destroy the cluster, or clean hosts',
  details:
    'Asks for the name of the cluster. With `--hosts`, it removes members of a live cluster as `remove` does, ' +
    'and cleans other hosts. `kbuild teardown` is the same.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    dead,
    ...draining,
    option('--yes-destroy <name>', { summary: 'the name that kbuild would ask for' }),
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild reset', 'kbuild reset --hosts w3', 'kbuild reset --yes-destroy prod'],
});

/** The values of its options. */
export type ResetOptions = OptionsOf<typeof reset>;
