import type { OsRelease } from './packages/distribution.value.ts';
import { knownDistribution } from './packages/distributions.value.ts';
import type { getsBinaries } from './packages/installer.value.ts';

/** The security context of a pod that SELinux does not confine. */
export const UNCONFINED = { seLinuxOptions: { type: 'spc_t' } } as const;

/** The package with SELinux' policy for containers, of the same name in every system that has it. */
export const SELINUX_POLICY = 'container-selinux';

/**
 * Whether the host's own repositories have the policy for containers; `image`: the system comes as a whole, with its
 * policy, or the host gets binaries and the operator sees to the policy.
 */
export function selinuxPolicy(
  target: Parameters<typeof getsBinaries>[0] & { readonly facts: { readonly osRelease: OsRelease } },
): 'package' | 'image' | 'none' {
  const distribution = knownDistribution(target.facts);
  if (distribution?.packages === undefined) return 'image';
  return distribution.helpers(target.facts.osRelease).includes(SELINUX_POLICY) ? 'package' : 'none';
}
