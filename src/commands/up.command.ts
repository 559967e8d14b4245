import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  codeQuality,
  dead,
  hosts,
  ignoreCheck,
  kubeconfig,
  option,
  phase,
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
