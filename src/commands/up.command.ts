import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  codeQuality,
  dead,
  drainTimeout,
  hosts,
  ignoreCheck,
  kubeconfig,
  option,
  parsedOption,
  phase,
  share,
  timeout,
  usual,
  yes,
} from '../session/options.ts';

export const check = declare({
  name: 'check',
  summary: 'Run every preflight check and show all findings; changes nothing',
  details: 'See [Checks](checks.md). `--active` adds the surveys.',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    dead,
    ignoreCheck,
    option('--active', {
      summary: 'run the surveys too: connections between hosts, disks for etcd, downloads',
      details:
        'On a live cluster they also test the network from a pod on every node. Surveys listen on free ports, ' +
        'write one temporary file, and create and delete one namespace.',
    }),
    option('--junit <file>', { summary: 'write the findings as JUnit XML' }),
    codeQuality,
  ],
  examples: ['kbuild check', 'kbuild check --json | jq .findings', 'kbuild check --active --junit check.xml'],
});

/** The values of its options. */
export type CheckOptions = OptionsOf<typeof check>;

export const plan = declare({
  name: 'plan',
  summary: 'Show what up would change; changes nothing',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    phase,
    dead,
    ignoreCheck,
    option('--diff', { summary: 'show contents too', details: 'A changed secret is shown as `(secret differs)`.' }),
    option('--markdown', {
      summary: "print the plan as Markdown that fits a pull request's comment",
      details: 'At most 65,536 characters. What hosts print cannot steer it. See [In a pipeline](ci.md).',
      conflicts: 'json',
    }),
    option('--detailed-exitcode', {
      summary: 'exit 10 when changes are pending',
      details: 'What `up` would only wait for is no change.',
    }),
  ],
  examples: [
    'kbuild plan',
    'kbuild plan --diff',
    'kbuild plan --markdown > plan.md',
    'kbuild plan --detailed-exitcode',
  ],
});

/** The values of its options. */
export type PlanOptions = OptionsOf<typeof plan>;

export const up = declare({
  name: 'up',
  summary: 'Build or change the cluster: check, plan, ask, lock, apply, verify',
  details: 'Writes `./<name>.kubeconfig`.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, hosts, phase, dead, ignoreCheck, yes, kubeconfig, bundleOnFailure, timeout],
  examples: ['kbuild up', 'kbuild up --yes', "kbuild up --hosts 'w*'", 'kbuild up --dead cp2'],
});

/** The values of its options. */
export type UpOptions = OptionsOf<typeof up>;

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
