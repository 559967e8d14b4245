import * as z from 'zod';
import { localPath, text } from './formats.ts';

/** `installFrom:` of the inventory, a role, a group or a host. */
export const installFrom = z.enum(['distribution', 'binaries']).meta({
  description:
    'Where the programs of Kubernetes and of its runtime come from on Linux hosts; the nearest wins: host, groups, role, all. distribution: packages, and binaries where the system has no packages (Flatcar). binaries: the programs that their projects publish, see downloads.',
});

/** `packages:` of the inventory, a role, a group or a host. */
export const packages = () =>
  z
    .array(text(/^[A-Za-z0-9][A-Za-z0-9+._-]*$/, 'the name of a package'))
    .default([])
    .meta({
      examples: [['nfs-common']],
      description:
        'Packages that Linux hosts must have, from their own repositories, in any version; those of all levels together. Those that you take out stay installed.',
    });

/** `trustedCAs:` of the inventory, a role, a group or a host. */
export const trustedCAs = () =>
  z
    .array(localPath())
    .default([])
    .meta({
      examples: [['ca/company.pem']],
      description:
        "PEM files, each with one certificate authority that Linux hosts trust, besides those of their system; those of all levels together. kbuild puts them into the system's store, and takes them out when they leave the inventory.",
    });
