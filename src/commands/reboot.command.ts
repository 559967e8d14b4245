import { declare, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  dead,
  drainTimeout,
  ignoreCheck,
  option,
  parsedOption,
  share,
  timeout,
  usual,
  yes,
} from '../session/options.ts';

export const reboot = declare({
  name: 'reboot',
  summary: 'Reboot the Linux hosts that want it, drained and rolling',
  details:
    'Restarts workers in batches, then etcd hosts, control planes and load balancers one at a time, the holder of the virtual address last. A new boot id proves each restart. The same command finishes a run that was cut off. Windows hosts are not rebooted.',
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
