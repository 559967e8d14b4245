import type { Check } from './check.ts';

/** Every host answered. A worker that did not is left out; without any other, nobody knows what the cluster is. */
export const reachable: Check = {
  name: 'reachable',
  title: 'every host answers',
  why: `A worker that does not answer is left out of the run, which then ends with exit 3. Without a control plane nobody knows what the cluster is: make it reachable, or say with \`--dead\` that it is gone for good.`,
  severities: ['warning'],
  test: ({ fleet }) =>
    fleet.unreachable.map(({ host, error }) => ({
      severity: host.role === 'worker' ? 'warning' : 'unknown',
      host: host.name,
      message: error.message.replace(`${host.name}: `, ''),
      remedy:
        host.role === 'worker'
          ? 'it is left out of this run'
          : 'make it reachable, or say with --dead that it is gone for good',
    })),
};
