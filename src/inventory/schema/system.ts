import * as z from 'zod';
import type { TimeSync } from '../host-settings.ts';
import { address, localPath, text } from './formats.ts';

/** `installFrom:` of the inventory, a role, a group or a host. */
export const installFrom = z.enum(['distribution', 'binaries']).meta({
  description:
    'Where the programs of Kubernetes and of its runtime come from on Linux hosts; the nearest wins: host, ' +
    'groups, role, all. distribution: packages, and binaries where the system has no packages (Flatcar). ' +
    'binaries: the programs that their projects publish, see downloads.',
});

/** `packages:` of the inventory, a role, a group or a host. */
export const packages = () =>
  z
    .array(text(/^[A-Za-z0-9][A-Za-z0-9+._-]*$/, 'the name of a package'))
    .default([])
    .meta({
      examples: [['nfs-common']],
      description:
        'Packages that Linux hosts must have, from their own repositories, in any version; those of all levels ' +
        'together. Those that you take out stay installed.',
    });

/** `trustedCAs:` of the inventory, a role, a group or a host. */
export const trustedCAs = () =>
  z
    .array(localPath())
    .default([])
    .meta({
      examples: [['ca/company.pem']],
      description:
        'PEM files, each with one certificate authority that Linux hosts trust, besides those of their system; ' +
        "those of all levels together. kbuild puts them into the system's store, and takes them out when they " +
        'leave the inventory.',
    });

const service = () => z.enum(['unmanaged', 'chrony']);

/** `timeSync:` of the inventory, a role, a group or a host. */
export const timeSync = z
  .union([
    z.strictObject({
      kind: service().default('chrony').meta({ description: 'As timeSync alone.' }),
      servers: z
        .array(address())
        .max(32)
        .default([])
        .meta({
          examples: [['ntp1.example.com', '10.0.0.5']],
          description:
            'chrony: names or addresses of time servers, besides those in the configuration of the host itself, ' +
            'which stay.',
        }),
    }),
    service(),
  ])
  .meta({
    examples: ['chrony'],
    description:
      'What keeps the clock of Linux hosts right; the nearest wins as a whole: host, groups, role, all. ' +
      'unmanaged: what the host has; the check time-sync warns if that is nothing. chrony: `up` installs it from ' +
      'the repositories of the system, and starts it; it takes the place of systemd-timesyncd. chrony alone ' +
      'stands for timeSync.kind. Default: unmanaged.',
  });

/** The setting as a value; undefined if kbuild leaves the time service alone. */
export function timeSyncOf(setting: z.output<typeof timeSync> | undefined): TimeSync | undefined {
  const { kind, servers } =
    typeof setting === 'object' ? setting : { kind: setting ?? 'unmanaged', servers: [] as readonly string[] };
  return kind === 'chrony' ? { kind, servers: [...new Set(servers)] } : undefined;
}
