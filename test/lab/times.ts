/** Seconds that test files of the lab took, each with the load of the two cores and the day. Files that are not here have not been timed since. */
export const TIMES: Readonly<
  Record<string, { readonly seconds: number; readonly load: string; readonly day: string }>
> = {
  'core/life.test.ts': { seconds: 383, load: '6–35', day: '2026-11-27' },
  'core/dual-stack.test.ts': { seconds: 256, load: '5–12', day: '2026-11-28' },
  'core/upgrade.test.ts': { seconds: 656, load: '25–60', day: '2026-11-27' },
  'core/windows.test.ts': { seconds: 123, load: '6–35', day: '2026-11-27' },
  'scenarios/windows.test.ts': { seconds: 215, load: '4–16', day: '2026-11-28' },
  'scenarios/stacked.test.ts': { seconds: 277, load: '4–16', day: '2026-11-28' },
  'scenarios/jobs.test.ts': { seconds: 62, load: '4–16', day: '2026-11-28' },
  'scenarios/channel.test.ts': { seconds: 71, load: '4–16', day: '2026-11-28' },
  'scenarios/soak.test.ts': { seconds: 83, load: '5–12', day: '2026-11-28' },
  'lab.test.ts': { seconds: 32, load: '5–12', day: '2026-11-28' },
  'scenarios/external-etcd.test.ts': { seconds: 98, load: '5–12', day: '2026-11-28' },
  'scenarios/certificates.test.ts': { seconds: 258, load: '5–12', day: '2026-11-28' },
  'scenarios/packages.test.ts': { seconds: 26, load: '6–10', day: '2026-11-28' },
  'scenarios/privilege.test.ts': { seconds: 11, load: '6–10', day: '2026-11-28' },
  'kubeadm-oracle.test.ts': { seconds: 283, load: '6–10', day: '2026-11-28' },
  'scenarios/hosts.test.ts': { seconds: 555, load: '6–10', day: '2026-11-28' },
  'full-down.test.ts': { seconds: 9, load: '6–10', day: '2026-11-28' },
  'downloads.test.ts': { seconds: 16, load: '4–10', day: '2026-11-28' },
  'scenarios/debian-13.test.ts': { seconds: 120, load: '4–10', day: '2026-11-28' },
  'long/field.test.ts': { seconds: 419, load: '30–40', day: '2026-11-28' },
  'long/older-kubeadm.test.ts': { seconds: 456, load: '25–35', day: '2026-11-28' },
  'long/field-hosts.test.ts': { seconds: 452, load: '1–6', day: '2026-11-28' },
  'long/ubuntu.test.ts': { seconds: 731, load: '1–6', day: '2026-11-28' },
};
