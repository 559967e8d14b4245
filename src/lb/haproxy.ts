import type { Step, Target } from '../engine/step.ts';
import { apiPort } from '../topology/api-server.ts';
import { controlPlanes } from '../topology/select.ts';
import { paths } from '../paths.ts';
import { file } from '../resources/file.ts';
import { service } from '../resources/service.ts';
import { sh } from '../shell/sh.ts';
import { render } from '../templates.ts';
import { keepalivedOf } from './keepalived-of.ts';

/** haproxy.cfg: every control plane of the inventory is a backend; one that is not ready yet is out by its health. */
export function haproxyConfig({ inventory }: Pick<Target, 'inventory'>): string {
  const { port, healthPort } = keepalivedOf(inventory);
  return render('haproxy.cfg', {
    cluster: inventory.name,
    port,
    healthPort,
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

/** haproxy in front of the API servers; health by /readyz, a dead backend is out within 3 s. */
export const haproxy: readonly Step[] = [
  config,
  service('haproxy', { uses: [paths.haproxyConfig], after: [config], on: 'reload' }),
];
