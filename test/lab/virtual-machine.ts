/** Hosts that QEMU emulates: a kernel of their own, with modules, cgroup v2, SELinux and DMI, at a tenth of the speed. */
import type { Artifact } from './artifact.ts';
import { recordedProcess, type ProcessId } from './process-id.ts';
import { hostDir } from './paths.ts';
import type { Mirrors, SystemArtifacts } from './recipes.ts';
import type { System } from './systems.ts';
import { join } from 'node:path';

/** The system whose hosts are virtual machines. */
export const VIRTUAL_MACHINE = 'selinux' satisfies System;

/** Debian's packages that this machine needs for them. */
export const VIRTUAL_MACHINE_PACKAGES = ['qemu-system-x86', 'e2fsprogs'] as const;

/** Milliseconds until sshd answers, at most: one of a machine with nothing else to do takes half a minute. */
export const VIRTUAL_MACHINE_BOOT_MS = 900_000;

/** The QEMU of a host that is a virtual machine and runs. */
export const machineOf = (name: string): ProcessId | undefined => recordedProcess(join(hostDir(name), 'machine.pid'));

/** What it is made of: Debian's kernel, the tree with SELinux' policy and labels, and an initrd that finds the disk. */
export function virtualMachine(base: Artifact, tools: Artifact, { debian, security }: Mirrors): SystemArtifacts {
  const debs: Artifact = {
    ...{ name: `debs-${VIRTUAL_MACHINE}`, recipe: 'debs', needs: { BASE: base } },
    params: { PACKAGES: 'linux-image-cloud-amd64 udev selinux-policy-default selinux-utils policycoreutils' },
    settings: { MIRROR: debian, SECURITY: security },
  };
  return {
    base: {
      ...{ name: `base-${VIRTUAL_MACHINE}`, recipe: 'base-selinux', shared: ['dress.sh'] },
      needs: { BASE: base, DEBS: debs, TOOLS: tools },
    },
  };
}
