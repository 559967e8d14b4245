import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';

/** The state of cloud-init, which may reboot a host or lock its packages. `absent` also where it is switched off. */
export const cloudInit = probe(script('linux/probe-cloud-init.sh'), (out) => {
  const state = out.trim();
  if (state !== 'absent' && state !== 'running' && state !== 'done' && state !== 'failed')
    throw new Error(`unexpected output: ${state}`);
  return state;
});

/** Services that keep the clock right and that run. */
export const timeServices = probe(script('linux/probe-time-services.sh'), (out) =>
  lines(out).filter((unit) => unit !== 'qemu-guest-agent'),
);
