import { SELINUX_POLICY, selinuxPolicy } from '../components/selinux.ts';
import { watchesOf, type Step } from '../engine/step.ts';
import { packages } from '../resources/packages.ts';

const policy = packages(SELINUX_POLICY, () => ({ [SELINUX_POLICY]: 'any' }));

/** The host has SELinux' policy for containers before its runtime confines them. The check selinux tells of hosts without one. */
export const containerPolicy: Step = {
  ...policy,
  watches: (about) => (about.inventory.runtime.selinux ? watchesOf(policy, about) : {}),
  diff: (target) =>
    target.inventory.runtime.selinux && selinuxPolicy(target) === 'package' ? policy.diff(target) : [],
};
