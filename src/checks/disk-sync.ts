import type { Check, Finding } from './check.ts';

/** etcd's documentation, "Hardware recommendations": 10 ms for the 99th percentile of fdatasync. */
const ADVISED_MS = 10;

/** etcd's heartbeat interval: a leader that needs longer loses its followers. */
const HEARTBEAT_MS = 100;

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : String(Math.round(value))} ms`;

export const diskSync: Check = {
  name: 'disk-sync',
  title: 'disks that will hold etcd sync a write within 10 ms',
  why: 'A survey: sixty small writes, each with fdatasync, in a file of its own that is removed. Every change of the cluster waits for such a write on most members of etcd. Give /var/lib/etcd a local SSD. Where etcd already runs nothing is measured.',
  severities: ['error', 'warning'],
  test: ({ fleet: { surveys } }) =>
    (surveys?.disks ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one) return [{ severity: 'unknown', host, message: `could not measure the disk: ${one.failed}` }];
      if ('skipped' in one)
        return [{ severity: 'warning', host, message: `the disk was not measured: ${one.skipped}` }];
      const { medianMs, maxMs, folder } = one.found;
      if (medianMs <= ADVISED_MS) return [];
      return [
        {
          severity: medianMs > HEARTBEAT_MS ? 'error' : 'warning',
          host,
          message: `a synced write to ${folder} takes ${ms(medianMs)} (median; at most ${ms(maxMs)}), and etcd wants ${ms(ADVISED_MS)}`,
          remedy: `put ${folder} on a local SSD`,
        },
      ];
    }),
};
