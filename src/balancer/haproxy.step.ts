import type { Step, Target } from '../engine/step.ts';
import { file } from '../host/file.step.ts';
import { service } from '../host/service.step.ts';
import { apiPort } from '../inventory/api-server.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { render } from '../templates.ts';
import { keepalivedOf } from './keepalived.step.ts';

/** haproxy.cfg with every control plane as a backend. HAProxy's health check skips those that are not ready. */
export function haproxyConfig({ inventory }: Pick<Target, 'inventory'>): string {
  const { port, healthPort } = keepalivedOf(inventory);
  return render('balancer/haproxy.cfg', {
    cluster: inventory.name,
    port,
    healthPort,
    socket: paths.haproxySocket,
    servers: controlPlanes(inventory).map(({ name, internalAddress }) => ({
      name,
      address: internalAddress,
      port: apiPort(inventory),
    })),
  });
}

const config = file('haproxy-config', {
  path: paths.haproxyConfig,
  content: haproxyConfig,
  validate: (path) => sh`haproxy -c -q -f ${path}`,
  backup: paths.haproxyConfigBackup,
});

/** Runs HAProxy in front of the API servers. Its health check is /readyz. It stops using a dead backend within 3 s. */
export const haproxy: readonly Step[] = [
  config,
  service('haproxy', { uses: [paths.haproxyConfig], after: [config], on: 'reload' }),
];
