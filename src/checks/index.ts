import { cgroupVersion } from './cgroup-version.ts';
import type { Check } from './check.ts';
import { endpoint } from './endpoint.ts';
import { initSystem } from './init-system.ts';
import { kernelModules } from './kernel-modules.ts';
import { osSupported } from './os-supported.ts';
import { packageManager } from './package-manager.ts';
import { ports } from './ports.ts';
import { productUuid } from './product-uuid.ts';
import { reachable } from './reachable.ts';
import { swap } from './swap.ts';
import { sysctls } from './sysctls.ts';
import { uniqueHost } from './unique-host.ts';

/** Every preflight check. */
export const checks: readonly Check[] = [
  reachable,
  osSupported,
  initSystem,
  uniqueHost,
  productUuid,
  cgroupVersion,
  swap,
  kernelModules,
  sysctls,
  ports,
  endpoint,
  packageManager,
];
