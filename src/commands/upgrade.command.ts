import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  dead,
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

export const upgrade = declare({
  name: 'upgrade',
  summary: 'Bring the cluster to the Kubernetes version of the inventory, over as many minors as it takes',
  details:
    'Downloads everything first. Then it upgrades etcd and the control planes one at a time, hop by hop, and the ' +
    'workers once, drained, in the last hop. The same command finishes an upgrade that was cut off.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [
    ...usual,
    option('--plan', {
      summary: 'only show the hops, the order of the hosts and what stands in the way; change nothing',
    }),
    hosts,
    option('--control-plane-only', { summary: 'leave the workers as they are', conflicts: 'workersOnly' }),
    option('--workers-only', { summary: 'upgrade only workers; the control plane must be upgraded' }),
    dead,
    ignoreCheck,
    yes,
    drainTimeout,
    parsedOption('--max-unavailable <n>', share, {
      summary:
        'how many workers may be away at once: a number, or a share like 20% (default: rollout.maxUnavailable, 10%)',
    }),
    option('--pause-after-canary', { summary: 'ask after the first worker' }),
    option('--disable-eviction', { summary: 'delete pods in spite of PodDisruptionBudgets' }),
    option('--force', { summary: 'delete pods that no controller makes again' }),
    kubeconfig,
    bundleOnFailure,
    timeout,
  ],
  examples: [
    'kbuild upgrade --plan',
    'kbuild upgrade',
    'kbuild upgrade --control-plane-only',
    'kbuild upgrade --workers-only --max-unavailable 20%',
  ],
});

/** The values of its options. */
export type UpgradeOptions = OptionsOf<typeof upgrade>;
