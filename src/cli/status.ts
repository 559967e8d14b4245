import { plan } from '../engine/plan.ts';
import { ConnectError, worstExitCode } from '../errors.ts';
import { up } from '../phases/up.ts';
import { jsonDocument } from '../report/json.ts';
import { clusterStatus, statusText, type Status } from '../report/status.ts';
import { troubleOf } from '../windows/signatures.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { withRun } from './run.ts';
import { phasesOf } from './up.ts';

/** `kbuild status`: the cluster as it is, and where it differs from the inventory. Reads only. */
export const runStatus = (outer: Context, flags: Flags): Promise<number> =>
  withRun(outer, flags, 'status', 'never-json', (run) => {
    const { context } = run;
    const { inventory, connected } = run;
    const fleet = connected.watch.fleet();
    if (fleet.cluster.state !== 'up') {
      const why = fleet.cluster.state === 'down' ? fleet.cluster.reason : 'no cluster was found on its control planes';
      throw new ConnectError(inventory.name, why, { retryable: false, remedy: 'kbuild plan shows what up would do' });
    }
    const { changes, errors } = plan(phasesOf(run, up(inventory)), inventory, fleet);
    const status: Status = {
      cluster: inventory.name,
      endpoint: inventory.endpoint,
      ...clusterStatus(fleet.cluster, inventory.etcd.topology === 'stacked' ? 'stacked' : 'external'),
      certificates: fleet.hosts.flatMap(({ os, host, facts }) =>
        os === 'linux' ? facts.certificates.map(({ name, expires }) => ({ host: host.name, name, expires })) : [],
      ),
      drift: [
        ...changes.map(({ host, summary }) => `${host}: ${summary}`),
        ...errors.map(({ error }) => error.message),
        ...fleet.unreachable.map(({ error }) => error.message),
      ],
      trouble: troubleOf(inventory, fleet).map(({ host, found, signature: { name, cause, remedy } }) => ({
        host,
        name,
        found,
        cause,
        remedy,
      })),
    };
    context.out(flags.json === true ? jsonDocument(status) : statusText(status, context.nowMs()));
    return Promise.resolve(worstExitCode(fleet.unreachable.map(({ error }) => error)));
  });
