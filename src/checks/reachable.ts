import { KbuildError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Check, Finding } from './check.ts';

function finding({ host, error, isDead }: Fleet['unreachable'][number]): Finding {
  const left = host.role === 'worker' || isDead === true;
  return {
    severity: left ? 'warning' : 'unknown',
    host: host.name,
    message: error.message.replace(`${host.name}: `, ''),
    remedy: left
      ? `this run leaves it out${error instanceof KbuildError && error.remedy !== undefined ? `; ${error.remedy}` : ''}`
      : `make it reachable, or add \`--dead ${host.name}\`: then only what needs every control plane waits`,
  };
}

export const reachable: Check = {
  name: 'reachable',
  title: 'every host answers',
  why: `A worker that does not answer is left out of the run, which then ends with exit 3. A control plane, an etcd host or a load balancer that does not answer stops the run (exit 3) before anything is changed: make it reachable, or add \`--dead NAME\`. With \`--dead\`, labels, workers and manifests go on. Changes of etcd's members, restarts of what other control planes live on, and edited settings of the control plane wait until the host is back, or was removed with \`kbuild remove NAME --dead NAME\`.`,
  severities: ['warning'],
  test: ({ fleet }) => fleet.unreachable.map(finding),
};
