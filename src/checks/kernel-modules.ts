import { eachHost, type HostFinding } from './each-host.ts';

export const kernelModules = eachHost(
  {
    name: 'kernel-modules',
    title: 'overlay and br_netfilter are loaded or built in',
    why: `The runtime keeps images on overlayfs, and without br_netfilter kube-proxy does not see what pods of one host say to each other. \`up\` loads them. Where they are missing, install the modules of the running kernel, or reboot after a kernel update.`,
    severities: ['due', 'error'],
  },
  ({ facts }) =>
    (['overlay', 'br_netfilter'] as const).flatMap((module): readonly HostFinding[] => {
      switch (facts.modules[module]) {
        case 'working':
          return [];
        case 'loadable':
          return [{ severity: 'due', message: `${module} is not loaded` }];
        case 'missing':
          return [
            {
              severity: 'error',
              message: `${module} is neither built into the kernel ${facts.kernel} nor there to be loaded`,
              remedy: 'install the modules of the running kernel, or reboot if the kernel was updated',
            },
          ];
      }
    }),
);
