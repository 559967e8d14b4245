import type { Step } from '../engine/step.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

/** Sets the hostname if the inventory asks for it. */
export const hostname: Step = {
  name: 'hostname',
  diff: ({ host, facts }) => {
    const { name } = host;
    if (!host.setHostname || (facts.hostname === name && facts.staticHostname === name)) return [];
    const found = facts.hostname === name ? `${facts.staticHostname || 'none'} in /etc/hostname` : facts.hostname;
    return [
      {
        summary: `set the hostname to ${name} (found ${found})`,
        apply: runs(host, script('linux/set-hostname.sh', { NAME: name })),
      },
    ];
  },
};
